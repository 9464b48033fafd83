"""Run a program whose calls go through a proxy on this machine, and record them.

The proxy passes each piece on as it comes and waits for nothing: what a writer of its own process
has not recorded yet lies in memory (`writer.py`). The address holds a random part, so that no
other program and no page of a browser gets in.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from itertools import accumulate, takewhile
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from preflights_es.features.calls.serving import HEAD_MAX, serve_program
from preflights_es.features.calls.source_calls import find_header_users
from preflights_es.features.calls.writer import (
    HELD_MAX,
    NICE,
    Exchange,
    MissedExchanges,
    Recorded,
    RunBegun,
    write_frame,
)
from preflights_es.kernel.errors import Refused
from preflights_es.providers.capabilities import (
    BASE_URL_VARIABLES,
    BASE_URLS,
    checked_url,
    is_local,
)
from preflights_es.providers.http_body import problem_of_proxy
from preflights_es.system import clock_ids
from preflights_es.use.results import Result

SDKS: Final = ("openai", "anthropic")
"""Whose addresses a program gets without being asked for."""
FAILURES_MAX: Final = 3  # ends of the writer at one call, until that call is given up
RESTARTS_MAX: Final = 9  # ends of it without a recorded call, until only the run's end tries more
END_WAIT_S: Final = 20.0  # seconds without a recorded call, after which the end waits no longer
GATHERED_S: Final = 0.25  # seconds in which calls are gathered to be handed over
TOGETHER_BYTES: Final = 4_000_000  # of calls that are handed over at once, but for the last
WRITER: Final = (sys.executable, "-P", "-m", "preflights_es.features.calls.writer")
_OF_ONE_CONNECTION: Final = frozenset(
    ("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding")
)
_OF_REQUEST: Final = _OF_ONE_CONNECTION.union(
    ("host", "content-length", "accept-encoding", "expect", "upgrade", "http2-settings")
)


# 1. Where calls go ---------------------------------------------------------------------------


class Route(NamedTuple):
    """A provider as the program reaches it."""

    name: str
    variable: str
    """From which the program's SDK takes the address."""
    url: str
    """Of the provider, or of the gateway that the program used until now."""
    proxy: str | None = None
    """Through which the provider is asked."""

    @property
    def base(self) -> str:
        """What stands behind the name in the address that the program gets."""
        return "/v1" if self.name == "openai" else ""

    def url_of(self, path: str) -> str:
        """Of a path that the program asked for."""
        is_below = path.startswith(f"{self.base}/")
        return self.url + (path.removeprefix(self.base) if is_below else path)

    def lead_back(self, path: str, location: str) -> str:
        """Where a redirect leads: below the provider's address to us, as seen from the path."""
        with suppress(ValueError):  # it is no address: as it is
            location = urljoin(self.url_of(path), location)
        below = location.removeprefix(f"{self.url}/")
        up = "../" * path.partition("?")[0].count("/")
        return location if below == location else f"{up}{self.name}{self.base}/{below}"


def find_routes(
    given: Mapping[str, str], variables: Mapping[str, str], env: Mapping[str, str]
) -> list[Route]:
    """The routes of a run: those of the SDKs, and those that the user names.

    Args:
        given: addresses by name; an empty one where none is needed.
        variables: by name, where it is not `NAME_BASE_URL`.

    Raises:
        Refused: an address is invalid.
    """
    routes = []
    usual = {name: env.get(BASE_URL_VARIABLES[name]) or BASE_URLS[name] for name in SDKS}
    for name, url in {**usual, **given}.items():
        variable = variables.get(name) or f"{name.upper().replace('-', '_')}_BASE_URL"
        try:
            routes.append(Route(name, variable, url and checked_url(name, url)))
        except ValueError as error:
            raise Refused(f"the address of {name}: {error}") from error
    return routes


