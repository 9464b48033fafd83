"""Repositories of one name that share a log: a person says which project each is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from preflights_es.store.sql import SqlStore
from tests.cli.clones import SESSIONS, cloned, committed
from tests.cli.program import Project, Result
from tests.each import each
from tests.postgres import SECOND_ENGINE

ASKED = (
    'preflights: this log may be shared: say which project this is, with `project = "NAME"` in '
    "preflights.toml, or set PREFLIGHTS_PROJECT\n"
)


class Shop(Project):
    """A repository called `shop`, whose log lies elsewhere."""

    def __init__(self, folder: Path, home: Path, log: str, project: str = "") -> None:
        super().__init__(folder / "shop", home)
        self.folder.mkdir(parents=True)
        self.git("init", "--quiet", "--template=")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"Begin {folder.name}")
        self.env = {"PREFLIGHTS_DATABASE_URL": log, "PREFLIGHTS_PROJECT": project}

    def call(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
        """Within this process."""
        return super().call(*args, stdin=stdin, env={**self.env, **(env or {})})

    @property
    def sessions(self) -> list[str]:
        """Ids, as the program lists them."""
        found = self.call("sessions", "--json").json["sessions"]
        return [one["session_id"] for one in found]

    @property
    def documents(self) -> list[str]:
        """Below the folder of records."""
        return sorted(path.name for path in self.folder.glob("docs/**/*.md"))


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/shared.db"
    if request.param == "postgres":
        url = request.getfixturevalue("empty_database")
    SqlStore(url, int, bytes).close()
    return url


@pytest.fixture
def one(tmp_path: Path, home: Path, log: str) -> Shop:
    return Shop(tmp_path / "one", home, log, "shop")


@pytest.fixture
def other(tmp_path: Path, home: Path, log: str) -> Shop:
    return Shop(tmp_path / "other", home, log, "other-shop")


@pytest.fixture
def unsaid(tmp_path: Path, home: Path, log: str) -> Shop:
    """A third one, of which nothing says the project."""
    return Shop(tmp_path / "unsaid", home, log)


# 1. Apart ------------------------------------------------------------------------------------


def test_another_repository_sees_nothing_of_the_first_unless_all_are_wanted(
    one: Shop, other: Shop, unsaid: Shop
) -> None:
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
    session = one.decided()["session_id"]
    for command in ("sessions --any-project", "audit verify --all", "admin projections status"):
        done = unsaid.call(*command.split())
        assert (done.code, done.err) == (0, ""), command
    assert "project       not said" in unsaid.call("admin", "db", "status").out
    assert session[-8:] in unsaid.call("sessions", "--any-project").out


def test_both_number_their_own_records(one: Shop, other: Shop) -> None:
    first, second = one.decided(), other.decided("Use OAuth for the login")
    assert [first["project"], second["project"]] == ["shop", "other-shop"]
    assert one.documents == ["0001-use-oauth-for-authentication.md"]
    assert other.documents == ["0001-use-oauth-for-authentication.md"]
    assert one.sessions == [first["session_id"]]
    assert other.sessions == [second["session_id"]]


def test_another_repository_does_not_write_what_the_first_owes(
    one: Shop, other: Shop, unsaid: Shop
) -> None:
    one.owing(env=one.env)
    for command in ("sessions", "decisions", "show last", "admin render", "note list"):
        for shop in (other, unsaid):
            shop.call(*command.split())
            assert shop.documents == []
    one.call("sessions")
    assert one.documents == ["0001-use-oauth-for-authentication.md"]


# 2. Asked ------------------------------------------------------------------------------------


def test_where_nothing_says_the_project_it_is_asked_for_and_nothing_recorded(
    one: Shop, unsaid: Shop
) -> None:
    for count in range(2):  # an empty log may be shared as well
        for command in ("start Login", "note Call", "sessions", "decisions", "sync", "view"):
            done = unsaid.call(*command.split())
            assert (done.code, done.out, done.err) == (2, "", ASKED), command
        status = unsaid.call("admin", "db", "status", "--json").json
        assert (status["project"], status["sessions"]) == (None, count)
        assert unsaid.documents == []
        one.decided()


def test_any_setting_says_it(one: Shop, unsaid: Shop, tmp_path: Path) -> None:
    session, here = one.decided()["session_id"], unsaid.folder / "preflights.toml"
    own = tmp_path / "config" / "preflights" / "settings.toml"
    own.parent.mkdir(parents=True)
    for file, env in (
        (None, {"PREFLIGHTS_PROJECT": "shop"}),
        (own, {"XDG_CONFIG_HOME": str(tmp_path / "config")}),
        (here, {}),
    ):
        if file:
            file.write_text('project = "shop"\n')
        found = unsaid.call("sessions", "--json", env=env)
        assert [s["session_id"] for s in found.json["sessions"]] == [session]
        assert found.err == ""


def test_a_clone_is_known_by_its_session_files_and_a_namesake_is_not(
    one: Shop, unsaid: Shop, log: str, tmp_path: Path
) -> None:
    session = one.decided()["session_id"]
    committed(one)
    clone = cloned(one, tmp_path / "another-name")
    env = {"PREFLIGHTS_DATABASE_URL": log}
    done = clone.call("sessions", "--json", env=env)
    assert ([s["session_id"] for s in done.json["sessions"]], done.err) == ([session], "")
    assert not (clone.folder / ".git" / "preflights").exists()
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada")
    own = {"PREFLIGHTS_DATABASE_URL": "", "PREFLIGHTS_PROJECT": ""}
    unsaid.call("start", "Login", *words, env=own)
    assert [*(unsaid.folder / SESSIONS).glob("*.jsonl")]
    assert unsaid.call("sessions").err == ASKED


# 3. The repository's own log -----------------------------------------------------------------


@each("words", ["", "--db {log}", "--db sqlite:///{log}", "--db inside.db"])
def test_a_log_within_the_repository_is_its_own(house: Project, words: str) -> None:
    named = words.format(log=house.log).split()
    house.call("start", "Add login", *named)
    done = house.call("show", "--json", *named)
    assert (done.json["project"], done.err) == ("house", "")


def test_a_log_that_is_not_there_leaves_no_trace_of_the_repository(empty: Project) -> None:
    assert empty.call("sessions", "--db", "../typo.db").code == 5
    assert not (empty.folder / ".git" / "preflights").exists()
