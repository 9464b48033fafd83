"""The shape of every projection, and a session as projections see it.

A projection is one module of this folder that declares a `PROJECTION`, and a migration that makes
its table. `make freeze` registers it; what stores, follows, rebuilds, erases and verifies its rows
follows from the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, partial
from importlib import import_module
from typing import Any, Final, Literal, TypeVar, cast

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es import projections as folder
from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import AnotherVersion, LogDamaged, ProjectionDamaged
from preflights_es.kernel.events import ERASED_TAG, INT_MAX, Event, Input
from preflights_es.kernel.json import decoder
from preflights_es.kernel.ports import Head, Row, Stored, Stream
from preflights_es.kernel.session import Session
from preflights_es.words.decisions import DecidedPatch
from preflights_es.words.workflow import View, Workflow, find_known_workflow

T = TypeVar("T")


VERSIONS: Final = {
    "artifacts": 1,
    "decisions": 1,
    "items": 1,
    "memory": 1,
    "sessions": 2,
    "usage": 1,
}
"""Of each projection: one more whenever its function says something else; then every session is
folded again."""


class ProjectedRows(msgspec.Struct, frozen=True, kw_only=True):
    """A function from one session to rows, and its version."""

    name: str
    version: int
    rows: Callable[[Read], tuple[Row, ...]]
    """Pure; in the order of the table's columns."""


class Projection(ProjectedRows, frozen=True, kw_only=True):
    """Such a function with the table of its rows."""

    row: type[msgspec.Struct]
    """Its fields are the columns of the table `projected_NAME`: `str`, `int` or `float`, perhaps or
    None. The first is `session_id`; another is `project`."""
    key: int = 1
    """How many of the first columns tell one row from the others."""
    index: tuple[str, ...] = ("project", "session_id")
    """Columns by which rows of a project are found, with those that a choice of rows asks for."""
    words: str = ""
    """The column that says what is wrong with a session, in words that may differ between versions
    of Python and of libraries."""


def decode_projected_value(name: str, row: Mapping[str, Any], column: str, kind: type[T]) -> T:
    """The value that a projection keeps as JSON in a column, as it was folded.

    Raises:
        ProjectionDamaged: no fold writes such a row.
    """
    try:
        return cast("T", _decoder(cast("Any", kind))(row[column]))
    except (ValueError, RecursionError) as error:
        raise ProjectionDamaged(name, f"session {row['session_id']}: {error}") from error


@cache
def _decoder(kind: type[Any]) -> Callable[[bytes], Any]:
    return decoder(kind)


def database_integer(value: object) -> int:
    """As a database can hold it; 0 for what is no number: a damaged log may have anything."""
    return value if isinstance(value, int) and -INT_MAX - 1 <= value <= INT_MAX else 0


def database_text(value: str) -> str:
    """As a database can hold it: PostgreSQL takes no NUL."""
    return value.replace("\0", "\ufffd")


Trouble = Literal["", "damaged", "erased", "faulted"]
Decode = Callable[[Stored], Event]
Misplaced = Callable[[Session[Any], Event, Stored], str | None]
"""Why an event cannot stand where it stands; None where it can."""


class Read(msgspec.Struct, frozen=True, dict=True):
    """One session, folded as far as it can be.

    What several projections ask of it is found once.
    """

    head: Head
    workflow: Workflow[Any]
    stored: tuple[Stored, ...]
    version: int
    """How far it was read; it may have grown since its head was."""
    events: tuple[Event | None, ...]
    """One a stored event; None where it cannot be decoded."""
    sessions: tuple[Session[Any], ...] = ()
    """Its state after each event; empty if it cannot be folded."""
    trouble: Trouble = ""
    why: str = ""
    """What the trouble is, in words."""

    @property
    def folded(self) -> tuple[Event, ...]:
        """The events of one that could be folded: all are there."""
        return cast("tuple[Event, ...]", self.events) if self.sessions else ()

    @cached_property
    def patches(self) -> tuple[DecidedPatch, ...]:
        """The patches of a session, oldest first; none of one that cannot be folded."""
        if self.workflow.filed.decided is None or not self.sessions:
            return ()
        first = self.folded[0]
        asked_by = first.actor if isinstance(first, Input) else UNSET
        found = self.workflow.filed.decided(self.folded, self.sessions)
        return tuple(replace(patch, asked_by=asked_by) for patch in found)

    @cached_property
    def view(self) -> View:
        """What it shows, as it was left; only of one that could be folded."""
        return self.workflow.shown.view(self.sessions[-1].state)


