"""A session that goes on is followed, by few pages at once, until the server ends."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import NamedTuple

import pytest

from preflights_es.kernel.ports import Access
from preflights_es.surfaces.view import sessions
from preflights_es.surfaces.view.rendering import Site
from preflights_es.surfaces.view.server import bound, serving
from preflights_es.use.bootstrap import opened_process
from tests.cli.program import Project
from tests.surfaces.view.conftest import KEYS

PATIENCE_S = 10


class Server(NamedTuple):
    """The pages of a project on a port."""

    port: int

    @contextmanager
    def follow(self, session: str, after: int = 1) -> Iterator[http.client.HTTPResponse]:
        """What the server sends of a session."""
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        with closing(wire):
            cookie = {"Cookie": f"preflights_{self.port}={KEYS.cookie}"}
            wire.request("GET", f"/sessions/{session}/live?after={after}", headers=cookie)
            with wire.getresponse() as found:
                yield found

    def status(self, session: str) -> int:
        """What one more page is told."""
        with self.follow(session) as found:
            return found.status


@contextmanager
def served(shop: Project) -> Iterator[Server]:
    """A server that ends soon, also while pages follow a session."""
    program = opened_process(shop.folder, terminal=True, access=Access.WRITE)
    with closing(program.process), bound(0) as listening:
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), (
            "no page waits in pieces"
        )
        port = listening.getsockname()[1]
        server = serving(Site(program.request(), KEYS, port))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield Server(port)
        finally:
            began = time.monotonic()
            server.should_exit = True
            thread.join()
            assert time.monotonic() - began < PATIENCE_S


def news(found: http.client.HTTPResponse) -> Iterator[int]:
    """The versions that come; words that keep the line open are passed over."""
    for line in found:
        if line.startswith(b"data: "):
            yield int(line.removeprefix(b"data: "))


def test_each_version_of_a_session_is_told(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "LOOKS", 1)
    id_ = shop.started_session()
    version = shop.show(id_)["version"]
    with served(shop) as server, server.follow(id_, version) as found:
        assert found.status == 200
        assert found.headers["content-type"].startswith("text/event-stream")
        shop.call("answer", id_, "auth_strategy=OAuth")
        assert next(news(found)) == shop.show(id_)["version"] > version


def test_what_came_before_is_told_at_once_and_few_pages_follow_at_once(shop: Project) -> None:
    id_ = shop.started_session()
    with served(shop) as server, server.follow(id_) as found:
        assert next(news(found)) == shop.show(id_)["version"]
    with ExitStack() as stack, served(shop) as server:
        for _ in range(sessions.LIVE_MAX):
            following = stack.enter_context(server.follow(id_))
            next(news(following))
        assert server.status(id_) == 503


def test_pages_that_ask_at_the_same_time_are_counted_too(shop: Project) -> None:
    id_ = shop.started_session()
    with ExitStack() as stack, served(shop) as server:
        wires = [
            stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", server.port)))
            for _ in range(4 * sessions.LIVE_MAX)
        ]
        cookie = {"Cookie": f"preflights_{server.port}={KEYS.cookie}"}
        for wire in wires:
            wire.request("GET", f"/sessions/{id_}/live", headers=cookie)
        found = [wire.getresponse().status for wire in wires]
        assert found.count(200) == sessions.LIVE_MAX
        assert found.count(503) == 3 * sessions.LIVE_MAX


def test_who_asks_for_heads_follows_nothing(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "LIVE_MAX", 1)
    id_ = shop.started_session()
    with served(shop) as server:
        wire = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        with closing(wire):
            cookie = {"Cookie": f"preflights_{server.port}={KEYS.cookie}"}
            wire.request("HEAD", f"/sessions/{id_}/live", headers=cookie)
            found = wire.getresponse()
            assert (found.status, found.read()) == (200, b"")
            assert found.headers["content-type"].startswith("text/event-stream")
            assert server.status(id_) == 200


def test_a_page_that_is_gone_makes_room(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "LIVE_MAX", 1)
    id_ = shop.started_session()
    with served(shop) as server:
        with server.follow(id_) as following:
            next(news(following))
            assert server.status(id_) == 503
        ends = time.monotonic() + PATIENCE_S
        while (status := server.status(id_)) == 503 and time.monotonic() < ends:
            time.sleep(0.1)
        assert status == 200
