"""Artifacts by the names of seed 2: as sessions of a project, and in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import preflights_es
from preflights_es import (
    ArtifactBuilder,
    ClaudeAdapter,
    CompilerContext,
    CompilerPassRegistry,
    CompilerPassType,
    CompilerResult,
    ContextBuilder,
    FailureReportPayload,
    OpenAIAdapter,
    StubLLMAdapter,
)
from preflights_es.kernel import errors
from tests.each import each
from tests.features.compiler.test_adapter import (
    DOCUMENTS,
    PASSES,
    PAYLOADS,
    Answering,
    answering,
    context,
)
from tests.markdown import ROOT
from tests.providers import server
from tests.providers.server import FakeAPI

PROJECT = CompilerPassType.PROJECT
SAMPLE = ROOT / "tests" / "features" / "compiler" / "sample"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[preflights_es.Preflights]:
    """A log in a folder with the three documents."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".preflights").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / name).write_text(text)
    with preflights_es.open(tmp_path) as log:
        yield log


def test_a_project_records_the_pass_and_keeps_a_draft(project: preflights_es.Preflights) -> None:
    made = ArtifactBuilder(project=project).build(PROJECT)
    assert (made["artifact_type"], made["status"]) == ("ProjectPlan", "draft")
    assert (made["created_by"], made["depends_on"]) == ("system", ())
    (session,) = project.sessions(workflow="compiler")
    assert (session.workflow, session.status) == ("compiler", "ready")


@pytest.mark.parametrize(("sdk", "name"), [(ClaudeAdapter, "anthropic"), (OpenAIAdapter, "openai")])
def test_an_adapter_leads_the_session_of_a_project(
    project: preflights_es.Preflights, monkeypatch: pytest.MonkeyPatch, sdk: Any, name: str
) -> None:
    with FakeAPI() as api:
        monkeypatch.setenv("PREFLIGHTS_BASE_URL", getattr(api, name))
        api.script(server.text(json.dumps(PAYLOADS["ProjectPlan"])))
        made = ArtifactBuilder(sdk("sk-not-a-real-key"), project).build(PROJECT)
    assert (made["payload"], made["created_by"]) == (PAYLOADS["ProjectPlan"], "llm")


def test_a_missing_document_is_refused_unrecorded(project: preflights_es.Preflights) -> None:
    Path(".preflights/glossary.md").unlink()
    with pytest.raises(errors.Refused, match=r"glossary\.md does not exist"):
        ArtifactBuilder(project=project).build(PROJECT)
    with pytest.raises(errors.Refused, match="ProjectPlan"):
        ContextBuilder(project).build_context(CompilerPassType.ARCHITECTURE)
    assert not project.sessions(workflow="compiler")


def test_a_context_is_read_without_secrets(project: preflights_es.Preflights) -> None:
    Path(".preflights/constraints.md").write_text("Python. Key: AKIAIOSFODNN7EXAMPLE.\n")
    read = ContextBuilder(project).build_context(PROJECT)
    assert read.pass_type is PROJECT
    assert read.project_files[".preflights/constraints.md"] == "Python. Key: [redacted:key].\n"
    assert ArtifactBuilder(StubLLMAdapter()).build(PROJECT, read)["artifact_type"] == "ProjectPlan"
    assert not project.sessions(workflow="compiler")


@each("pass_type", PASSES)
def test_each_pass_is_built_in_memory(pass_type: CompilerPassType) -> None:
    given, llm = context(pass_type), answering(pass_type)
    made = ArtifactBuilder(llm).build(pass_type, given)
    assert [*made] == [
        "artifact_type",
        "artifact_version",
        "id",
        "status",
        "created_at",
        "created_by",
        "depends_on",
        "payload",
    ]
    assert made["payload"] == llm.result.payload
    assert (made["created_by"], made["depends_on"]) == ("llm", (*given.artifacts,))


class Failing(Answering):
    """Fails with an error."""

    def __init__(self, error: errors.LLMError) -> None:
        self.error = error
        self.calls = 0

    def generate(self, *_: Any) -> Any:
        self.calls += 1
        raise self.error


