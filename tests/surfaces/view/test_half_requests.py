"""Requests that do not come whole, or are invalid: the connection ends, the terminal is quiet."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from time import monotonic
from typing import Final

import pytest

from preflights_es.surfaces.view.rendering import Site
from preflights_es.surfaces.view.server import Timely, bound, serving
from preflights_es.use.bootstrap import opened_process
from tests.cli.program import Project
from tests.each import each
from tests.surfaces.view.conftest import KEYS

WITHIN_S: Final = 0.15


class Soon(Timely):
    """As the page's, in a time that a test can wait."""

    within_s = WITHIN_S


@pytest.fixture
def port(shop: Project) -> Iterator[int]:
    """Of a server that gives a request a short time."""
    program = opened_process(shop.folder, terminal=True, creates=False)
    with closing(program.process), bound(0) as listening:
        found = int(listening.getsockname()[1])
        server = serving(Site(program.request(), KEYS, found))
        assert server.config.http is Timely
        server.config.http = Soon
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield found
        finally:
            server.should_exit = True
            thread.join()


def said(port: int, *parts: bytes) -> tuple[bytes, float]:
    """What is answered until the connection ends, and after how many seconds that is."""
    began = monotonic()
    with closing(socket.create_connection(("127.0.0.1", port), 10)) as wire:
        for part in parts:
            wire.sendall(part)
        found = b"".join(iter(lambda: wire.recv(65_536), b""))
    return found, monotonic() - began


@pytest.fixture
def whole(port: int) -> bytes:
    """A request that is answered."""
    lines = (
        "GET / HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Cookie: preflights_{port}={KEYS.cookie}",
    )
    return "\r\n".join((*lines, "", "")).encode()


def half_form(port: int) -> bytes:
    """The form of a page, without its end."""
    origin = f"http://127.0.0.1:{port}"
    lines = (
        *("POST /sessions/x/replay HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Origin: {origin}"),
        *(f"Cookie: preflights_{port}={KEYS.cookie}", "Content-Length: 100", ""),
    )
    return "\r\n".join((*lines, "form_token=")).encode()


def test_half_a_request_ends_in_time(port: int, whole: bytes) -> None:
    for parts in ((), (b"GET / HT",), (whole[:-2],), (half_form(port),)):
        found, took = said(port, *parts)
        assert WITHIN_S * 0.9 < took < 5, parts
        assert found == b""


def test_half_a_request_behind_a_whole_one_ends_in_time(port: int, whole: bytes) -> None:
    with closing(socket.create_connection(("127.0.0.1", port), 10)) as wire:
        wire.sendall(whole)
        assert wire.recv(65_536).startswith(b"HTTP/1.1 200")
        wire.sendall(whole[:20])
        began = monotonic()
        while wire.recv(65_536):
            pass
        assert monotonic() - began < 4  # the pause between two requests may be five seconds


def test_half_a_form_that_came_with_a_whole_request_ends_in_time(port: int, whole: bytes) -> None:
    found, took = said(port, whole + half_form(port))
    assert found.startswith(b"HTTP/1.1 200")
    assert took < 5


def test_a_request_in_parts_and_one_that_is_followed_are_answered(port: int, whole: bytes) -> None:
    with closing(socket.create_connection(("127.0.0.1", port), 10)) as wire:
        for at in range(3):
            threading.Event().wait(WITHIN_S / 10)
            wire.sendall(whole[at * 30 : (at + 1) * 30])
        wire.sendall(whole[90:])
        assert wire.recv(65_536).startswith(b"HTTP/1.1 200")


@each(
    "sent", [b"\0\x16\x03\x01 no http\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\nno\r\n\r\n"]
)
def test_what_is_no_request_is_refused_quietly(
    port: int, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    with caplog.at_level(logging.WARNING, "asyncio"):
        found, _ = said(port, sent)
        said(port, half_form(port))
    assert found.startswith(b"HTTP/1.1 400")
    assert caplog.records == []
