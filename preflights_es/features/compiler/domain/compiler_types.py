"""What a pass is given and gives back, by the names of seed 2, and as a session would read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Protocol, runtime_checkable

import msgspec

from preflights_es.features.compiler.domain.events import PassBegun
from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.prompting import PACKAGE, schema_of
from preflights_es.features.compiler.domain.values import Document, ReadDecision, ReadPlan
from preflights_es.kernel import __version__
from preflights_es.kernel.completions import schema
from preflights_es.kernel.events import Actor, Source
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import Setup

# 1. Values -----------------------------------------------------------------------------------


class CompilerPassType(Enum):
    """The passes (seed 2, section 3.2)."""

    PROJECT = "project"
    ARCHITECTURE = "architecture"
    SCAFFOLD = "scaffold"
    TEST = "test"
    IMPLEMENTATION = "implementation"
    REFACTOR = "refactor"


class ArtifactType(Enum):
    """What passes write, and what becomes of a pass that fails."""

    PROJECT_PLAN = "ProjectPlan"
    ARCHITECTURE_PLAN = "ArchitecturePlan"
    SCAFFOLD_PLAN = "ScaffoldPlan"
    TEST_PLAN = "TestPlan"
    IMPLEMENTATION_PLAN = "ImplementationPlan"
    REFACTOR_PLAN = "RefactorPlan"
    FAILURE_REPORT = "FailureReport"


class CompilerContext(msgspec.Struct):
    """What a pass reads."""

    pass_type: CompilerPassType
    project_files: dict[str, str] = {}
    """Texts by path; documents, and the target file where it exists."""
    artifacts: dict[str, Any] = {}
    """By id: an envelope, or its payload alone, for whose standing the caller answers."""
    target_file: str | None = None
    """For the implementation pass."""
    goal: str = ""
    """For the refactor pass."""
    layout: tuple[str, ...] = ()
    """Paths of the repository."""
    decisions: tuple[ReadDecision, ...] = ()
    """In force, the newest first."""


class CompilerResult(msgspec.Struct):
    """What came of a pass."""

    success: bool
    payload: dict[str, Any] | None = None
    """Of the artifact."""
    error_type: str | None = None
    """`missing_information` or `invalid_request`."""
    error_details: str | None = None
    """In the model's words."""
    raw_response: str | None = None


@runtime_checkable
class LLMPort(Protocol):
    """Who answers a pass (seed 2, section 3.1)."""

    def generate(
        self, pass_type: CompilerPassType, context: CompilerContext, schema: dict[str, Any]
    ) -> CompilerResult:
        """The payload of an artifact that meets a schema, or why the model gives none.

        Raises:
            LLMError: no response came, or one that cannot be used.
        """


# 2. A context as the first Input of a session ------------------------------------------------


def begun(context: CompilerContext, pass_type: CompilerPassType | None = None) -> PassBegun:
    """What a session of the pass would begin with; recorded nowhere.

    Args:
        pass_type: instead of the context's.
    """
    row = PASSES[(pass_type or context.pass_type).value]
    known = [path_of(context, f"{name}.md") for name in row.documents]
    paths = dict.fromkeys((*filter(None, known), *context.project_files))
    return PassBegun(
        at=0,
        actor=Actor("script"),
        pass_type=row.name,
        project="",
        uid="",
        setup=Setup(preflights=__version__, decider=""),
        documents=tuple(
            Document(path=path, sha256="", text=context.project_files[path]) for path in paths
        ),
        plans=tuple(_plan(*pair) for pair in context.artifacts.items()),
        decisions=tuple(context.decisions),
        layout=tuple(context.layout),
        target=context.target_file or "" if row.target else "",
        goal=context.goal if row.goal else "",
    )


def _plan(id_: str, held: Any) -> ReadPlan:
    type_, status, payload = opened(held)
    standing = "locked" if status == "locked" else "approved"
    none = Source(session_id="", version=0, hash="")
    return ReadPlan(id_, type_, standing, none, encoded(payload).decode())  # type: ignore[arg-type]  # a type of any name is shown to the model


def opened(held: Any) -> tuple[str, str, Any]:
    """Type, status and payload of an artifact; a payload alone has the type whose fields it has."""
    if not isinstance(held, Mapping):
        return "", "no artifact", held
    if "artifact_type" in held and "payload" in held:
        return str(held["artifact_type"]), str(held.get("status", "draft")), held["payload"]
    types = (row.writes for row in PASSES.values() if _required(schema_of(row.name)) <= held.keys())
    return next(types, ""), "locked", held


def _required(schema_id: str) -> frozenset[str]:
    return frozenset(json.loads(schema(PACKAGE, schema_id).text)["required"])


def path_of(context: CompilerContext, name: str) -> str | None:
    """The path of a document by its name, in whatever folder it lies."""
    return next((p for p in context.project_files if p.rpartition("/")[2] == name), None)
