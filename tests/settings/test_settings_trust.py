"""A repository's settings file is a stranger's until a person trusts it."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from threading import Thread

import pytest

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.kernel.errors import SettingsError
from preflights_es.records.files import alone
from preflights_es.settings import load
from preflights_es.settings.file import HELD_BACK, KEYS, PROVIDERS, Source
from preflights_es.settings.load import Options, load_settings
from preflights_es.settings.places import PARAMETERS
from tests.each import each
from tests.filed_cases import filed_cases
from tests.markdown import ROOT, ticked
from tests.trusting import Person, git_repository, trust

FILED = filed_cases(__file__)


@pytest.fixture
def ada(tmp_path: Path) -> Person:
    """In a repository of a stranger's."""
    return Person(tmp_path)


SENSITIVE = {
    "project": "shop",
    "database": "log.db",
    "actor": "Eve",
    "provider": "openai",
    "LLM_PROVIDER": "claude",
    "base_url": "http://localhost:1/v1",
}
VARIABLES = {
    "project": "PREFLIGHTS_PROJECT",
    "database": "PREFLIGHTS_DATABASE_URL",
    "actor": "PREFLIGHTS_ACTOR",
    "provider": "PREFLIGHTS_PROVIDER",
    "LLM_PROVIDER": "LLM_PROVIDER",
    "base_url": "PREFLIGHTS_BASE_URL",
}
HARMLESS = FILED["HARMLESS"]


def toml(key: str, value: str) -> str:
    return f"{key} = {json.dumps(value)}\n"


# 1. Without trust ----------------------------------------------------------------------------


@pytest.mark.parametrize("key", HELD_BACK)
def test_a_key_that_needs_trust_is_refused_with_file_line_key_and_what_to_do(
    ada: Person, key: str
) -> None:
    ada.file.write_text(f"# hello\n{toml(key, SENSITIVE[key])}")
    assert ada.refused() == (
        f"preflights.toml, line 2: {key}: not trusted: run `preflights trust`, "
        f"or set it in {ada.own}"
    )
    ada.file.unlink()
    table = f"[tool.preflights]\n{toml(key, SENSITIVE[key])}"
    (ada.folder / "pyproject.toml").write_text(table)
    assert ada.refused().startswith(f"pyproject.toml, line 2: tool.preflights.{key}: not trusted")


def test_the_first_line_that_needs_trust_is_named(ada: Person) -> None:
    ada.file.write_text('language = "de"\nactor = "Eve"\nproject = "x"\n')
    assert ada.refused().startswith("preflights.toml, line 2: actor: ")


def test_everything_else_needs_no_trust(ada: Person) -> None:
    ada.file.write_text(HARMLESS)
    found = ada.loaded()
    assert (found.decisions, found.language, found.provider) == ("adr", "de", "sim")
    assert (found.seed, found.max_tokens, len(found.prices)) == (7, 100, 1)
    assert found.of(WORKFLOW).tables.category.question == "What?"


@pytest.mark.parametrize("name", ["mock", "stub", "sim"])
@pytest.mark.parametrize("key", PROVIDERS)
def test_a_provider_without_a_key_needs_no_trust(ada: Person, key: str, name: str) -> None:
    ada.file.write_text(toml(key, name))
    assert ada.loaded().provider in ("mock", "sim")


@pytest.mark.parametrize("key", HELD_BACK)
def test_a_variable_that_says_otherwise_makes_trust_unnecessary(ada: Person, key: str) -> None:
    ada.file.write_text(toml(key, SENSITIVE[key]))
    found = ada.loaded(**{VARIABLES[key]: "mock" if key in PROVIDERS else "mine"})
    assert found.provider == "mock"
    assert found.actor_name != "Eve"
    assert "log.db" not in found.database or ".git" in found.database
    assert found.base_url == ""


