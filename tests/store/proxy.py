"""Between a client and the server, to hang up at a moment that a test chooses."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

from sqlalchemy.engine import make_url

CHUNK = 65_536  # bytes; what these tests say at once is shorter
ANSWER_S = 30  # seconds that the server may take to answer
MIDDLE_S = 0.05  # seconds in which it may have an answer to what is perhaps no question


class Proxy:
    """Takes connections at a port of this machine and passes on what is said, piece by piece."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.left: int | None = None
        """Pieces that the client may still say; the one after is its last. None for any number."""
        self.word: bytes | None = None
        """What the client's last piece holds; None for anything."""
        self.heard = False
        """Whether the server hears that last piece, and answers it, before the line is cut."""
        self.late_s = 0.0
        """Seconds by which the server hears that last piece after the client's line was cut."""
        self.last = False
        """Whether no connection is taken after the one that is cut."""
        self.said = b""
        """The last piece that the client said before the line was cut."""
        threading.Thread(target=self._take, daemon=True).start()

    @property
    def url(self) -> str:
        """The same database by way of this proxy."""
        host, port = self._listener.getsockname()
        query = {
            key: value for key, value in self._url.query.items() if key not in ("host", "port")
        }
        made = self._url.set(host=host, port=port, query=query)
        return made.render_as_string(hide_password=False)

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client, self._server() as server:
            muted, answered = threading.Event(), threading.Event()
            back = threading.Thread(
                target=self._passed, args=(server, client, muted, answered), daemon=True
            )
            back.start()
            while piece := _received(client):
                at_word = self.word is not None and self.word in piece
                if self.left == 0 or at_word:
                    self.left, self.word, self.said = None, None, piece
                    if self.last:
                        _shut(self._listener)
                    if self.late_s:
                        _shut(client)
                        time.sleep(self.late_s)
                    if self.heard:
                        muted.set()
                        server.sendall(piece)
                        # A piece from the middle of a pipeline has no answer of its own.
                        answered.wait(ANSWER_S if at_word else MIDDLE_S)
                    break
                if self.left is not None:
                    self.left -= 1
                server.sendall(piece)
            _shut(client)
            _shut(server)
            back.join()

    def _passed(
        self,
        server: socket.socket,
        client: socket.socket,
        muted: threading.Event,
        answered: threading.Event,
    ) -> None:
        """What the server says, as long as it is not kept from the client."""
        while piece := _received(server):
            if muted.is_set():
                answered.set()
                continue
            with suppress(OSError):
                client.sendall(piece)
        answered.set()
        _shut(client)

    def _server(self) -> socket.socket:
        host = self._url.query.get("host") or self._url.host or "localhost"
        port = int(str(self._url.query.get("port") or self._url.port or 5432))
        assert isinstance(host, str), "one server"
        if host.startswith("/"):
            made = socket.socket(socket.AF_UNIX)
            made.connect(f"{host}/.s.PGSQL.{port}")
            return made
        return socket.create_connection((host, port))

    def close(self) -> None:
        """Take no more connections, and wait for those there are to end."""
        _shut(self._listener)
        self._listener.close()
        for thread in self._threads:
            thread.join()


def _received(line: socket.socket) -> bytes:
    try:
        return line.recv(CHUNK)
    except OSError:
        return b""


def _shut(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
