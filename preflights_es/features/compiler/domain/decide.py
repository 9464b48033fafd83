"""What follows from an Input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from preflights_es.features.compiler.domain import lead
from preflights_es.features.compiler.domain.events import (
    PassAnswerAccepted,
    PassAnswerRefused,
    PassAnswersGiven,
    PassBegun,
    PassChangeRefused,
    PlanApproved,
    PlanDrafted,
    PlanFiled,
    PlanLocked,
    PlanRejected,
    PlanSuperseded,
    StandingChanged,
    schema_of,
)
from preflights_es.features.compiler.domain.state import (
    CompilerState,
    evolve,
    file_path,
    payload_hash,
)
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.events import ArtifactDue, ArtifactWritten, Decision, Input, state_after
from preflights_es.kernel.lead import LeadChanged, StepRetried, StepStalled, decide_lead_takeover
from preflights_es.words.decisions import Accepting
from preflights_es.words.questions import text_answers

Decisions = tuple[Decision, ...]
IN_FORCE = ("approved", "locked")
OPEN = ("draft", "proposed")
TEMPLATE = "plan.v1"

Misfit = Literal["not_a_draft", "not_in_force", "not_approved"]
Changes = PlanApproved | PlanRejected | PlanLocked | PlanSuperseded


def decide(state: CompilerState, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case PassBegun() if state.begun is None:
            return _decide_pass_step(state_after(evolve, state, new, ()))
        case CompletionReceived() | CompletionFailed() if _is_asked(state):
            return lead.conclude_pass_outcome(state, new)
        case PassAnswersGiven():
            return _decide_pass_answers(state, new)
        case StepRetried() if state.led.stalled:
            return _decide_pass_step(state)
        case LeadChanged() if state.led.stalled or state.question:
            # A new lead is asked what the former one could not do; an open question stays.
            goes_on = state.question is None
            return decide_lead_takeover(evolve, state, new, _decide_pass_step, goes_on=goes_on)
        case PlanApproved() | PlanRejected() | PlanLocked() | PlanSuperseded():
            return _decide_standing_change(state, new)
        case ArtifactWritten(path=path):
            return (PlanFiled(path=path),)
        case _:
            return (PassChangeRefused(reason="not_expected"),)


# 1. The model --------------------------------------------------------------------------------


def _is_asked(state: CompilerState) -> bool:
    """Whether a model was asked in a pass; a forged log may lack the pass, or the model."""
    return None not in (state.begun, state.led.request, state.led.lead)


def _decide_pass_step(state: CompilerState) -> Decisions:
    """The pass's next step; without a lead, the session waits for one."""
    if state.begun is None:
        return (PassChangeRefused(reason="not_expected"),)
    if state.led.lead is None:
        return (StepStalled(contract=schema_of(state.begun.pass_type), reason="no_lead"),)
    try:
        return (lead.compose_pass_request(state),)
    except UnicodeEncodeError:  # a lone surrogate: no log holds one, and no request
        return (PassChangeRefused(reason="not_expected"),)


# 2. The question -----------------------------------------------------------------------------


def _decide_pass_answers(state: CompilerState, new: PassAnswersGiven) -> Decisions:
    """One verdict a key; an answer that counts goes to the model."""
    question = None if state.question is None else state.question.id
    answered = dict(state.given)
    decisions = text_answers(new, question, answered, PassAnswerAccepted, refused=PassAnswerRefused)
    after = state_after(evolve, state, new, decisions)
    is_answered = after.question is None and state.question is not None
    return decisions + (_decide_pass_step(after) if is_answered else ())


# 3. The standing -----------------------------------------------------------------------------


def accept_pass_state(state: CompilerState, _said: Mapping[str, Any]) -> Accepting:
    """The artifact as it was shown; of none, what is refused."""
    plan = state.plan
    if plan is None:
        return Accepting(fields={"id": "", "sha256": ""})
    return Accepting(fields={"id": plan.id, "sha256": payload_hash(plan.payload)})


def _decide_standing_change(state: CompilerState, new: Changes) -> Decisions:
    """The new standing, and the file that follows from it."""
    if refused := _find_standing_refusal(state, new):
        return (refused,)
    match new:
        case PlanApproved() if new.actor.kind == "user":
            return _file_new_standing(state, new.id, "approved")
        case PlanApproved():
            return (StandingChanged(id=new.id, standing="proposed"),)
        case PlanRejected():
            return (StandingChanged(id=new.id, standing="rejected"),)
        case PlanLocked():
            return _file_new_standing(state, new.id, "locked")
        case PlanSuperseded():
            # Its file says the same as before; the session beside it says what took its place.
            return _file_new_standing(state, new.id, "superseded")


_FROM: Final[dict[type[Changes], tuple[tuple[str, ...], Misfit]]] = {
    PlanApproved: (OPEN, "not_a_draft"),
    PlanRejected: (OPEN, "not_a_draft"),
    PlanLocked: (("approved",), "not_approved"),
    PlanSuperseded: (IN_FORCE, "not_in_force"),
}
"""The standings that a change fits, and what it is refused with in another one."""


def _find_standing_refusal(state: CompilerState, new: Changes) -> PassChangeRefused | None:
    """Why a change does not fit (specification, section 3.2); None where it does."""
    plan, by_person = state.plan, new.actor.kind == "user"
    if plan is None or any(new.id == report.id for report in state.reports):
        return PassChangeRefused(reason="no_plan")
    if new.id != plan.id:
        return PassChangeRefused(reason="unknown_id")
    if isinstance(new, PlanRejected | PlanLocked) and not by_person:
        return PassChangeRefused(reason="not_a_person")
    if isinstance(new, PlanLocked) and plan.type != "TestPlan":
        return PassChangeRefused(reason="not_a_test_plan")
    standings, reason = _FROM[type(new)]
    if state.standing not in standings:
        return PassChangeRefused(reason=reason)
    return _refused_approval(state, plan, new) if isinstance(new, PlanApproved) else None


def _refused_approval(
    state: CompilerState, plan: PlanDrafted, new: PlanApproved
) -> PassChangeRefused | None:
    """A person approves; anyone else proposes, once."""
    by_person = new.actor.kind == "user"
    if state.standing == "proposed" and not by_person:
        return PassChangeRefused(reason="not_a_draft")
    if new.sha256 != payload_hash(plan.payload):
        return PassChangeRefused(reason="other_payload")
    return None


def _file_new_standing(
    state: CompilerState, id_: str, standing: Literal["approved", "locked", "superseded"]
) -> Decisions:
    """The artifact's file says its status, and so is written for each."""
    due = ArtifactDue(call=f"artifact-{state.dues + 1}", template=TEMPLATE, path=file_path(state))
    return (StandingChanged(id=id_, standing=standing), due)
