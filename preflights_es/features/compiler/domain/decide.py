"""What follows from an Input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from preflights_es.features.compiler.domain import lead
from preflights_es.features.compiler.domain.events import (
    AnswerAccepted,
    AnswerRefused,
    AnswersGiven,
    ChangeRefused,
    PassBegun,
    PlanApproved,
    PlanDrafted,
    PlanFiled,
    PlanLocked,
    PlanRejected,
    PlanSuperseded,
    StandingChanged,
)
from preflights_es.features.compiler.domain.state import State, evolve, payload_hash
from preflights_es.features.compiler.domain.values import schema_of
from preflights_es.features.compiler.domain.views import file_path
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.decisions import Accepting
from preflights_es.kernel.events import ArtifactDue, ArtifactWritten, Decision, Input, state_after
from preflights_es.kernel.lead import LeadChanged, StepRetried, StepStalled, decide_lead_takeover
from preflights_es.kernel.questions import text_answers

Decisions = tuple[Decision, ...]
IN_FORCE = ("approved", "locked")
OPEN = ("draft", "proposed")
TEMPLATE = "plan.v1"

Misfit = Literal["not_a_draft", "not_in_force", "not_approved"]
Changes = PlanApproved | PlanRejected | PlanLocked | PlanSuperseded


def decide(state: State, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case PassBegun() if state.begun is None:
            return _asked(state_after(evolve, state, new, ()))
        case CompletionReceived() | CompletionFailed() if _is_asked(state):
            return lead.answered(state, new)
        case AnswersGiven():
            return _answered(state, new)
        case StepRetried() if state.led.stalled:
            return _asked(state)
        case LeadChanged() if state.led.stalled or state.question:
            return _taken_over(state, new)
        case PlanApproved() | PlanRejected() | PlanLocked() | PlanSuperseded():
            return _changed(state, new)
        case ArtifactWritten(path=path):
            return (PlanFiled(path=path),)
        case _:
            return (ChangeRefused(reason="not_expected"),)


# 1. The model --------------------------------------------------------------------------------


def _is_asked(state: State) -> bool:
    """Whether a model was asked in a pass; a forged log may lack the pass, or the model."""
    return None not in (state.begun, state.led.request, state.led.lead)


def _asked(state: State) -> Decisions:
    """The pass's next step; without a lead, the session waits for one."""
    if state.begun is None:
        return (ChangeRefused(reason="not_expected"),)
    if state.led.lead is None:
        return (StepStalled(contract=schema_of(state.begun.pass_type), reason="no_lead"),)
    try:
        return (lead.request(state),)
    except UnicodeEncodeError:  # a lone surrogate: no log holds one, and no request
        return (ChangeRefused(reason="not_expected"),)


def _taken_over(state: State, new: LeadChanged) -> Decisions:
    """A new lead is asked what the former one could not do; an open question stays."""
    return decide_lead_takeover(evolve, state, new, _asked, goes_on=state.question is None)


# 2. The question -----------------------------------------------------------------------------


def _answered(state: State, new: AnswersGiven) -> Decisions:
    """One verdict a key; an answer that counts goes to the model."""
    question = None if state.question is None else state.question.id
    answered = dict(state.given)
    decisions = text_answers(new, question, answered, AnswerAccepted, AnswerRefused)
    after = state_after(evolve, state, new, decisions)
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
    if refused := _refused(state, new):
        return (refused,)
    match new:
        case PlanApproved() if new.actor.kind == "user":
            return _filed(state, new.id, "approved")
        case PlanApproved():
            return (StandingChanged(id=new.id, standing="proposed"),)
        case PlanRejected():
            return (StandingChanged(id=new.id, standing="rejected"),)
        case PlanLocked():
            return _filed(state, new.id, "locked")
        case PlanSuperseded():
            # Its file says the same as before; the session beside it says what took its place.
            return _filed(state, new.id, "superseded")


_FROM: Final[dict[type[Changes], tuple[tuple[str, ...], Misfit]]] = {
    PlanApproved: (OPEN, "not_a_draft"),
    PlanRejected: (OPEN, "not_a_draft"),
    PlanLocked: (("approved",), "not_approved"),
    PlanSuperseded: (IN_FORCE, "not_in_force"),
}
"""The standings that a change fits, and what it is refused with in another one."""


def _refused(state: State, new: Changes) -> ChangeRefused | None:
    """Why a change does not fit (specification, section 3.2); None where it does."""
    plan, by_person = state.plan, new.actor.kind == "user"
    if plan is None or any(new.id == report.id for report in state.reports):
        return ChangeRefused(reason="no_plan")
    if new.id != plan.id:
        return ChangeRefused(reason="unknown_id")
    if isinstance(new, PlanRejected | PlanLocked) and not by_person:
        return ChangeRefused(reason="not_a_person")
    if isinstance(new, PlanLocked) and plan.type != "TestPlan":
        return ChangeRefused(reason="not_a_test_plan")
    standings, reason = _FROM[type(new)]
    if state.standing not in standings:
        return ChangeRefused(reason=reason)
    return _refused_approval(state, plan, new) if isinstance(new, PlanApproved) else None


def _refused_approval(state: State, plan: PlanDrafted, new: PlanApproved) -> ChangeRefused | None:
    """A person approves; anyone else proposes, once."""
    by_person = new.actor.kind == "user"
    if state.standing == "proposed" and not by_person:
        return ChangeRefused(reason="not_a_draft")
    if new.sha256 != payload_hash(plan.payload):
        return ChangeRefused(reason="other_payload")
    return None


def _filed(
    state: State, id_: str, standing: Literal["approved", "locked", "superseded"]
) -> Decisions:
    """The artifact's file says its status, and so is written for each."""
    due = ArtifactDue(call=f"artifact-{state.dues + 1}", template=TEMPLATE, path=file_path(state))
    return (StandingChanged(id=id_, standing=standing), due)
