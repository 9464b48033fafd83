"""Why a pass refuses something, in words."""

from __future__ import annotations

from typing import Final

from preflights_es.features.compiler.domain.events import PassChangeRefused
from preflights_es.kernel.events import Decision
from preflights_es.use.results import NOT_EXPECTED, answer_refused
from preflights_es.words.questions import AnswerRefusal

_REFUSED: Final = {
    "unknown_question": "is no question of this pass",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which says nothing",
    "several_values": "takes one value: put quotes around words that belong together",
}
_CHANGES: Final = {
    "no_plan": "the pass has brought no artifact",
    "unknown_id": "the session has no artifact of this id",
    "other_payload": "the artifact is another one than was shown",
    "not_a_draft": "the artifact is no draft",
    "not_approved": "the artifact is not approved",
    "not_a_test_plan": "the artifact is no TestPlan",
    "not_a_person": "only a person does that",
    "not_in_force": "the artifact is not in force",
    "not_expected": NOT_EXPECTED,
}


def pass_refusal(decision: Decision) -> tuple[str, str]:
    """Why a pass takes something not, as a code and in words."""
    if isinstance(decision, PassChangeRefused):
        return decision.reason, _CHANGES[decision.reason]
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    why = _REFUSED.get(decision.reason, f"was refused: {decision.reason.replace('_', ' ')}")
    return decision.reason, answer_refused(decision, why)
