"""What is no request is refused, and the terminal is quiet."""

from __future__ import annotations

import socket
import threading
from contextlib import closing

import pytest

from preflights_es.surfaces.view.rendering import Site
from preflights_es.surfaces.view.server import bound, serving
from preflights_es.use.bootstrap import opened_process
from tests.cli.program import Project
from tests.surfaces.view.conftest import KEYS


def test_what_is_no_request_is_refused_quietly(
    shop: Project, caplog: pytest.LogCaptureFixture
) -> None:
    program = opened_process(shop.folder, terminal=True, creates=False)
    with closing(program.process), bound(0) as listening:
        address = listening.getsockname()
        server = serving(Site(program.request(), KEYS, address[1]))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            for sent in (b"\0\x16\x03\x01 no http", b"GET /", b"GET / HTTP/1.1\r\nno"):
                with closing(socket.create_connection(address, 10)) as wire:
                    wire.sendall(sent + b"\r\n\r\n")
                    assert wire.recv(65_536).startswith(b"HTTP/1.1 400"), sent
        finally:
            server.should_exit = True
            thread.join()
    assert caplog.records == []