@each(
    ("error", "calls", "category", "recovery"),
    [
        (errors.LLMTimeoutError("late", retry_after_ms=1), 2, "timeout", "retry"),
        (errors.LLMRateLimitError("busy", retry_after_ms=1), 2, "rate_limit", "retry_after_delay"),
        (errors.LLMAPIError("down", retry_after_ms=1), 2, "api_error", "retry"),
        (errors.InvalidJSONError("no"), 1, "validation_error", "abort"),
        (errors.LLMTruncatedError("cut off"), 1, "validation_error", "abort"),
        (errors.CodeInOutputError("code"), 1, "validation_error", "abort"),
        (
            errors.LLMMissingInformationError("what"),
            *(1, "missing_information", "human_input_required"),
        ),
        (errors.LLMInvalidRequestError("no"), 1, "invalid_request", "fix_and_retry"),
    ],
)
def test_an_error_becomes_a_report_and_a_failed_call_is_made_again(
    error: errors.LLMError, calls: int, category: str, recovery: str
) -> None:
    llm = Failing(error)
    made = ArtifactBuilder(llm).build(PROJECT, context(PROJECT))
    assert llm.calls == calls
    assert (made["artifact_type"], made["created_by"]) == ("FailureReport", "system")
    report = FailureReportPayload.model_validate(made["payload"])
    assert (report.category, report.recovery_action) == (category, recovery)
    with pytest.raises(type(error), match=str(error)):
        CompilerPassRegistry().get(PROJECT).compile(context(PROJECT), Failing(error))


def test_a_failure_in_memory_is_a_report_that_reads_back() -> None:
    llm = Answering(CompilerResult(False, None, "missing_information", "Which domains?"))
    made = ArtifactBuilder(llm).build(PROJECT, context(PROJECT))
    report = FailureReportPayload.model_validate(made["payload"])
    assert (report.category, report.recovery_action) == (
        "missing_information",
        "human_input_required",
    )
    assert json.loads(report.raw_response or "")["error"] == "missing_information"


def test_who_answers_is_named(project: preflights_es.Preflights) -> None:
    with pytest.raises(ValueError, match="name who answers"):
        ArtifactBuilder()
    with pytest.raises(ValueError, match="expected an adapter"):
        ArtifactBuilder(answering(PROJECT), project)
    with pytest.raises(errors.Refused, match="name the context"):
        ArtifactBuilder(StubLLMAdapter()).build(PROJECT)
    with pytest.raises(errors.Refused, match=r"needs requirements\.md"):
        ArtifactBuilder(StubLLMAdapter()).build(PROJECT, CompilerContext(PROJECT))


# Seed 2, section 9.3 -------------------------------------------------------------------------


def test_the_full_compilation_flow_with_the_stub_adapter() -> None:
    documents = {path.name: path.read_text("utf-8") for path in SAMPLE.glob("*.md")}
    artifacts: dict[str, Any] = {}
    builder = ArtifactBuilder(StubLLMAdapter())
    for pass_type in PASSES:
        scaffold = [one for one in artifacts.values() if one["artifact_type"] == "ScaffoldPlan"]
        paths = tuple(one["path"] for one in scaffold[0]["payload"]["files"]) if scaffold else ()
        given = CompilerContext(
            pass_type,
            documents,
            artifacts,
            paths[0] if pass_type is CompilerPassType.IMPLEMENTATION else None,
            f"Move {paths[0]} to src/other.py" if paths else "",
            paths,
        )
        made = builder.build(pass_type, given)
        row = CompilerPassRegistry().get(pass_type)
        assert made["artifact_type"] == row.output_artifact_type.value, made["payload"]
        status = "locked" if pass_type is CompilerPassType.TEST else "approved"
        artifacts[made["id"]] = {**made, "status": status}
    assert len(artifacts) == len(PASSES)


@pytest.mark.parametrize(
    ("said", "provider"),
    [("stub", "mock"), ("mock", "mock"), ("sim", "sim"), ("claude", "anthropic")],
)
def test_the_provider_is_selected_by_configuration(
    project: preflights_es.Preflights, monkeypatch: pytest.MonkeyPatch, said: str, provider: str
) -> None:
    with FakeAPI() as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-not-a-real-key")
        monkeypatch.setenv("LLM_PROVIDER", said)
        if provider == "anthropic":
            monkeypatch.setenv("PREFLIGHTS_BASE_URL", api.anthropic)
        api.script(server.text(json.dumps(PAYLOADS["ProjectPlan"])))
        with preflights_es.open(project.process.settings.root) as log:
            ArtifactBuilder(project=log).build(PROJECT)
            (session,) = log.sessions(workflow="compiler")
            request = log.request()
            lead = request.sessions.load(session.session_id).session.state.led.lead
    assert lead.provider == provider
