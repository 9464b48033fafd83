"""The workflow of an import: who took sessions from elsewhere into this log, and as what.

A hash chain proves that nothing was changed since it was hashed, not who wrote it. So an import is
a session of its own, and the imported sessions stay byte for byte. The file is read in
`history.imports`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Final

import msgspec

from preflights_es.kernel.events import (
    ACTOR_WORDS,
    Actor,
    Count,
    Decision,
    Event,
    Evidence,
    Input,
    Typed,
    Value,
)
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Decider, actor_in
from preflights_es.words.workflow import ShownPart, View, Workflow

NAME: Final = "imports"
TOGETHER: Final = 500  # sessions that one Input names
SOURCE_MAX: Final = 4_000  # characters of a path


class TakenSession(Value, frozen=True):
    """A session of a file, and how much of it is taken."""

    session_id: str
    before: Count
    """The version that the log had; 0 where it had none of the session."""
    version: Count
    """Of the last event that is taken."""
    hash: str
    """Of that event, in hexadecimal: it covers all before."""
    accepted: bool = False
    """Whether the file says that a person accepted it; the name stays in the session itself."""


class SessionsTaken(Input, frozen=True):
    """The actor imports sessions; it is recorded before they are taken, and may have failed."""

    tag: ClassVar[str] = "imports.sessions_taken.v1"
    verb: ClassVar[str] = "imported sessions in"
    typed: ClassVar = {"source": Typed(SOURCE_MAX)}
    evidence: Evidence
    source: str
    """The file, as it was named."""
    digest: str
    """SHA-256 of its lines, unpacked, in hexadecimal."""
    sessions: tuple[TakenSession, ...]


class ImportNoted(Decision, frozen=True):
    """The sessions count as what they say."""

    tag: ClassVar[str] = "imports.import_noted.v1"
    sessions: Count


class ImportState(msgspec.Struct, frozen=True):
    """What an import took."""

    source: str = ""
    sessions: int = 0


def origin_of(importer: Actor, accepted_by: str | None) -> str:
    """What is known of a session that came with a file, in a few words."""
    by = f"imported by {importer.name or ACTOR_WORDS[importer.kind]}"
    if accepted_by is None:
        return f"{by}: who spoke is as the file says"
    return f"{by}; accepted by {accepted_by or 'a person'}, as the file says"


def accepted_by(workflow: Workflow[Any], events: Iterable[Stored]) -> str | None:
    """The person who accepted a session, as its events say; None where no person did."""
    accepts = workflow.asked.acknowledges
    for one in events:
        if accepts is None or one.type != accepts.tag or one.actor_kind != "user":
            continue
        try:
            return actor_in(one.data).name
        except (ValueError, RecursionError):  # erased or damaged: the envelope says enough
            return ""
    return None


def decide(_state: ImportState, new: Input) -> tuple[Decision, ...]:
    """Every import counts as it says."""
    return (ImportNoted(sessions=len(new.sessions) if isinstance(new, SessionsTaken) else 0),)


def evolve(state: ImportState, event: Event) -> ImportState:
    """The import after one more event."""
    if isinstance(event, SessionsTaken):
        return ImportState(event.source, state.sessions + len(event.sessions))
    return state


def view(state: ImportState) -> View:
    """What is shown of an import."""
    count = f"{state.sessions:,} session{'' if state.sessions == 1 else 's'}"
    text = f"import of {count} from {state.source}"
    return View(status="done", intention=text, progress=1.0, ended="is an import: it takes nothing")


WORKFLOW: Final[Workflow[ImportState]] = Workflow(
    decider=Decider(
        name=NAME,
        version="imports/1",
        events=(SessionsTaken, ImportNoted),
        initial=ImportState(),
        decide=decide,
        evolve=evolve,
        is_terminal=lambda _state: False,
    ),
    shown=ShownPart(view=view, statuses=("done",), aside=True),
)
