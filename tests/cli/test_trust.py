"""`trust`: only a person at a terminal says that a repository's file may set what needs trust."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from preflights_cli.trust import VALUE_MAX
from preflights_es.settings.load import load_settings
from tests.cli.program import Project
from tests.cli.terminal import terminal
from tests.cli.test_docs import check
from tests.each import each
from tests.trusting import trust

QUESTION = r"Do you trust this file\? \[y/N\]: "
READING = (
    ("sessions",),
    ("show",),
    ("decisions",),
    ("usage",),
    ("note", "list"),
    ("audit", "verify"),
    ("admin", "db", "status"),
    ("admin", "export", "--all"),
    ("admin", "projections", "status"),
)


@pytest.fixture
def clone(house: Project, tmp_path: Path) -> Project:
    """A repository whose settings file names an actor and a log; its person has a home alone."""
    (tmp_path / "home").mkdir()
    (house.folder / "preflights.toml").write_text('actor = "Eve"\ndatabase = "evil.db"\n')
    return Project(house.folder, tmp_path / "home")


def listed(project: Project) -> Any:
    return project.call("trust", "--list", "--json").json["files"]


# 1. Before -----------------------------------------------------------------------------------


@each("words", READING)
def test_a_clones_settings_are_refused_in_one_line_by_what_reads(
    clone: Project, words: tuple[str, ...]
) -> None:
    done = clone.call(*words)
    assert (done.code, done.out) == (2, "")
    own = clone.home / ".config" / "preflights" / "settings.toml"
    assert done.err == (
        "preflights: preflights.toml, line 1: actor: not trusted: run `preflights trust`, "
        f"or set it in {own}\n"
    )
    assert not list(clone.folder.glob("evil.db*"))
    assert not (clone.home / ".config").exists()


@pytest.mark.parametrize("words", READING, ids=" ".join)
@pytest.mark.parametrize("target", ["/dev/zero", "fifo", "../outside.toml", "docs"])
def test_a_clones_odd_settings_are_one_line_of_what_reads(
    clone: Project, words: tuple[str, ...], target: str
) -> None:
    os.mkfifo(clone.folder / "fifo")
    (clone.folder / "docs").mkdir()
    (clone.folder.parent / "outside.toml").write_text("")
    (clone.folder / "preflights.toml").unlink()
    (clone.folder / "preflights.toml").symlink_to(target)
    done = clone.call(*words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
    assert done.err.startswith("preflights: preflights.toml ")


# 2. A person ---------------------------------------------------------------------------------


def test_a_person_sees_what_needs_trust_and_says_yes(clone: Project) -> None:
    with terminal(clone, "trust") as t:
        said = t.expect(QUESTION)
        t.type("y")
        assert "Trusted until the file changes." in t.rest()
        assert t.code() == 0
    assert f"{clone.folder}/preflights.toml sets:" in said
    assert 'line 1   actor = "Eve"' in said
    assert 'line 2   database = "evil.db"' in said
    done = clone.call("admin", "db", "upgrade", "--json")
    assert done.json["database"] == str(clone.folder / "evil.db")
    assert listed(clone) == [{"path": f"{clone.folder}/preflights.toml", "state": "trusted"}]
    again = clone.call("trust")
    assert (again.code, again.err) == (0, "")
    assert "is trusted already" in again.out


@pytest.mark.parametrize("answer", ["n", ""])
def test_a_person_who_does_not_say_yes_trusts_nothing(clone: Project, answer: str) -> None:
    with terminal(clone, "trust") as t:
        t.expect(QUESTION)
        t.type(answer)
        assert "preflights.toml is not trusted" in t.rest()
        assert t.code() == 1
    assert listed(clone) == []
    assert clone.call("sessions").code == 2


def test_a_file_that_changed_is_asked_about_again(clone: Project) -> None:
    file = clone.folder / "preflights.toml"
    trust(file, clone.home)
    assert clone.call("admin", "db", "upgrade").code == 0
    file.write_text('actor = "Mallory"\ndatabase = "evil.db"\n')
    done = clone.call("sessions")
    assert done.code == 2
    assert "line 1: actor: this file changed since you trusted it: run" in done.err
    assert listed(clone) == [{"path": str(file), "state": "changed"}]
    with terminal(clone, "trust") as t:
        said = t.expect(QUESTION)
        t.type("y")
        assert t.code() == 0
    assert "The file changed since you trusted it." in said
    assert 'actor = "Mallory"' in said
    assert clone.call("sessions").code == 0


def test_what_a_file_says_is_shown_without_control_characters_and_passwords(clone: Project) -> None:
    (clone.folder / "preflights.toml").write_text(
        'project = "a\\u202eb"\nbase_url = "http://ada:tUlip@h\\u001b[2J/v1?key=tUlip"\n'
    )
    with terminal(clone, "trust") as t:
        said = t.expect(QUESTION)
        t.type("n")
        t.rest()
    assert r'project = "a\u202eb"' in said
    assert r'base_url = "http://***@h\x1b[2J/v1?***"' in said


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "",
            "When you use anthropic or openai or openrouter, your key is sent to llm.example:8443.",
        ),
        ('provider = "openai"', "When you use openai, your key is sent to llm.example:8443."),
        ('provider = "claude"', "When you use anthropic, your key is sent to llm.example:8443."),
        ('provider = "sim"', "No key is sent to that base_url: the provider sim takes none."),
        ('provider = "stub"', "No key is sent to that base_url: the provider stub takes none."),
    ],
)
def test_a_person_is_told_whose_key_goes_to_an_address(
    clone: Project, text: str, found: str
) -> None:
    address = 'base_url = "https://llm.example:8443/v1"'
    (clone.folder / "preflights.toml").write_text(f"{address}\n{text}\n")
    with terminal(clone, "trust") as t:
        said = t.expect(QUESTION)
        t.type("y")
        t.rest()
    assert found in " ".join(said.split())
    for provider in ("anthropic", "openai", "openrouter"):
        told = load_settings(
            clone.folder, {"HOME": str(clone.home), "PREFLIGHTS_PROVIDER": provider}
        )
        assert bool(told.base_url) == (provider in found.partition(",")[0])


def test_an_address_that_takes_no_key_is_said_to_take_none(clone: Project) -> None:
    for url, found in (
        ("https://api.anthropic.com", "When you use anthropic, your key is sent to api.anthropic"),
        ("ftp://h", "No key is sent to that base_url: expected an address such as http://"),
    ):
        (clone.folder / "preflights.toml").write_text(f'base_url = "{url}"\n')
        with terminal(clone, "trust") as t:
            said = t.expect(QUESTION)
            t.type("n")
            t.rest()
        assert found in " ".join(said.split())


def test_what_is_trusted_is_what_was_shown_though_the_file_changes_meanwhile(
    clone: Project,
) -> None:
    file = clone.folder / "preflights.toml"
    before = file.read_text()
    with terminal(clone, "trust") as t:
        said = t.expect(QUESTION)
        file.write_text('actor = "Mallory"\n')
        t.type("y")
        t.rest()
        assert t.code() == 0
    assert "Mallory" not in said
    assert listed(clone) == [{"path": str(file), "state": "changed"}]
    assert "this file changed since you trusted it" in clone.call("sessions").err
    file.write_text(before)
    assert listed(clone) == [{"path": str(file), "state": "trusted"}]


@pytest.mark.parametrize(
    ("key", "value", "is_asked"),
    [
        ("base_url", f"https://h/{'a' * (VALUE_MAX - 10)}", True),
        ("base_url", f"https://h/{'a' * (VALUE_MAX - 9)}", False),
        ("database", "\u202e" * (VALUE_MAX // 5), False),
        ("database", "x" * 900_000, False),
    ],
    ids=["longest", "longer", "escaped", "huge"],
)
def test_no_value_is_so_long_that_it_pushes_others_off_the_screen(
    clone: Project, key: str, value: str, is_asked: bool
) -> None:
    text = f'project = "shop"\n{key} = "{value}"\n'
    (clone.folder / "preflights.toml").write_text(text, "utf-8")
    with terminal(clone, "trust") as t:
        if is_asked:
            t.expect(QUESTION)
            t.type("n")
        said = " ".join(t.rest().split())
        assert t.code() == (1 if is_asked else 2)
    if not is_asked:
        assert f"preflights.toml, line 2: {key}: has " in said
        assert f"characters, at most {VALUE_MAX} can be trusted: shorten it" in said
    assert len(said) < 1_000


def test_no_value_looks_like_another_key(clone: Project) -> None:
    (clone.folder / "preflights.toml").write_text("""project = 'x"  actor = "Ada'\n""")
    with terminal(clone, "trust") as t:
        said = t.expect(QUESTION)
        t.type("n")
        t.rest()
    assert r'project = "x\"  actor = \"Ada"' in said


# 3. Anyone else ------------------------------------------------------------------------------


def test_without_a_terminal_no_file_is_trusted(clone: Project) -> None:
    for words in (("trust",), ("trust", "--json")):
        done = clone.call(*words, stdin=b"y\n")
        assert (done.code, done.out) == (1, "")
        assert "is not trusted: only a person at a terminal can trust it\n" in done.err
    assert clone.call("trust", "--yes").code == 2
    assert listed(clone) == []


@pytest.mark.parametrize("actor", ["agent:claude", "agent:", " AGENT:x", "script:nightly"])
def test_an_agent_or_a_script_at_a_terminal_trusts_no_file(clone: Project, actor: str) -> None:
    with terminal(clone, "trust", env={"PREFLIGHTS_ACTOR": actor}) as t:
        assert "only a person at a terminal can trust it" in t.rest()
        assert t.code() == 1


def test_json_never_asks_at_a_terminal_either(clone: Project) -> None:
    with terminal(clone, "trust", "--json") as t:
        assert "only a person at a terminal can trust it" in t.rest()
        assert t.code() == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('database = "postgresql://ada:tUlip@h/log"', "holds a password"),
        ('database = "postgresql://h/log?hostaddr=203.0.113.9"', "expected postgresql://USER@"),
        ('provider = "openai"\nbase_url = "https://openrouter.ai/v1"', "belongs to openrouter"),
        ('project = "x"\ntasks = "/etc"', "expected a folder inside the project"),
        ('project = ""', "is empty"),
    ],
)
def test_what_no_trust_allows_is_refused_before_a_person_is_asked(
    clone: Project, text: str, found: str
) -> None:
    (clone.folder / "preflights.toml").write_text(text)
    with terminal(clone, "trust", env={"PREFLIGHTS_DATABASE_URL": "mine.db"}) as t:
        said = t.rest()
        assert t.code() == 2
    assert found in " ".join(said.split())
    assert "tUlip" not in said


def test_a_file_that_needs_no_trust_is_not_asked_about(clone: Project) -> None:
    (clone.folder / "preflights.toml").write_text('tasks = "work"\n')
    done = clone.call("trust")
    assert (done.code, done.err) == (0, "")
    assert "preflights.toml sets no key that needs trust." in done.out
    (clone.folder / "preflights.toml").unlink()
    done = clone.call("trust")
    assert (done.code, done.out) == (1, "")
    assert "there is no settings file" in done.err


# 4. The list ---------------------------------------------------------------------------------


def test_trusted_files_are_listed_with_their_state(clone: Project, tmp_path: Path) -> None:
    assert clone.call("trust", "--list").out == "No file is trusted.\n"
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.toml").write_text('project = "x"\n')
        trust(tmp_path / f"{name}.toml", clone.home)
    (tmp_path / "b.toml").write_text('project = "y"\n')
    (tmp_path / "c.toml").unlink()
    done = clone.call("trust", "--list")
    assert (done.code, done.err) == (0, "")
    check("trust/1", clone.call("trust", "--list", "--json").json)
    assert done.out.splitlines() == [
        f"trusted  {tmp_path}/a.toml",
        f"changed  {tmp_path}/b.toml",
        f"missing  {tmp_path}/c.toml",
    ]


def test_trust_is_revoked_by_anyone_for_the_file_here_or_a_named_one(
    clone: Project, tmp_path: Path
) -> None:
    file = clone.folder / "preflights.toml"
    (tmp_path / "gone.toml").write_text('project = "x"\n')
    for one in (file, tmp_path / "gone.toml"):
        trust(one, clone.home)
    (tmp_path / "gone.toml").unlink()
    assert clone.call("trust", "--revoke", str(tmp_path / "gone.toml")).code == 0
    done = clone.call("trust", "--revoke")
    assert (done.code, done.out) == (0, f"{file} is not trusted any more.\n")
    assert listed(clone) == []
    assert clone.call("sessions").code == 2
    done = clone.call("trust", "--revoke", "--json")
    assert (done.code, done.out) == (1, "")
    assert "is not trusted: `preflights trust --list` names those that are" in done.err


def test_options_that_do_not_go_together_are_a_slip(clone: Project) -> None:
    assert clone.call("trust", "--list", "--revoke").code == 2
    assert clone.call("trust", "preflights.toml").code == 2


def test_a_list_that_cannot_be_written_is_one_line(clone: Project) -> None:
    (clone.home / ".config").write_text("in the way")
    with terminal(clone, "trust") as t:
        t.expect(QUESTION)
        t.type("y")
        assert "preflights: " in t.rest()
        assert t.code() == 5