def build_environment(
    env: Mapping[str, str], routes: Sequence[Route], address: str
) -> dict[str, str]:
    """What the program is told: its own environment, and the addresses of the proxy."""
    told = {route.variable: f"{address}/{route.name}{route.base}" for route in routes}
    # Else an SDK would send what is said to the proxy to the proxy of the company.
    before = env.get("no_proxy") or env.get("NO_PROXY") or ""
    if before.strip() != "*":  # which is all, and only where it stands alone
        told["no_proxy"] = told["NO_PROXY"] = f"{before},127.0.0.1,localhost".lstrip(",")
    return {**env, **told}


# 2. To the writer ----------------------------------------------------------------------------


class Handover:
    """What waits until the writer has recorded it; a writer that died is started anew."""

    def __init__(self, begun: RunBegun) -> None:
        self._begun = begun
        self._held = deque[msgspec.Raw]()
        """Exchanges, as the writer reads them."""
        self._size = 0
        self._missed: MissedExchanges | None = None
        """What the log is told at the end that it lacks."""
        self._closing = asyncio.Event()
        self._task = asyncio.ensure_future(self._keep_writing())
        self.calls = self.recorded = self.unanswered = 0
        self.session_id = self.trouble = ""

    def put(self, exchange: Exchange, size: int) -> None:
        """Hand a call of so many bytes over; one that finds no room is counted."""
        self.calls += 1
        self.unanswered += bool(exchange.ended)
        if self._size + size > HELD_MAX:
            self._miss(MissedExchanges(1, exchange.at, exchange.at, "there was no room in memory"))
            return
        exchange.line = self.calls
        self._held.append(msgspec.Raw(msgspec.msgpack.encode(exchange)))
        self._size += len(self._held[-1])

    async def close(self) -> None:
        """Wait until all is recorded; what the log does not take for a while is given up."""
        self._closing.set()
        before = -1
        while not self._task.done() and len(self._held) != before:
            before = len(self._held)
            await asyncio.wait([self._task], timeout=END_WAIT_S)
        self._task.cancel()
        await asyncio.wait([self._task])

    def give_up(self) -> None:
        """End the wait, where it has begun."""
        if self._closing.is_set():
            self._task.cancel()

    def _miss(self, more: MissedExchanges) -> None:
        if (before := self._missed) is not None:
            more = MissedExchanges(
                before.count + more.count,
                min(before.first_at, more.first_at),
                max(before.last_at, more.last_at),
                before.why if more.why in before.why else f"{before.why}; {more.why}",
            )
        self._missed = more

    async def _keep_writing(self) -> None:
        failures = 0
        while self._held or self._missed or not self._closing.is_set():
            is_last = self._closing.is_set()  # it may be set while a writer ends
            has_recorded = await self._write_until_end(0 if failures else TOGETHER_BYTES)
            failures = 1 if has_recorded else failures + 1
            if failures >= RESTARTS_MAX:
                if is_last:
                    return
                await self._closing.wait()
            if failures % FAILURES_MAX == 0 and self._held:
                at = msgspec.msgpack.decode(self._forget_first(), type=Exchange).at
                self._miss(MissedExchanges(1, at, at, "the writer ended at it"))
            await self._wait_until_closing(failures / 10)

    async def _write_until_end(self, together: int) -> bool:
        """Whether the writer recorded something before it ended.

        Args:
            together: bytes in which calls begin that are handed over at once; 0 for one call.
        """
        # Ctrl-C is the program's. In a session of its own, Linux would not heed its priority.
        writer = await asyncio.create_subprocess_exec(
            *WRITER, stdin=PIPE, stdout=PIPE, process_group=0
        )
        if sys.platform != "win32":
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, writer.pid, NICE)
        assert writer.stdin is not None
        has_recorded = False
        try:
            with suppress(ConnectionError, EOFError):  # it ended: the next one gets what is held
                writer.stdin.write(write_frame(self._begun))
                while self._held or not self._closing.is_set():
                    begins = accumulate(map(len, self._held), initial=0)
                    near = takewhile(lambda begin: begin <= together, begins)
                    handful = [held for held, _ in zip(self._held, near, strict=False)]
                    is_all = len(handful) == len(self._held)
                    if handful:
                        await self._deliver(writer, handful, None)
                        has_recorded = True
                    if is_all:  # while calls are made, they go first
                        await self._wait_until_closing(GATHERED_S)
                if self._missed is not None:
                    await self._deliver(writer, [], self._missed)
                    self._missed = None
                writer.stdin.close()
            await writer.wait()
        finally:
            if writer.returncode is None:
                writer.kill()
                await writer.wait()
        return has_recorded

    async def _deliver(
        self, writer: Process, handful: list[msgspec.Raw], missed: MissedExchanges | None
    ) -> None:
        """Raises:
        ConnectionError, EOFError: the writer ended before it had recorded this.
        """
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write(write_frame((handful, missed)))
        await writer.stdin.drain()
        while True:
            said = msgspec.json.decode(await writer.stdout.readuntil(), type=Recorded)
            self.trouble = said.trouble
            if not said.trouble:
                break
        self.session_id = said.session_id
        for _ in handful:
            self._forget_first()
        self.recorded += len(handful)
        if said.refused is not None:
            self.recorded -= said.refused.count
            self._miss(said.refused)

    def _forget_first(self) -> msgspec.Raw:
        held = self._held.popleft()
        self._size -= len(held)
        return held

    async def _wait_until_closing(self, most_s: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), most_s)


