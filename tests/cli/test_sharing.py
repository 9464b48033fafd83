"""Repositories of one name that share a log: each sees and writes what is its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.store.sql import SqlStore
from tests.cli.program import Project, Result


class Shop(Project):
    """A repository called `shop`, whose log is another file."""

    def __init__(self, folder: Path, home: Path, log: str) -> None:
        super().__init__(folder / "shop", home)
        self.folder.mkdir(parents=True)
        self.git("init", "--quiet", "--template=")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"Begin {folder.name}")
        self.env = {"PREFLIGHTS_DATABASE_URL": log}

    def call(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
        """Within this process."""
        return super().call(*args, stdin=stdin, env={**self.env, **(env or {})})

    @property
    def project(self) -> str:
        """What the log calls it."""
        return str(self.call("admin", "db", "status", "--json").json["project"])

    @property
    def sessions(self) -> list[str]:
        """Ids, as the program lists them."""
        found = self.call("sessions", "--json").json["sessions"]
        return [one["session_id"] for one in found]

    @property
    def documents(self) -> list[str]:
        """Below the folder of records."""
        return sorted(path.name for path in self.folder.glob("docs/**/*.md"))


@pytest.fixture(params=["sqlite", "postgres"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/shared.db"
    if request.param == "postgres":
        url = request.getfixturevalue("empty_database")
    SqlStore(url, int, bytes).close()
    return url


@pytest.fixture
def one(tmp_path: Path, home: Path, log: str) -> Shop:
    return Shop(tmp_path / "one", home, log)


@pytest.fixture
def other(tmp_path: Path, home: Path, log: str) -> Shop:
    return Shop(tmp_path / "other", home, log)


# 1. Apart ------------------------------------------------------------------------------------


def test_another_repository_sees_nothing_of_the_first(one: Shop, other: Shop) -> None:
    session = one.decided()
    assert session["project"] == "shop"
    told = other.call("sessions")
    assert told.out.startswith("No sessions here yet.")
    assert told.err == ""
    for command in ("decisions", "note list", "usage", "audit trail"):
        assert session["session_id"][-8:] not in other.call(*command.split()).out
    assert other.call("show", "last").code == 1
    assert other.call("why", "Strategy").code == 1
    refused = other.call("abandon", session["session_id"], "--reason", "mine")
    assert refused.code == 1


def test_both_number_their_own_records(one: Shop, other: Shop) -> None:
    other.call("admin", "db", "upgrade")
    told = one.call("admin", "db", "upgrade").err
    assert "another repository has the project name 'shop' in this log: this one is" in told
    assert told.count("\n") == 1
    first, second = one.decided(), other.decided("Use OAuth for the login")
    assert [first["project"], second["project"]] == [one.project, "shop"]
    assert one.project.startswith("shop-")
    assert one.documents == ["0001-use-oauth-for-authentication.md"]
    assert other.documents == ["0001-use-oauth-for-authentication.md"]
    assert one.sessions == [first["session_id"]]
    assert other.sessions == [second["session_id"]]


def test_another_repository_does_not_write_what_the_first_owes(one: Shop, other: Shop) -> None:
    one.owing(env=one.env)
    for command in ("sessions", "decisions", "show last", "admin render", "note list"):
        other.call(*command.split())
        assert other.documents == []
    one.call("sessions")
    assert one.documents == ["0001-use-oauth-for-authentication.md"]


def test_clones_of_one_repository_are_one_project(one: Shop, tmp_path: Path, log: str) -> None:
    session = one.decided()
    one.git("clone", "--quiet", "--template=", str(one.folder), str(tmp_path / "clone" / "shop"))
    clone = Project(tmp_path / "clone" / "shop", one.home)
    done = clone.call("sessions", "--json", env={"PREFLIGHTS_DATABASE_URL": log})
    assert [s["session_id"] for s in done.json["sessions"]] == [session["session_id"]]
    assert done.err == ""


def test_a_name_that_a_person_says_is_taken_as_it_is(one: Shop, other: Shop) -> None:
    session = one.decided()
    named = {"PREFLIGHTS_PROJECT": "shop"}
    found = other.call("sessions", "--json", env=named)
    assert [s["session_id"] for s in found.json["sessions"]] == [session["session_id"]]
    assert found.err == ""
    assert not (other.folder / ".git" / "preflights").exists(), "git was not asked"


def test_an_export_carries_the_projects_name(one: Shop, other: Shop) -> None:
    other.call("admin", "db", "upgrade")
    session = one.decided()
    assert session["project"] == one.project != "shop"
    content = one.call("admin", "export", session["session_id"]).out
    assert one.call("admin", "import", "-", "--db", "new.db", stdin=content.encode()).code == 0
    again = one.call("admin", "export", session["session_id"], "--db", "new.db").out
    assert again == content


# 2. Names of no repository -------------------------------------------------------------------


@pytest.fixture
def former(tmp_path: Path, home: Path) -> Shop:
    """A repository with a shared log that does not say whose sessions it holds."""
    made = Shop(tmp_path / "one", home, f"sqlite:///{tmp_path}/former.db")
    made.decided()
    with closing(sqlite3.connect(tmp_path / "former.db", isolation_level=None)) as log:
        log.execute("DELETE FROM projects")
    return made


def test_sessions_of_no_repository_are_taken_over_once(former: Shop) -> None:
    done = former.call("sessions", "--json")
    assert len(done.json["sessions"]) == 1
    assert "does not say which repository recorded the sessions of 'shop'" in done.err
    assert former.call("admin", "db", "upgrade").err == (
        "warning: this repository has the project name 'shop' in this log from now on, with 1 "
        "session recorded before. If another repository recorded them, set PREFLIGHTS_PROJECT "
        "here to another name, and there to this one\n"
    )
    done = former.call("sessions", "--json")
    assert (len(done.json["sessions"]), done.err) == (1, "")


def test_a_command_that_looks_takes_no_sessions_over(
    former: Shop, tmp_path: Path, home: Path
) -> None:
    hostile = Shop(tmp_path / "hostile", home, former.env["PREFLIGHTS_DATABASE_URL"])
    for command in ("sessions", "decisions", "usage"):
        assert "does not say which repository" in hostile.call(command).err
    assert former.call("admin", "db", "upgrade").code == 0
    assert (former.project, len(former.sessions)) == ("shop", 1)
    assert hostile.sessions == []


def test_the_command_that_takes_sessions_over_writes_no_document_of_theirs(
    one: Shop, other: Shop
) -> None:
    """A name that a person says is recorded for no repository."""
    env, one.env = one.env, {**one.env, "PREFLIGHTS_PROJECT": "shop"}
    one.owing(env=one.env)
    one.env = env
    assert "no document of theirs is written" in other.call("sessions").err
    assert other.documents == []
    took = other.call("admin", "db", "upgrade")
    assert "1 session recorded before" in took.err
    assert other.documents == []


# 3. The repository's own log -----------------------------------------------------------------


def test_the_repositorys_own_log_is_not_shared(house: Project) -> None:
    house.decided()
    for words in ((), ("--db", str(house.log)), ("--db", f"sqlite:///{house.log}")):
        done = house.call("sessions", "--json", *words)
        assert len(done.json["sessions"]) == 1
        assert done.err == ""
    assert not (house.log.parent / "identity").exists()
    with closing(sqlite3.connect(house.log)) as log:
        assert log.execute("SELECT * FROM projects").fetchall() == []


def test_a_log_that_is_not_there_leaves_no_trace_of_the_repository(empty: Project) -> None:
    assert empty.call("sessions", "--db", "typo.db").code == 5
    assert not (empty.folder / ".git" / "preflights").exists()
