"""The passes, what each reads and writes, their limits, and what a pass records
(docs/specs/compiler.md). Values first, then Inputs, Decisions, and the list of all.
"""

from __future__ import annotations

from typing import ClassVar, Final, Literal

import msgspec

from preflights_es.kernel.completions import COMPLETION_EVENTS, Policy
from preflights_es.kernel.events import (
    ARTIFACT_EVENTS,
    UNSEEN,
    Act,
    Actor,
    Count,
    Decision,
    Event,
    Evidence,
    Input,
    Signable,
    SourceSession,
    Typed,
    Value,
    Whole,
)
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.words.questions import AnswerRefusal, Answers, Question, Refusal, TextAccepted

PassName = Literal["project", "architecture", "scaffold", "test", "implementation", "refactor"]
PlanType = Literal[
    "ProjectPlan",
    "ArchitecturePlan",
    "ScaffoldPlan",
    "TestPlan",
    "ImplementationPlan",
    "RefactorPlan",
]

DOCUMENT_MAX: Final = 200_000  # characters of one document, after redaction
BYTES_MAX: Final = 4 * DOCUMENT_MAX + 3  # of its file: every character in four, and a mark
REQUEST_MAX: Final = 400_000  # characters of one request: prompts, schema and all that was read
ROUNDS_MAX: Final = 3  # questions about missing information, in one session
GOAL_MAX: Final = 2_000  # characters of a refactoring's goal
REASON_MAX: Final = 2_000  # characters of the reason of a rejection
RAW_MAX: Final = 20_000  # characters of a response in a report; the log has it whole
VERSION: Final = "1.0"  # of the envelope of an artifact


class Document(Value, frozen=True):
    """A text of the project, as it was read."""

    path: str
    """Relative to the project's root, with forward slashes."""
    sha256: str
    """Of the file's bytes as they lay there, in hexadecimal."""
    text: str
    """Without its secrets."""


class ReadPlan(Value, frozen=True):
    """An artifact of another session, as it was read."""

    id: str
    type: PlanType
    standing: Literal["approved", "locked"]
    source: SourceSession
    payload: str
    """Canonical JSON."""


class DecidedField(Value, frozen=True):
    """One value of a decision."""

    name: str
    value: str


class ReadDecision(Value, frozen=True):
    """A decision in force, as it was read."""

    uid: str
    title: str
    source: SourceSession
    fields: tuple[DecidedField, ...]
    because: str = ""
    scope: str = ""
    """What it is for; empty of the whole project."""


class OmittedFromRequest(Value, frozen=True):
    """What did not fit a request."""

    what: Literal["layout", "decisions"]
    count: Count
    """How many paths or decisions."""


DocumentName = Literal["requirements", "constraints", "glossary"]
Forbidden = Literal["source", "tests"]


class Needed(msgspec.Struct, frozen=True):
    """An artifact that a pass reads."""

    type: PlanType
    standing: Literal["approved", "locked"] = "approved"
    """At least; locked counts as approved."""


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: PassName
    command: str
    """What a person types behind `plan`."""
    writes: PlanType
    prompt: str
    """Name of its prompt file, without the version."""
    documents: tuple[DocumentName, ...] = ()
    plans: tuple[Needed, ...] = ()
    target: bool = False
    """Whether it reads the one file that it is asked for."""
    goal: bool = False
    layout: bool = False
    """Whether the repository's layout is required; every pass gets it where there is room."""
    forbidden: tuple[Forbidden, ...] = ()
    """As the table has it. Source and test files are no documents of any pass; the target file is
    the one that is read."""

    @property
    def schema(self) -> str:
        """Name of its schema file and of its contract, without the version."""
        return f"{self.name}_plan"


PASSES: Final[dict[PassName, Pass]] = {
    one.name: one
    for one in (
        Pass(
            name="project",
            command="project",
            writes="ProjectPlan",
            prompt="project_planner",
            documents=("requirements", "constraints", "glossary"),
            forbidden=("source", "tests"),
        ),
        Pass(
            name="architecture",
            command="architecture",
            writes="ArchitecturePlan",
            prompt="architecture_planner",
            documents=("constraints",),
            plans=(Needed("ProjectPlan"),),
        ),
        Pass(
            name="scaffold",
            command="scaffold",
            writes="ScaffoldPlan",
            prompt="scaffold_planner",
            plans=(Needed("ProjectPlan"), Needed("ArchitecturePlan")),
        ),
        Pass(
            name="test",
            command="tests",
            writes="TestPlan",
            prompt="test_designer",
            documents=("requirements",),
            plans=(Needed("ProjectPlan"), Needed("ArchitecturePlan"), Needed("ScaffoldPlan")),
        ),
        Pass(
            name="implementation",
            command="impl",
            writes="ImplementationPlan",
            prompt="implementation_planner",
            plans=(Needed("TestPlan"), Needed("ScaffoldPlan")),
            target=True,
            forbidden=("source",),
        ),
        Pass(
            name="refactor",
            command="refactor",
            writes="RefactorPlan",
            prompt="refactor_planner",
            plans=(Needed("ArchitecturePlan"), Needed("TestPlan", "locked")),
            goal=True,
            layout=True,
        ),
    )
}

PACKAGE: Final = "preflights_es.features.compiler"
BASE: Final = "base"
PROMPTS: Final[dict[str, str]] = {
    name: f"{name}.v1" for name in (BASE, *(one.prompt for one in PASSES.values()))
}
"""By name, the version of a new session."""
POLICY: Final = Policy(bad_output=0, failed_transport=1, then="report")


def prompts_of(name: PassName) -> tuple[tuple[str, str], tuple[str, str]]:
    """Pairs of name and version of today: the rules of every pass, then the pass's own."""
    own = PASSES[name].prompt
    return (BASE, PROMPTS[BASE]), (own, PROMPTS[own])


def schema_of(name: PassName) -> str:
    """The schema file, and the contract, of a pass: `name.vN`."""
    return f"{PASSES[name].schema}.v1"


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