# 3. The proxy --------------------------------------------------------------------------------


class RecordedRun(Result, frozen=True, tag_field="format", tag="calls-record/1"):
    """What came of a run."""

    session_id: str
    """Of its calls; the first, where one does not hold all; empty without any."""
    exit_code: int
    """Of the program."""
    recorded: int
    missed: int
    """Calls that the log lacks."""
    unanswered: int
    """Calls to which no whole answer came."""
    not_answering: tuple[str, ...]
    """Addresses from which some of them got no answer at all."""
    trouble: str
    """Why the log took nothing at the end; empty where it took all."""


async def record_run(
    begun: RunBegun, command: Sequence[str], routes: Sequence[Route], env: Mapping[str, str]
) -> RecordedRun:
    """Run a program and record its calls.

    Raises:
        Refused: the program is not found, or a proxy or the certificates of the environment cannot
            be used.
    """
    asked = [route._replace(proxy=_proxy_of(route.url)) for route in routes]
    _check_certificates(env.get("SSL_CERT_FILE") or None, env.get("SSL_CERT_DIR") or None)
    handover = Handover(begun)
    proxy = _RecordingProxy(asked, handover)
    try:
        told = partial(build_environment, env, routes)
        async with serve_program(command, told, proxy.answer, handover.give_up) as code:
            await proxy.client.close()
            await handover.close()
    finally:  # where the proxy could not serve
        await handover.close()
    return RecordedRun(
        session_id=handover.session_id,
        exit_code=code,
        recorded=handover.recorded,
        missed=handover.calls - handover.recorded,
        unanswered=handover.unanswered,
        not_answering=tuple(sorted(proxy.not_answering)),
        trouble=handover.trouble,
    )


def _check_certificates(file: str | None, folder: str | None) -> None:
    """Raises:
    Refused: those that the environment names cannot be read.
    """
    try:
        if file or folder:
            ssl.create_default_context(cafile=file, capath=folder)
    except OSError as error:
        raise Refused(f"the certificates cannot be read: {error}; look at SSL_CERT_FILE") from error


