"""A pass as services return it: `plan/1` and `plan-dry-run/1` (docs/api.md)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final, Literal

from preflights_es.core.completions import CompletionRequested, Message
from preflights_es.core.events import Decision
from preflights_es.core.json import decoded, encoded
from preflights_es.core.questions import AnswerRefusal
from preflights_es.runtime.runner import Handle
from preflights_es.services.results import Result, Session, answer_refused
from preflights_es.workflows.compiler import WORKFLOW, context
from preflights_es.workflows.compiler.events import ChangeRefused, PassBegun
from preflights_es.workflows.compiler.state import State
from preflights_es.workflows.compiler.values import (
    REQUEST_MAX,
    ArtifactName,
    Cause,
    LeftOut,
    PassName,
)

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
    "not_expected": "nothing of the kind is expected here",
}


class ReadDocument(Result, frozen=True):
    """A document that a pass read."""

    path: str
    sha256: str
    """Of the file's bytes as they lay there."""
    characters: int
    """Of its text, without its secrets."""


class ReadArtifact(Result, frozen=True):
    """An artifact that a pass read."""

    id: str
    type: str
    standing: str
    session_id: str


class PlanSession(Session, frozen=True, kw_only=True):
    """`plan/1`."""

    FORMAT = "plan/1"

    pass_type: PassName
    target: str
    goal: str
    artifact: str | None
    """The id of the plan; of the last report where there is no plan."""
    type: ArtifactName | None
    standing: str | None
    created_by: Literal["llm", "system"] | None
    depends_on: tuple[str, ...]
    payload: dict[str, Any] | None
    """The plan, as the model answered it."""
    report: dict[str, Any] | None
    """The payload of the last FailureReport, where no plan came after it."""
    documents: tuple[ReadDocument, ...]
    artifacts: tuple[ReadArtifact, ...]
    decisions: tuple[str, ...]
    """Uids of those that were read."""
    left_out: tuple[LeftOut, ...]
    stale: tuple[Cause, ...]
    """What was stale of what was read, with the actor's leave."""
    superseded_by: str
    reason: str
    """Of a rejection."""
    question: str | None
    calls: int

    @property
    def failed(self) -> bool:
        return self.status == "stopped"

    @classmethod
    def more(cls, handle: Handle) -> dict[str, Any]:
        state: State = handle.session.state
        asks = handle.view.questions and not handle.session.closed
        question = handle.view.questions[0].question if asks else None
        read = _read(state.begun) if state.begun is not None else _NOTHING
        return {**read, **_artifact(state), "question": question, "calls": state.led.calls}

    @classmethod
    def refusal(cls, decision: Decision) -> tuple[str, str]:
        if isinstance(decision, ChangeRefused):
            return decision.reason, _CHANGES[decision.reason]
        assert isinstance(decision, AnswerRefusal), "the only other refusal"
        why = _REFUSED.get(decision.reason, f"was refused: {decision.reason.replace('_', ' ')}")
        return decision.reason, answer_refused(decision, why)


def _artifact(state: State) -> dict[str, Any]:
    """The plan, or why there is none."""
    plan, report = state.plan, state.reports[-1] if state.reports else None
    shared = {"superseded_by": state.superseded_by, "reason": state.reason}
    if plan is not None:
        return shared | {
            "artifact": plan.id,
            "type": plan.type,
            "standing": state.standing,
            "created_by": plan.created_by,
            "depends_on": plan.depends_on,
            "payload": decoded(plan.payload.encode()),
            "report": None,
        }
    return shared | {
        "artifact": report.id if report else None,
        "type": "FailureReport" if report else None,
        "standing": "failed" if report else None,
        "created_by": None,
        "depends_on": report.depends_on if report else (),
        "payload": None,
        "report": decoded(report.payload.encode()) if report else None,
    }


def _read(begun: PassBegun) -> dict[str, Any]:
    """What was read, without its texts."""
    return {
        "pass_type": begun.pass_type,
        "target": begun.target,
        "goal": begun.goal,
        "documents": tuple(
            ReadDocument(path=one.path, sha256=one.sha256, characters=len(one.text))
            for one in begun.documents
        ),
        "artifacts": tuple(
            ReadArtifact(
                id=one.id,
                type=one.type,
                standing=one.standing,
                session_id=one.source.session_id,
            )
            for one in begun.plans
        ),
        "decisions": tuple(one.uid for one in begun.decisions),
        "left_out": begun.left_out,
        "stale": begun.stale,
    }


_NOTHING: Final = {
    **{"pass_type": "project", "target": "", "goal": "", "documents": (), "artifacts": ()},
    **{"decisions": (), "left_out": (), "stale": ()},
}
"""Of a session that was erased."""

SESSION: Final = PlanSession


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
    stale: tuple[Cause, ...]
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
        size=context.size(begun),
        most=REQUEST_MAX,
        redacted=begun.redacted,
        messages=asked.messages,
        **_read(begun),
    )
