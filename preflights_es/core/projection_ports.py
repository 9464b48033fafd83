"""What projections need of a store: sessions that moved, rows and marks, and what holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

import msgspec

from preflights_es.core.events import INT_MAX
from preflights_es.core.ports import Head, Stored

Row = tuple[Any, ...]
"""A row of a projection, its values in the order of the table's columns."""


class Registered(msgspec.Struct, frozen=True):
    """A projection as the log knows it."""

    name: str
    version: int
    """The version of the code that folds it."""
    generation: int
    """The number of rebuilds from zero."""
    complete: bool
    """Whether every session was folded since."""


class Stream(msgspec.Struct, frozen=True):
    """A session as it was read for a projection."""

    head: Head
    events: tuple[Stored, ...]
    damage: str = ""
    """Why it does not verify; empty where it does."""

    @property
    def version(self) -> int:
        """The version up to which it was read."""
        found: list[Any] = [self.head.version, *[one.version for one in self.events[-1:]]]
        # A database keeps what it is given, whatever the column's type says.
        return max([version for version in found if isinstance(version, int)], default=0)


class FoldedSession(msgspec.Struct, frozen=True):
    """What a session folds to, for several projections."""

    session_id: str
    version: int
    """The version up to which it is folded."""
    rows: Mapping[str, tuple[Row, ...]]
    """By projection: all of its rows for the session, in place of those that it has."""


class Folded(msgspec.Struct, frozen=True):
    """What came of folding some sessions."""

    turns: tuple[FoldedSession, ...]
    left: tuple[str, ...] = ()
    """Sessions that this program cannot read: they wait for a newer one."""


Fold = Callable[[Iterable[Stream]], Folded]
"""Pure: where a database asks for it, it is done once more."""


Choice = Literal["all", "in_force", "unfolded"]
"""Which rows are read. There may be more of them, so a reader checks each.

`in_force`: of `decisions`, what was accepted and not superseded at a time. `unfolded`: of
`sessions`, those that are damaged, erased or faulted.
"""


class Kept(msgspec.Struct, frozen=True):
    """What a projection keeps of a session, as it lies there: a database keeps what it is given."""

    of: Any
    """Version of the code that folds the projection; None where it was never begun."""
    complete: Any
    """Whether every session was folded since."""
    mark: Any
    """How far the projection says that it folded the session; None where it never did."""
    waits: Any
    """Whether the outbox has the session: the next reader folds it."""
    rows: tuple[Row, ...]


class Following(Protocol):
    """What projections need of a store: what moved, sessions, and a place for rows and marks.

    Rows and the marks that say how far they go are written in one transaction; a session that a
    projection has folded as far already, or farther, stays as it is.
    """

    def registered(self) -> dict[str, Registered]:
        """The projections that were ever begun, by name."""

    def begin(self, name: str, version: int) -> None:
        """Begin a projection from zero: its rows and marks go; nothing where it is under way."""

    def finish(self, name: str, generation: int) -> bool:
        """Say that every session was folded since `begin`; False where it was begun again."""

    def follow(
        self, after: tuple[str, int], limit: int, versions: Mapping[str, int], fold: Fold
    ) -> tuple[str, int] | None:
        """Fold some of the sessions that moved, and take them out of the outbox.

        Args:
            after: session id and version of the last one that was taken.
            versions: of the projections that are folded.

        Returns:
            The last that was taken now; None where none is left.

        Raises:
            NewerProjection: a newer version of this program keeps one of the projections.
        """

    def hurried(self) -> AbstractContextManager[None]:
        """Within it, what meets another process's lock raises `LogBusy` soon."""

    def waiting(self, limit: int) -> tuple[Head, ...]:
        """Sessions of the outbox, in the order of their ids: they moved and are not folded yet."""

    def page(self, after: str, limit: int) -> tuple[Head, ...]:
        """Heads in the order of their ids, behind one."""

    def nth(self, number: int) -> str:
        """The id of a session by its place in that order, from 0; empty behind the last."""

    def marks(self, name: str, first: str, last: str) -> dict[str, int]:
        """How far a projection has folded the sessions between two ids, both included."""

    def write(self, heads: Sequence[Head], versions: Mapping[str, int], fold: Fold) -> None:
        """Fold sessions, whether they moved or not.

        Raises:
            NewerProjection: a newer version of this program keeps one of the projections.
        """

    def stream(self, head: Head) -> Stream:
        """A session, read and verified."""

    def columns(self, name: str) -> tuple[str, ...]:
        """Names of a projection's columns, in the order of a row."""

    def unfit(self, name: str, rows: Sequence[Row]) -> str:
        """Why rows cannot be kept, on any engine; empty where they can."""

    def rows(
        self, name: str, project: str | None, choice: Choice = "all", at: int = INT_MAX
    ) -> Iterator[dict[str, Any]]:
        """Rows of a projection by column, for a project (for all: None), oldest session first.

        Args:
            at: the time of the choice, in microseconds since 1970 UTC.

        Raises:
            ProjectionDamaged: one of them is not a row that this program writes.
        """

    def kept(self, name: str, session_id: str) -> Kept:
        """What a projection keeps of a session.

        Raises:
            ProjectionDamaged: something of it cannot be read.
        """

    def strays(self, name: str, project: str | None) -> Iterator[str]:
        """Ids under which a projection has rows, though the project (the log: None) has none."""

    def newest(
        self, project: str | None, before: str | None, limit: int
    ) -> list[tuple[Head, dict[str, Any] | None]]:
        """Heads, newest first, each with its row of the projection; None where it has none.

        Args:
            project: None for all of them.
            before: the last id of the page before; None begins.

        Raises:
            ProjectionDamaged: a row is not one that this program writes.
        """

    def within(
        self, project: str | None, since: int, until: int, after: str, limit: int
    ) -> tuple[Head, ...]:
        """Heads of sessions with events in a time, oldest first.

        Also those that are damaged or faulted, and those that wait to be folded.

        Args:
            since: in microseconds since 1970 UTC, as `until`; both belong to the time.
            after: the last id of the page before; empty begins.
        """

    def counts(self) -> dict[str, int]:
        """How many `sessions` and `events` the log has, and what is `waiting` in the outbox."""

    def folded(self, name: str) -> int:
        """How many sessions a projection has folded."""


class ClaimRow(msgspec.Struct, frozen=True):
    """A row of `claims`, in which another program can have written anything."""

    call: str
    project: str
    until: Any
    """When the claim ends, in microseconds since 1970 UTC."""
