"""What a pass of the compiler reads and writes (docs/specs/compiler.md)."""

from __future__ import annotations

from typing import Final, Literal

from preflights_es.kernel.events import Count, Source, Value

PassName = Literal["project", "architecture", "scaffold", "test", "implementation", "refactor"]
PlanType = Literal[
    "ProjectPlan",
    "ArchitecturePlan",
    "ScaffoldPlan",
    "TestPlan",
    "ImplementationPlan",
    "RefactorPlan",
]
ArtifactName = Literal[PlanType, "FailureReport"]
"""The seed's artifact types. In code, a plan or a report is a `Plan`; an artifact is a file."""

DOCUMENT_MAX: Final = 200_000  # characters of one document, after redaction
BYTES_MAX: Final = 4 * DOCUMENT_MAX + 3  # of its file: every character in four, and a mark
REQUEST_MAX: Final = 400_000  # characters of one request: prompts, schema and all that was read
ROUNDS_MAX: Final = 3  # questions about missing information, in one session
GOAL_MAX: Final = 2_000  # characters of a refactoring's goal
REASON_MAX: Final = 2_000  # characters of the reason of a rejection, or of a waiver
FINDINGS_MAX: Final = 50  # of one plan that a person can waive
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
    source: Source
    payload: str
    """Canonical JSON."""


class DecidedField(Value, frozen=True):
    """One value of a decision, and what was not chosen."""

    name: str
    value: str
    others: tuple[str, ...] = ()
    """The other options of its question."""


class ReadDecision(Value, frozen=True):
    """A decision in force, as it was read."""

    uid: str
    title: str
    source: Source
    fields: tuple[DecidedField, ...]
    because: str = ""
    scope: str = ""
    """What it is for; empty of the whole project."""


class LeftOut(Value, frozen=True):
    """What did not fit a request."""

    what: Literal["layout", "decisions"]
    count: Count
    """How many paths or decisions."""


class LockedFile(Value, frozen=True):
    """A test file as it lay there when its plan was locked."""

    path: str
    sha256: str


class Waiver(Value, frozen=True):
    """A person's word that a finding does not hold a plan up."""

    finding: str
    """Its name."""
    reason: str