def unreadable(read: Read, error: Exception) -> Read:
    """A session whose view fails, as one in trouble."""
    why = f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace").decode()
    nothing = (None,) * len(read.stored)
    return replace(read, events=nothing, sessions=(), trouble="faulted", why=why)


class ProjectionReader:
    """Folds sessions of any workflow."""

    def __init__(
        self,
        workflows: Mapping[str, Workflow[Any]],
        decoder: Callable[[Workflow[Any]], Decode],
        misplaced: Misplaced,
    ) -> None:
        self._workflows = workflows
        self._decoder = decoder
        self._misplaced = misplaced

    def read(self, stream: Stream) -> Read:
        """One session; what is wrong with it hides nothing that can be read.

        Raises:
            AnotherVersion: a newer version of this program wrote in it, or the code of its workflow
                cannot read it.
            WorkflowMissing: its workflow is not here.
        """
        workflow = find_known_workflow(self._workflows, stream.head.workflow)
        if stream.damage:
            return self._unfolded(workflow, stream, "damaged", stream.damage)
        if any(one.data is None or one.type == ERASED_TAG for one in stream.events):
            return self._unfolded(workflow, stream, "erased", "payloads of it were erased")
        return self._folded(workflow, stream)

    def _unfolded(
        self, workflow: Workflow[Any], stream: Stream, trouble: Trouble, why: str
    ) -> Read:
        """A session of which the decodable part is shown."""
        head, stored = stream.head, stream.events
        decode = self._decoder(workflow)
        events = tuple(_decode_event_or_none(decode, one) for one in stored)
        return Read(head, workflow, stored, stream.version, events=events, trouble=trouble, why=why)

    def _folded(self, workflow: Workflow[Any], stream: Stream) -> Read:
        head, stored, version = stream.head, stream.events, stream.version
        decode, misplaced = self._decoder(workflow), self._misplaced
        session = kernel.begin(workflow.decider)
        events: list[Event | None] = []
        sessions: list[Session[Any]] = []
        trouble: Trouble
        try:
            for one in stored:
                event = decode(one)
                if found := misplaced(session, event, one):
                    raise LogDamaged(f"session {one.session_id}", one.version, found)
                session = kernel.evolve(workflow.decider, session, event)
                events.append(event)
                sessions.append(session)
            folded = tuple(sessions)
            return Read(head, workflow, stored, version, events=tuple(events), sessions=folded)
        except LogDamaged as error:
            trouble, why = "damaged", str(error)
        except AnotherVersion:
            raise
        except Exception as error:  # a bug of ours: it hides this session and no other
            trouble, why = "faulted", f"event {one.version}: {type(error).__name__}: {error}"
        events += [None] * (len(stored) - len(events))
        return Read(head, workflow, stored, version, events=tuple(events), trouble=trouble, why=why)


def _decode_event_or_none(decode: Decode, one: Stored) -> Event | None:
    if one.data is None:
        return None
    try:
        return decode(one)
    except Exception:  # of a session that is in trouble: a database keeps what it is given
        return None


@cache
def declared() -> tuple[Projection, ...]:
    """All, by name; this imports the whole folder."""
    from pkgutil import iter_modules

    names = (f"{folder.__name__}.{one.name}" for one in iter_modules(folder.__path__))
    found = (getattr(import_module(name), "PROJECTION", None) for name in names)
    return tuple(one for one in found if isinstance(one, Projection))


def import_projections(names: Iterable[str]) -> tuple[Projection, ...]:
    """Some of them, each in the module of its name; no other module is imported."""
    return tuple(import_module(f"{folder.__name__}.{name}").PROJECTION for name in names)


def late_projections(names: Iterable[str]) -> tuple[ProjectedRows, ...]:
    """The same, each imported once it folds a session: few commands fold one."""
    return tuple(
        ProjectedRows(name=name, version=VERSIONS[name], rows=partial(_rows_by_name, name))
        if name in VERSIONS
        else import_projections((name,))[0]
        for name in names
    )


def _rows_by_name(name: str, read: Read) -> tuple[Row, ...]:
    return import_projections((name,))[0].rows(read)
