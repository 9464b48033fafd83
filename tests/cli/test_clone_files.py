"""A clone holds links, fifos and folders of its choice: no command writes through them.

A file that a person names is read within a limit; a pipe of the shell's is a file, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from preflights_cli.options import FILE_MAX
from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.kernel.events import Actor
from preflights_es.settings.load import load_settings
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from tests.cli.clones import FIRST
from tests.cli.program import Project, Result, environment
from tests.each import each

DECISIONS = "docs/decisions"
NAME = "0001-use-oauth-for-authentication.md"
WORDS = ("--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada Lovelace")


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A file of the person's, outside of the clone, which stays as it is."""
    made = tmp_path / "victim"
    made.write_text("precious")
    yield made
    assert made.read_text() == "precious"
    assert made.is_file()


@pytest.fixture
def owing(house: Project) -> Project:
    """A clone whose log owes a document."""
    owe(house, "A login")
    (house.folder / DECISIONS).mkdir(parents=True)
    return house


def owe(house: Project, intention: str) -> None:
    """Accept a decision, and end before its document is written, as a killed program does."""
    made = Request(
        Process(load_settings(house.folder, environment(house.home))),
        lambda: Actor("user", "Ada Lovelace"),
    )
    with closing(made) as program, patch.object(Request, "finish_pending"):
        sessions = clarifications_of(program)
        setup, heuristics = program.setup(WORKFLOW), program.process.settings.of(WORKFLOW)
        begun = sessions.open(NewSession(intention), setup, heuristics).handle
        sessions.answer(begun, [("auth_strategy", ["OAuth"])])
        sessions.accept(begun.session_id)


def is_written(house: Project, path: str = f"{DECISIONS}/{NAME}") -> bool:
    target = house.folder / path
    return target.is_file() and not target.is_symlink() and "A login" in target.read_text("utf-8")


# 1. Documents that a log owes ----------------------------------------------------------------


def test_a_link_under_a_temporary_name_that_can_be_guessed_is_not_written_through(
    owing: Project, victim: Path
) -> None:
    link = owing.folder / DECISIONS / f".{NAME}.{os.getpid()}.tmp"
    link.symlink_to(victim)
    done = owing.call("sessions")
    assert (done.code, done.err) == (0, FIRST)
    assert is_written(owing)
    assert link.is_symlink()


@pytest.mark.parametrize("to", ["victim", "new", "/dev/zero"])
def test_a_link_at_the_place_of_an_owed_document_stays(
    owing: Project, victim: Path, to: str
) -> None:
    target, new = owing.folder / DECISIONS / NAME, victim.with_name("new")
    target.symlink_to(victim.parent / to)
    if to == "/dev/zero":
        target.with_name(f"{NAME}.new").symlink_to(to)
    assert owing.call("sessions").code == 0
    assert (target.is_symlink(), new.exists()) == (True, False)
    assert is_written(owing, f"{DECISIONS}/{NAME}.new")


@pytest.mark.parametrize("names", [[NAME], [NAME, f"{NAME}.new"]])
def test_a_fifo_blocks_no_command_and_takes_no_document(owing: Project, names: list[str]) -> None:
    for name in names:
        os.mkfifo(owing.folder / DECISIONS / name)
    done = owing.run("sessions")
    assert (done.code, done.err) == (0, FIRST)
    assert (owing.folder / DECISIONS / NAME).is_fifo()
    assert is_written(owing, f"{DECISIONS}/{NAME}.new")
    assert owing.run("admin", "render", "last", "--check").code == 1
    assert owing.run("admin", "renumber", "--check").code == 0


@pytest.mark.parametrize("link", ["docs", DECISIONS])
def test_a_folder_that_is_a_link_to_another_place_gets_no_document(
    owing: Project, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    (outside / "decisions").mkdir(parents=True)
    (owing.folder / DECISIONS).rmdir()
    if link == "docs":
        (owing.folder / "docs").rmdir()
    (owing.folder / link).symlink_to(outside)
    done = owing.call("sessions")
    assert done.code == 0
    assert done.err.startswith("warning: an earlier document is still open: the folder ")
    assert "leads outside the project" in done.err
    assert [path.name for path in outside.rglob("*")] == ["decisions"]
    (owing.folder / link).unlink()
    assert owing.call("sessions").err == FIRST
    assert is_written(owing)


def test_one_document_that_cannot_be_written_holds_up_no_other(owing: Project) -> None:
    owe(owing, "A second login")
    for name in (NAME, f"{NAME}.new"):
        (owing.folder / DECISIONS / name).mkdir()
    done = owing.call("sessions")
    assert done.code == 0
    assert done.err == FIRST + (
        f"warning: an earlier document is still open: {DECISIONS}/{NAME}.new cannot be "
        "written: Is a directory\n"
    )
    assert is_written(owing, f"{DECISIONS}/0002-use-oauth-for-authentication.md") is False
    second = (owing.folder / DECISIONS / "0002-use-oauth-for-authentication.md").read_text("utf-8")
    assert "A second login" in second
    (owing.folder / DECISIONS / NAME).rmdir()
    assert owing.call("sessions").err == ""
    assert is_written(owing)


def test_renumber_moves_no_link_and_waits_for_no_fifo(house: Project, victim: Path) -> None:
    house.decided("A login")
    folder = house.folder / DECISIONS
    os.mkfifo(folder / "0001-fifo.md")
    (folder / "0001-link.md").symlink_to(victim)
    (folder / "0001-folder.md").mkdir()
    assert house.run("admin", "renumber").out == "No numbers collide.\n"
    (folder / "0001-theirs.md").write_text("theirs")
    (folder / "0002-taken.md").symlink_to(victim.with_name("missing"))
    assert (
        house.run("admin", "renumber").out
        == f"{DECISIONS}/0001-theirs.md -> {DECISIONS}/0003-theirs.md\n"
    )
    assert (folder / "0003-theirs.md").read_text() == "theirs"


# 2. Files that a person names ----------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("admin", "export", "last", "-o", "out"),
        ("audit", "checkpoint", "-o", "out"),
        ("admin", "db", "backup", "out"),
        ("replay", "last", "--simulate", "--out", "out"),
    ],
)
def test_no_output_goes_through_a_link(
    house: Project, victim: Path, command: tuple[str, ...]
) -> None:
    house.decided("A login")
    guess = house.folder / f".preflights-{os.getpid()}.tmp"
    guess.symlink_to(victim)
    assert house.call(*command).code == 0
    assert guess.is_symlink()
    (house.folder / "out").unlink()
    for to in (victim, victim.with_name("missing"), Path("/dev/null")):
        (house.folder / "out").symlink_to(to)
        refused = house.call(*command)
        assert refused.code == 1
        assert refused.is_safe()
        assert len(refused.err.splitlines()) == 1
        assert (house.folder / "out").is_symlink()
        (house.folder / "out").unlink()
    assert not victim.with_name("missing").exists()
    assert sorted(p.name for p in house.folder.glob(".*tmp*")) == [guess.name]


