"""A repository's settings file is a stranger's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.kernel.errors import SettingsError
from preflights_es.settings.file import KEYS, PROVIDERS
from preflights_es.settings.load import load_settings
from tests.each import each
from tests.filed_cases import filed_cases
from tests.markdown import ROOT, ticked
from tests.persons import Person, git_repository

FILED = filed_cases(__file__)


@pytest.fixture
def ada(tmp_path: Path) -> Person:
    """In a repository of a stranger's."""
    return Person(tmp_path)


SENSITIVE = {
    "database": "log.db",
    "actor": "Eve",
    "provider": "openai",
    "LLM_PROVIDER": "claude",
    "base_url": "http://localhost:1/v1",
}
HARMLESS = FILED["HARMLESS"]


def toml(key: str, value: str) -> str:
    return f"{key} = {json.dumps(value)}\n"


# 1. What a repository says -------------------------------------------------------------------


@pytest.mark.parametrize("key", SENSITIVE)
def test_a_key_of_the_users_is_refused_with_file_line_key_and_the_users_file(
    ada: Person, key: str
) -> None:
    ada.file.write_text(f"# hello\n{toml(key, SENSITIVE[key])}")
    found = f"no repository says this: take it out, or move it to {ada.own}"
    assert ada.refused() == f"preflights.toml, line 2: {key}: {found}"
    ada.file.unlink()
    table = f"[tool.preflights]\n{toml(key, SENSITIVE[key])}"
    (ada.folder / "pyproject.toml").write_text(table)
    assert ada.refused() == f"pyproject.toml, line 2: tool.preflights.{key}: {found}"
    (ada.folder / "pyproject.toml").unlink()
    ada.own.write_text(toml(key, SENSITIVE[key]))
    assert ada.loaded(PREFLIGHTS_PROVIDER="mock" if key == "base_url" else "").own == str(ada.own)


def test_a_table_of_the_users_is_refused_too_and_the_first_line_named(ada: Person) -> None:
    for table in ("agents", "metrics", "sign"):
        ada.file.write_text(f"[{table}]\n")
        said = f"preflights.toml, line 1: {table}: no repository says this"
        assert ada.refused().startswith(said)
    ada.file.write_text('language = "de"\nactor = "Eve"\ndatabase = "x"\n')
    assert ada.refused().startswith("preflights.toml, line 2: actor: ")


def test_everything_else_is_the_repositorys_to_say(ada: Person) -> None:
    ada.file.write_text(HARMLESS)
    found = ada.loaded()
    assert (found.decisions, found.language, found.provider) == ("adr", "de", "sim")
    assert (found.seed, found.max_tokens, len(found.prices)) == (7, 100, 1)
    assert found.of(WORKFLOW).tables.category.question == "What?"
    assert found.project == "theirs"


@pytest.mark.parametrize(
    ("log", "project", "is_shared"),
    [
        ("../shared.db", "", True),
        ("sqlite:///../shared.db", "", True),
        ("postgresql://ada@db.example.org/preflights", "", True),
        ("../shared.db", "bank", False),
        ("here.db", "", False),
        (".git/preflights/log.db", "", False),
        ("", "", False),
    ],
)
def test_a_log_outside_of_the_repository_may_be_shared_where_no_setting_names_the_project(
    ada: Person, monkeypatch: pytest.MonkeyPatch, log: str, project: str, is_shared: bool
) -> None:
    monkeypatch.chdir(ada.folder)
    assert ada.loaded(log or None, PREFLIGHTS_PROJECT=project).shares_log is is_shared
    if project:
        ada.file.write_text(f'project = "{project}"\n')
        found = ada.loaded(log)
        assert (found.project, found.shares_log) == (project, False)


@each("name", ["mock", "stub", "sim"])
@each("key", PROVIDERS)
def test_a_repository_names_a_provider_without_a_key(ada: Person, key: str, name: str) -> None:
    ada.file.write_text(toml(key, name))
    assert ada.loaded().provider in ("mock", "sim")


def test_a_folder_outside_of_git_is_a_strangers_too(ada: Person, tmp_path: Path) -> None:
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked" / "preflights.toml").write_text('actor = "Eve"\n')
    with pytest.raises(SettingsError, match="no repository says this"):
        load_settings(tmp_path / "unpacked", ada.env())


def test_settings_in_ones_own_home_hold_there_outside_of_git_alone(ada: Person) -> None:
    ada.own.write_text('[sign]\nkey = "git"\n')
    for folder in (ada.home, ada.own.parent, ada.home.parent):
        assert load_settings(folder, ada.env()).sign.key == "git"
    xdg = {"XDG_CONFIG_HOME": str(ada.home / ".config")}
    assert load_settings(ada.home, ada.env(**xdg)).sign.key == "git"
    (ada.home / ".config").rename(ada.home / "unpacked")
    xdg = {"XDG_CONFIG_HOME": str(ada.home / "unpacked")}
    for folder in (ada.home / "unpacked", git_repository(ada.home)):
        with pytest.raises(SettingsError, match="no repository says this"):
            load_settings(folder, ada.env(**xdg))


def test_the_page_says_which_keys_are_the_users() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    table = page.split("## Who may set what")[1]
    rows = re.findall(r"^\| (`.*?`) \| (never|`mock` and `sim`).*$", table, re.MULTILINE)
    own = {key for key, one in KEYS.items() if one.is_own}
    assert {name for row, _ in rows for name in ticked(row)} == own
    assert KEYS.keys() <= set(re.findall(r"`(\w+)`", table))


# 2. A server ---------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["host=/run/postgresql", "options=-c%20search_path=preflights"])
def test_the_users_own_file_and_a_variable_may_say_any_parameter(ada: Person, query: str) -> None:
    url = f"postgresql:///log?{query}"
    ada.own.write_text(toml("database", url))
    assert ada.loaded().database == url
    assert ada.loaded(PREFLIGHTS_DATABASE_URL=f"{url}&port=1").database == f"{url}&port=1"


# 3. A key ------------------------------------------------------------------------------------


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
    ada.own.write_text(toml("base_url", url))
    found = ada.refused(PREFLIGHTS_PROVIDER=provider)
    assert found.startswith(f"{ada.own}, line 1: base_url: ")
    assert f"belongs to {owner}" in found
    variables = {"PREFLIGHTS_PROVIDER": provider, "PREFLIGHTS_BASE_URL": url}
    assert ada.loaded(**variables).base_url  # a person may mean it


def test_the_users_own_file_may_send_a_key_to_a_server_of_the_users(ada: Person) -> None:
    ada.own.write_text('provider = "openai"\nbase_url = "https://gateway.example/v1"\n')
    assert ada.loaded().base_url == "https://gateway.example/v1"


# 4. The user's own file ----------------------------------------------------------------------


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
