"""From settings to a provider: what is missing is said at once, and no SDK is imported for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import Secret
from preflights_es.providers import apis
from preflights_es.providers.apis import AnthropicProvider, OpenAIProvider, provider
from preflights_es.providers.capabilities import BASE_URLS, DEFAULT_MODELS, NO_LIVE, REAL
from preflights_es.settings import load as configuration
from tests.each import each
from tests.providers.server import FakeAPI

LOCAL = "http://localhost:1/v1"
KEYS = {name: Secret(f"sk-{name}-0123456789", "MY_KEY") for name in REAL}


def test_each_name_is_a_provider() -> None:
    kinds = {
        "anthropic": AnthropicProvider,
        "claude": AnthropicProvider,
        "openai": OpenAIProvider,
        "openrouter": OpenAIProvider,
    }
    for name, kind in kinds.items():
        made = provider(name, keys=KEYS, base_url=LOCAL)
        assert type(made) is kind
        assert made.name == ("anthropic" if name == "claude" else name)
        assert made.model == DEFAULT_MODELS[made.name]


@each("name", ["mock", "sim", "", "gpt"])
def test_a_name_of_no_provider_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="expected anthropic, openai, openrouter"):
        provider(name, keys=KEYS)


@each("name", REAL)
def test_a_missing_key_is_said_with_the_variables_that_may_hold_it(name: str) -> None:
    variables = f"PREFLIGHTS_{name.upper()}_API_KEY or {name.upper()}_API_KEY"
    for keys in ({}, {name: Secret("")}):
        with pytest.raises(SettingsError, match=variables):
            provider(name, keys=keys)


def test_the_key_of_another_provider_is_not_used() -> None:
    with pytest.raises(SettingsError, match="ANTHROPIC_API_KEY"):
        provider("anthropic", keys={"openai": Secret("sk-openai")})


@each("key", ["two words", "schlüssel", "line\nbreak", "\udcff"])
def test_what_cannot_be_a_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(SettingsError, match="MY_KEY: expected a key") as raised:
        provider("openai", keys={"openai": Secret(key, "MY_KEY")}, base_url=LOCAL)
    assert key not in str(raised.value)


def test_a_missing_package_is_said() -> None:
    with pytest.raises(SettingsError, match=r"openrouter needs .*`pip install no_such_package`"):
        apis.check_installed("openrouter", "no_such_package")


def test_an_address_that_is_none_is_said() -> None:
    with pytest.raises(SettingsError, match="base_url: expected an address"):
        provider("openai", keys=KEYS, base_url="localhost")


@each("name", REAL)
def test_only_this_machine_is_asked_in_a_session_of_tests(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{NO_LIVE} is set: {name} is not asked at "):
        provider(name, keys=KEYS)
    with pytest.raises(SettingsError, match=NO_LIVE):
        AnthropicProvider("key")
    with pytest.raises(SettingsError, match=NO_LIVE):
        OpenAIProvider("key", base_url="http://192.168.1.1/v1")
    assert provider(name, keys=KEYS, base_url=LOCAL).name == name


def test_the_settings_make_a_provider_that_answers(tmp_path: Path) -> None:
    import asyncio

    with FakeAPI() as api:
        env = {
            "PREFLIGHTS_PROVIDER": "openrouter",
            "PREFLIGHTS_MODEL": "llama",
            "PREFLIGHTS_BASE_URL": api.openai,
            "PREFLIGHTS_TEMPERATURE": "0.5",
            "PREFLIGHTS_TIMEOUT_S": "7",
            "OPENROUTER_API_KEY": "sk-or-0123456789",
            "GIT_AUTHOR_NAME": "Ada",
        }
        settings = configuration.load_settings(tmp_path, env)
        made = apis.build_chosen_provider(settings, str)
        assert asyncio.run(made.complete("Hi")) == "ok"
        asked = api.requests[0]
    assert asked.headers["authorization"] == "Bearer sk-or-0123456789"
    assert asked.body == {
        "model": "llama",
        "max_tokens": 16_384,
        "temperature": 0.5,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    assert made.timeout_s == 7


def test_no_sdk_is_imported_before_a_request() -> None:
    code = (
        "import sys\n"
        "from preflights_es.providers import apis, capabilities\n"
        "from preflights_es.kernel.text import Secret\n"
        "keys = {'anthropic': Secret('k'), 'openai': Secret('k')}\n"
        "apis.provider('anthropic', keys=keys)\n"
        "apis.provider('openai', keys=keys)\n"
        "print([m for m in ('anthropic', 'openai', 'httpx2', 'httpx') if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={}, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_public_addresses_are_the_sdks_own() -> None:
    import anthropic
    import openai

    with anthropic.Anthropic(api_key="k") as one, openai.OpenAI(api_key="k") as other:
        assert str(one.base_url).rstrip("/") == BASE_URLS["anthropic"]
        assert str(other.base_url).rstrip("/") == BASE_URLS["openai"]
