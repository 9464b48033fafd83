"""The outside, as the kernel sees it: a store of opaque events, what projections need of one, a
provider of completions, and a workflow's table of a settings file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, Protocol

import msgspec

from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import SettingsError


class Access(Enum):
    """What a program does with the log."""

    READ = "read"
    """It only reads, and does not wait for those who write."""
    WRITE = "write"
    CREATE = "create"
    """It writes, and makes the log where there is none."""
    CREATE_AT_ONCE = "create at once"
    """It creates, and does not wait: an agent waits for its hook."""

    @property
    def creates(self) -> bool:
        """Whether a log that is not there is made."""
        return self in (Access.CREATE, Access.CREATE_AT_ONCE)

    @property
    def waits(self) -> bool:
        """Whether it waits for a process that writes; else only a moment."""
        return self in (Access.WRITE, Access.CREATE)


class Draft(msgspec.Struct, frozen=True):
    """An event that is not stored yet."""

    type: str
    data: bytes
    """The canonical JSON of the payload."""
    decider: str
    input_id: str | None = None
    """Set for an Input: unique in the log, chosen before the first try."""
    actor_kind: str | None = None


class Numbered(msgspec.Struct, frozen=True, order=True):
    """The number of a record: one sequence in each folder of a project."""

    folder: str
    """Relative to the project's root; empty where a workflow has no folders."""
    number: int


class AppendBatch(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be appended to one session."""

    session_id: str
    project: str
    workflow: str
    expected_version: int
    """0 opens the session."""
    expected_hash: bytes
    """The hash of the head that was read; empty for a new session."""
    events: tuple[Draft, ...]
    """None where the session is only to stand where it stood when it was read."""
    opens: tuple[str, ...] = ()
    """Calls that these events open."""
    closes: tuple[str, ...] = ()
    """Calls that these events answer."""
    number: Numbered | None = None
    """A number that this session takes; no other session of the project can have it there."""


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

    def append(self, batches: Sequence[AppendBatch]) -> tuple[Head, ...]:
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
        """At most a handful of ids that, or whose short form, begin or end with what was typed."""

    def session_of_input(self, input_id: str) -> str | None:
        """The session that holds an Input; None when no event bears the id."""

    def open_calls(self, project: str) -> tuple[tuple[str, str], ...]:
        """Pairs of session id and call, for every call of the project that is open."""

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> Claim:
        """Take an open call unless another owner's claim holds; times in microseconds."""

    def claimed_until(self, session_id: str, call: str) -> int:
        """When the claim on a call ends, as the row has it; 0 where there is none."""

    def give_back(self, session_id: str, call: str, owner: str) -> None:
        """Undo the owner's claim on a call that was not begun. No effect on another's claim."""

    def calls_of(self, session_id: str) -> frozenset[str]:
        """The calls of a session that rows say are open."""

    def reopen(self, head: Head, calls: Sequence[str]) -> None:
        """Put back rows of calls that a session has open; nothing where it has moved on."""

    def numbers(self, project: str) -> dict[Numbered, str]:
        """The numbers the project has given out, with the session that holds each."""

    def close(self) -> None:
        """Give connections back."""


class Arrival(msgspec.Struct, frozen=True):
    """A whole session on its way into another log, verified before."""

    events: Sequence[Stored]
    open_calls: Sequence[str] = ()
    number: Numbered | None = None
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
        number: Numbered | None = None,
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

    def erase(self, batch: AppendBatch, clear: Sequence[str] = ()) -> Head:
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


class Provider(Protocol):
    """Text in, text out; every judgement of the text is the workflow's."""

    async def respond(self, request: CompletionRequested) -> Completion:
        """One response to one request.

        Raises:
            LLMError: no usable response; never anything else for what a provider does.
        """


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
TITLE: Final = 3  # of the title or the scope
FIELD: Final = 4  # of a field's name; all other places come behind it


class KeptRows(msgspec.Struct, frozen=True):
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


class SettingsSource(Protocol):
    """Where a table was read: how to say what is wrong in it."""

    def wrong(self, at: tuple[str, ...], found: str) -> SettingsError:
        """The error that names the file, the line and the key.

        Args:
            at: keys from the top of the file.
        """

    def file(self, at: tuple[str, ...], path: str, most: int) -> str:
        """The text of a file of the project that a key names.

        Args:
            path: relative to the folder of the settings file.
            most: bytes that it may have.

        Raises:
            SettingsError: it is not there, leads out of the project, or is too large.
        """


class SettingsTable(msgspec.Struct, frozen=True):
    """The shape of a workflow's table, and what it comes to."""

    shape: type[msgspec.Struct]
    configured: Callable[[SettingsSource, Any], Any]
    """What a table of that shape comes to; raises `SettingsError` where it makes no sense."""
    default: Any
    """Where no file has the table."""
