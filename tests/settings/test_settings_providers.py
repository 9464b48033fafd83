"""Which provider is asked, and how: from options, variables and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preflights_es.kernel import errors
from preflights_es.kernel.errors import SettingsError
from preflights_es.providers.capabilities import DEFAULT_MODELS, KEY_VARIABLES, REAL
from preflights_es.settings.file import KEYS
from preflights_es.settings.load import PROVIDERS, Options, Settings, check_options, load_settings
from tests.each import each
from tests.markdown import tables, ticked

HERE: dict[str, str] = {"GIT_AUTHOR_NAME": "Ada"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path) -> None:
    """Of the person whose settings these are."""
    HERE["HOME"] = str(tmp_path / "home")


def loaded(folder: Path, env: dict[str, str] | None = None, **options: str) -> Settings:
    """The settings of a folder outside of git."""
    return load_settings(folder, HERE | (env or {}), options=Options(**options))


def write(text: str) -> Path:
    """Write the person's own settings file."""
    file = Path(HERE["HOME"], ".config", "preflights", "settings.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def problem(folder: Path, env: dict[str, str] | None = None, **options: str) -> str:
    """What is wrong with the settings."""
    with pytest.raises(SettingsError) as raised:
        loaded(folder, env, **options)
    return str(raised.value)


# 1. Defaults ---------------------------------------------------------------------------------


def test_without_settings_no_provider_is_asked(tmp_path: Path) -> None:
    found = loaded(tmp_path)
    assert (found.provider, found.model, found.base_url, found.api) == ("mock", "", "", "chat")
    assert (found.timeout_s, found.max_tokens) == (120.0, 16_384)
    assert (found.temperature, found.top_p) == (None, None)
    assert (found.seed, found.faults) == (0, "none")
    assert found.keys == {}


@each("name", REAL)
def test_a_provider_has_a_default_model_and_a_key_changes_none(tmp_path: Path, name: str) -> None:
    env = {f"{name.upper()}_API_KEY": "sk-1", f"PREFLIGHTS_{name.upper()}_API_KEY": "sk-2"}
    assert loaded(tmp_path, env).provider == "mock"
    assert loaded(tmp_path, provider=name).model == DEFAULT_MODELS[name]


# 2. Who is heard first -----------------------------------------------------------------------

SAID: dict[str, tuple[Any, Any, Any, Any]] = {
    "provider": ("openai", "anthropic", "openrouter", "sim"),
    "model": ("a", "b", "c", "d"),
    "base_url": ("http://a/v1", "http://b/v1", "http://c/v1", "http://d/v1"),
    "api": ("responses", "chat", "responses", "chat"),
    "timeout_s": (1.5, 2.5, 3.5, 4.5),
    "max_tokens": (1, 2, 3, 4),
    "temperature": (0.1, 0.2, 0.3, 0.4),
    "top_p": (0.1, 0.2, 0.3, 0.4),
    "seed": (-1, 2, 3, 4),
    "faults": ("llm_error=0.1", "llm_error=0.2", "llm_error=0.3", "llm_error=0.4"),
}


@pytest.mark.parametrize("name", SAID)
def test_option_then_variable_then_file(tmp_path: Path, name: str) -> None:
    option, variable, file = SAID[name][:3]
    takes_it = "sim" if name in ("seed", "faults") else "openai"
    who = "" if name == "provider" else f"provider = '{takes_it}'\n"
    chosen = {} if name == "provider" else {"PREFLIGHTS_PROVIDER": takes_it}

    def now(env: dict[str, str], **options: str) -> Any:
        return getattr(loaded(tmp_path, chosen | env if env else {}, **options), name)

    write(f"{who}{name} = {json.dumps(file)}")
    assert now({}) == file
    env = {f"PREFLIGHTS_{name.upper()}": str(variable)}
    assert now(env) == variable
    assert now(env, **{name: str(option)}) == option
    assert now({f"PREFLIGHTS_{name.upper()}": ""}) == file


@pytest.mark.parametrize(
    ("alias", "name", "value"),
    [
        ("LLM_MODEL", "model", "claude-9"),
        ("LLM_TEMPERATURE", "temperature", 0.5),
        ("LLM_TOP_P", "top_p", 0.25),
        ("LLM_TIMEOUT", "timeout_s", 60.0),
    ],
)
def test_the_names_of_the_compilers_specification_are_known(
    tmp_path: Path, alias: str, name: str, value: Any
) -> None:
    env = {"LLM_PROVIDER": "claude", alias: str(value)}
    found = loaded(tmp_path, env)
    assert (found.provider, getattr(found, name)) == ("anthropic", value)
    write(f'LLM_PROVIDER = "claude"\n{alias} = {json.dumps(value)}')
    found = loaded(tmp_path)
    assert (found.provider, getattr(found, name)) == ("anthropic", value)


@pytest.mark.parametrize(("said", "provider"), [("claude", "anthropic"), ("stub", "mock")])
def test_its_providers_are_known_wherever_a_provider_is_named(
    tmp_path: Path, said: str, provider: str
) -> None:
    for name in ("PREFLIGHTS_PROVIDER", "LLM_PROVIDER"):
        assert loaded(tmp_path, {name: said}).provider == provider
    assert loaded(tmp_path, provider=said).provider == provider
    assert Options(provider=said) == Options(provider=provider)
    write(f'provider = "{said}"')
    assert loaded(tmp_path).provider == provider


def test_our_names_are_heard_before_its(tmp_path: Path) -> None:
    env = {"LLM_PROVIDER": "claude", "PREFLIGHTS_PROVIDER": "openai"}
    assert loaded(tmp_path, env).provider == "openai"
    write('LLM_PROVIDER = "claude"\nprovider = "openrouter"')
    assert loaded(tmp_path).provider == "openrouter"
    assert loaded(tmp_path, {"LLM_PROVIDER": "openai"}).provider == "openai"


def test_a_model_and_an_address_belong_to_the_provider_named_beside_them(tmp_path: Path) -> None:
    write('provider = "anthropic"\nmodel = "claude-9"\nbase_url = "http://localhost"')
    found = loaded(tmp_path, provider="openai")
    assert (found.model, found.base_url) == (DEFAULT_MODELS["openai"], "")
    found = loaded(tmp_path, {"LLM_MODEL": "gpt-9"}, provider="openai")
    assert (found.model, found.base_url) == ("gpt-9", "")
    found = loaded(tmp_path, {"LLM_PROVIDER": "claude", "LLM_MODEL": "b"}, provider="openai")
    assert found.model == DEFAULT_MODELS["openai"]
    found = loaded(tmp_path, provider="claude")
    assert (found.model, found.base_url) == ("claude-9", "http://localhost")


@pytest.mark.parametrize("name", REAL)
def test_the_address_of_the_makers_sdk_is_taken_last_and_for_its_provider_alone(
    tmp_path: Path, name: str
) -> None:
    sdk = {f"{one.upper()}_BASE_URL": f"http://{one}:1" for one in REAL}
    ours = {"PREFLIGHTS_BASE_URL": "http://ours:1"}
    blank = {"PREFLIGHTS_BASE_URL": " "}

    def address(env: dict[str, str], **options: str) -> str:
        return loaded(tmp_path, sdk | env, provider=name, **options).base_url

    assert address({}) == address(blank, base_url="") == f"http://{name}:1"
    assert address({f"{name.upper()}_BASE_URL": " "}) == ""
    write(f'provider = "{name}"\nbase_url = "http://file:1"')
    assert address({}) == address(blank) == "http://file:1"
    assert address(ours) == "http://ours:1"
    assert address(ours, base_url="http://option:1") == "http://option:1"
    assert loaded(tmp_path, sdk, provider="mock").base_url == ""
    write("")
    found = problem(tmp_path, {f"{name.upper()}_BASE_URL": "gateway"}, provider=name)
    assert found.startswith(f"{name.upper()}_BASE_URL: expected an address")


# 3. Keys -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_our_variable_for_a_key_is_heard_before_the_makers(tmp_path: Path, name: str) -> None:
    usual, ours = f"{name.upper()}_API_KEY", f"PREFLIGHTS_{name.upper()}_API_KEY"
    found = loaded(tmp_path, {usual: " sk-usual\n"}).keys[name]
    assert (found.reveal(), found.source) == ("sk-usual", usual)
    found = loaded(tmp_path, {usual: "sk-usual", ours: "sk-ours"}).keys[name]
    assert (found.reveal(), found.source) == ("sk-ours", ours)
    found = loaded(tmp_path, {usual: "sk-usual", ours: "  "}).keys[name]
    assert found.reveal() == "sk-usual"


def test_settings_show_no_key(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"OPENAI_API_KEY": "sk-hunter2"})
    assert "hunter2" not in f"{found}{found!r}{found.keys}"
    assert "***" in repr(found)


