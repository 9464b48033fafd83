"""A log in PostgreSQL, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from tests.cli.program import Project, Result
from tests.postgres import Server


class Shared:
    """A house whose log lies on a server."""

    def __init__(self, house: Project, url: str) -> None:
        self.house = house
        self.url = url

    def call(self, *args: str) -> Result:
        """One command over it."""
        done = self.house.call(*args, "--db", self.url)
        assert done.is_safe()
        return done

    def told(self, *args: str, code: int = 0) -> str:
        """What a command prints that ends as it should."""
        done = self.call(*args)
        assert done.code == code, done.err
        return done.out

    def replayed(self, session: str) -> str:
        """What became of a replay."""
        (found,) = json.loads(self.told("replay", session, "--json"))["sessions"]
        return str(found["status"])


@pytest.fixture
def shared(house: Project, postgres: str) -> Shared:
    return Shared(house.named(), postgres)


def test_a_session_from_its_intention_to_its_replay(shared: Shared) -> None:
    started = json.loads(shared.told("start", "Add OAuth login", "--json", code=3))
    session = started["session_id"]
    shared.told("answer", session, "auth_strategy=OAuth", code=3)
    shared.told("accept", session, "--by", "Ada Lovelace")
    records = (shared.house.folder / "docs" / "decisions").glob("*.md")
    assert [path.name[:4] for path in records] == ["0001"]
    assert shared.replayed(session) == "identical"
    assert "Add OAuth login" in shared.told("show", session)
    assert session[-8:] in shared.told("sessions")
    status = json.loads(shared.told("admin", "db", "status", "--json"))
    assert status["engine"] == "postgresql"
    assert status["sessions"] == 1
    assert status["bytes"] > 100_000, "its tables and their indexes"
    # The house's own log was never asked.
    assert shared.house.call("sessions", "--json").out.count(session) == 0


def test_the_address_comes_from_the_environment_or_the_users_own_file_too(
    shared: Shared, tmp_path: Path
) -> None:
    shared.told("start", "Add OAuth login", "--answer", "auth_strategy=OAuth", code=3)
    env = {"PREFLIGHTS_DATABASE_URL": shared.url}
    assert shared.house.call("admin", "db", "status", "--json", env=env).json["sessions"] == 1
    (tmp_path / "preflights").mkdir()
    own = tmp_path / "preflights" / "settings.toml"
    own.write_text(f"database = {json.dumps(shared.url)}\n")
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert shared.house.call("admin", "db", "status", "--json", env=env).json["sessions"] == 1


def test_a_server_that_is_not_there_is_named_in_one_line(house: Project) -> None:
    for words in (("sessions",), ("start", "Add OAuth login"), ("admin", "db", "status", "--json")):
        done = house.call(*words, "--db", "postgresql://ada:tUlip@127.0.0.1:1/log")
        assert done.code == 5
        assert "127.0.0.1" in done.err
        assert "tUlip" not in done.out + done.err
        assert len(done.err.strip().splitlines()) == 1 + ("--json" in words)


def test_no_password_is_ever_shown(house: Project, server: Server, postgres: str) -> None:
    user = make_url(postgres).username or ""
    url = server.url(make_url(postgres).database or "", user, "tUlip")
    for words in (
        ("admin", "db", "upgrade"),
        ("admin", "db", "status"),
        ("admin", "db", "status", "--json"),
    ):
        done = house.call(*words, "--db", url)
        assert done.code == 0, done.err
        assert "tUlip" not in done.out + done.err


def test_a_day_is_planned_and_finished(shared: Shared) -> None:
    note = json.loads(shared.told("note", "report ~90m\ncall ~10m\ntea @today-10:00", "--json"))
    first, call, _ = (item["id"] for item in note["items"])
    day = ("--from", "09:00", "--until", "18:00")
    found = json.loads(shared.told("today", *day, "--json"))
    assert (found["focus_task_id"], found["mini_task_ids"]) == (first, [call])
    assert [entry["start"] for entry in found["timeline"]] == ["09:00", "10:00", "11:00"]
    shared.told("note", "done", first)
    assert first not in shared.told("note", "list")
    assert json.loads(shared.told("today", *day, "--json"))["focus_task_id"] == call
    assert shared.replayed(found["session_id"]) == "identical"
    shared.told("audit", "verify")
