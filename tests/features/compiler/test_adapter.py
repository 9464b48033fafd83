"""The names of seed 2: six passes, their inputs, prompts and results."""

from __future__ import annotations

import json
from typing import Any

import pytest

import preflights_es
from preflights_es import (
    BASE_SYSTEM_PROMPT,
    ArtifactType,
    CompilerContext,
    CompilerPassRegistry,
    CompilerPassType,
    CompilerResult,
    FailureReportPayload,
    LLMPort,
    PromptManager,
)
from preflights_es.features.compiler.adapters import first_input
from preflights_es.features.compiler.domain.events import REQUEST_MAX
from preflights_es.features.compiler.domain.rules import load_compiler_schema
from preflights_es.judging.contract import OutputValidator
from preflights_es.kernel import errors
from tests.each import each
from tests.features.compiler.passes_read import GOAL, PLANS

DOCUMENTS = {
    ".preflights/requirements.md": "# Shop\n\n## Orders\n\nA customer orders.\n",
    ".preflights/constraints.md": "Python, hexagonal.\n",
    ".preflights/glossary.md": "Order: what a customer wants.\n",
}
TABLE = {
    "project": ({"requirements.md", "constraints.md", "glossary.md"}, ["source code", "tests"]),
    "architecture": ({"ProjectPlan", "constraints.md"}, []),
    "scaffold": ({"ProjectPlan", "ArchitecturePlan"}, []),
    "test": ({"ProjectPlan", "ArchitecturePlan", "ScaffoldPlan", "requirements.md"}, []),
    "implementation": ({"TestPlan", "ScaffoldPlan", "target file"}, ["all other source files"]),
    "refactor": ({"ArchitecturePlan", "TestPlan", "repo layout", "goal"}, []),
}
"""Seed 2, section 4.2; the refactor pass also has its goal."""
PASSES = list(CompilerPassType)
WRITES: dict[CompilerPassType, str] = dict(zip(PASSES, PLANS, strict=True))
PAYLOADS: dict[str, dict[str, Any]] = dict(PLANS.items())


class Answering:
    """Answers with one result, and remembers that it was asked."""

    def __init__(self, result: CompilerResult) -> None:
        self.result = result
        self.asked: list[tuple[CompilerPassType, dict[str, Any]]] = []

    def generate(
        self, pass_type: CompilerPassType, context: CompilerContext, schema: dict[str, Any]
    ) -> CompilerResult:
        self.asked.append((pass_type, schema))
        return self.result


def envelope(type_: str, status: str = "approved") -> dict[str, Any]:
    return {"artifact_type": type_, "status": status, "payload": PAYLOADS[type_]}


def context(pass_type: CompilerPassType) -> CompilerContext:
    """All that a pass may read."""
    return CompilerContext(
        pass_type,
        dict(DOCUMENTS),
        {
            name: envelope(name, "locked" if name == "TestPlan" else "approved")
            for name in ("ProjectPlan", "ArchitecturePlan", "ScaffoldPlan", "TestPlan")
        },
        "src/orders.py" if pass_type is CompilerPassType.IMPLEMENTATION else None,
        GOAL,
        ("src/orders.py",),
    )


def answering(pass_type: CompilerPassType) -> Answering:
    return Answering(CompilerResult(success=True, payload=PAYLOADS[WRITES[pass_type]]))


def refused(given: CompilerContext) -> str:
    """Why a pass is not run; no model is asked."""
    llm = answering(given.pass_type)
    with pytest.raises(errors.Refused) as raised:
        CompilerPassRegistry().get(given.pass_type).compile(given, llm)
    assert not llm.asked
    return f"{raised.value.code}: {raised.value}"


@each("pass_type", PASSES)
def test_a_pass_has_inputs_asks_with_its_schema_gives_payload(pass_type: CompilerPassType) -> None:
    found = CompilerPassRegistry().get(pass_type)
    required, forbidden = TABLE[pass_type.value]
    assert found.pass_type is pass_type
    assert (set(found.required_inputs), found.forbidden_inputs) == (required, forbidden)
    assert found.output_artifact_type is ArtifactType(WRITES[pass_type])
    llm, made = answering(pass_type), CompilerPassRegistry().get(pass_type)
    assert isinstance(llm, LLMPort)
    result = made.compile(context(pass_type), llm)
    assert result.payload == PAYLOADS[WRITES[pass_type]]
    assert llm.asked == [(pass_type, made.get_output_schema())]
    assert made.get_output_schema()["title"] == WRITES[pass_type]


