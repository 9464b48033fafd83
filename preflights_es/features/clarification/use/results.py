"""Why a clarification refuses something, in words; and what was asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    ClarificationChangeRefused,
    DecisionKept,
)
from preflights_es.features.clarification.domain.reasons import RATIONALE_MAX
from preflights_es.features.clarification.domain.state import ClarificationState
from preflights_es.features.clarification.domain.values import (
    OTHER_OPTION,
)
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import Decision
from preflights_es.kernel.ids import iso
from preflights_es.kernel.text import SCOPE_MAX
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, Who, answer_refused
from preflights_es.words.decisions import PATTERNS_MAX
from preflights_es.words.questions import AnswerRefusal

if TYPE_CHECKING:
    from preflights_es.use.why_results import AskedAgain

REFUSED: Final = {
    "unknown_question": "is no question of this session",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which decides nothing: give an option, its number "
    "or your own words",
    "undecided": "was left undecided: the question stays open",
    "several_values": "takes one value: put quotes around words that belong together",
    "other_needs_text": f"was answered {OTHER_OPTION!r} without the text",
    "too_long": f"has more than {SCOPE_MAX} characters",
    "closed": "cannot be answered any more: the decision is accepted",
}
_CHANGES: Final = {
    "question_open": "a question is still open",
    "already_accepted": "it is accepted already",
    "already_proposed": "it is proposed already: a person has to accept it",
    "patch_changed": "the session moved on since the patch was shown",
    "number_missing": "the record has no number",
    "not_accepted": "it is not accepted",
    "already_superseded": "it was replaced before",
    "not_related": "it has nothing to do with this session",
    "blank": "no reason was given",
    "placeholder": "a reason is a placeholder, which says nothing",
    "unfit_pattern": "one of the paths is no pattern of a path",
    "too_many_patterns": f"a decision holds for at most {PATTERNS_MAX} patterns of paths",
    "too_many": f"a decision has at most {RATIONALE_MAX} consequences and alternatives each",
    "kept": "a decision in force was kept instead",
    "not_expected": NOT_EXPECTED,
}


def clarification_refusal(decision: Decision) -> tuple[str, str]:
    """Why a clarification takes something not, as a code and in words."""
    if isinstance(decision, ClarificationChangeRefused):
        return decision.reason, _CHANGES[decision.reason]
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    return decision.reason, answer_refused(decision, REFUSED[decision.reason])


def asked_again(request: Request) -> dict[str, tuple[AskedAgain, ...]]:
    """Oldest first, by the session of the decision, or by the path of another tool's record."""
    from preflights_es.use.why_results import AskedAgain  # only `why` asks

    process, found = request.process, dict[str, list[AskedAgain]]()
    for row in process.projector.rows("sessions", process.project):
        if (row["workflow"], row["status"]) != (WORKFLOW.name, "stopped"):
            continue
        session_id = row["session_id"]
        try:
            if all(one.type != DecisionKept.tag for one in process.store.read(session_id)):
                continue  # nothing of it has to be folded
            state: ClarificationState = process.runner.load(session_id).session.state
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        if (kept := state.standing.keeps) is None:
            continue
        again = AskedAgain(
            session_id=session_id,
            intention=state.opened.intention,
            by=Who.of(kept.actor),
            relayed_by=Who.of(kept.relayed_by),
            at=iso(kept.at),
        )
        found.setdefault(kept.kept.session_id or kept.path, []).append(again)
    return {key: tuple(sorted(those, key=lambda one: one.at)) for key, those in found.items()}
