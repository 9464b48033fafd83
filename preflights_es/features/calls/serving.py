"""A program that runs, and the server on this machine that it calls meanwhile."""

from __future__ import annotations

import asyncio
import gc
import logging
import shutil
import signal
import socket
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from preflights_es.kernel.errors import ExtraMissing, Refused
from preflights_es.system import clock_ids

HEAD_MAX: Final = 64 * 1024  # bytes of a line of a head
BODY_MAX: Final = 1 << 30  # bytes of a request: larger ones are refused
CONNECTIONS_MAX: Final = 512  # that wait to be served

Answer = Callable[[Any, str, str], Awaitable[Any]]
"""From a request, the route's name and the path to a response of aiohttp."""


def require_aiohttp() -> None:
    """Raises:
    ExtraMissing: aiohttp is not here.
    """
    if find_spec("aiohttp") is None:  # its import takes long: the program starts meanwhile
        raise ExtraMissing("recording and replaying calls", "record")


@asynccontextmanager
async def serve_program(
    command: Sequence[str],
    told: Callable[[str], Mapping[str, str]],
    answer: Answer,
    interrupted: Callable[[], object],
) -> AsyncIterator[int]:
    """Run a program that has our standard streams, and serve it on this machine alone.

    What it asks before aiohttp is there waits in the socket.

    Args:
        told: its environment, from the address of the server.
        interrupted: what Ctrl-C and a request to end do once the program has ended.

    Yields:
        Its exit code; of a signal as a shell says it.

    Raises:
        Refused: it cannot be started.
    """
    # With its protocol named, asyncio sends without Nagle's delay: 44 ms a call.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(CONNECTIONS_MAX)
        port, secret = listening.getsockname()[1], clock_ids.salt().hex()
        process = await _start_program(command, told(f"http://127.0.0.1:{port}/{secret}"))
        with _signals_for(process, interrupted):
            try:
                await asyncio.to_thread(import_module, "aiohttp.web")
                runner = await _listen(listening, f"/{secret}/", answer)
                gc.freeze()  # else each full collection stops all calls for 50 ms
                code = await process.wait()
                await runner.cleanup()
            finally:  # whatever ended the proxy: no call of the program would be answered
                with suppress(ProcessLookupError):
                    process.kill()
            yield code if code >= 0 else 128 - code


async def _start_program(command: Sequence[str], env: Mapping[str, str]) -> Process:
    name, *words = command
    program = shutil.which(name, path=env.get("PATH")) or name  # of Windows, also a `.cmd`
    try:
        return await asyncio.create_subprocess_exec(program, *words, env=dict(env))
    except OSError as error:
        message = f"the program {name!r} cannot be started: {error.strerror}"
        raise Refused(f"{message}; name one that can be run") from error


async def _listen(listening: socket.socket, secret: str, answer: Answer) -> Any:
    """Start a server; it answers requests with the random part of the address."""
    from aiohttp import web

    host = f"127.0.0.1:{listening.getsockname()[1]}"

    async def guarded(request: Any) -> Any:
        path = request.raw_path
        if request.headers.get("host", host) != host:
            return web.Response(status=421, text="this is the proxy of another host\n")
        if "origin" in request.headers:
            return web.Response(status=403, text="no page of a browser is served\n")
        if not path.startswith(secret):
            return web.Response(status=404, text="this path is not served\n")
        # Java offers HTTP/2 in this header too, and takes the answer without it.
        if request.headers.get("upgrade", "").lower() == "websocket":
            return web.Response(status=501, text="WebSockets cannot be recorded\n")
        if request.headers.get("expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # of the answer nothing is sent
        route, slash, rest = path.removeprefix(secret).partition("/")
        return await answer(request, route, slash + rest)

    logger = logging.getLogger(__name__)
    logger.addFilter(_is_well_formed)
    loop = asyncio.get_running_loop()
    # Without an application: its router takes a tenth of what a call takes.
    server = web.Server(
        guarded,
        request_factory=partial(web.BaseRequest, loop=loop, client_max_size=BODY_MAX),
        handler_cancellation=True,
        access_log=None,
        logger=logger,
        auto_decompress=False,
        max_field_size=HEAD_MAX,
        max_line_size=HEAD_MAX,
    )
    runner = web.ServerRunner(server, shutdown_timeout=1.0)
    await runner.setup()
    await web.SockSite(runner, listening, backlog=CONNECTIONS_MAX).start()
    return runner


def _is_well_formed(failed: logging.LogRecord) -> bool:
    """What is no HTTP is answered by status 400, and the program's own to tell."""
    from aiohttp.http_exceptions import HttpProcessingError

    return not (failed.exc_info and isinstance(failed.exc_info[1], HttpProcessingError))


@contextmanager
def _signals_for(process: Process, interrupted: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C reaches the program by itself; a request to end is handed on. Its end is ours."""
    loop = asyncio.get_running_loop()

    def hear(number: int, _frame: object) -> None:
        if process.returncode is not None:
            loop.call_soon_threadsafe(interrupted)
        elif number == signal.SIGTERM:
            with suppress(ProcessLookupError):
                process.send_signal(number)

    # A function and not SIG_IGN, which the program would inherit; as it does where that was set.
    before = {
        number: signal.signal(number, hear)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