@each(
    ("pass_type", "name"), [(one, name) for one in PASSES for name in sorted(TABLE[one.value][0])]
)
def test_a_missing_required_input_is_refused(pass_type: CompilerPassType, name: str) -> None:
    given = context(pass_type)
    given.project_files.pop(f".preflights/{name}", None)
    given.artifacts.pop(name, None)
    if name == "target file":
        given.target_file = None
    if name == "repo layout":
        given.layout = ()
    if name == "goal":
        given.goal = " "
    assert refused(given).startswith(f"input_missing: the pass {pass_type.value} needs {name}")


def test_a_forbidden_input_is_refused() -> None:
    for pass_type in PASSES:
        given = context(pass_type)
        given.project_files["src/billing.py"] = "import os\n"
        assert refused(given).startswith("forbidden_input: src/billing.py is no document")
    given = context(CompilerPassType.PROJECT)
    given.target_file = "src/orders.py"
    given.project_files["src/orders.py"] = "import os\n"
    assert refused(given).startswith("forbidden_input: src/orders.py")
    given = context(CompilerPassType.PROJECT)
    given.artifacts["3f9a12c4"] = envelope("RefactorPlan", "draft")
    assert refused(given).startswith("not_in_force: the artifact 3f9a12c4 is draft")


def test_the_target_of_an_implementation_is_the_one_source_file_that_is_read() -> None:
    given = context(CompilerPassType.IMPLEMENTATION)
    given.project_files["src/orders.py"] = "import os\n"
    made = CompilerPassRegistry().get(given.pass_type)
    assert made.compile(given, answering(given.pass_type)).success
    assert json.loads(PromptManager().get_user_prompt(given))["target"] == "src/orders.py"


def test_an_artifact_needs_its_standing_and_locked_counts_as_approved() -> None:
    for status in ("draft", "rejected", "superseded", "proposed"):
        given = context(CompilerPassType.ARCHITECTURE)
        given.artifacts["ProjectPlan"] = envelope("ProjectPlan", status)
        assert "ProjectPlan (approved)" in refused(given)
    given = context(CompilerPassType.REFACTOR)
    given.artifacts["TestPlan"] = envelope("TestPlan", "approved")
    assert "TestPlan (locked)" in refused(given)
    given = context(CompilerPassType.IMPLEMENTATION)
    assert given.artifacts["TestPlan"]["status"] == "locked"
    made = CompilerPassRegistry().get(given.pass_type)
    assert made.compile(given, answering(given.pass_type)).success


def test_a_payload_without_an_envelope_has_the_type_whose_fields_it_has() -> None:
    given = context(CompilerPassType.REFACTOR)
    given.artifacts = {f"id-{n}": payload for n, payload in enumerate(PAYLOADS.values())}
    made = CompilerPassRegistry().get(given.pass_type)
    assert made.compile(given, answering(given.pass_type)).success
    assert [one.type for one in first_input(given, given.pass_type).plans] == [*PAYLOADS]
    given.artifacts = {"x": {"other": 1}, "y": "text"}
    assert "ArchitecturePlan (approved)" in refused(given)


def test_a_failure_is_handed_on_as_the_model_says_it() -> None:
    said = CompilerResult(False, None, "missing_information", "Which database?")
    made = CompilerPassRegistry().get(CompilerPassType.PROJECT)
    assert made.compile(context(CompilerPassType.PROJECT), Answering(said)) == said


@each(
    ("payload", "error"),
    [
        ({"domains": []}, errors.SchemaViolationError),
        (
            PAYLOADS["ProjectPlan"] | {"modules": [{"name": "m", "domain": "Nowhere"}]},
            errors.SchemaViolationError,
        ),
        (
            PAYLOADS["ProjectPlan"]
            | {"domains": [{"name": "Orders", "responsibility": "def f(x):\n    return x\n"}]},
            errors.CodeInOutputError,
        ),
    ],
)
def test_a_payload_of_any_port_is_judged(
    payload: dict[str, Any], error: type[errors.LLMError]
) -> None:
    made = CompilerPassRegistry().get(CompilerPassType.PROJECT)
    said = CompilerResult(success=True, payload=payload)
    with pytest.raises(error):
        made.compile(context(CompilerPassType.PROJECT), Answering(said))


NESTED: list[Any] = []
for _ in range(10_000):
    NESTED = [NESTED]


@each("payload", [{"domains": "\ud800"}, NESTED])
def test_what_is_no_json_leaves_a_pass_as_an_error_of_the_tree(payload: Any) -> None:
    given, port = context(CompilerPassType.PROJECT), Answering(CompilerResult(True, payload))
    made = CompilerPassRegistry().get(given.pass_type)
    with pytest.raises(errors.InvalidJSONError):
        made.compile(given, port)
    with pytest.raises(errors.InvalidJSONError):
        made.validate_output(payload)
    built = preflights_es.ArtifactBuilder(port).build(given.pass_type, given)
    assert built["payload"]["category"] == "validation_error"


