"""Keeps projections up to date in the background: looks for what moved, again and again.

It is optional: each read of a projection catches up first (docs/decisions/0018).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

from preflights_es.kernel.errors import CommitUnknown, StoreUnavailable

RETRY_S: Final = 2.0  # seconds at most until it looks again at a log that it could not use


class Ended(Exception):
    """The follower was asked to stop: it does so between two transactions."""


class Follower:
    """One of any number; they share the work."""

    def __init__(
        self,
        every_s: float,
        progress: Callable[[int], None],
        trouble: Callable[[StoreUnavailable | CommitUnknown], None],
    ) -> None:
        """Args:
        every_s: seconds between two looks.
        progress: is told how many sessions were folded: after the first look, after each look
            that folded some, and after trouble. A session that moved twice may count twice.
        trouble: is told of a log that cannot be used now; the follower tries again.
        """
        self._every_s = every_s
        self._progress = progress
        self._trouble = trouble
        self._sessions = 0
        self._asked: SimpleQueue[None] = SimpleQueue()  # `put` is safe within a signal's handler

    def stop(self) -> None:
        """Ask it to end; a signal's handler or another thread may call this at any moment."""
        self._asked.put(None)

    def folded(self, sessions: int) -> None:
        """Count what a transaction folded, once it is over.

        Raises:
            Ended: no other transaction must begin.
        """
        self._sessions += sessions
        if not self._asked.empty():
            raise Ended

    def follow(self, catch_up: Callable[[], None]) -> None:
        """Catch up every so often, until `stop` is called.

        Args:
            catch_up: calls `folded` after each of its transactions.

        Raises:
            NewerProjection: a newer version of this program keeps one of the projections.
            StoreUnavailable: the log could not be used the first time.
        """
        is_first = is_well = True
        try:
            while True:
                try:
                    catch_up()
                except (StoreUnavailable, CommitUnknown) as error:
                    if is_first:
                        raise
                    is_well = False
                    self._trouble(error)
                else:
                    if is_first or self._sessions or not is_well:
                        self._tell()
                    is_first, is_well = False, True
                self._wait(self._every_s if is_well else min(RETRY_S, self._every_s))
        except Ended:
            if self._sessions:
                self._tell()

    def _wait(self, seconds: float) -> None:
        with suppress(Empty):
            self._asked.get(timeout=seconds)
            raise Ended

    def _tell(self) -> None:
        self._progress(self._sessions)
        self._sessions = 0
