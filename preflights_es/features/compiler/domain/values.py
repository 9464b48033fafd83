"""The passes, what each reads and writes, and their limits (docs/specs/compiler.md)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from preflights_es.kernel.completions import Policy
from preflights_es.kernel.events import Count, SourceSession, Value

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