@each("key", ["api_key", "OPENAI_API_KEY", "anthropic_api_key", "apikey"])
def test_a_key_in_a_file_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    own = write(f'provider = "openai"\n{key} = "sk-hunter2"')
    found = problem(tmp_path)
    assert found.startswith(f"{own}, line 2: {key}: keys do not belong into a file")
    assert "hunter2" not in found


def test_a_key_in_the_wrong_place_is_not_repeated(tmp_path: Path) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
    for name in SAID:
        env = {"PREFLIGHTS_PROVIDER": "openai", f"PREFLIGHTS_{name.upper()}": key}
        assert key not in problem(tmp_path, env)


# 4. What is wrong ----------------------------------------------------------------------------

WRONG: list[tuple[str, Any, str]] = [
    ("provider", "gpt", "expected one of mock, sim, anthropic, openai, openrouter"),
    ("model", " ", "expected the name of a model"),
    ("model", "a\tb", "expected the name of a model"),
    ("model", "m" * 201, "at most 200 characters"),
    ("base_url", "localhost:11434", "expected an address such as"),
    ("base_url", "http://a:b@localhost", "expected an address without a name"),
    ("api", "completions", "expected chat or responses"),
    ("timeout_s", 0, "expected a number from 0.001 to 540"),
    ("timeout_s", 541, "expected a number from 0.001 to 540"),
    ("max_tokens", 0, "expected a whole number from 1 to 1000000"),
    ("max_tokens", 1_000_001, "expected a whole number from 1 to 1000000"),
    ("temperature", -0.1, "expected a number from 0 to 2"),
    ("temperature", 2.1, "expected a number from 0 to 2"),
    ("top_p", 1.01, "expected a number from 0 to 1"),
    ("seed", 2**63, "expected a whole number from "),
    ("faults", "timeout", "expected a pair such as timeout=0.2, of timeout, error"),
    ("faults", "timeout=2", "expected a probability"),
    ("faults", "timeout=0.6,error=0.6", "at most 1"),
]


