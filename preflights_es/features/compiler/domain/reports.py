"""A blocking failure as an artifact, and the question that one kind of it also is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from preflights_es.features.compiler.domain.events import FailureReported, PassBegun, QuestionAsked
from preflights_es.features.compiler.domain.identity import plan_id
from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.state import State, made
from preflights_es.features.compiler.domain.values import RAW_MAX, ROUNDS_MAX
from preflights_es.kernel.completions import (
    MESSAGE_MAX,
    CompletionFailed,
    CompletionReceived,
    Rejected,
)
from preflights_es.kernel.events import Decision, Outcome
from preflights_es.kernel.ids import iso
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import ResponseRejected, StepFailed, StepStalled, text_of
from preflights_es.kernel.questions import Question
from preflights_es.kernel.text import shortened, visible

MISSING: Final = "missing_information"
QUESTION: Final = "What information is missing? The model does not say which."
"""Where the model gives no details."""

RECOVERY: Final[dict[str, str]] = {
    MISSING: "human_input_required",
    "invalid_request": "fix_and_retry",
    "timeout": "retry",
    "api_error": "retry",
    "rate_limit": "retry_after_delay",
    "validation_error": "abort",
}
"""By category, what a person can do (docs/specs/compiler.md, section 4)."""
CATEGORY: Final[dict[str, str]] = {
    MISSING: MISSING,
    "invalid_request": "invalid_request",
    "timeout": "timeout",
    "lost": "timeout",
    "rate_limit": "rate_limit",
    **dict.fromkeys(
        (
            *("invalid_json", "schema_violation", "code_in_output", "multiple_artifacts"),
            *("explanatory_text", "output_error", "truncated", "refused"),
        ),
        "validation_error",
    ),
}
"""By kind of failure; any other is a call that failed, and the provider's."""


def reported(
    state: State, begun: PassBegun, outcome: Outcome, decisions: Iterable[Decision]
) -> tuple[Decision, ...]:
    """The report of a step that ended without a result; nothing of one that is tried again."""
    ends, rejected = None, None
    for one in decisions:
        if isinstance(one, StepFailed | StepStalled):
            ends = one
        if isinstance(one, ResponseRejected):
            rejected = Rejected(one.kind, one.violations, one.excerpt, one.details)  # type: ignore[arg-type]  # the log keeps kinds as text
    if ends is None:
        return ()
    kind = CATEGORY.get(ends.reason, "api_error")
    payload = {
        "phase": "planning",
        "artifact_id": None,
        "category": kind,
        "summary": _written(_summary(outcome, rejected, ends.reason)),
        "details": _details(begun, ends, rejected),
        "blocking": True,
        "recovery_action": RECOVERY[kind],
        "timestamp": iso(outcome.at),
        **_raw(outcome),
    }
    report = FailureReported(
        id=plan_id(begun, made(state) + 1),
        payload=encoded(payload).decode(),
        category=kind,
        created_at=outcome.at,
        depends_on=tuple(one.id for one in begun.plans),
    )
    asks = kind == MISSING and state.rounds < ROUNDS_MAX
    return (report, _question(state, rejected)) if asks and rejected else (report,)


def _question(state: State, rejected: Rejected) -> QuestionAsked:
    said = rejected.details if visible(rejected.details) else QUESTION
    key = f"missing_{state.rounds + 1}"
    return QuestionAsked(question=Question(key, "free_text", said))


def _summary(outcome: Outcome, rejected: Rejected | None, reason: str) -> str:
    if rejected is not None:
        return rejected.message
    said = outcome.message if isinstance(outcome, CompletionFailed) else ""
    return shortened(f"{reason}: {said}" if said else reason or "no response", MESSAGE_MAX)


def _details(
    begun: PassBegun, ends: StepFailed | StepStalled, rejected: Rejected | None
) -> dict[str, Any]:
    details: dict[str, Any] = {
        "kind": _written(ends.reason),
        "pass": begun.pass_type,
        "artifact_type": PASSES[begun.pass_type].writes,
        "contract": ends.contract,
    }
    if rejected is not None and rejected.violations:
        details["violations"] = rejected.violations
    if rejected is not None and rejected.details:
        details["said"] = rejected.details
    return details


def _raw(outcome: Outcome) -> dict[str, str]:
    """What came, where something did; shortened, since the log has it whole."""
    if isinstance(outcome, CompletionReceived):
        return {"raw_response": _written(shortened(text_of(outcome), RAW_MAX))}
    if isinstance(outcome, CompletionFailed) and outcome.received:
        return {"raw_response": _written(shortened(outcome.received, RAW_MAX))}
    return {}


def _written(text: str) -> str:
    """With a mark in place of each lone surrogate, which no log holds."""
    return text.encode("utf-8", "replace").decode()
