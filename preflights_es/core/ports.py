"""The outside, as the kernel sees it: a store of opaque events, and a provider of completions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

import msgspec

from preflights_es.core.completions import Completion, CompletionRequested
from preflights_es.core.events import INT_MAX
from preflights_es.core.listing import Listing


class Draft(msgspec.Struct, frozen=True):
    """An event that is not stored yet."""

    type: str
    data: bytes
    """The canonical JSON of the payload."""
    decider: str
    input_id: str | None = None
    """Set for an Input: unique in the log, chosen before the first try."""
    actor_kind: str | None = None


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be appended to one session."""

    session_id: str
    project: str
    workflow: str
    expected_version: int
    """0 opens the session."""
    expected_hash: bytes
    """Of the head as it was read; empty for a new session."""
    events: tuple[Draft, ...]
    opens: tuple[str, ...] = ()
    """Calls that these events open."""
    closes: tuple[str, ...] = ()
    """Calls that these events answer."""
    number: int | None = None
    """A number of the project that this session takes; no other session can have it."""


class Stored(msgspec.Struct, frozen=True, gc=False):
    """An event at rest: the envelope, the payload's bytes and the chain (docs/specs/log.md).

    Nothing in it can refer back to it, and there are many: the collector need not look at them.
    """

    session_id: str
    project: str
    workflow: str
    version: int
    type: str
    recorded_at: int
    """Microseconds since 1970 UTC, by the store's clock."""
    input_id: str | None
    actor_kind: str | None
    decider: str
    data: bytes | None
    """None after an erasure."""
    salt: bytes | None
    digest: bytes
    hash: bytes


class Head(msgspec.Struct, frozen=True):
    """Where a session stands."""

    session_id: str
    project: str
    workflow: str
    version: int
    hash: bytes


Claim = Literal["taken", "overdue", "held", "not_open"]
"""What came of claiming a call.

`taken`: it is the owner's, and no other owner has begun it. `overdue`: it is the owner's now, and
the former owner did not report in time: it may have been made. `held`: another owner makes it.
"""


class Store(Protocol):
    """Streams of opaque events, one a session; knows no workflow."""

    def append(self, batches: Sequence[Batch]) -> tuple[Head, ...]:
        """Append to several sessions, all or nothing; durable when it returns.

        Raises:
            Conflict: a head is not at the expected version.
            DuplicateInput: an Input's id is in the log already.
            NumberTaken: another session holds the number.
            CommitUnknown: the outcome of the commit is not known.
            StoreUnavailable: the database cannot be written.
        """

    def read(self, session_id: str, after: int = 0) -> tuple[Stored, ...]:
        """A session's events behind a version, in order; empty for an unknown session."""

    def stream(self, session_id: str) -> tuple[Head, tuple[Stored, ...]] | None:
        """Where a session stands, and its events, maybe more than that; None of an unknown one."""

    def head(self, session_id: str) -> Head | None:
        """Where a session stands, without reading it."""

    def heads(self, project: str | None, limit: int | None = None) -> tuple[Head, ...]:
        """Sessions of a project (of all: None), newest first."""

    def matching(self, typed: str) -> tuple[str, ...]:
        """Ids that begin or end with what was typed, at most a handful."""

    def session_of_input(self, input_id: str) -> str | None:
        """The session that holds an Input; None when no event bears the id."""

    def open_calls(self, project: str) -> tuple[tuple[str, str], ...]:
        """Pairs of session id and call, for every call of the project that is open."""

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> Claim:
        """Take an open call unless another owner's claim holds; times in microseconds."""

    def give_back(self, session_id: str, call: str, owner: str) -> None:
        """Undo the owner's claim on a call that was not begun. No effect on another's claim."""

    def calls_of(self, session_id: str) -> frozenset[str]:
        """The calls of a session that rows say are open."""

    def reopen(self, head: Head, calls: Sequence[str]) -> None:
        """Put back rows of calls that a session has open; nothing where it has moved on."""

    def numbers(self, project: str) -> dict[int, str]:
        """The numbers the project has given out, with the session that holds each."""

    def close(self) -> None:
        """Give connections back."""


class Arrival(msgspec.Struct, frozen=True):
    """A whole session on its way into another log, verified before."""

    events: Sequence[Stored]
    open_calls: Sequence[str] = ()
    number: int | None = None
    """The one that it holds; left to another session that holds it there."""
    imported: Sequence[str] = ()
    """Calls of documents that it has open, and that the other log does not owe."""


