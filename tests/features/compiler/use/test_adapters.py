"""Claude, OpenAI and the stub as seed 2 names them, against a server on this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from preflights_es import (
    ClaudeAdapter,
    CompilerPassType,
    CompilerResult,
    OpenAIAdapter,
    PromptManager,
    StubLLMAdapter,
)
from preflights_es.features.compiler.adapters import Adapter
from preflights_es.features.compiler.domain.rules import load_compiler_schema
from preflights_es.kernel import errors
from preflights_es.providers.capabilities import DEFAULT_MODELS, MAX_TOKENS
from tests.features.compiler.test_adapter import PAYLOADS, context
from tests.providers import server
from tests.providers.server import FakeAPI

PROJECT = CompilerPassType.PROJECT
SCHEMA = load_compiler_schema("project_plan.v1")
GOOD = json.dumps(PAYLOADS["ProjectPlan"])
SDKS = {"anthropic": ClaudeAdapter, "openai": OpenAIAdapter}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder without settings, of a person without any."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(params=SDKS)
def asked(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Adapter, FakeAPI]]:
    """One of the two, and the server that it asks."""
    with FakeAPI() as api:
        monkeypatch.setenv("PREFLIGHTS_BASE_URL", getattr(api, request.param))
        yield SDKS[request.param]("sk-not-a-real-key"), api


def generated(one: Adapter, schema: dict[str, Any] | None = None) -> CompilerResult:
    return one.generate(PROJECT, context(PROJECT), schema or SCHEMA)


@pytest.mark.slow("whole runs")
def test_a_payload_is_the_result_and_the_request_is_that_of_a_session(
    asked: tuple[Adapter, FakeAPI],
) -> None:
    one, api = asked
    api.script(server.text(f"```json\n{GOOD}\n```"))
    found = generated(one)
    assert (found.success, found.payload) == (True, PAYLOADS["ProjectPlan"])
    assert found.raw_response == f"```json\n{GOOD}\n```"
    sent = json.dumps(api.requests[0].body)
    system = PromptManager().get_system_prompt(PROJECT, SCHEMA)
    for part in (system, PromptManager().get_user_prompt(context(PROJECT))):
        assert json.dumps(part) in sent
    assert api.requests[0].body["model"] == DEFAULT_MODELS[one.provider]


@pytest.mark.parametrize("kind", ["missing_information", "invalid_request"])
def test_a_failure_object_is_no_success(asked: tuple[Adapter, FakeAPI], kind: str) -> None:
    one, api = asked
    said = json.dumps({"error": kind, "details": "Which database?"})
    api.script(server.text(said))
    assert generated(one) == CompilerResult(
        success=False, error_type=kind, error_details="Which database?", raw_response=said
    )


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (server.status(429, retry_after="2"), errors.LLMRateLimitError),
        (server.status(500), errors.LLMAPIError),
        (server.text("no"), errors.InvalidJSONError),
        (server.text(f"{GOOD}{GOOD}"), errors.MultipleArtifactsError),
        (server.text('{"domains": []}'), errors.SchemaViolationError),
        (
            server.text(GOOD.replace("Takes orders", "def f(x):\\n    return x\\n")),
            errors.CodeInOutputError,
        ),
        (server.text(f"Here it is: {GOOD}"), errors.ExplanatoryTextError),
        (server.cut_off(GOOD[:9]), errors.LLMTruncatedError),
    ],
)
def test_what_cannot_be_used_is_an_error_of_the_taxonomy(
    asked: tuple[Adapter, FakeAPI], reply: server.Reply, error: type[errors.LLMError]
) -> None:
    one, api = asked
    api.script(reply)
    with pytest.raises(error):
        generated(one)
    assert len(api.requests) == 1


def test_a_late_answer_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeAPI() as api:
        monkeypatch.setenv("PREFLIGHTS_BASE_URL", api.anthropic)
        api.script(server.slow(server.text(GOOD), 1.0))
        with pytest.raises(errors.LLMTimeoutError):
            generated(ClaudeAdapter("k", timeout=0.2))


def test_any_schema_is_taken_an_invalid_one_costs_no_call_and_a_loop_may_run(
    asked: tuple[Adapter, FakeAPI],
) -> None:
    one, api = asked
    api.script(server.text('{"a": 1}'))
    assert generated(one, {"type": "object", "required": ["a"]}).payload == {"a": 1}
    with pytest.raises(ValueError, match="schema"):
        generated(one, {"type": "nothing"})
    assert len(api.requests) == 1
    api.script(server.text(GOOD))

    async def inside() -> CompilerResult:
        return generated(one)

    assert asyncio.run(inside()).success


def test_what_is_left_out_is_as_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    one: Adapter = ClaudeAdapter("k")
    assert (one.model, one.max_tokens) == (DEFAULT_MODELS["anthropic"], MAX_TOKENS)
    assert (one.temperature, one.top_p, one.timeout) == (0.0, 0.3, 120.0)
    for name, value in {"MODEL": "m-1", "TEMPERATURE": "0.5", "TIMEOUT": "7"}.items():
        monkeypatch.setenv(f"LLM_{name}", value)
    one = ClaudeAdapter()
    assert (one.model, one.temperature, one.timeout) == ("m-1", 0.5, 7.0)
    one = OpenAIAdapter("k", "gpt-4o", 0.1, 0.2, 99, 3)
    assert (one.model, one.temperature, one.top_p) == ("gpt-4o", 0.1, 0.2)
    assert (one.max_tokens, one.timeout) == (99, 3.0)
    with pytest.raises(errors.SettingsError, match="from 0 to 2"):
        OpenAIAdapter(temperature=3)


def test_parameters_are_sent_where_the_model_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeAPI() as api:
        api.script(server.text(GOOD))
        monkeypatch.setenv("PREFLIGHTS_BASE_URL", api.openai)
        generated(OpenAIAdapter("k", model="gpt-4o"))
        generated(OpenAIAdapter("k", model="gpt-6"))
        monkeypatch.setenv("PREFLIGHTS_BASE_URL", api.anthropic)
        generated(ClaudeAdapter("k"))
        bodies = [one.body for one in api.requests]
    assert [one.get("temperature") for one in bodies] == [0.0, None, None]


def test_a_missing_key_is_said_when_it_is_needed() -> None:
    with pytest.raises(errors.SettingsError, match="ANTHROPIC_API_KEY"):
        generated(ClaudeAdapter())


def test_the_stub_needs_nothing_and_answers_the_same_again() -> None:
    one = StubLLMAdapter()
    first = generated(one)
    assert first.success
    assert generated(StubLLMAdapter()) == first
