"""The server: what it listens on, and how the pages are served behind their guard."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EADDRINUSE
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.surfaces.view import rendering
from preflights_es.surfaces.view.guard import Guard
from preflights_es.surfaces.view.rendering import LOOPBACK, Site

PREPARES_S: Final = 0.2  # behind the start: the first answer goes first, and a browser takes longer
OPENER: Final = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Preflights</title>
<meta http-equiv="refresh" content="0; url={address}"></html>
"""


class LatePages:
    """The pages, whose modules are loaded once they are prepared or asked for."""

    def __init__(self, site: Site, ends: Callable[[], bool]) -> None:
        self._site = site
        self._ends = ends
        self._lock = threading.Lock()
        self._pages: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._loaded()(scope, receive, send)

    def prepare(self) -> None:
        """Load them and the templates of the first one; while a browser starts, there is time."""
        self._loaded()
        rendering.prepare()

    def _loaded(self) -> ASGIApp:
        with self._lock:
            if self._pages is None:
                from preflights_es.surfaces.view.responses import routed_pages

                self._pages = routed_pages(self._site, self._ends)
            return self._pages


def application(site: Site) -> ASGIApp:
    """The pages behind their guard."""
    return Guard(LatePages(site, lambda: False), site.keys, site.port)


@contextmanager
def bound(port: int, tries: int = 1) -> Iterator[socket.socket]:
    """A socket on the loopback address, by the first of some ports that is free.

    Raises:
        StoreUnavailable: none is.
    """
    for last in range(1, tries + 1):
        try:
            found = socket.create_server((LOOPBACK, port + last - 1))
            break
        except OSError as error:
            if last < tries and error.errno == EADDRINUSE:
                continue
            message = f"port {port} of {LOOPBACK} cannot be used: {error.strerror or error}"
            raise StoreUnavailable(message) from error
    with found:
        # A page goes out in two pieces, and the second one waited for the browser's word: 40 ms.
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield found


@contextmanager
def opener(address: str) -> Iterator[str]:
    """The address of a file that leads there, which only this account can read.

    A browser is started with it, so that no token stands in the list of processes.
    """
    with tempfile.TemporaryDirectory(prefix="preflights-view-") as folder:
        path = Path(folder, "open.html")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as made:
            made.write(OPENER.format(address=address))
        yield path.as_uri()


def serving(site: Site) -> uvicorn.Server:
    """What serves the pages, once it is run on a bound socket.

    It ends with Ctrl-C, which is raised again once the last page is out.
    """
    pages = LatePages(site, lambda: server.should_exit)
    config = uvicorn.Config(
        Guard(pages, site.keys, site.port),
        http="h11",  # the other one takes headers of any size
        log_config=None,
        log_level="error",  # what a stranger sends that is no HTTP is no matter of the person
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    later = threading.Timer(PREPARES_S, pages.prepare)
    later.daemon = True
    later.start()
    return server