@each(("name", "value", "words"), WRONG)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, name: str, value: Any, words: str
) -> None:
    env = {} if name == "provider" else {"PREFLIGHTS_PROVIDER": "openai"}
    variable = f"PREFLIGHTS_{name.upper()}"
    found = problem(tmp_path, env | {variable: str(value)})
    assert found.startswith(f"{variable}: ")
    assert words in found
    option = f"--{name.replace('_', '-')}: "
    assert problem(tmp_path, env, **{name: str(value)}).startswith(option)
    own = write(f"\n# here\n{name} = {json.dumps(value)}")
    found = problem(tmp_path, env)
    assert found.startswith(f"{own}, line 3: {name}: ")
    assert words in found
    write(f"{name} = {json.dumps(SAID[name][2])}")  # the file is not to blame
    assert problem(tmp_path, env | {variable: str(value)}).startswith(f"{variable}: ")


@each("name", ["timeout_s", "max_tokens", "temperature", "top_p", "seed"])
@each("value", ["many", "nan", "1e999", "0x10", "9" * 5_000, "\udcff"])
def test_a_variable_that_is_no_number_is_said(tmp_path: Path, name: str, value: str) -> None:
    found = problem(tmp_path, {f"PREFLIGHTS_{name.upper()}": value})
    assert found.startswith(f"PREFLIGHTS_{name.upper()}: found ")
    assert len(found) < 200


