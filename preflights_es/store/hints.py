"""Hints of appends, by NOTIFY: they save time, and may get lost (docs/decisions/0013).

Within the append's transaction, NOTIFY would take a lock of the whole server at the commit. So a
hint is sent after it, as the connection goes back to the pool. No writer waits for it: its answer
is read before the connection is used again.
"""

from __future__ import annotations

import time
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Final

import psycopg
from psycopg import pq
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import PoolProxiedConnection

PAUSE_S: Final = 0.1  # seconds between two hints of one store, however much it appends
LOCK_MS: Final = 100  # that a hint stands in line behind another NOTIFY's commit, then it is lost
ANSWER_S: Final = 2  # seconds that the answer to a hint may take, then its connection is replaced

_CHANNEL: Final = "preflights"
# One text is one trip, and one transaction: the limit ends with it, poolers or not.
_NOTIFY: Final = f"SET LOCAL lock_timeout = {LOCK_MS}; NOTIFY {_CHANNEL}".encode()
_LISTEN: Final = f"LISTEN {_CHANNEL}".encode()
_NEVER: Final = ("0A", "42")
"""Classes of SQLSTATE: not supported; not known, or not allowed. Asking again changes nothing."""

_OWED: Final = "preflights_hint_owed"
_SENT: Final = "preflights_hint_sent"


class Hints:
    """What one store tells those who listen; no promise, and never in an append's way."""

    def __init__(self, engine: Engine) -> None:
        self._are_known = True  # to the server, until it says otherwise
        self._last = -PAUSE_S
        self._is_behind = False
        self._idle: Any = None  # the connection that was given back last
        event.listen(engine, "checkin", self._on_checkin)
        event.listen(engine, "checkout", self._on_checkout)

    def owe(self, connection: PoolProxiedConnection) -> None:
        """Something was committed by the connection: tell it with the next hint.

        The first of many is told at once, the rest by who comes after the pause, or at the end.
        """
        now = time.monotonic()
        self._is_behind = self._are_known
        if self._are_known and now - self._last >= PAUSE_S:
            self._last, self._is_behind = now, False
            connection.info[_OWED] = True

    def finish(self) -> None:
        """Send the hints that are left, and wait for the server: the end of the process drops them.

        No connection is made for it.
        """
        line, self._idle = self._idle, None
        if line is None or line.closed or not self._answered(line.pgconn) or not self._is_behind:
            return
        self._is_behind = False
        with suppress(psycopg.Error):  # as below
            line.pgconn.send_query(_NOTIFY)
            self._answered(line.pgconn)

    def _on_checkin(self, line: Any, record: Any) -> None:
        self._idle = line
        if line is None or not record.info.pop(_OWED, False):
            return
        # The append is acknowledged. The next use of the line finds that it broke, and replaces
        # it; an error raised here would deny what was recorded.
        with suppress(psycopg.Error):
            line.pgconn.send_query(_NOTIFY)
            record.info[_SENT] = True

    def _on_checkout(self, line: Any, record: Any, _proxy: Any) -> None:
        """Read the answer to a hint, so that the next statement does not take it for its own."""
        self._idle = None
        if record.info.pop(_SENT, False) and not self._answered(line.pgconn):
            raise DisconnectionError("the line broke behind an append, or the server is silent")

    def _answered(self, line: pq.abc.PGconn) -> bool:
        """Whether the connection can be used again; what the server said of the hint is learned."""
        until = time.monotonic() + ANSWER_S
        with suppress(psycopg.Error):
            while True:
                line.consume_input()
                while not line.is_busy():
                    if (result := line.get_result()) is None:
                        return line.status == pq.ConnStatus.OK
                    self._learn(result)
                if not _readable(line.socket, until - time.monotonic()):
                    return False
        return False

    def _learn(self, result: pq.abc.PGresult) -> None:
        if result.status == pq.ExecStatus.FATAL_ERROR:
            state = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
            if state.decode().startswith(_NEVER):
                self._are_known = False


class Ear:
    """A connection of its own that hears hints."""

    def __init__(self, line: Any) -> None:
        self._line = line

    def fileno(self) -> int:
        """What becomes readable when a hint comes, or the line breaks."""
        number: int = self._line.pgconn.socket
        return number

    def heard(self) -> bool:
        """Whether hints came since the last time."""
        came = False
        try:
            self._line.pgconn.consume_input()
            while self._line.pgconn.notifies() is not None:
                came = True
        except psycopg.Error:  # whatever it is: there are other ways to know what moved
            self._line.close()
        return came

    @property
    def is_broken(self) -> bool:
        """Whether no hint will ever come again."""
        return bool(self._line.pgconn.status != pq.ConnStatus.OK)

    def close(self) -> None:
        """Give the connection back."""
        self._line.close()


def listening(connection: PoolProxiedConnection) -> Ear | None:
    """An ear, by a connection that leaves its pool; None where it would hear nothing.

    A pooler between us and the server names another process than the server does; LISTEN would
    then work for another client.
    """
    line: Any = connection.driver_connection
    connection.detach()
    try:
        (pid,) = line.execute("SELECT pg_backend_pid()").fetchone()
        if pid == line.info.backend_pid:
            line.execute(_LISTEN)
            return Ear(line)
    except psycopg.Error as error:
        if not (error.sqlstate or "").startswith(_NEVER):
            line.close()
            raise
    line.close()
    return None


def _readable(socket: int, seconds: float) -> bool:
    with DefaultSelector() as selector:
        selector.register(socket, EVENT_READ)
        return bool(selector.select(max(0.0, seconds)))
