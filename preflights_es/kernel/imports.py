"""The stream of an import: who took sessions from elsewhere into this log, and as what.

A hash chain proves that nothing was changed since it was hashed, not who wrote it. So an import is
a session of its own, and the imported sessions stay byte for byte. What a person accepted in a
session that an agent imported is a proposal here, until a person of this log confirms it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.events import (
    Actor,
    Count,
    Decision,
    Event,
    Evidence,
    Input,
    Typed,
    Value,
)
from preflights_es.kernel.ids import IMPORTS
from preflights_es.kernel.json import decoder
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Workflow, actor_in
from preflights_es.kernel.views import View

NAME: Final = "imports"
TOGETHER: Final = 500  # sessions that one Input names
SOURCE_MAX: Final = 4_000  # characters of a path
_PROPOSED: Final = "-proposed"
_CONFIRMED: Final = "-confirmed"
ACCEPTED: Final = "accepted"
PROPOSED: Final[Literal["proposed"]] = "proposed"


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


class ProposalTaken(Input, frozen=True):
    """An agent imports a session that says a person accepted it: here it is a proposal."""

    tag: ClassVar[str] = "imports.proposal_taken.v1"
    verb: ClassVar[str] = "imported a proposal in"
    typed: ClassVar = {"source": Typed(SOURCE_MAX)}
    evidence: Evidence
    source: str
    digest: str
    session: TakenSession


class ProposalConfirmed(Input, frozen=True):
    """The actor takes over what a person accepted elsewhere."""

    tag: ClassVar[str] = "imports.proposal_confirmed.v1"
    verb: ClassVar[str] = "confirmed a proposal in"
    evidence: Evidence
    session: TakenSession


class StandingGiven(Decision, frozen=True):
    """What the acceptances of these sessions count for here."""

    tag: ClassVar[str] = "imports.standing_given.v1"
    standing: Literal["as_said", "proposed"]
    sessions: Count


class ImportState(msgspec.Struct, frozen=True):
    """What an import took."""

    source: str = ""
    sessions: int = 0
    proposed: int = 0


class Proposal(msgspec.Struct, frozen=True):
    """Who imported a session that says a person accepted it, and who that is."""

    importer: Actor
    accepted_by: str = ""
    """As the session says; empty where it was not looked up."""

    @property
    def origin(self) -> str:
        """`imported by claude-code; accepted by Ada, as the file says`."""
        return origin_of(self.importer, self.accepted_by)


def origin_of(importer: Actor, accepted_by: str | None) -> str:
    """What is known of a session that came with a file, in a few words."""
    kinds = {"user": "a person", "agent": "an agent", "script": "a script"}
    by = f"imported by {importer.name or kinds[importer.kind]}"
    if accepted_by is None:
        return f"{by}: who spoke is as the file says"
    return f"{by}; accepted by {accepted_by or 'a person'}, as the file says"


def proposed_id(session_id: str) -> str:
    """The id of the Input that takes a session as a proposal."""
    return f"{IMPORTS}{session_id}{_PROPOSED}"


def confirmed_id(session_id: str) -> str:
    """The id of the Input that confirms it."""
    return f"{IMPORTS}{session_id}{_CONFIRMED}"


def proposals(inputs: Iterable[tuple[str, bytes | None]]) -> Mapping[str, Proposal]:
    """By session: the proposals that no person has confirmed.

    Args:
        inputs: pairs of id and payload of those of `ids.imports`; an erased one has no payload.
    """
    by_id = dict(inputs)
    found = {}
    for input_id, data in by_id.items():
        session_id = input_id.removeprefix(IMPORTS).removesuffix(_PROPOSED)
        if proposed_id(session_id) == input_id and confirmed_id(session_id) not in by_id:
            found[session_id] = _proposal(data)
    return found


def _proposal(data: bytes | None) -> Proposal:
    try:
        taken = _taken(data or b"")
    except (ValueError, RecursionError):  # erased or damaged: it stays a proposal
        return Proposal(Actor("agent"))
    return Proposal(taken.actor)


_taken: Final = decoder(ProposalTaken)


def accepted_by(workflow: Workflow[Any], events: Iterable[Stored]) -> str | None:
    """The person who accepted a session, as its events say; None where no person did."""
    accepts = workflow.acknowledges
    for one in events:
        if accepts is None or one.type != accepts.tag or one.actor_kind != "user":
            continue
        try:
            return actor_in(one.data).name
        except (ValueError, RecursionError):  # erased or damaged: the envelope says enough
            return ""
    return None


def as_proposed(view: View, proposal: Proposal) -> View:
    """A session's view, where it says that a person accepted it."""
    if view.status != ACCEPTED:
        return view
    return replace(
        view,
        status=PROPOSED,
        can_accept=True,
        ended="",
        to_do="look at it, and confirm it",
        origin=proposal.origin,
    )


def decide(_state: ImportState, new: Input) -> tuple[Decision, ...]:
    """An agent's import of an acceptance proposes it; a person's takes it as it is said."""
    match new:
        case ProposalTaken():
            return (StandingGiven(standing="proposed", sessions=1),)
        case ProposalConfirmed():
            is_person = new.actor.kind == "user"
            return (StandingGiven(standing="as_said" if is_person else "proposed", sessions=1),)
        case SessionsTaken():
            return (StandingGiven(standing="as_said", sessions=len(new.sessions)),)
        case _:
            return (StandingGiven(standing="as_said", sessions=0),)


def evolve(state: ImportState, event: Event) -> ImportState:
    """The import after one more event."""
    match event:
        case SessionsTaken():
            return ImportState(event.source, state.sessions + len(event.sessions), state.proposed)
        case ProposalTaken():
            return ImportState(event.source, state.sessions + 1, state.proposed + 1)
        case ProposalConfirmed():
            return replace(state, sessions=state.sessions + 1)
        case _:
            return state


def view(state: ImportState) -> View:
    """What is shown of an import."""
    count = f"{state.sessions:,} session{'' if state.sessions == 1 else 's'}"
    text = f"import of {count} from {state.source}" if state.source else f"{count} confirmed"
    if state.proposed:
        text = f"{text}, {state.proposed:,} as proposals"
    return View(status="done", intention=text, progress=1.0, ended="is an import: it takes nothing")


WORKFLOW: Final[Workflow[ImportState]] = Workflow(
    name=NAME,
    decider="imports/1",
    events=(SessionsTaken, ProposalTaken, ProposalConfirmed, StandingGiven),
    initial=ImportState(),
    decide=decide,
    evolve=evolve,
    is_terminal=lambda _state: False,
    view=view,
    statuses=("done",),
    settled=("done",),
    aside=True,
)
