"""What follows from an Input: the branches are here, the rules in `checks.py`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, Literal

from preflights_es.features.compiler.domain import lead
from preflights_es.features.compiler.domain.events import (
    AnswerAccepted,
    AnswerRefused,
    AnswersGiven,
    ChangeRefused,
    FindingsWaived,
    PassBegun,
    PlanApproved,
    PlanFiled,
    PlanLocked,
    PlanRejected,
    PlanSuperseded,
    StandingChanged,
    WaiversTaken,
)
from preflights_es.features.compiler.domain.identity import payload_hash
from preflights_es.features.compiler.domain.state import State, evolve
from preflights_es.features.compiler.domain.views import file_path
from preflights_es.features.compiler.domain.waiving import unfit, unwaived
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.decisions import Accepting
from preflights_es.kernel.events import ArtifactDue, ArtifactWritten, Decision, Input
from preflights_es.kernel.lead import LeadChanged, LeadTaken, StepRetried, StepStalled
from preflights_es.kernel.questions import text_answers

Decisions = tuple[Decision, ...]
IN_FORCE = ("approved", "locked")
OPEN = ("draft", "proposed")
TEMPLATE = "plan.v1"

Changes = PlanApproved | FindingsWaived | PlanRejected | PlanLocked | PlanSuperseded


def decide(state: State, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case PassBegun() if state.begun is None:
            return _asked(_after(state, new, ()))
        case CompletionReceived() | CompletionFailed() if _is_asked(state):
            return lead.answered(state, new)
        case AnswersGiven():
            return _answered(state, new)
        case StepRetried() if state.led.stalled:
            return _asked(state)
        case LeadChanged() if state.led.stalled or state.question:
            return _taken_over(state, new)
        case PlanApproved() | FindingsWaived() | PlanRejected() | PlanLocked() | PlanSuperseded():
            return _changed(state, new)
        case ArtifactWritten(path=path):
            return (PlanFiled(path=path),)
        case _:
            return (ChangeRefused(reason="not_expected"),)


def _after(state: State, new: Input, decisions: Decisions) -> State:
    return reduce(evolve, decisions, evolve(state, new))


# 1. The model --------------------------------------------------------------------------------


def _is_asked(state: State) -> bool:
    """Whether a model was asked in a pass; a forged log may lack the pass, or the model."""
    return None not in (state.begun, state.led.request, state.led.lead)


def _asked(state: State) -> Decisions:
    """The pass's next step; without a lead, the session waits for one."""
    if state.begun is None:
        return (ChangeRefused(reason="not_expected"),)
    if state.led.lead is None:
        return (StepStalled(contract=lead.contract_id(state.begun), reason="no_lead"),)
    try:
        return (lead.request(state),)
    except UnicodeEncodeError:  # a lone surrogate: no log holds one, and no request
        return (ChangeRefused(reason="not_expected"),)


def _taken_over(state: State, new: LeadChanged) -> Decisions:
    """A new lead is asked what the former one could not do; an open question stays."""
    taken = (LeadTaken(),)
    return taken + (() if state.question else _asked(_after(state, new, taken)))


# 2. The question -----------------------------------------------------------------------------


def _answered(state: State, new: AnswersGiven) -> Decisions:
    """One verdict a key; an answer that counts goes to the model."""
    question = None if state.question is None else state.question.id
    answered = dict(state.given)
    decisions = text_answers(new, question, answered, AnswerAccepted, AnswerRefused)
    after = _after(state, new, decisions)
    is_answered = after.question is None and state.question is not None
    return decisions + (_asked(after) if is_answered else ())


# 3. The standing -----------------------------------------------------------------------------


def accepting(state: State, _said: Mapping[str, Any]) -> Accepting:
    """The artifact as it was shown; of none, what is refused."""
    plan = state.plan
    if plan is None:
        return Accepting(fields={"id": "", "sha256": ""})
    return Accepting(fields={"id": plan.id, "sha256": payload_hash(plan.payload)})


def _changed(state: State, new: Changes) -> Decisions:
    """The new standing, and the file that follows from it."""
    plan = state.plan
    if plan is None or any(new.id == report.id for report in state.reports):
        return (ChangeRefused(reason="no_plan"),)
    if new.id != plan.id:
        return (ChangeRefused(reason="unknown_id"),)
    match new:
        case PlanApproved():
            return _approved(state, new)
        case FindingsWaived():
            return _waived(state, new)
        case PlanRejected():
            return _rejected(state, new)
        case PlanLocked():
            return _locked(state, new)
        case PlanSuperseded():
            if state.standing not in IN_FORCE:
                return (ChangeRefused(reason="not_in_force"),)
            # Its file says the same as before; the session beside it says what took its place.
            return _filed(state, new.id, "superseded")


def _approved(state: State, new: PlanApproved) -> Decisions:
    """Approved where a person does it; anyone else proposes, once."""
    by_person = new.actor.kind == "user"
    if state.standing not in (OPEN if by_person else ("draft",)):
        return (ChangeRefused(reason="not_a_draft"),)
    if state.plan is None or new.sha256 != payload_hash(state.plan.payload):
        return (ChangeRefused(reason="other_payload"),)
    if wrong := unwaived(new.findings, new.waivers, is_person=by_person):
        return (ChangeRefused(reason=wrong.reason, findings=wrong.names),)
    if not by_person:
        return (StandingChanged(id=new.id, standing="proposed"),)
    return _filed(state, new.id, "approved")


def _waived(state: State, new: FindingsWaived) -> Decisions:
    """Of an artifact in force; what stays open is told by the next check."""
    if new.actor.kind != "user":
        return (ChangeRefused(reason="not_a_person"),)
    if state.standing not in IN_FORCE:
        return (ChangeRefused(reason="not_in_force"),)
    if wrong := unfit(new.findings, new.waivers):
        return (ChangeRefused(reason=wrong.reason, findings=wrong.names),)
    return (WaiversTaken(id=new.id),)


def _rejected(state: State, new: PlanRejected) -> Decisions:
    if new.actor.kind != "user":
        return (ChangeRefused(reason="not_a_person"),)
    if state.standing not in OPEN:
        return (ChangeRefused(reason="not_a_draft"),)
    return (StandingChanged(id=new.id, standing="rejected"),)


def _locked(state: State, new: PlanLocked) -> Decisions:
    if new.actor.kind != "user":
        return (ChangeRefused(reason="not_a_person"),)
    if state.plan is None or state.plan.type != "TestPlan":
        return (ChangeRefused(reason="not_a_test_plan"),)
    if state.standing != "approved":
        return (ChangeRefused(reason="not_approved"),)
    return _filed(state, new.id, "locked")


def _filed(
    state: State, id_: str, standing: Literal["approved", "locked", "superseded"]
) -> Decisions:
    """The artifact's file says its status, and so is written for each."""
    due = ArtifactDue(call=f"artifact-{state.dues + 1}", template=TEMPLATE, path=file_path(state))
    return (StandingChanged(id=id_, standing=standing), due)