def test_an_option_that_says_otherwise_makes_trust_unnecessary(ada: Person) -> None:
    ada.file.write_text(toml("database", "evil.db"))
    assert ada.loaded("mine.db").database == "mine.db"
    ada.file.write_text(toml("provider", "openai"))
    assert load_settings(ada.folder, ada.env(), options=Options(provider="sim")).provider == "sim"


def test_an_address_that_a_variable_replaces_is_never_heard(ada: Person) -> None:
    ada.file.write_text(toml("base_url", "http://localhost:6666/v1"))
    variables = {"PREFLIGHTS_BASE_URL": "http://localhost:2/v1", "PREFLIGHTS_PROVIDER": "anthropic"}
    # The variables' address belongs to anthropic; the file's must not take its place.
    found = load_settings(ada.folder, ada.env(**variables), options=Options(provider="openai"))
    assert found.base_url == ""


def test_a_model_of_another_provider_is_not_taken_over(ada: Person) -> None:
    ada.file.write_text('provider = "anthropic"\nmodel = "claude-9"\n')
    assert ada.loaded(PREFLIGHTS_PROVIDER="openai").model != "claude-9"


def test_a_folder_outside_of_git_is_a_strangers_too(ada: Person, tmp_path: Path) -> None:
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked" / "preflights.toml").write_text('actor = "Eve"\n')
    with pytest.raises(SettingsError, match="not trusted"):
        load_settings(tmp_path / "unpacked", ada.env())


