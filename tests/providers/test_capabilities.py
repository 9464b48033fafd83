"""What each API takes, and where it may be asked."""

from __future__ import annotations

from typing import Any

import pytest

from preflights_es.providers import capabilities
from preflights_es.providers.capabilities import (
    BASE_URLS,
    DEFAULT_MODELS,
    REAL,
    ProviderSettings,
    arguments,
    checked_url,
    host_of,
    is_local,
    parameters_for,
    structured,
)
from tests.each import each
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)


def wanted(**changes: Any) -> ProviderSettings:
    """Settings, as far as parameters need them."""
    return ProviderSettings(provider="", max_tokens=100, **changes)


BOTH = {"temperature": 0.0, "top_p": 0.3}


@each(
    ("provider", "model", "settings", "expected"),
    [
        ("anthropic", "claude-sonnet-5-5", wanted(**BOTH), {"max_tokens": "100"}),
        ("anthropic", "of-tomorrow", wanted(**BOTH, api="responses"), {"max_tokens": "100"}),
        ("openai", "gpt-6.1-terra", wanted(**BOTH), {"max_completion_tokens": "100"}),
        ("openai", "o3-mini", wanted(**BOTH), {"max_completion_tokens": "100"}),
        ("openai", "GPT-5", wanted(**BOTH), {"max_completion_tokens": "100"}),
        ("openai", "gpt-11", wanted(**BOTH), {"max_completion_tokens": "100"}),
        (
            "openai",
            "gpt-4.1",
            wanted(**BOTH),
            {"max_completion_tokens": "100", "temperature": "0.0"},
        ),
        ("openai", "gpt-4.1", wanted(top_p=0.3), {"max_completion_tokens": "100", "top_p": "0.3"}),
        (
            "openai",
            "gpt-4.1",
            wanted(temperature=1, base_url=BASE_URLS["openai"]),
            {"max_completion_tokens": "100", "temperature": "1.0"},
        ),
        (
            "openai",
            "llama3",
            wanted(**BOTH, base_url="http://localhost:11434/v1"),
            {"max_tokens": "100", "temperature": "0.0"},
        ),
        (
            "openai",
            "openai/gpt-oss-120b",
            wanted(top_p=1.0, base_url="http://localhost:8000/v1"),
            {"max_tokens": "100", "top_p": "1.0"},
        ),
        (
            "openai",
            "gpt-6.1-terra",
            wanted(**BOTH, base_url="https://gateway.example/v1"),
            {"max_completion_tokens": "100"},
        ),
        (
            "openai",
            "gpt-6.1-terra",
            wanted(**BOTH, api="responses"),
            {"max_output_tokens": "100", "store": "false"},
        ),
        ("openrouter", "openai/gpt-6-luna", wanted(**BOTH), {"max_completion_tokens": "100"}),
        ("openrouter", "anthropic/claude-opus-5.5", wanted(**BOTH), {"max_tokens": "100"}),
        (
            "openrouter",
            "openrouter/auto",
            wanted(**BOTH),
            {"max_tokens": "100", "temperature": "0.0"},
        ),
        ("mock", "", wanted(**BOTH), {}),
        ("sim", "simllm/1", wanted(**BOTH), {}),
    ],
)
def test_a_request_names_what_the_model_takes(
    provider: str, model: str, settings: ProviderSettings, expected: dict[str, str]
) -> None:
    found = parameters_for(provider, model, settings)
    assert dict(found) == expected
    assert len(found) == len(expected)


@each("provider", REAL)
@each("api", ["chat", "responses"])
@each("model", ["", "claude-opus-5", "gpt-4.1", "gpt-6-sol", "llama"])
def test_what_a_request_names_can_be_sent(provider: str, api: str, model: str) -> None:
    said = parameters_for(provider, model, wanted(**BOTH, api=api))
    sent = arguments("messages" if provider == "anthropic" else api, said)
    assert list(sent) == [name for name, _ in said]
    assert 100 in sent.values()
    assert not {"temperature", "top_p"} <= set(sent)


def test_the_sdks_know_the_default_models() -> None:
    from anthropic.types import model_param
    from openai.types.shared import chat_model

    assert f'"{DEFAULT_MODELS["anthropic"]}"' in _source(model_param)
    assert f'"{DEFAULT_MODELS["openai"]}"' in _source(chat_model)
    # What stands behind the table is what has been given notice.
    assert f'"{DEFAULT_MODELS["openai"]}"' not in _source(chat_model).partition("Deprecated")[2]


def _source(module: Any) -> str:
    import inspect

    return inspect.getsource(module)


def test_the_sdks_take_what_is_sent_and_nothing_that_was_given_up() -> None:
    import inspect

    from anthropic.resources.messages import AsyncMessages
    from openai.resources.chat.completions import AsyncCompletions
    from openai.resources.responses import AsyncResponses

    resources: dict[str, Any] = {
        "messages": AsyncMessages,
        "chat": AsyncCompletions,
        "responses": AsyncResponses,
    }
    for endpoint, resource in resources.items():
        taken = set(inspect.signature(resource.create).parameters)
        assert set(capabilities._TYPES[endpoint]) <= taken
    assert not {"temperature", "top_p", "top_k"} & set(
        inspect.signature(AsyncMessages.create).parameters
    )


@each(
    ("provider", "url", "expected"),
    [
        ("anthropic", "", "https://api.anthropic.com"),
        ("openrouter", " ", "https://openrouter.ai/api/v1"),
        ("anthropic", "https://api.anthropic.com/v1/", "https://api.anthropic.com"),
        ("openai", "http://localhost:11434/v1/", "http://localhost:11434/v1"),
        ("openai", "http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("openai", "HTTPS://my_gateway.example/v1", "HTTPS://my_gateway.example/v1"),
    ],
)
def test_an_address_is_taken(provider: str, url: str, expected: str) -> None:
    assert checked_url(provider, url) == expected


@each(
    "url",
    [
        *FILED["what_is_no_address_is_refused_and_not_repeated"],
        "http://" + "a" * 64,
        "http://" + "a." * 130 + "b",
        "http://localhost/\udcff",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match="expected an address") as raised:
        checked_url("openai", url)
    assert "hunter2" not in str(raised.value)


@each(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://api.localhost/v1", True),
        ("http://localhost.example/v1", False),
        ("http://127.0.0.1.nip.io", False),
        ("http://0.0.0.0:8000", False),
        ("http://192.168.1.1", False),
        (BASE_URLS["openai"], False),
    ],
)
def test_only_this_machine_is_local(url: str, expected: bool) -> None:
    assert is_local(url) is expected
    assert host_of(url) in url


@each(
    ("provider", "model", "url", "takes"),
    [
        ("anthropic", "claude-sonnet-5-5", "", True),
        ("anthropic", "claude-opus-4-5", "", True),
        ("anthropic", "claude-3-5-sonnet", "", False),
        ("anthropic", "claude-sonnet-5-5", "http://localhost:1/", False),
        ("openai", "gpt-6.1-terra", "", True),
        ("openai", "gpt-4o-mini", "", True),
        ("openai", "gpt-4-turbo", "", False),
        ("openai", "gpt-6.1-terra", "http://localhost:1/v1", False),
        ("openrouter", "openrouter/auto", "", False),
        ("sim", "simllm/1", "", False),
    ],
)
def test_a_schema_goes_to_models_with_one(provider: str, model: str, url: str, takes: bool) -> None:
    assert structured(provider, model, url) is takes