@each("text", ["seed = true", 'seed = "1"', "temperature = 'hot'", "model = 3"])
def test_a_value_of_another_type_is_said_with_its_line(tmp_path: Path, text: str) -> None:
    own = write(f"\n{text}")
    assert problem(tmp_path).startswith(f"{own}, line 2: {text.partition(' ')[0]}: expected ")


def test_an_alias_is_blamed_by_its_own_name(tmp_path: Path) -> None:
    assert problem(tmp_path, {"LLM_PROVIDER": "ollama"}).startswith("LLM_PROVIDER: found 'ollama'")
    assert problem(tmp_path, {"LLM_TIMEOUT": "long"}).startswith("LLM_TIMEOUT: found 'long'")
    own = write("\nLLM_TIMEOUT = 0")
    assert problem(tmp_path).startswith(f"{own}, line 2: LLM_TIMEOUT: found ")


def test_faults_are_read_once_and_written_one_way(tmp_path: Path) -> None:
    def faults(text: str) -> str:
        return loaded(tmp_path, provider="sim", faults=text).faults

    assert faults("timeout=0.2") == "llm_timeout=0.2"
    assert "llm_malformed" in faults("chaos")
    assert faults("none") == "none"


@each(
    ("provider", "option"),
    [
        ("openai", {"seed": "1"}),
        ("openai", {"faults": "chaos"}),
        ("sim", {"model": "x"}),
        ("sim", {"base_url": "http://localhost:1/v1"}),
        ("mock", {"seed": "1"}),
    ],
)
def test_an_option_that_the_provider_does_not_take_is_refused(
    provider: str, option: dict[str, str]
) -> None:
    with pytest.raises(SettingsError, match=f"the provider {provider} takes none"):
        check_options(provider, option)


# 5. The page ---------------------------------------------------------------------------------


def test_the_page_names_every_setting_and_every_default(tmp_path: Path) -> None:
    page = tables("docs/providers.md")
    rows = {ticked(row["key"])[0]: row for row in page["Settings"]}
    assert set(rows) == set(Options.__struct_fields__)
    assert {key: row["also called"].strip("`") for key, row in rows.items()} == {
        key: KEYS[key].also for key in rows
    }
    found = loaded(tmp_path)
    for key, row in rows.items():
        if row["default"].strip("`") not in ("the provider's, above", "the provider's own"):
            value = getattr(found, key)
            said = (
                "not sent" if value is None else format(value, "g") if key == "timeout_s" else value
            )
            assert row["default"].strip("`") == str(said)


def test_the_page_names_every_provider_with_its_model_and_its_keys() -> None:
    rows = {ticked(row["provider"])[0]: row for row in tables("docs/providers.md")["Providers"]}
    assert tuple(rows) == PROVIDERS
    for name in REAL:
        assert ticked(rows[name]["model without `model`"]) == (DEFAULT_MODELS[name],)
        assert ticked(rows[name]["keys, first wins"]) == KEY_VARIABLES[name]


def test_the_page_names_every_kind_of_error() -> None:
    for row in tables("docs/providers.md")["What comes back"]:
        kind = getattr(errors, ticked(row["class"])[0])
        assert issubclass(kind, errors.LLMError)
        assert kind.kind == ticked(row["kind"])[0]
