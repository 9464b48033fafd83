"""What a pass would ask: `plan-dry-run/1` (docs/api.md); and why it refuses something."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from preflights_es.features.compiler.domain import WORKFLOW
from preflights_es.features.compiler.domain.events import ChangeRefused, PassBegun
from preflights_es.features.compiler.domain.lead import size
from preflights_es.features.compiler.domain.values import (
    REQUEST_MAX,
    LeftOut,
    PassName,
)
from preflights_es.features.compiler.domain.views import (
    ReadArtifact,
    ReadDocument,
    what_was_read,
)
from preflights_es.kernel.completions import CompletionRequested, Message
from preflights_es.kernel.events import Decision
from preflights_es.kernel.json import encoded
from preflights_es.kernel.questions import AnswerRefusal
from preflights_es.use.results import NOT_EXPECTED, Result, answer_refused

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


def refusal(decision: Decision) -> tuple[str, str]:
    """Why a pass takes something not, as a code and in words."""
    if isinstance(decision, ChangeRefused):
        return decision.reason, _CHANGES[decision.reason]
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    why = _REFUSED.get(decision.reason, f"was refused: {decision.reason.replace('_', ' ')}")
    return decision.reason, answer_refused(decision, why)


class DryRun(Result, frozen=True, tag_field="format", tag="plan-dry-run/1"):
    """What a pass would ask."""

    pass_type: PassName
    provider: str
    model: str
    contract: str
    """What the response must meet, `name.vN`."""
    prompts: tuple[tuple[str, str], ...]
    """Pairs of a prompt or a schema, and its SHA-256."""
    sha256: str
    """Of the messages' canonical JSON."""
    size: int
    """Characters of the request."""
    most: int
    """Characters that a request may have."""
    target: str
    goal: str
    documents: tuple[ReadDocument, ...]
    artifacts: tuple[ReadArtifact, ...]
    decisions: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    redacted: tuple[str, ...]
    """Kinds of secrets that were taken out, one a replacement."""
    messages: tuple[Message, ...]


def dry_run_of(begun: PassBegun) -> DryRun:
    """What follows from a first Input."""
    decisions = WORKFLOW.decide(WORKFLOW.initial, begun)
    asked = next(one for one in decisions if isinstance(one, CompletionRequested))
    return DryRun(
        provider=asked.provider,
        model=asked.model,
        contract=asked.contract,
        prompts=asked.prompts,
        sha256=sha256(encoded(asked.messages)).hexdigest(),
        size=size(begun),
        most=REQUEST_MAX,
        redacted=begun.redacted,
        messages=asked.messages,
        **{name: getattr(begun, name) for name in ("pass_type", "target", "goal")},
        left_out=begun.left_out,
        **what_was_read(begun),
    )