@each("pass_type", PASSES)
def test_a_pass_judges_the_payload_once_more_by_its_own_method(pass_type: CompilerPassType) -> None:
    class Strict(type(CompilerPassRegistry().get(pass_type))):  # type: ignore[misc]  # the base is found
        def validate_output(self, payload: Any) -> None:
            super().validate_output(payload)
            raise errors.SchemaViolationError("not in this house")

    with pytest.raises(errors.SchemaViolationError, match="not in this house"):
        Strict().compile(context(pass_type), answering(pass_type))
    with pytest.raises(errors.SchemaViolationError, match="is required"):
        CompilerPassRegistry().get(pass_type).validate_output({})


def test_a_registry_takes_a_pass_in_place_of_its_own() -> None:
    class Mine(preflights_es.ProjectPlannerPass):
        pass

    registry = CompilerPassRegistry()
    assert registry.list_passes() == PASSES
    registry.register(Mine())
    assert isinstance(registry.get(CompilerPassType.PROJECT), Mine)
    assert registry.list_passes() == PASSES


@each("pass_type", PASSES)
def test_the_prompt_of_a_pass_is_the_one_that_a_session_sends(pass_type: CompilerPassType) -> None:
    from preflights_es.features.compiler.domain import lead as sent

    system = PromptManager().get_system_prompt(pass_type)
    assert system.startswith(BASE_SYSTEM_PROMPT)
    assert system == sent.system(first_input(context(pass_type), pass_type))
    assert '"title": "Mine"' in PromptManager().get_system_prompt(pass_type, {"title": "Mine"})
    made = CompilerPassRegistry().get(pass_type)
    assert made.build_prompt(context(pass_type)).startswith(system)


def test_a_document_stands_in_the_user_message_under_its_name() -> None:
    given = context(CompilerPassType.PROJECT)
    given.project_files = {"notes.md": "Hello", **dict(reversed(DOCUMENTS.items()))}
    said = json.loads(PromptManager().get_user_prompt(given))
    names = [one["name"] for one in said["documents"]]
    assert names == ["requirements", "constraints", "glossary", "other"]
    given.project_files["notes.md"] = "a name that is no text: \udcff"
    with pytest.raises(errors.Refused, match="a lone surrogate"):
        PromptManager().get_user_prompt(given)


def test_a_request_has_its_limit_and_the_layout_gives_way_first() -> None:
    given = context(CompilerPassType.SCAFFOLD)
    given.layout = tuple(f"src/module_{n:06}.py" for n in range(30_000))
    said = PromptManager().get_user_prompt(given)
    assert len(said) < REQUEST_MAX
    assert json.loads(said)["left_out"][0]["what"] == "layout"
    given.project_files["long.md"] = "x" * REQUEST_MAX
    with pytest.raises(errors.Refused, match="at most 400,000 are sent"):
        PromptManager().get_user_prompt(given)


# FailureReport -------------------------------------------------------------------------------

REPORT: dict[str, Any] = {
    "phase": "planning",
    "artifact_id": "5a0a4bd8-3e33-4f6b-8a21-3f3c1a9d2b11",
    "category": "missing_information",
    "summary": "Domain 'User' is not defined",
    "details": {"pass": "project"},
    "blocking": True,
    "recovery_action": "human_input_required",
    "timestamp": "2026-11-23T10:00:00Z",
}


SCHEMA = load_compiler_schema("failure_report.v1")


def test_a_failure_report_reads_back_and_meets_the_schema() -> None:
    made = FailureReportPayload.model_validate(REPORT)
    written = made.model_dump_json(exclude_none=True)
    assert FailureReportPayload.model_validate_json(written) == made
    assert OutputValidator().validate(written, SCHEMA) == REPORT
    for wrong in ({"summary": ""}, {"category": "other"}, {"more": 1}):
        with pytest.raises(errors.SchemaViolationError):
            OutputValidator().validate(json.dumps(REPORT | wrong), SCHEMA)


@each(
    "wrong",
    [
        {"category": "other"},
        {"recovery_action": "hope"},
        {"summary": ""},
        {"timestamp": "yesterday"},
        {"artifact_id": "7"},
        {"more": 1},
        {"details": "text"},
    ],
)
def test_a_failure_report_that_does_not_fit_is_a_value_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FailureReportPayload.model_validate(REPORT | wrong)
