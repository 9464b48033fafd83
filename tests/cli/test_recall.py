"""`recall`, as people and scripts meet it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import House, Project
from tests.each import each

BY = ("--accept", "--by", "Ada", "--json")
DATABASE = ("--answer", "change_category=Database", "--answer", "db_type=PostgreSQL")
FAILING = ("--provider", "sim", "--faults", "malformed=1")


@pytest.fixture
def decided(house: House) -> list[str]:
    """Ids of two accepted decisions: login and database."""
    return house.made(two)


def two(house: Project) -> list[str]:
    login = house.call("start", "Add login", "--answer", "auth_strategy=OAuth", *BY).json
    store = house.call("start", "Keep invoices", *DATABASE, *BY).json
    return [login["session_id"], store["session_id"]]


def recall(house: Project, *args: str) -> Any:
    return house.call("recall", *args, "--json").json


def test_a_question_finds_its_decision_and_nothing_found_is_no_error(
    house: Project, decided: list[str]
) -> None:
    done = house.call("recall", "what do we use for login?")
    assert (done.code, done.err) == (0, "")
    assert "matched login" in done.out
    found = recall(house, "welche Datenbank nehmen wir?")
    assert [one["session_id"] for one in found["results"]] == [decided[1]]
    assert (found["format"], found["status"], found["source"]) == ("recall/1", "done", "rules")
    assert found["results"][0]["words"] == ["datenbank"]
    assert found["results"][0]["status"] == "accepted"
    assert len(found["queries"]) <= 3
    done = house.call("recall", "teleportation")
    assert done.code == 0
    assert "No decision matches" in done.out + done.err
    assert recall(house, "the?")["queries"] == []
    done = house.call("recall")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "Missing argument 'QUESTION'" in done.err
    asked = recall(house, "login")
    assert house.call("show", "last", "--json").json["session_id"] == asked["session_id"]
    assert house.call("prompt", "last", "--json").json["session_id"] == decided[1]


def test_a_recall_says_how_many_decisions_match(house: Project) -> None:
    for number in range(11):
        house.call(
            "start", f"Add login {number}", "--answer", "auth_strategy=OAuth", "--again", *BY
        )
    found = recall(house, "what do we use for login?")
    assert (len(found["results"]), found["matches"]) == (10, 11)
    assert "\n  The best 10 of 11 that match.\n" in house.call("recall", "login").out
    assert house.call("replay", found["session_id"]).code == 0


def test_the_rules_stand_in_for_a_model_and_each_recall_replays(
    house: Project, decided: list[str]
) -> None:
    found = recall(house, "login", *FAILING)
    assert (found["source"], found["calls"]) == ("rules", 2)
    assert [one["session_id"] for one in found["results"]] == [decided[0]]
    assert "the rules rewrote the question" in found["warnings"][0]
    found = recall(house, "login", "--provider", "sim")
    assert house.call("replay", found["session_id"]).code == 0


def test_an_erased_decision_is_found_no_more(house: Project, decided: list[str]) -> None:
    first = recall(house, "login")
    done = house.call("admin", "erase", decided[0], "--reason", "a test", "--yes")
    assert done.code == 0
    assert first["session_id"][-8:] in done.out + done.err
    assert recall(house, "login")["results"] == []


def test_the_newest_is_found_by_the_oldest_where_one_between_was_erased(house: Project) -> None:
    first = ("Add login", "--answer", "auth_strategy=OAuth", *BY)
    chain = [house.call("start", *first).json["session_id"]]
    for value in ("Badges", "Turnstiles"):
        more = ("--supersedes", chain[-1], *DATABASE[:2], "--answer", f"db_type={value}", *BY)
        chain.append(house.call("start", "Keep visitors out", *more).json["session_id"])
    assert house.call("admin", "erase", chain[1], "--reason", "a test", "--yes").code == 0
    found = {one["session_id"] for one in recall(house, "OAuth")["results"]}
    assert found == {chain[0], chain[2]}


@each("question", ["", " ", "x" * 20_001])
def test_what_cannot_be_recorded_is_refused(house: Project, question: str) -> None:
    done = house.call("recall", question)
    assert done.code in (1, 2)
    assert house.call("sessions", "--all", "--json").json["sessions"] == []


def test_an_erasure_names_the_recalls_that_show_a_link_to_it(
    house: Project, decided: list[str]
) -> None:
    more = ("--supersedes", decided[0], "--answer", "auth_strategy=Passkeys", *BY)
    house.call("start", "Add login", *more)
    found = recall(house, "passkeys")
    assert [one["other"] for one in found["evolution"]] == [decided[0][-12:]]
    planned = house.call("admin", "erase", decided[0], "--dry-run", "--json").json
    quotes = {one["session_id"]: one["how"] for one in planned["quotes"]}
    assert quotes[found["session_id"]] == "named"


@pytest.mark.slow("whole runs")
def test_a_strict_recall_that_is_resumed_looks_up_what_it_asked(
    house: Project, decided: list[str]
) -> None:
    asked = ("recall", "login", "--provider", "sim", "--strict", "--faults", "timeout=1", "--json")
    waiting = house.call(*asked)
    assert (waiting.code, waiting.json["status"]) == (5, "waiting")
    id_ = waiting.json["session_id"]
    found = house.call("resume", id_, "--provider", "mock", "--json")
    assert (found.code, found.json["status"]) == (0, "done")
    assert [one["session_id"] for one in found.json["results"]] == [decided[0]]
    assert house.call("resume", id_, "--json").json["version"] == found.json["version"]
    assert house.call("replay", id_).code == 0


def test_a_recall_that_was_cut_short_says_that_nothing_was_looked_up(
    house: Project, decided: list[str], tmp_path: Path
) -> None:
    id_ = recall(house, "login")["session_id"]
    lines = house.call("admin", "export", id_).out.splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(lines[: 1 + 2]), "utf-8")
    log = ("--db", "other.db")
    house.call("admin", "db", "upgrade", *log)
    assert house.call("admin", "import", str(cut), *log).code == 0
    shown = house.call("show", id_, *log)
    assert f"Nothing was looked up yet. Go on with: preflights resume {id_[-8:]}" in shown.out
    assert house.call("resume", id_, "--json", *log).json["version"] == 4


def test_why_names_what_a_recall_read_and_superseded_decisions_are_marked(
    house: Project, decided: list[str]
) -> None:
    found = recall(house, "login")
    (why,) = house.call("why", found["session_id"], "--json").json["sessions"]
    assert (why["workflow"], why["status"], why["begun"]["text"]) == ("recall", "done", "login")
    assert [one["session_id"] for one in why["read"]] == [decided[0]]
    told = house.call("why", found["session_id"]).out
    assert f"  read       sessions {decided[0][-8:]} (to event " in told
    empty = recall(house, "teleportation")["session_id"]
    assert "has no decision" in house.call("why", empty).err
    more = ("--supersedes", decided[0], "--answer", "auth_strategy=Magic Link", *BY)
    house.call("start", "Add login", *more)
    found = recall(house, "login")
    said = {one["fields"][0][1]: one["status"] for one in found["results"]}
    assert said == {"Magic Link": "accepted", "OAuth": "superseded"}
