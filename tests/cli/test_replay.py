"""`replay`: identical, different, faulted or damaged, each with its own exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.program import Project

BUGGY: Final = (sys.executable, str(Path(__file__).parent / "buggy.py"))
DIVERGING: Final = (sys.executable, str(Path(__file__).parent / "diverging.py"))


def test_an_identical_session_has_the_same_trace_anywhere_and_exit_code_0(
    house: Project, tmp_path: Path, home: Path
) -> None:
    session = house.decided()
    done = house.call("replay", "last")
    shape = house.call("replay", "last", "--json").json
    (result,) = shape["sessions"]
    assert done.code == 0
    assert done.out == f"{session['session_id'][-8:]} identical: 11 events\n"
    assert (result["status"], result["differences"], result["fault"]) == ("identical", 0, None)
    (tmp_path / "session.jsonl").write_text(house.call("admin", "export", "last").out)
    elsewhere = Project(tmp_path, home)
    there = elsewhere.call("replay", "session.jsonl", "--json", env={"TZ": "Asia/Tokyo"}).json
    assert [one["trace"] for one in there["sessions"]] == [result["trace"]]


@pytest.mark.slow("whole runs")
def test_todays_code_is_held_against_the_record(house: Project) -> None:
    house.call("start", "Add a login", "--answer", "auth_strategy=OAuth")
    done = house.run("replay", "last", "--json", program=DIVERGING)
    assert done.code == 1
    (result,) = done.json["sessions"]
    assert (result["status"], result["differences"]) == ("diverged", 2)
    assert result["divergences"] == [
        {
            "version": 3,
            "type": "clarification.question_asked.v1",
            "pointer": "/question/question",
            "place": "question",
            "recorded": "Which authentication approach?",
            "computed": "Which authentication approach? \u202e",
            "cause": "",
        }
    ]
    assert "\u202e" not in done.out, "escaped, and the same JSON"
    everything = house.run("replay", "last", "--all", "--json", program=DIVERGING).json
    assert [d["pointer"] for d in everything["sessions"][0]["divergences"]] == [
        "/question/question",
        "/patch/category",
    ]
    text = house.run("replay", "last", program=DIVERGING)
    assert "differs at event 3, question asked: question" in text.out
    assert "  recorded:  Which authentication approach?" in text.out
    assert "  computed:  Which authentication approach? \\u202e" in text.out
    assert "1 more with --all." in text.out
    assert text.is_safe()
    assert house.call("replay", "last").code == 0


@pytest.mark.slow("whole runs")
def test_a_bug_is_recorded_replayed_and_survived(house: Project) -> None:
    """A real one: the program that raises is another process, and what it leaves is its log."""
    id_ = house.started_session()[-8:]
    crashed = house.run("answer", "last", "crash", program=BUGGY)
    assert crashed.code == 70
    assert (
        "preflights: a bug of ours: ZeroDivisionError: division by \\x1b[31mzero (" in crashed.err
    )
    assert "buggy.py, line " in crashed.err
    assert f"The Input is recorded; see it again with: preflights replay {id_}" in crashed.err
    assert "--debug for the traceback" in crashed.err
    assert crashed.is_safe()
    assert house.show()["status"] == "faulted"
    assert "See why with: preflights replay" in house.call("show").out

    again = house.run("replay", "last", program=BUGGY)
    assert again.code == 1
    assert "raises again at version 4: ZeroDivisionError: division by \\x1b[31mzero" in again.out
    (result,) = house.run("replay", "last", "--json", program=BUGGY).json["sessions"]
    assert result["status"] == "faulted"
    assert (result["fault"]["version"], result["fault"]["recorded"]) == (4, True)

    stuck = house.run("resume", "last", "--debug", program=BUGGY)
    assert stuck.code == 70
    assert "Traceback (most recent call last)" in stuck.err
    assert "\x1b" not in stuck.err
    assert house.run("answer", "last", "OAuth", program=BUGGY).code == 70

    fixed = house.call("replay", "last")
    assert fixed.code == 0
    assert f"Its last Input is undecided: preflights resume {id_} decides it." in fixed.out
    resumed = house.call("resume", "last", "--json")
    assert resumed.json["patch"]["fields"] == [["Strategy", "crash"]]
    assert house.call("replay", "last").code == 0


@pytest.mark.slow("whole runs")
def test_a_faulted_session_is_given_up_only_by_force(house: Project) -> None:
    id_ = house.started_session()
    assert house.run("answer", "last", "crash", program=BUGGY).code == 70
    house.run("abandon", "last", program=BUGGY).refused(
        1, "is faulted at event 4 (ZeroDivisionError)", f"`preflights abandon {id_[-8:]} --force`"
    )
    done = house.run("abandon", "last", "--force", program=BUGGY)
    assert (done.code, done.out) == (0, f"Abandoned {id_[-8:]}.\n")
    assert house.show()["status"] == "abandoned"
    assert house.call("replay", "last").code == 0
    assert house.run("replay", "last", program=BUGGY).code == 0, "the Input rests in quarantine"


def test_a_fault_of_todays_code_is_told_apart_and_no_file_hides_the_last_session(
    house: Project,
) -> None:
    house.started_session()
    house.call("answer", "last", "crash")
    done = house.run("replay", "last", program=BUGGY)
    assert done.code == 1
    assert "raises in today's code at version 4" in done.out
    (house.folder / "last").write_text("not a log")
    assert house.call("replay", "last").code == 0


def test_what_cannot_be_replayed_or_is_damaged_is_refused(house: Project) -> None:
    for typed, code, message in (
        ("nosuch", 1, "no session matches 'nosuch'"),
        ("nosuch.jsonl", 1, "nosuch.jsonl cannot be read: No such file or directory"),
        ("a" * 300, 1, "no session matches"),
        (".", 1, "no session matches '.'"),
    ):
        done = house.call("replay", typed)
        assert done.code == code
        assert message in done.err
    house.decided()
    sound = house.call("admin", "export", "last").out
    event = json.loads(sound.splitlines()[1])
    broken = sound.replace(event["hash"], "0" * 64)
    (house.folder / "a.jsonl").write_text(sound)
    (house.folder / "b.jsonl").write_text(broken)
    done = house.call("replay", "a.jsonl", "b.jsonl")
    assert (done.code, done.out) == (4, "")
    assert "event 1: its hash does not follow from the one before" in done.err
