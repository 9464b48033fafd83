"""Where the log and the documents lie, and what happens where they cannot."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

import pytest

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain.values import Heuristics, HeuristicsConfig
from preflights_es.kernel.ports import Access
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store.frozen import read_frozen_revision
from preflights_es.use.bootstrap import opened_process
from preflights_es.use.use_cases import NewSession
from tests.cli.program import Project
from tests.each import each
from tests.persons import git_repository

ACCEPTED = ("--answer", "auth_strategy=OAuth", "--accept", "--again", "--by", "Ada")


def database(project: Project, *args: str, env: dict[str, str] | None = None) -> Path:
    """Where the log lies, as `db status` says once it is there."""
    assert project.call("admin", "db", "upgrade", *args, env=env).code == 0
    found = project.call("admin", "db", "status", "--json", *args, env=env).json["database"]
    return Path(project.folder, str(found)).resolve()


# 1. Where it lies ----------------------------------------------------------------------------


def test_the_log_lies_in_the_repositorys_common_directory(house: Project) -> None:
    assert database(house) == house.log
    status = house.call("admin", "db", "status").out
    assert f"database      {house.log}\n" in status
    assert "engine        sqlite\n" in status
    assert "project       house\n" in status
    assert "sessions      0\n" in status


def test_upgrade_creates_the_log_once(empty: Project) -> None:
    assert not empty.log.exists()
    done = empty.call("admin", "db", "upgrade")
    assert done.out == f"{empty.log} has schema {read_frozen_revision()}.\n"
    shape = empty.call("admin", "db", "upgrade", "--json").json
    assert shape == {
        "format": "db-upgrade/1",
        "database": str(empty.log),
        "schema": read_frozen_revision(),
    }


def test_a_database_that_is_named_wins_in_this_order(house: Project, tmp_path: Path) -> None:
    own = tmp_path / "config" / "preflights" / "settings.toml"
    own.parent.mkdir(parents=True)
    own.write_text('database = "by-file.db"\n')
    by_file, by_env = own.parent / "by-file.db", tmp_path / "by env.db"
    mine = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    env = {**mine, "PREFLIGHTS_DATABASE_URL": f"sqlite:///{by_env}"}
    assert database(house, env=mine) == by_file
    assert database(house, env=env) == by_env
    for args in (("--db", "by option.db"), ("--db", "sqlite:///by option.db")):
        assert database(house, *args, env=env) == house.folder / "by option.db"
    before = house.call("--db", "before.db", "admin", "db", "upgrade", "--json")
    assert before.json["database"] == "before.db"


def test_a_linked_work_tree_shares_the_log_and_has_its_own_files(house: Project) -> None:
    house.git("commit", "--quiet", "--allow-empty", "--message", "Begin")
    house.git("worktree", "add", "--quiet", "../tree", "-b", "feature")
    tree = Project(house.folder.parent / "tree", house.home)
    assert database(tree) == house.log
    session = tree.decided()
    assert (tree.folder / session["artifacts"][0]).is_file()
    assert not (house.folder / "docs").exists()
    assert house.show()["session_id"] == session["session_id"]
    assert house.show()["project"] == "house"


def test_a_folder_below_and_a_link_lead_to_the_same_project(house: Project, tmp_path: Path) -> None:
    below = house.folder / "src" / "deep"
    below.mkdir(parents=True)
    session = Project(below, house.home).decided()
    assert (house.folder / session["artifacts"][0]).is_file()
    link = tmp_path / "link"
    link.symlink_to(house.folder)
    through = Project(link, house.home)
    done = through.run("show", "--json", env={"PWD": str(link)})
    assert done.json["session_id"] == session["session_id"]
    assert through.run("admin", "render", "--check", env={"PWD": str(link)}).code == 0
    second = through.decided("Add SSO")
    assert (house.folder / second["artifacts"][0]).is_file()


def test_outside_of_git_the_log_lies_in_the_state_directory(tmp_path: Path) -> None:
    home, one, two = (tmp_path / name for name in ("home", "one", "two"))
    for folder in (home, one, two):
        folder.mkdir()
    first, second = Project(one, home), Project(two, home)
    state = home / ".local" / "state" / "preflights" / "log.db"
    assert database(first) == state
    session = first.decided()
    assert (one / session["artifacts"][0]).is_file()
    assert session["project"].startswith("one-")
    assert second.call("sessions", "--json").json["sessions"] == []
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert database(first, env=env) == tmp_path / "state" / "preflights" / "log.db"


def test_a_folder_that_is_gone_or_whose_name_is_no_text_is_said_so(
    house: Project, tmp_path: Path, home: Path
) -> None:
    words = ("sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec preflights "$@"', "sh")
    done = house.run("show", program=words)
    assert done.code == 5
    assert done.err == "preflights: the current folder is gone: change to another one\n"
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/h\xff"))
    project = Project(git_repository(folder), home)
    project.call("start", "Add login").refused(2, "is not valid Unicode", "set PREFLIGHTS_PROJECT")
    assert project.call("start", "Add login", env={"PREFLIGHTS_PROJECT": "house"}).code == 3


# 2. Where there is none ----------------------------------------------------------------------

READING: Final = (
    *("sessions", "show", "log", "prompt", "decisions", "why Strategy", "usage", "note list"),
    *("replay last", "admin render", "admin renumber --check", "admin export last"),
    "admin export --all",
    *("audit verify", "audit verify --all", "audit trail", "audit checkpoint", "admin db status"),
    *("admin projections status", "admin projections rebuild"),
    *("admin erase last --dry-run", "answer last x", "accept last --by Ada"),
    "admin db backup copy.db",
)


def files(project: Project) -> list[str]:
    """All that lies in and below the folder."""
    return sorted(str(path.relative_to(project.folder)) for path in project.folder.rglob("*"))


@each("command", READING)
def test_a_log_that_was_named_and_is_not_there_is_not_made_by_reading_it(
    house: Project, tmp_path: Path, command: str
) -> None:
    named = {"PREFLIGHTS_DATABASE_URL": f"sqlite:///{tmp_path}/typo.db"}
    before = files(house)
    found = [
        house.call(*command.split(), "--db", "typo.db"),
        house.call(*command.split(), "--db", "no/such/folder/typo.db", "--json"),
        house.call(*command.split(), env=named),
    ]
    assert files(house) == before
    assert not list(tmp_path.glob("**/typo.db"))
    for done in found:
        assert (done.code, done.out) == (5, ""), done
        assert done.err.startswith("preflights: there is no log at ")
        assert "typo.db: look at --db, PREFLIGHTS_DATABASE_URL and the settings file" in done.err
        assert done.err.count("\n") == 1 + ("error/1" in done.err)


@pytest.mark.slow("whole runs")
def test_where_nothing_was_recorded_reading_leaves_nothing_behind(
    empty: Project, tmp_path: Path
) -> None:
    (tmp_path / "temporary").mkdir()
    before = files(empty)
    for command in READING:
        done = empty.run(*command.split(), env={"TMPDIR": str(tmp_path / "temporary")})
        assert done.code in (0, 1, 5), done
        assert done.is_safe()
        assert files(empty) == before, command
        assert list((tmp_path / "temporary").iterdir()) == [], command


def test_the_first_look_at_a_new_project_is_answered(empty: Project) -> None:
    assert empty.call("sessions").out.startswith("No sessions here yet.\nBegin with: preflights")
    assert empty.call("decisions").code == 0
    assert empty.call("show").code == 1
    status = empty.call("admin", "db", "status", "--json").json
    assert (status["database"], status["schema"]) == (str(empty.log), None)
    assert (status["bytes"], status["sessions"]) == (None, 0)
    assert "schema        none yet\n" in empty.call("admin", "db", "status").out
    assert empty.call("admin", "db", "backup", "copy.db").code == 5
    assert not empty.log.parent.exists()
    empty.decided()
    assert len(empty.call("sessions", "--json").json["sessions"]) == 1


@each(
    "command",
    [
        ("start", "Add login"),
        ("note", "call mom"),
        ("note", "add", "task", "Mow"),
        ("admin", "db", "upgrade"),
    ],
)
def test_what_records_something_makes_the_log_that_was_named(
    house: Project, command: tuple[str, ...]
) -> None:
    assert house.call(*command, "--db", "new.db").code in (0, 3)
    assert house.call("audit", "verify", "--db", "new.db").code == 0


def test_an_import_makes_the_log_that_was_named_and_an_empty_file_is_none(house: Project) -> None:
    session_id = house.started_session()
    content = house.call("admin", "export", session_id).out
    assert house.call("admin", "import", "-", "--db", "new.db", stdin=content.encode()).code == 0
    assert house.call("admin", "export", session_id, "--db", "new.db").out == content
    (house.folder / "empty.db").touch()
    done = house.call("audit", "verify", "--all", "--db", "empty.db")
    assert (done.code, done.out) == (5, "")
    assert (house.folder / "empty.db").read_bytes() == b""
    assert house.call("start", "Add login", "--db", "empty.db").code == 3


def test_a_file_is_replayed_whatever_the_log_and_an_output_without_a_reader_is_no_bug(
    house: Project,
) -> None:
    house.decided()
    house.call("admin", "export", "last", "-o", "one.jsonl")
    assert house.call("replay", "one.jsonl", "--db", "typo.db").code == 0
    assert not (house.folder / "typo.db").exists()
    for command in ("show", "sessions", "log --json"):
        full = house.run(program=("sh", "-c", f"preflights {command} > /dev/full"))
        assert (full.code, full.err) == (5, "preflights: No space left on device\n"), command
    closed = house.run(program=("sh", "-c", "preflights show >&- <&-"))
    assert (closed.code, closed.out, closed.err) == (0, "", "")
    gone = house.run(program=("sh", "-c", "{ preflights log --json; echo $? >&2; } | true"))
    assert gone.err in ("141\n", "0\n")
    assert house.run(program=("sh", "-c", "preflights show nosuch 2>&-")).code == 1


# 3. Documents stay inside --------------------------------------------------------------------


@each("folder", ["../outside", "/tmp", "a/../../b", "a\\\\b"])
def test_a_folder_outside_is_refused_with_its_key_and_line(house: Project, folder: str) -> None:
    (house.folder / "preflights.toml").write_text(f'# ours\ndecisions = "{folder}"\n')
    done = house.call("start", "Add login", *ACCEPTED)
    assert done.code == 2
    assert "preflights.toml, line 2: decisions: found" in done.err


@pytest.mark.parametrize("link", ["docs", "docs/decisions", "docs/tasks"])
def test_a_link_that_leads_outside_is_refused_before_anything_is_recorded(
    house: Project, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (house.folder / link).parent.mkdir(exist_ok=True)
    (house.folder / link).symlink_to(outside)
    house.call("start", "Add login", *ACCEPTED).refused(2, "leads outside the project")
    assert house.call("sessions", "--json").json["sessions"] == []
    (house.folder / link).unlink()
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth")
    (house.folder / link).symlink_to(outside)
    version = house.show()["version"]
    assert house.call("accept", "--again", "last", "--by", "Ada").code == 2
    assert house.show()["version"] == version
    assert list(outside.iterdir()) == []


def test_a_link_that_stays_inside_is_followed(house: Project) -> None:
    (house.folder / "records").mkdir()
    (house.folder / "docs").mkdir()
    (house.folder / "docs" / "decisions").symlink_to("../records")
    house.decided()
    assert (house.folder / "records" / "0001-use-oauth-for-authentication.md").is_file()
    assert house.call("admin", "render", "--check").code == 0


# 4. A world that fails -----------------------------------------------------------------------


@each(
    ("url", "code", "message"),
    [
        ("postgresql://ada:s3cret@host", 2, "the database URL names no database: expected"),
        ("mysql://x", 2, "is not supported: expected sqlite:///PATH or a path"),
        ("://", 2, "cannot be read"),
        (":memory:", 2, "cannot live in memory"),
        ("sqlite://", 2, "cannot live in memory"),
        ("sqlite://x.db", 2, "names a host before its file: expected sqlite:///PATH"),
        (".", 5, "the log cannot be used"),
        ("README/log.db", 5, "the log cannot be opened"),
    ],
)
def test_a_database_that_cannot_be_one_is_said_so(
    house: Project, url: str, code: int, message: str
) -> None:
    (house.folder / "README").write_text("a file")
    for done in (
        house.call("start", "Add login", "--db", url),
        house.call("start", "Add login", env={"PREFLIGHTS_DATABASE_URL": url}),
    ):
        assert done.code == code
        assert message in done.err
        assert done.err.count("\n") == 1
        assert "s3cret" not in done.err


def test_a_read_only_log_can_be_read_and_not_written(house: Project) -> None:
    house.started_session()
    before = files(house)
    for url in (f"sqlite:///{house.log}?mode=ro", f"sqlite:///file:{house.log}?mode=ro&uri=true"):
        shown = house.call("show", "--db", url)
        assert (shown.code, shown.err) == (0, "")
        assert house.call("admin", "db", "status", "--db", url, "--json").json["database"] == str(
            house.log
        )
        assert house.call("replay", "last", "--db", url).code == 0
        done = house.call("answer", "last", "OAuth", "--db", url)
        assert done.code == 5
        assert done.err == (
            "preflights: the log cannot be used: attempt to write a readonly database: "
            "mend its disk or rights, then run this again\n"
        )
    assert house.show()["version"] == 3
    assert files(house) == before


def test_a_log_that_is_only_read_is_not_made_and_another_programs_is_left_alone(
    house: Project,
) -> None:
    before = files(house)
    for command in (("start", "Add login"), ("admin", "db", "upgrade"), ("sessions",)):
        done = house.call(*command, "--db", "sqlite:///x.db?mode=ro")
        assert (done.code, done.out, done.err.count("\n")) == (5, "", 1), done
        assert done.err.startswith("preflights: there is no log at x.db: ")
    assert files(house) == before
    path = house.folder / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE notes (text)")
    other.close()
    theirs = path.read_bytes()
    house.call("start", "Add login", "--db", "other.db").refused(4, "another program")
    assert path.read_bytes() == theirs


@each("asked", ["mode=rw", "mode=memory", "cache=shared", "timeout=5", "uri=true", "mode=ro&vfs=x"])
def test_what_a_file_cannot_be_asked_is_refused(house: Project, asked: str) -> None:
    done = house.call("start", "Add login", "--db", f"sqlite:///x.db?{asked}")
    assert (done.code, done.out) == (2, "")
    found = asked.removeprefix("mode=ro&")
    assert done.err == (
        f"preflights: the database URL: found {found!r}, a file takes only mode=ro\n"
    )
    assert not (house.folder / "x.db").exists()


@pytest.mark.slow("full disk")
def test_a_full_disk_loses_nothing_that_was_acknowledged(house: Project) -> None:
    house.decided()
    blocks = house.log.stat().st_size // 512
    codes = [
        house.run("start", f"Add login {i} " + "x" * 3_900, limits=f"-f {blocks}").code
        for i in range(6)
    ]
    assert codes[-1] == 5
    assert house.call("admin", "db", "status").code == 0
    kept = house.call("sessions", "--json").json["sessions"]
    assert len(kept) == 1 + codes.count(3)
    assert {house.call("replay", s["session_id"]).code for s in kept} == {0}
    assert house.call("start", "Add login").code == 3, "and goes on when there is room"


# 5. A log that is damaged, or not ours -------------------------------------------------------


def test_a_file_that_is_no_database_is_damaged_data(house: Project) -> None:
    house.decided()
    content = house.log.read_bytes()
    for damaged in (
        b"not a database at all" * 400,
        content[:100] + b"\xff" * 4_000 + content[4_100:],
        content[: len(content) // 2],
    ):
        house.log.write_bytes(damaged)
        for command in (
            ("show",),
            ("start", "Add login"),
            ("replay", "last"),
            ("admin", "db", "status"),
        ):
            done = house.call(*command)
            assert done.code == 4, (command, done)
            assert done.err.startswith("preflights: damaged log: ")
            assert done.err.count("\n") == 1
        assert house.log.read_bytes() == damaged, "and is left to be mended"


def test_an_event_of_a_newer_version_is_refused_by_name(house: Project, tmp_path: Path) -> None:
    """As a colleague's newer program would have recorded it: sealed, and of an unknown tag."""
    house.started_session()
    code = (
        "import sys\n"
        "from preflights_cli.main import main\n"
        "from preflights_es.features.clarification.domain.events import "
        "ClarificationAnswersGiven, EVENTS\n"
        "ClarificationAnswersGiven.tag = 'clarification.answers_given.v9'\n"
        "main(sys.argv[1:])\n"
    )
    (tmp_path / "newer.py").write_text(code)
    newer = ("python", str(tmp_path / "newer.py"))
    assert house.run("answer", "last", "OAuth", program=newer).code == 3
    for command in ("show", "replay", "prompt", "accept"):
        house.call(command, "last").refused(
            4,
            "event 4: written by another version of the workflow clarification (its tag "
            "clarification.answers_given.v9",
        )
    (row,) = house.call("sessions", "--json").json["sessions"]
    assert row["status"] == "unknown"


