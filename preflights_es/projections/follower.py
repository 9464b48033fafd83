"""Keeps projections up to date in the background, so that their readers find nothing to fold.

It is optional: a reader of a projection catches up first, with or without a follower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from preflights_es.core.errors import CommitUnknown, StoreUnavailable

ECHO_S: Final = 0.2  # seconds after a hint: twice the pause in which a writer sends no other
RETRY_S: Final = 2.0  # seconds at most until a log that could not be used is tried again


class Line(Protocol):
    """Where a follower waits."""

    is_stopped: bool
    """Whether it should fold nothing more."""

    @property
    def hears(self) -> bool:
        """Whether the engine tells now of appends."""

    def listen(self) -> bool:
        """Begin to be told, where that can be."""

    def wait(self, seconds: float) -> bool:
        """Whether another process may have appended, before the time was over."""


class Progress(msgspec.Struct, frozen=True):
    """What a follower did since it said so the last time."""

    sessions: int
    """That were folded; one that moved twice may count twice."""
    hears: bool
    """Whether the engine tells of appends; else it looks at its own times."""


class Ended(Exception):
    """It is to stop between two transactions."""


class Follower:
    """One of any number; they share the work."""

    def __init__(
        self,
        line: Line,
        every_s: float,
        progress: Callable[[Progress], None],
        trouble: Callable[[StoreUnavailable | CommitUnknown], None],
    ) -> None:
        """Args:
        every_s: seconds between two looks where the engine does not tell of appends.
        progress: is told when the log was caught up with the first time, whenever something was
            folded, and after trouble.
        trouble: is told of a log that cannot be used now; it is tried again.
        """
        self._line = line
        self._every_s = every_s
        self._progress = progress
        self._trouble = trouble
        self._sessions = 0
        self._was_in_trouble = False

    def before(self) -> None:
        """What a transaction asks before it begins.

        Raises:
            Ended: it must not.
        """
        if self._line.is_stopped:
            raise Ended

    def after(self, sessions: int) -> None:
        """What a transaction tells that has folded some sessions."""
        self._sessions += sessions

    def follow(self, catch_up: Callable[[], None]) -> None:
        """Catch up again and again, until the line is stopped.

        Args:
            catch_up: calls `before` and `after` around each of its transactions.

        Raises:
            NewerProjection: a newer version of this program keeps one of the projections.
            StoreUnavailable: the log could not be used the first time.
        """
        self._line.listen()  # before the first look, so that nothing falls between
        try:
            catch_up()
            self._tell()
            heard = False
            while not self._line.is_stopped:
                heard = self._line.wait(self._patience_s(after_hint=heard))
                if not self._line.is_stopped:
                    self._look(catch_up)
        except Ended:
            if self._sessions:
                self._tell()

    def _patience_s(self, *, after_hint: bool) -> float:
        """Seconds until the next look.

        A writer tells of the first of many appends at once, and of the rest perhaps never: who
        looks once more behind a hint has seen them.
        """
        if after_hint:
            return min(ECHO_S, self._every_s)
        return min(RETRY_S, self._every_s) if self._was_in_trouble else self._every_s

    def _look(self, catch_up: Callable[[], None]) -> None:
        try:
            catch_up()
        except (StoreUnavailable, CommitUnknown) as error:
            self._was_in_trouble = True
            self._trouble(error)
            return
        if self._sessions or self._was_in_trouble:
            self._tell()

    def _tell(self) -> None:
        self._progress(Progress(self._sessions, self._line.hears))
        self._sessions, self._was_in_trouble = 0, False
