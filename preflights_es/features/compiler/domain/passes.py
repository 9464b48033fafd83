"""The passes: what each reads, what it must not read, and what it writes (seed 2, section 4.2)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from preflights_es.features.compiler.domain.values import PassName, PlanType

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
    schema: str
    """Name of its schema file and of its contract, without the version."""
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


PASSES: Final[dict[PassName, Pass]] = {
    one.name: one
    for one in (
        Pass(
            name="project",
            command="project",
            writes="ProjectPlan",
            prompt="project_planner",
            schema="project_plan",
            documents=("requirements", "constraints", "glossary"),
            forbidden=("source", "tests"),
        ),
        Pass(
            name="architecture",
            command="architecture",
            writes="ArchitecturePlan",
            prompt="architecture_planner",
            schema="architecture_plan",
            documents=("constraints",),
            plans=(Needed("ProjectPlan"),),
        ),
        Pass(
            name="scaffold",
            command="scaffold",
            writes="ScaffoldPlan",
            prompt="scaffold_planner",
            schema="scaffold_plan",
            plans=(Needed("ProjectPlan"), Needed("ArchitecturePlan")),
        ),
        Pass(
            name="test",
            command="tests",
            writes="TestPlan",
            prompt="test_designer",
            schema="test_plan",
            documents=("requirements",),
            plans=(Needed("ProjectPlan"), Needed("ArchitecturePlan"), Needed("ScaffoldPlan")),
        ),
        Pass(
            name="implementation",
            command="impl",
            writes="ImplementationPlan",
            prompt="implementation_planner",
            schema="implementation_plan",
            plans=(Needed("TestPlan"), Needed("ScaffoldPlan")),
            target=True,
            forbidden=("source",),
        ),
        Pass(
            name="refactor",
            command="refactor",
            writes="RefactorPlan",
            prompt="refactor_planner",
            schema="refactor_plan",
            plans=(Needed("ArchitecturePlan"), Needed("TestPlan", "locked")),
            goal=True,
            layout=True,
        ),
    )
}
