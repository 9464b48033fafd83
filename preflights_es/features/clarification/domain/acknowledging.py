"""What follows from an acceptance, and from what is said of an accepted decision later."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, Literal

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.features.clarification.domain import rules
from preflights_es.features.clarification.domain.events import (
    ChangeRefused,
    ClarificationStopped,
    DecisionAcknowledged,
    DecisionKept,
    DecisionKeptBeside,
    DecisionMarkedKept,
    DecisionMarkedSuperseded,
    DecisionRecorded,
    DecisionRenumbered,
    DecisionSuperseded,
    NothingToDecide,
    ReferenceRenumbered,
)
from preflights_es.features.clarification.domain.evolve import evolve
from preflights_es.features.clarification.domain.state import (
    State,
    accepted,
    ended,
    is_due,
    related_to,
)
from preflights_es.features.clarification.domain.titles import title_of
from preflights_es.kernel.decisions import Accepting
from preflights_es.kernel.events import ArtifactDue, Decision, Input
from preflights_es.kernel.questions import is_placeholder, stripped

Decisions = tuple[Decision, ...]


def following(state: State, new: Input, decisions: Decisions) -> State:
    """The state once an Input and what follows from it count."""
    return reduce(evolve, decisions, evolve(state, new))


def acknowledged(state: State, new: DecisionAcknowledged) -> Decisions:
    """The word by which a proposal counts."""
    earlier = state.acknowledgement
    by_person = new.actor.kind == "user"
    if accepted(state):
        return (ChangeRefused(change="acknowledgement", reason="already_accepted"),)
    if reason := ended(state):
        return (ChangeRefused(change="acknowledgement", reason=reason),)
    if state.led.request is not None or not is_due(state):
        return (ChangeRefused(change="acknowledgement", reason="question_open"),)
    if new.patch != state.patch or (new.scope or "") != state.proposed_scope:
        return (ChangeRefused(change="acknowledgement", reason="patch_changed"),)
    if earlier is not None and not by_person:
        return (ChangeRefused(change="acknowledgement", reason="already_proposed"),)
    kind = rules.kind(state.patch, new.mark or state.mark)
    if kind == "adr" and new.number is None:
        return (ChangeRefused(change="acknowledgement", reason="number_missing"),)
    if (objection := _objection(new)) is not None:
        return (ChangeRefused(change="acknowledgement", reason=objection),)
    number = new.number if kind == "adr" else None
    recorded = DecisionRecorded(
        status="accepted" if by_person else "proposed", kind=kind, number=number
    )
    return (recorded, due(following(state, new, (recorded,))))


def _objection(new: DecisionAcknowledged) -> Literal["blank", "placeholder"] | None:
    """Why a choice about another decision does not count: keeping both needs a reason."""
    resolved = () if new.resolved is UNSET else new.resolved
    texts = [stripped(one.reason) for one in resolved if one.choice == "keeps"]
    if not all(texts):
        return "blank"
    return "placeholder" if any(map(is_placeholder, texts)) else None


def accepting(state: State, said: Mapping[str, Any]) -> Accepting:
    """What an acknowledgement with this mark takes."""
    kind = rules.kind(state.patch, said.get("mark") or state.mark)
    shown: dict[str, Any] = {"patch": state.patch}
    if state.proposed_scope:
        shown["scope"] = state.proposed_scope
    return Accepting(kind, is_due(state) and kind == "adr", shown)


def due(state: State) -> ArtifactDue:
    """The document of what was acknowledged."""
    assert state.acknowledgement is not None, "a document is due only for what was acknowledged"
    kind = state.acknowledgement.kind
    path = rules.document_path(state.folder, kind, state.number, state.uid, title_of(state))
    call = f"artifact-{state.dues + 1}"
    return ArtifactDue(call=call, template=rules.TEMPLATES[kind], path=path)


Changes = (
    DecisionKept
    | NothingToDecide
    | DecisionSuperseded
    | DecisionKeptBeside
    | DecisionRenumbered
    | ReferenceRenumbered
)


def changed(state: State, new: Changes) -> Decisions:
    """What becomes of an acknowledged decision, of which the log says more."""
    match new:
        case DecisionKept():
            return _ended(state)
        case NothingToDecide():
            return _undecided(state, new)
        case DecisionSuperseded():
            return _superseded(state, new)
        case DecisionKeptBeside():
            return _kept(state, new)
        case ReferenceRenumbered():
            return _reference_renumbered(state, new)
        case DecisionRenumbered():
            return _renumbered(state, new)


def _ended(state: State) -> Decisions:
    """What follows where a decision in force is kept, and nothing else is decided."""
    if state.input is None or state.led.request is not None:
        return (ChangeRefused(change="keeping", reason="not_expected"),)
    if accepted(state):
        return (ChangeRefused(change="keeping", reason="already_accepted"),)
    if reason := ended(state):
        return (ChangeRefused(change="keeping", reason=reason),)
    return (ClarificationStopped(reason="kept"),)


def _undecided(state: State, new: NothingToDecide) -> Decisions:
    """What follows where the open question is answered by: there is no decision."""
    if accepted(state):
        return (ChangeRefused(change="ending", reason="already_accepted"),)
    if reason := ended(state):
        return (ChangeRefused(change="ending", reason=reason),)
    if state.question is None or state.led.request is not None or state.led.stalled:
        return (ChangeRefused(change="ending", reason="not_expected"),)
    return (ClarificationStopped(reason="task" if new.is_task else "nothing_to_decide"),)


def _superseded(state: State, new: DecisionSuperseded) -> Decisions:
    if not accepted(state):
        return (ChangeRefused(change="supersession", reason="not_accepted"),)
    if state.superseded_by is not None:
        return (ChangeRefused(change="supersession", reason="already_superseded"),)
    marked = DecisionMarkedSuperseded()
    return (marked, due(following(state, new, (marked,))))


def _kept(state: State, new: DecisionKeptBeside) -> Decisions:
    if not accepted(state):
        return (ChangeRefused(change="keeping", reason="not_accepted"),)
    if state.superseded_by is not None:
        return (ChangeRefused(change="keeping", reason="already_superseded"),)
    marked = DecisionMarkedKept()
    return (marked, due(following(state, new, (marked,))))


def _renumbered(state: State, new: DecisionRenumbered) -> Decisions:
    if state.acknowledgement is None or state.acknowledgement.kind != "adr":
        return (ChangeRefused(change="renumbering", reason="not_accepted"),)
    return (due(replace(state, number=new.number)),)


def _reference_renumbered(state: State, new: ReferenceRenumbered) -> Decisions:
    related = [one.uid for one in related_to(state)]
    if state.acknowledgement is None or new.uid not in related:
        return (ChangeRefused(change="renumbering", reason="not_related"),)
    return (due(state),)
