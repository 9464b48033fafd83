"""`start --task`: a task is clarified, and names the decision that it led to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Project

ACCEPTED = ("--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada")


@pytest.fixture
def task(house: Project) -> str:
    """A task of a note."""
    items = house.call("note", "Add login to the shop\nMeeting @2031-11-24T14:00", "--json").json[
        "items"
    ]
    return str(items[0]["id"])


def item(house: Project) -> Any:
    return house.call("note", "list", "--json").json["items"][0]


def test_a_task_names_its_decision_stays_open_and_is_named_by_why(
    house: Project, task: str
) -> None:
    ran = house.call("start", "--task", task, *ACCEPTED, "--json")
    assert ran.code == 0, ran
    done = ran.json
    assert done["status"] == "accepted"
    found = item(house)
    assert (found["status"], found["decision"]) == ("open", done["uid"])
    assert found.get("record") == done.get("number")
    assert "decided by" in house.call("note", "list").out
    assert house.call("audit", "verify").code == 0
    assert f"  task       {task}\n" in house.call("why").out
    assert house.call("why", "--json").json["values"][0]["task"] == task


def test_last_stays_the_newest_note_after_its_task_is_decided(house: Project, task: str) -> None:
    assert house.call("start", "--task", "last.1", *ACCEPTED).code == 0
    assert house.call("today", "--from", "08:00", "--until", "18:00").code == 0
    added = house.call("note", "add", "idea", "Sell logs", "--note", "last", "--json").json
    assert added["items"][0]["id"] == task
    assert house.call("note", "done", "last.1").code == 0
    assert house.call("note", "done", "last.1").err.startswith("Not done: it is done")


def test_a_proposal_says_nothing_to_the_task_whatever_its_intention(
    house: Project, task: str
) -> None:
    house.call("start", "--task", task, "--answer", "auth_strategy=OAuth", "--accept")
    assert "decision" not in item(house)
    house.call("accept", "--by", "Ada")
    assert item(house)["decision"]
    found = house.call("start", "A login page", "--task", task, "--no-input", "--json").json
    assert found["intention"] == "A login page"
    assert house.call("log", "last").code == 0
    assert house.call("replay", "last").code == 0


def test_what_is_no_open_task_is_refused(house: Project, task: str) -> None:
    event = f"{task[:-1]}2"
    assert "is an event, expected an open task" in house.call("start", "--task", event).err
    house.call("note", "done", task)
    done = house.call("start", "--task", task)
    assert (done.code, "is done, expected an open task" in done.err) == (1, True)
    assert "has no item 9" in house.call("start", "--task", f"{task[:-1]}9").err
    assert house.call("start", "--task", task, "--workflow", "extraction").code == 2
    assert house.call("start").code == 2


def test_a_task_is_clarified_once_under_a_key(house: Project, task: str) -> None:
    first = house.call("start", "--task", task, *ACCEPTED, "--key", "k", "--json").json
    house.call("note", "done", task)
    again = house.call("start", "--task", task, *ACCEPTED, "--key", "k", "--json").json
    assert (again["session_id"], again["status"]) == (first["session_id"], "accepted")
    other = house.call("note", "add", "task", "Add logout", "--json").json["items"][0]["id"]
    for args in (("--task", other), ("Add login to the shop",)):
        done = house.call("start", *args, *ACCEPTED, "--key", "k")
        assert (done.code, "was used for something else" in done.err) == (1, True)


def test_a_note_of_another_log_hinders_no_acceptance(
    house: Project, task: str, tmp_path: Path
) -> None:
    session = house.call("start", "--task", task, "--no-input", "--json").json["session_id"]
    lines = tmp_path / "session.jsonl"
    lines.write_text(house.call("admin", "export", session).out)
    elsewhere = {"PREFLIGHTS_DATABASE_URL": str(house.folder / "other.db")}
    assert house.call("admin", "import", str(lines), env=elsewhere).code == 0
    house.call("answer", session, "OAuth", env=elsewhere)
    assert house.call("accept", session, "--by", "Ada", env=elsewhere).code == 0


def test_an_erased_note_hinders_no_acceptance(house: Project, task: str) -> None:
    house.call("start", "--task", task, "--no-input")
    note = house.call("show", task.partition(".")[0], "--json").json["session_id"]
    done = house.call("admin", "erase", note, "--yes")
    assert "quotes" in done.out + done.err
    assert f"session {note[-8:]} was erased" in house.call("note", "done", task).err
    house.call("answer", "last", "OAuth")
    assert house.call("accept", "--by", "Ada").code == 0
