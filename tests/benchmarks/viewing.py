"""The page's server, against one of starlette that answers as many bytes and does nothing else."""

from __future__ import annotations

import http.client
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, run
from time import clock_gettime, monotonic
from typing import Final
from urllib.parse import urlsplit

import preflights_es
from tests.benchmarks.measure import Figure, quickest
from tests.benchmarks.startup import PREFLIGHTS
from tests.cli.program import environment

FLOOR: Final = """
import socket, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
page = "x" * int(sys.argv[1])
async def shown(request): return HTMLResponse(page)
listening = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}/", file=sys.stderr, flush=True)
config = uvicorn.Config(
    Starlette(routes=[Route("/", shown)]), log_config=None, access_log=False, lifespan="off"
)
uvicorn.Server(config).run([listening])
"""
READY: Final = 1.3
PAGES: Final = {20: 9.0, 100: 16.0}
"""By the events of a session: how often a plain page of the same size."""
MEMORY_MB: Final = 60
ASKED: Final = 50  # pages of one measurement
STARTS: Final = 7
ROUNDS: Final = 5
WAITED_S: Final = 1.0  # behind it uvicorn may end a connection soon


class Server:
    """A process that serves pages, and a browser at it."""

    def __init__(self, process: Popen[bytes]) -> None:
        assert process.stderr is not None
        self._pid = process.pid
        self._at = urlsplit(process.stderr.readline().decode().strip())
        self._browser = http.client.HTTPConnection(str(self._at.hostname), self._at.port)
        self._cookie = ""
        self._asked_at = monotonic()
        found = self.page(f"/?{self._at.query}" if self._at.query else "/")
        self.first_s = self.cpu_s()
        """CPU seconds from the start of the process to the end of its first answer."""
        assert found

    def page(self, path: str) -> bytes:
        """What a page holds."""
        if monotonic() - self._asked_at > WAITED_S:
            self._browser.close()  # the next request opens it again
        self._asked_at = monotonic()
        self._browser.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._browser.getresponse()
        if cookie := answer.getheader("set-cookie"):
            self._cookie = cookie.partition(";")[0]
        assert answer.status == 200, (path, answer.status)
        return answer.read()

    def cpu_s(self) -> float:
        """CPU seconds so far, user and system."""
        return clock_gettime(~self._pid << 3 | 2)  # what clock_getcpuclockid(3) names on Linux

    def asked_s(self, path: str) -> float:
        """CPU seconds of one page, asked for again and again."""
        before = self.cpu_s()
        for _ in range(ASKED):
            self.page(path)
        return (self.cpu_s() - before) / ASKED

    def memory_mb(self) -> float:
        """The most that was resident."""
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self._pid}/status").read_text())
        assert found
        return int(found[1]) / 1_024


Serving = Callable[[], AbstractContextManager[Server]]


def figures() -> list[Figure]:
    """How soon a server is ready, what pages of sessions cost, and its memory."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = {events: _session(Path(folder), events) for events in PAGES}
        ours = partial(_serving, [*PREFLIGHTS, "view", "--no-browser", "--port", "0"], folder)
        found = [_ready(ours, folder)]
        with ours() as server:
            for events, limit in PAGES.items():
                path = f"/sessions/{sessions[events]}"
                size = len(server.page(path))
                what = f"a page with {events} events"
                found.append(_page(what, partial(server.asked_s, path), size, limit, folder))
            for path in ("/", "/sessions", "/inbox", "/usage"):
                server.page(path)
            memory = server.memory_mb()
    what = "memory of `preflights view` once each page was shown, against 60 MB"
    share = memory / MEMORY_MB
    return [*found, Figure(what, share, 1.0, None, f"{memory:.0f} MB", f"{MEMORY_MB} MB")]


def _page(what: str, ours_s: Callable[[], float], size: int, limit: float, folder: str) -> Figure:
    plain = [sys.executable, "-c", FLOOR, str(size)]
    with _serving(plain, folder) as floor:
        pair = quickest(ours_s, partial(floor.asked_s, "/"), ROUNDS)
    return pair.figure(
        f"{what}, against one of starlette of {size:,} bytes",
        limit,
        lambda taken: f"{taken * 1_000:.2f} ms CPU",
    )


def _ready(ours: Serving, folder: str) -> Figure:
    def first_s(serving: Serving) -> float:
        with serving() as server:
            return server.first_s

    plain = partial(_serving, [sys.executable, "-c", FLOOR, "1000"], folder)
    pair = quickest(partial(first_s, ours), partial(first_s, plain), STARTS)
    return pair.figure(
        "preflights view until its first answer, against a server of starlette",
        READY,
        lambda taken: f"{taken * 1_000:.0f} ms CPU",
    )


@contextmanager
def _serving(words: Sequence[str], folder: str) -> Iterator[Server]:
    env = environment(Path(folder))
    with Popen(words, cwd=folder, env=env, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def _session(folder: Path, events: int) -> str:
    """A session with so many events, or a few more: a value is revised again and again."""
    if not (folder / ".git").exists():
        run(["git", "init", "--quiet", "--template="], cwd=folder, check=True)
    values = cycle(("MySQL", "PostgreSQL"))
    with preflights_es.open(folder) as log:
        found = log.start("Keep orders in a database", answers={"db_type": "PostgreSQL"})
        while found.version < events:
            found = log.answer(found.session_id, {"db_type": next(values)}, revise=True)
    return found.session_id
