"""Waits for appends of other processes: by LISTEN where the engine has it, else by the clock.

A hint may be lost (docs/decisions/0013), so a follower never waits for one alone.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from typing import Final, Protocol

from preflights_es.core.errors import StoreUnavailable
from preflights_es.store.database import Database, Ear

AGAIN_S: Final = 1.0  # seconds between two tries to find an ear again that was lost


class _Readable(Protocol):
    def fileno(self) -> int: ...


class Listener:
    """One who waits, and can be told to stop by a signal or by another thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ear: Ear | None = None
        self._may_hear = True
        self._tried = -AGAIN_S
        self._bell, self._rope = socket.socketpair()
        self._rope.setblocking(False)
        self.is_stopped = False

    @property
    def hears(self) -> bool:
        """Whether there is an ear now."""
        return self._ear is not None

    def listen(self) -> bool:
        """Whether there is a new ear, which was told of nothing that came before."""
        if self._ear is not None or not self._may_hear:
            return False
        if (now := time.monotonic()) - self._tried < AGAIN_S:
            return False
        self._tried = now
        with suppress(StoreUnavailable):  # who looks at the log itself is told
            self._ear = self._database.ear()
            self._may_hear = self._ear is not None
        return self._ear is not None

    def wait(self, seconds: float) -> bool:
        """Whether there was a hint, or may have been one, before the time was over.

        It ends at once where it is told to stop.
        """
        until = time.monotonic() + seconds
        while not self.is_stopped:
            if self.listen():
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            if self._ear is None:
                self._readable(min(left, AGAIN_S) if self._may_hear else left)
            elif self._readable(left, self._ear):
                if self._ear.heard():
                    return not self.is_stopped
                if self._ear.is_broken:
                    self._ear.close()
                    self._ear = None
        return False

    def _readable(self, seconds: float, ear: Ear | None = None) -> bool:
        """Whether an ear has something to say."""
        with DefaultSelector() as selector:
            selector.register(self._bell, EVENT_READ)
            if ear is not None:
                selector.register(ear, EVENT_READ, "ear")
            return any(key.data for key, _ in selector.select(seconds))

    def stop(self) -> None:
        """The waiting process goes on, and waits no more; a signal may call this at any moment."""
        self.is_stopped = True
        with suppress(OSError):  # it was rung already, or is closed
            self._rope.send(b"\n")

    def close(self) -> None:
        """Give the connection back."""
        if self._ear is not None:
            self._ear.close()
        self._bell.close()
        self._rope.close()
