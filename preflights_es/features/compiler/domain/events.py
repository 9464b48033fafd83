"""What a pass of the compiler records: Inputs first, then Decisions, then the list of all."""

from __future__ import annotations

from typing import ClassVar, Literal

from preflights_es.features.compiler.domain.values import (
    BYTES_MAX,
    GOAL_MAX,
    REASON_MAX,
    Document,
    OmittedFromRequest,
    PassName,
    PlanType,
    ReadDecision,
    ReadPlan,
)
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.events import (
    ARTIFACT_EVENTS,
    UNSEEN,
    Act,
    Actor,
    Decision,
    Event,
    Evidence,
    Input,
    Signable,
    SourceSession,
    Typed,
    Whole,
)
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.words.questions import AnswerRefusal, Answers, Question, Refusal, TextAccepted

# 1. Inputs -----------------------------------------------------------------------------------


class PassBegun(Input, frozen=True):
    """The actor runs a pass; opens the session and carries all that was read."""

    tag: ClassVar[str] = "compiler.pass_begun.v1"
    verb: ClassVar[str] = "ran the pass of"
    typed: ClassVar = {
        "goal": Typed(GOAL_MAX),
        "documents": Typed(BYTES_MAX, parts=("text",)),
        "decisions": Typed(BYTES_MAX, parts=("title", "fields", "value", "because", "scope")),
    }
    pass_type: PassName
    project: str
    uid: str
    """Of the session, so that no two artifacts share an id."""
    setup: Setup
    documents: tuple[Document, ...] = ()
    """In the order of the table of passes, then those of `--use`, then the target."""
    plans: tuple[ReadPlan, ...] = ()
    decisions: tuple[ReadDecision, ...] = ()
    """In force, the newest first."""
    layout: tuple[str, ...] = ()
    """Paths of the repository, sorted."""
    target: str = ""
    """The path of the file that an implementation is planned for; its text is a document."""
    goal: str = ""
    """Of a refactoring."""
    left_out: tuple[OmittedFromRequest, ...] = ()
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class PassAnswersGiven(Answers, frozen=True):
    """The answer to what the model said was missing."""

    tag: ClassVar[str] = "compiler.answers_given.v1"
    verb: ClassVar[str] = "answered in"


class PlanApproved(Signable, frozen=True):
    """The actor approves the draft: an approval where a person does it, else a proposal."""

    tag: ClassVar[str] = "compiler.plan_approved.v1"
    act: ClassVar[Act] = "approval"
    verb: ClassVar[str] = "approved the plan of"
    id: str
    sha256: str
    """Of the payload's canonical JSON, as it was shown."""
    relayed_by: Actor | None = None
    """The actor who passed that person's word on."""
    evidence: Evidence = UNSEEN
    """What was seen of who was at work."""
    former: tuple[SourceSession, ...] = ()
    """The session whose approved artifact gives way, if there is one."""


class PlanRejected(Signable, frozen=True):
    """The actor rejects the draft."""

    tag: ClassVar[str] = "compiler.plan_rejected.v1"
    act: ClassVar[Act] = "rejection"
    verb: ClassVar[str] = "rejected the plan of"
    typed: ClassVar = {"reason": Typed(REASON_MAX, "say why")}
    id: str
    reason: str
    relayed_by: Actor | None = None
    evidence: Evidence = UNSEEN
    redacted: tuple[str, ...] = ()


class PlanLocked(Input, frozen=True):
    """A person locks an approved TestPlan."""

    tag: ClassVar[str] = "compiler.plan_locked.v1"
    verb: ClassVar[str] = "locked the plan of"
    id: str
    relayed_by: Actor | None = None
    evidence: Evidence = UNSEEN
    former: tuple[SourceSession, ...] = ()
    """The session whose locked TestPlan gives way, if there is one."""


class PlanSuperseded(Input, frozen=True):
    """A newer artifact of the same type (and target, or goal) is in force; the same transaction."""

    tag: ClassVar[str] = "compiler.plan_superseded.v1"
    verb: ClassVar[str] = "superseded the plan of"
    id: str
    """The former one, of this session."""
    by: str
    """The id of the newer one."""
    session: str
    """Its session."""


# 2. Decisions --------------------------------------------------------------------------------


class PlanDrafted(Decision, frozen=True):
    """The artifact of the session, a draft."""

    tag: ClassVar[str] = "compiler.plan_drafted.v1"
    id: str
    type: PlanType
    payload: str
    """Canonical JSON."""
    created_at: Whole
    """When the response came, in microseconds since 1970 UTC."""
    created_by: Literal["llm", "system"]
    depends_on: tuple[str, ...] = ()
    """Ids of the artifacts that were read."""


class FailureReported(Decision, frozen=True):
    """A blocking failure, as an artifact of type FailureReport."""

    tag: ClassVar[str] = "compiler.failure_reported.v1"
    id: str
    payload: str
    """Canonical JSON."""
    category: str
    created_at: Whole
    depends_on: tuple[str, ...] = ()


class PassQuestionAsked(Decision, frozen=True):
    """What the model said was missing, as a question to a person."""

    tag: ClassVar[str] = "compiler.question_asked.v1"
    question: Question


class PassAnswerAccepted(TextAccepted, frozen=True):
    """The answer counts, and goes to the model."""

    tag: ClassVar[str] = "compiler.answer_accepted.v1"


class PassAnswerRefused(AnswerRefusal, frozen=True):
    """The answer does not count; the question stays as it was."""

    tag: ClassVar[str] = "compiler.answer_refused.v1"


class StandingChanged(Decision, frozen=True):
    """What the artifact is from now on."""

    tag: ClassVar[str] = "compiler.standing_changed.v1"
    id: str
    standing: Literal["approved", "proposed", "rejected", "locked", "superseded"]


class PlanFiled(Decision, frozen=True):
    """Where the artifact's file was written."""

    tag: ClassVar[str] = "compiler.plan_filed.v1"
    path: str


class PassChangeRefused(Refusal, frozen=True):
    """The Input does not fit what the session holds; nothing changed."""

    tag: ClassVar[str] = "compiler.change_refused.v1"
    reason: Literal[
        "no_plan",
        "unknown_id",
        "other_payload",
        "not_a_draft",
        "not_approved",
        "not_a_test_plan",
        "not_a_person",
        "not_in_force",
        "not_expected",
    ]


# 3. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    PassBegun,
    PassAnswersGiven,
    PlanApproved,
    PlanRejected,
    PlanLocked,
    PlanSuperseded,
    PlanDrafted,
    FailureReported,
    PassQuestionAsked,
    PassAnswerAccepted,
    PassAnswerRefused,
    StandingChanged,
    PlanFiled,
    PassChangeRefused,
    *ARTIFACT_EVENTS,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)
