"""What projections need of a store: sessions that moved, rows and marks, and what holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from preflights_es.kernel.ports import Head, Stored

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


Choice = Literal["all", "in_force", "unfolded", "named"]
"""Which rows are read. There may be more of them, so a reader checks each.

`in_force`: of `decisions`, what was accepted and not superseded at a time; of `artifacts`, what is
approved or locked now. `unfolded`: of `sessions`, those that are damaged, erased or faulted.
`named`: of `memory`, those whose word is one of some.
"""
TERMS_MAX: Final = 64  # words by which rows are chosen at once
VALUE: Final = 1  # place in `memory` of a word of a decided value
CATEGORY: Final = 2  # of a category's name
DOCUMENT: Final = " "
"""The word of one more row of each decision in `memory`, by which decisions are counted."""
FIELD: Final = 3  # of a field's name; all other places come behind it


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


class ClaimRow(msgspec.Struct, frozen=True):
    """A row of `claims`, in which another program can have written anything."""

    call: str
    project: str
    until: Any
    """When the claim ends, in microseconds since 1970 UTC."""