class Archive(Store, Protocol):
    """A store whose sessions can be taken over, erased, and looked at for what is missing."""

    def insert(
        self,
        events: Sequence[Stored],
        *,
        open_calls: Sequence[str] | None = None,
        number: int | None = None,
        clear: Sequence[str] = (),
        imported: Sequence[str] = (),
    ) -> None:
        """Take over a session, or the tail it lacks here, verified before, byte for byte.

        Where an erasure is among the events, the payloads in front of it go here as well.

        Args:
            open_calls: those of the session as a whole; None leaves what is known of them.
            number: the one that the session holds; left to another session that holds it here.
            clear: as for `erase`, where an erasure is among them.
            imported: calls of documents which the events ask for, and this log does not owe.

        Raises:
            Conflict: the events do not follow the head that the session has here.
            DuplicateInput: an Input of theirs stands in another session.
        """

    def insert_new(self, arrivals: Sequence[Arrival]) -> bool:
        """Take over sessions of which nothing is here, all in one transaction.

        None of them holds an erasure.

        Returns:
            False where one of them, or an Input of theirs, is here: nothing was taken.
        """

    def heads_of(self, session_ids: Sequence[str]) -> dict[str, Head]:
        """Where sessions stand, by their ids; without those that are not here."""

    def erase(self, batch: Batch, clear: Sequence[str] = ()) -> Head:
        """Append an erasure, and drop all that it covers, in one transaction.

        Payloads and salts of the events before go, and so do open calls; numbers stay taken.

        Args:
            clear: tables of projections, whose rows of the session go as well.

        Raises:
            Conflict: the head is not at the expected version.
            CommitUnknown: the outcome of the commit is not known.
            StoreUnavailable: the database cannot be written.
        """

    def scrubbed(self) -> bool:
        """Whether the engine keeps nothing of what was erased, once it was asked to let go."""

    def headless(self) -> tuple[str, ...]:
        """Ids under which events lie, and no head: no session of this program is so."""


# Projections ---------------------------------------------------------------------------------

Row = tuple[Any, ...]
"""A row of a projection, its values in the order of the table's columns."""


class Registered(msgspec.Struct, frozen=True):
    """A projection as the log knows it."""

    name: str
    version: int
    """Of the code that folds it."""
    generation: int
    """How often it was begun from zero."""
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
        """How far it was read."""
        found: list[Any] = [self.head.version, *[one.version for one in self.events[-1:]]]
        # A database keeps what it is given, whatever the column's type says.
        return max([version for version in found if isinstance(version, int)], default=0)


class Turn(msgspec.Struct, frozen=True):
    """What a session folds to, for several projections."""

    session_id: str
    version: int
    """How far it was folded."""
    rows: Mapping[str, tuple[Row, ...]]
    """By projection: all of its rows for the session, in place of those that it has."""


class Folded(msgspec.Struct, frozen=True):
    """What came of folding some sessions."""

    turns: tuple[Turn, ...]
    left: tuple[str, ...] = ()
    """Sessions that this program cannot read: they wait for a newer one."""


Fold = Callable[[Iterable[Stream]], Folded]
"""Pure: where a database asks for it, it is done once more."""


Choice = Literal["all", "in_force", "unfolded"]
"""Which rows are read. There may be more of them, so a reader checks each.

`in_force`: of `decisions`, what was accepted and not superseded at a time. `unfolded`: of
`sessions`, those that are damaged, erased or faulted.
"""


class Following(Listing, Protocol):
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

    def counts(self) -> dict[str, int]:
        """How many `sessions` and `events` the log has, and what is `waiting` in the outbox."""

    def folded(self, name: str) -> int:
        """How many sessions a projection has folded."""


class Kept(msgspec.Struct, frozen=True):
    """What a projection keeps of a session, as it lies there."""

    mark: Any
    """How far the projection says that it folded the session; None where it never did."""
    rows: tuple[Row, ...]
    waits: bool
    """Whether the outbox has the session: the next reader folds it."""


class Keeping(Protocol):
    """What projections keep, so that a verification can compare it with the log."""

    def registered(self) -> dict[str, Registered]:
        """The projections that were ever begun, by name."""

    def kept(self, name: str, session_ids: Sequence[str]) -> dict[str, Kept]:
        """What a projection keeps of each of some sessions.

        Raises:
            ProjectionDamaged: something of it cannot be read.
        """

    def strays(self, name: str, project: str | None) -> Iterator[str]:
        """Ids under which a projection has rows, though the project has no such session.

        Args:
            project: None for all of them.
        """


class ClaimRow(msgspec.Struct, frozen=True):
    """A row of `claims`, in which another program can have written anything."""

    call: str
    project: str
    until: Any
    """When the claim ends, in microseconds since 1970 UTC."""


class Numbering(Protocol):
    """The numbers that projects gave out, so that a verification can compare them."""

    def holder(self, project: str, number: int) -> str | None:
        """The session that was given a number, which no other one can take then."""

    def gone(self) -> Iterator[tuple[str, int, str]]:
        """Project, number and session of what was given to a session that is not there."""


class Provider(Protocol):
    """Text in, text out; every judgement of the text is the workflow's."""

    async def respond(self, request: CompletionRequested) -> Completion:
        """One response to one request.

        Raises:
            LLMError: no usable response; never anything else for what a provider does.
        """
