"""What is no request is refused, and the terminal is quiet."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from tests.cli.program import Project
from tests.surfaces.view.test_live import served


def test_bad_requests_are_refused_quietly(shop: Project, caplog: pytest.LogCaptureFixture) -> None:
    with served(shop) as server:
        for sent in (b"\0\x16\x03\x01 no http", b"GET /", b"GET / HTTP/1.1\r\nno"):
            with closing(socket.create_connection(("127.0.0.1", server.port), 10)) as wire:
                wire.sendall(sent + b"\r\n\r\n")
                assert wire.recv(65_536).startswith(b"HTTP/1.1 400"), sent
    assert caplog.records == []