# 6. Providers --------------------------------------------------------------------------------


def test_a_key_in_the_environment_changes_nothing_and_no_provider_is_guessed(
    house: Project,
) -> None:
    keys = {"ANTHROPIC_API_KEY": "sk-ant-x", "OPENAI_API_KEY": "sk-x"}
    session = house.call("start", "Add login", "--json", env=keys).json["session_id"]
    first = house.events(session)[0]
    assert first["data"]["setup"]["provider"] == "mock"
    assert b"sk-ant-x" not in house.recorded()
    done = house.call("start", "Add login", env={"PREFLIGHTS_PROVIDER": "oracle"})
    assert done.code == 2
    assert "PREFLIGHTS_PROVIDER: found 'oracle', expected " in done.err
    (house.folder / "preflights.toml").write_text('\nprovider = "oracle"\n')
    house.call("show").refused(2, "preflights.toml, line 2: provider: found 'oracle'")


def test_what_is_recorded_in_a_log_that_is_thrown_away_is_a_bug_and_never_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    looker = opened_process(tmp_path, access=Access.WRITE).request()
    assert not looker.process.store.heads(None)
    looker.process.close()
    careless = opened_process(tmp_path, access=Access.WRITE).request()
    setup = careless.setup(WORKFLOWS["clarification"])
    clarifications_of(careless).open(NewSession("Add login"), setup, Heuristics(HeuristicsConfig()))
    with pytest.raises(AssertionError, match="recorded something"):
        careless.process.close()