def test_the_page_says_which_keys_need_trust_and_which_parameters_a_server_may_have() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?`) \| .*only when you trust the file.*$", page, re.MULTILINE)
    assert {name for row in rows for name in ticked(row)} == set(HELD_BACK)
    keys = set(re.findall(r"`(\w+)`", page.split("## Who may set what")[1]))
    assert KEYS.keys() <= keys
    allowed = page.partition("options but ")[2].partition(". ")[0]
    assert set(ticked(allowed)) == set(PARAMETERS)


# 2. With trust -------------------------------------------------------------------------------


def test_a_trusted_file_may_set_everything(ada: Person) -> None:
    ada.file.write_text("".join(toml(*pair) for pair in SENSITIVE.items()))
    trust(ada.file, ada.home)
    found = ada.loaded()
    assert (found.project, found.actor_name, found.provider) == ("shop", "Eve", "openai")
    assert found.database == str(ada.folder / "log.db")
    assert (found.base_url, found.base_url_in) == ("http://localhost:1/v1", "preflights.toml")


@pytest.mark.parametrize("change", ["#", "\n", " ", "\r\n"])
def test_a_trusted_file_that_changed_by_one_character_is_refused(ada: Person, change: str) -> None:
    ada.file.write_text('project = "shop"\n')
    trust(ada.file, ada.home)
    ada.file.write_text(f'project = "shop"\n{change}', newline="")
    assert "this file changed since you trusted it: run `preflights trust`" in ada.refused()
    ada.file.write_text('project = "shop"\n')
    assert ada.loaded().project == "shop"


def test_line_ends_are_part_of_what_is_trusted(ada: Person) -> None:
    ada.file.write_bytes(b'project = "shop"\r\n')
    trust(ada.file, ada.home)
    assert ada.loaded().project == "shop"
    ada.file.write_bytes(b'project = "shop"\n')
    assert "changed" in ada.refused()


def test_a_copy_elsewhere_is_not_trusted(ada: Person, tmp_path: Path) -> None:
    ada.file.write_text('project = "shop"\n')
    trust(ada.file, ada.home)
    git_repository(tmp_path / "clone")
    (tmp_path / "clone" / "preflights.toml").write_text('project = "shop"\n')
    with pytest.raises(SettingsError, match="not trusted"):
        load_settings(tmp_path / "clone", ada.env())


def test_trust_is_remembered_outside_of_the_repository_for_its_user_alone(ada: Person) -> None:
    ada.file.write_text('project = "shop"\n')
    before = sorted(ada.folder.rglob("*"))
    trust(ada.file, ada.home)
    assert sorted(ada.folder.rglob("*")) == before
    (file,) = ada.own.parent.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert load.trusted_files(ada.env()).states() == [(str(ada.file), "trusted")]


def test_two_commands_that_trust_at_the_same_time_lose_no_file(ada: Person) -> None:
    both = [load.trusted_files(ada.env()) for _ in range(2)]
    files = [ada.folder / "a.toml", ada.folder / "b.toml"]
    for trusted, file in zip(both, files, strict=True):
        file.write_text("")
        trusted.remember(Source(file, "", ()))
    assert list(load.trusted_files(ada.env()).files) == [str(file) for file in files]
    assert both[1].forget(files[1])
    assert not load.trusted_files(ada.env()).forget(files[1])
    assert list(load.trusted_files(ada.env()).files) == [str(files[0])]


def test_a_command_waits_for_another_that_changes_the_list(ada: Person) -> None:
    waiting = Thread(target=trust, args=(ada.own, ada.home))
    ada.own.write_text("")
    with alone(ada.own.parent):
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        assert not load.trusted_files(ada.env()).files
    waiting.join()
    assert list(load.trusted_files(ada.env()).files) == [str(ada.own)]


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"format": "trusted/1", "files": 7}', "[" * 100_000, "\xff"]
)
def test_a_damaged_list_of_trusted_files_is_one_line(ada: Person, content: str) -> None:
    ada.file.write_text('project = "shop"\n')
    (ada.own.parent / "trusted.json").write_text(content, "latin-1")
    assert f"{ada.own.parent / 'trusted.json'} is not a list of trusted files" in ada.refused()


def test_the_list_of_trusted_files_is_read_only_where_a_key_needs_trust(ada: Person) -> None:
    (ada.own.parent / "trusted.json").write_text("damaged")
    ada.file.write_text(HARMLESS)
    assert ada.loaded().decisions == "adr"
    ada.file.write_text('project = "shop"\n')
    assert ada.loaded(PREFLIGHTS_PROJECT="mine").project == "mine"


def test_without_a_home_nothing_is_trusted(ada: Person) -> None:
    ada.file.write_text('project = "shop"\n')
    trust(ada.file, ada.home)
    for env in ({}, {"HOME": "home"}, {"HOME": "", "XDG_CONFIG_HOME": "../home/.config"}):
        with pytest.raises(SettingsError, match="set HOME"):
            load_settings(ada.folder, {"GIT_AUTHOR_NAME": "Ada", **env})


# 3. A server ---------------------------------------------------------------------------------

ELSEWHERE = FILED["ELSEWHERE"]


@each("query", ELSEWHERE)
def test_a_files_server_is_never_led_elsewhere_trusted_or_not(ada: Person, query: str) -> None:
    ada.file.write_text(toml("database", f"postgresql://ada@db.example.org/log?{query}"))
    for _ in range(2):
        found = ada.refused()
        assert found.startswith("preflights.toml, line 1: database: ")
        assert "your own settings file" in found or "password" in found
        trust(ada.file, ada.home)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada@db.example.org@evil/log",
        "postgresql://db.example.org",
        "postgresql://db.example.org/log#x",
        "postgresql://db.example.org/a/b",
        "mysql://db.example.org/log",
        "POSTGRESQL://db.example.org/log?host=evil",
        "postgresql+asyncpg://db.example.org/log",
    ],
)
def test_a_files_server_is_named_plainly(ada: Person, url: str) -> None:
    ada.file.write_text(toml("database", url))
    trust(ada.file, ada.home)
    assert "database: expected postgresql://USER@HOST:PORT/DATABASE" in ada.refused()


@pytest.mark.parametrize("query", ["host=/run/postgresql", "options=-c%20search_path=preflights"])
def test_the_users_own_file_and_a_variable_may_say_any_parameter(ada: Person, query: str) -> None:
    url = f"postgresql:///log?{query}"
    ada.own.write_text(toml("database", url))
    assert ada.loaded().database == url
    assert ada.loaded(PREFLIGHTS_DATABASE_URL=f"{url}&port=1").database == f"{url}&port=1"


# 4. A key ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "url", "owner"),
    [
        ("openai", "https://openrouter.ai/api/v1", "openrouter"),
        ("openai", "https://eu.OpenRouter.ai/v1", "openrouter"),
        ("openrouter", "https://api.openai.com/v1", "openai"),
        ("anthropic", "https://api.openai.com:8443", "openai"),
        ("openai", "http://api.anthropic.com", "anthropic"),
    ],
)
def test_a_file_never_sends_a_key_to_another_provider(
    ada: Person, provider: str, url: str, owner: str
) -> None:
    text = toml("base_url", url)
    ada.file.write_text(text)
    trust(ada.file, ada.home)
    found = ada.refused(PREFLIGHTS_PROVIDER=provider)
    assert found.startswith("preflights.toml, line 1: base_url: ")
    assert f"belongs to {owner}" in found
    ada.file.unlink()
    ada.own.write_text(text)
    assert ada.refused(PREFLIGHTS_PROVIDER=provider).startswith(f"{ada.own}, line 1: base_url: ")
    variables = {"PREFLIGHTS_PROVIDER": provider, "PREFLIGHTS_BASE_URL": url}
    assert ada.loaded(**variables).base_url  # a person may mean it


def test_the_users_own_file_may_send_a_key_to_a_server_of_the_users(ada: Person) -> None:
    ada.own.write_text('provider = "openai"\nbase_url = "https://gateway.example/v1"\n')
    found = ada.loaded()
    assert (found.base_url, found.base_url_in) == ("https://gateway.example/v1", "")


# 5. The user's own file ----------------------------------------------------------------------


def test_the_users_own_file_is_heard_behind_the_repositorys(ada: Person) -> None:
    ada.own.write_text('actor = "Ada"\nlanguage = "de"\ndecisions = "own"\nproject = "mine"\n')
    ada.file.write_text('decisions = "adr"\n')
    found = ada.loaded()
    assert (found.actor_name, found.language, found.project) == ("Ada", "de", "mine")
    assert found.decisions == "adr"
    assert (found.source, found.own) == (str(ada.file), str(ada.own))
    assert ada.loaded(PREFLIGHTS_PROJECT="said").project == "said"


def test_a_table_of_the_repository_replaces_the_users_as_a_whole(ada: Person) -> None:
    ada.own.write_text('[clarification]\nquestion = "Mine?"\n')
    assert ada.loaded().of(WORKFLOW).tables.category.question == "Mine?"
    ada.file.write_text('[clarification]\ndescription = "Theirs?"\n')
    found = ada.loaded().of(WORKFLOW).tables
    assert found.description.question == "Theirs?"
    assert found.category.question != "Mine?"


def test_an_error_names_the_users_own_file_with_its_path(ada: Person) -> None:
    ada.own.write_text("\ncolour = 'red'\n")
    assert ada.refused().startswith(f"{ada.own}, line 2: colour: unknown key")
    ada.own.write_text('OPENAI_API_KEY = "sk-hunter2"\n')
    assert "keys do not belong into a file" in ada.refused()
    ada.own.write_text(toml("database", "postgresql://ada:tUlip@h/log"))
    assert "holds a password" in ada.refused()
    assert "tUlip" not in ada.refused()


def test_xdg_config_home_is_taken_where_it_is_absolute(ada: Person, tmp_path: Path) -> None:
    (tmp_path / "xdg" / "preflights").mkdir(parents=True)
    (tmp_path / "xdg" / "preflights" / "settings.toml").write_text('actor = "Xenia"\n')
    assert ada.loaded(XDG_CONFIG_HOME=str(tmp_path / "xdg")).actor_name == "Xenia"
    (ada.folder / "preflights").mkdir()
    (ada.folder / "preflights" / "settings.toml").write_text('actor = "Eve"\n')
    assert ada.loaded(XDG_CONFIG_HOME=".").actor_name == "Ada"