# 3. Git's own folder -------------------------------------------------------------------------


def configured(house: Project, key: str, folder: str) -> Result:
    (house.folder / "preflights.toml").write_text(f'# mine\n{key} = "{folder}"\n')
    return house.call("start", "A login", *WORDS)


@pytest.mark.parametrize("key", ["decisions", "tasks"])
@pytest.mark.parametrize(
    "folder", [".git", ".git/hooks", ".GIT/refs/heads", "sub/.git", "./.git/x", ".git./x"]
)
def test_a_folder_of_gits_is_refused_with_its_line(house: Project, key: str, folder: str) -> None:
    before = {*house.folder.rglob("*")}
    done = configured(house, key, folder)
    assert done.code == 2
    assert "preflights.toml, line 2" in done.err
    assert "belongs to git" in done.err
    assert len(done.err.splitlines()) == 1
    settings = house.folder / "preflights.toml"
    assert {*house.folder.rglob("*")} == {*before, settings}


@each("folder", [".gi\u200ct/hooks", "do\u200bcs", "docs\u202e/x", "\U000e0041"])
def test_a_folder_with_a_character_that_is_not_seen_is_refused(house: Project, folder: str) -> None:
    done = configured(house, "decisions", folder)
    assert done.code == 2
    assert "preflights.toml, line 2: decisions: found" in done.err
    assert "a character that is not seen" in done.err
    assert folder not in done.err
    assert done.is_safe()


@pytest.mark.parametrize("to", [".git", ".git/hooks", "sub/.git", "store", "store/worktrees/one"])
def test_a_link_to_a_folder_of_gits_gets_no_document(house: Project, to: str) -> None:
    for store in ("sub/.git", "store"):
        for name in ("objects", "refs", "worktrees/one"):
            (house.folder / store / name).mkdir(parents=True)
        (house.folder / store / "HEAD").touch()
        (house.folder / store / "worktrees/one/HEAD").touch()
        (house.folder / store / "worktrees/one/commondir").touch()
    (house.folder / ".git/hooks").mkdir(exist_ok=True)
    (house.folder / "link").symlink_to(house.folder / to)
    for folder in ("link", "link/deeper"):
        done = configured(house, "tasks", folder)
        assert done.code == 2
        assert f"the folder {folder!r} belongs to git" in done.err
    assert [*house.folder.rglob("*.md")] == []
    assert house.call("sessions", "--json").json["sessions"] == []


def test_a_folder_whose_name_only_resembles_gits_is_taken(house: Project) -> None:
    assert configured(house, "decisions", ".github/decisions").code == 0
    assert (house.folder / ".github/decisions" / NAME).is_file()


# 4. What is named and is no file -------------------------------------------------------------


READING = (("start", "Add login", "--answers-file"), ("note", "--file"))


@pytest.mark.slow("sizes")
@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_device_a_folder_and_a_huge_file_are_one_line(
    house: Project, words: tuple[str, ...]
) -> None:
    with (house.folder / "huge").open("wb") as file:
        file.truncate(FILE_MAX * 10_000)  # sparse: it takes no room
    for name in ("/dev/zero", "docs", "huge", "missing"):
        (house.folder / "docs").mkdir(exist_ok=True)
        done = house.run(*words, name, limits="-v 2000000")
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done
        assert done.err.startswith(f"preflights: {name} ")
    assert house.call("sessions", "--json").json["sessions"] == []


def test_a_pipe_of_the_shells_may_be_named(house: Project) -> None:
    answers = """preflights start "Add login" --answers-file <(echo '{"auth_strategy": "OAuth"}')"""
    assert house.run(program=("bash", "-c", answers)).code == 3
    note = "preflights note --file <(echo 'Call the dentist') --no-input"
    assert house.run(program=("bash", "-c", note)).code in (0, 3)
    assert house.call("note", "list", "--json").json["items"]