@cache
def _trusted_certificates() -> Any:
    """Those of the providers' SDKs, which takes 0.2 s: the first call of https reads them."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def _proxy_of(url: str) -> str | None:
    """The proxy of the environment that a request goes through; what is said to this machine none.

    Raises:
        Refused: it cannot be used.
    """
    parts = urlsplit(url)
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found or is_local(url) or proxy_bypass(parts.hostname or ""):
        return None
    scheme, _, address = found.rpartition("://")
    if scheme not in ("", "http", "https"):
        message = f"the environment names a proxy of {scheme}: expected one of http or https"
        todo = f"set {parts.scheme.upper()}_PROXY to such a one, or NO_PROXY to {parts.hostname}"
        raise Refused(f"{message}; {todo}")
    if problem := problem_of_proxy():
        raise Refused(problem)
    return f"{scheme or 'http'}://{address}"


class _RecordingProxy:
    """Passes requests on and answers back, and hands both over."""

    def __init__(self, routes: Sequence[Route], handover: Handover) -> None:
        self._routes = {route.name: route for route in routes}
        self._handover = handover
        self.not_answering = set[str]()
        """Addresses of providers."""

    @cached_property
    def client(self) -> Any:
        """Connections to providers."""
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

        return ClientSession(
            connector=TCPConnector(limit=0),
            auto_decompress=False,
            cookie_jar=DummyCookieJar(),
            max_field_size=HEAD_MAX,
            max_line_size=HEAD_MAX,
            skip_auto_headers=("accept", "accept-encoding", "content-type", "user-agent"),
            timeout=ClientTimeout(total=None),
        )

    async def answer(self, request: Any, name: str, path: str) -> Any:
        """What the provider answers, as it comes."""
        from aiohttp import ClientError, web

        if (route := self._routes.get(name)) is None:
            return web.Response(status=404, text="no such route\n")
        exchange = Exchange(
            at=clock_ids.now(),
            route=name,
            method=request.method,
            path=path,
            body_type=_valid_text(request.headers.get("content-type", "")),
            body=await request.read(),
            users=tuple(map(_valid_text, find_header_users(dict(request.headers)))),
            ended="the program left",
        )
        size, out = len(exchange.body), None
        began = time.perf_counter()
        try:
            async with self._ask(request, route, exchange) as response:
                exchange.status = response.status
                out = web.StreamResponse(status=response.status, reason=response.reason)
                for field, value in response.headers.items():
                    small = field.lower()
                    given = route.lead_back(path, value) if small == "location" else value
                    exchange.headers += ((small, _valid_text(given)),)
                    if small not in _OF_ONE_CONNECTION:
                        out.headers.add(field, given)
                await out.prepare(request)
                async for piece in response.content.iter_any():
                    size += len(piece)
                    if size <= HELD_MAX:  # else there is no room for it
                        after_ms = round(1_000 * (time.perf_counter() - began))
                        exchange.pieces.append((after_ms, piece))
                    if piece.rstrip().endswith(b"data: [DONE]"):  # here OpenAI's SDK leaves
                        exchange.ended = ""
                    await out.write(piece)
            await out.write_eof()
            exchange.ended = ""
        except (ClientError, TimeoutError, OSError) as error:
            if request.transport is not None and not request.transport.is_closing():
                what = "the connection broke" if exchange.status else "no answer"
                exchange.ended = f"{what}: {type(error).__name__}"
                if not exchange.status:
                    self.not_answering.add(route.url)
                request.protocol.force_close()  # the program sees an answer that is not whole
        finally:
            self._handover.put(exchange, size)
        return web.Response() if out is None else out

    def _ask(self, request: Any, route: Route, exchange: Exchange) -> Any:
        from yarl import URL

        headers = [(n, v) for n, v in request.headers.items() if n.lower() not in _OF_REQUEST]
        return self.client.request(
            exchange.method,
            URL(route.url_of(exchange.path), encoded=True),
            data=exchange.body or None,
            headers=[*headers, ("accept-encoding", "identity")],
            allow_redirects=False,
            proxy=route.proxy,
            ssl=_trusted_certificates() if route.url.startswith("https:") else True,
        )


def _valid_text(value: str) -> str:
    """Of a header, whose bytes may be no UTF-8."""
    return value.encode("utf-8", "replace").decode()
