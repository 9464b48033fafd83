"""What cannot be told of a log that was damaged, or erased: it is said, and never mere silence."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli import tampering
from tests.cli.program import Project
from tests.cli.tampering import Tampering, tampered
from tests.each import each

FAULTING = ("python", str(Path(__file__).parent / "faulting.py"))


def taken(log: sqlite3.Connection, session_id: str) -> None:
    """The payload of event 4, by hand."""
    log.execute(
        "UPDATE events SET data = NULL, salt = NULL WHERE session_id = ? AND version = 4",
        (session_id,),
    )


def broken(house: Project, work: Tampering = taken, intention: str = "Add OAuth login") -> str:
    """The id of a session that was decided, and tampered with."""
    session_id = str(house.decided(intention)["session_id"])
    tampered(house, session_id, work)
    return session_id


def found(house: Project, *words: str) -> list[dict[str, Any]]:
    """The steps, one JSON a line."""
    done = house.call("audit", "trail", *words)
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


# 1. The trail --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["table", "json"])
def test_the_trail_of_a_damaged_session_names_the_damage_on_stderr(
    house: Project, form: tuple[str, ...]
) -> None:
    session_id = broken(house)
    why = f"damaged log: session {session_id}, event 4: its payload is gone without an erasure"
    for of in (("--session", session_id), ()):
        done = house.call("audit", "trail", *form, *of)
        assert (done.code, done.err) == (0, f"warning: {why}\n")
        assert "decision recorded" in done.out.replace("_", " "), "what can be read is shown"


def test_json_says_why_a_session_is_damaged_and_its_decision_is_not_said_to_be_none(
    house: Project,
) -> None:
    session_id = broken(house)
    why = f"damaged log: session {session_id}, event 4: its payload is gone without an erasure"
    house.decided("Add SSO")
    told = [(one["session_id"], one["damage"]) for one in found(house, "--json")]
    assert {id_ for id_, damage in told if damage == why} == {session_id}
    assert {damage for id_, damage in told if id_ != session_id} == {None}
    assert len({id_ for id_, _ in told}) == 2
    done = house.call("audit", "trail", "--decision", session_id)
    assert (done.code, done.out) == (4, "")
    assert done.err == (
        f"preflights: damaged log: session {session_id}, event 4: its payload is gone without an "
        "erasure\n"
    )


def test_a_session_of_which_only_the_head_is_left_is_named_and_says_so(house: Project) -> None:
    session_id = broken(house, tampering.emptied)
    for of in (("--session", session_id), ()):
        done = house.call("audit", "trail", *of)
        assert (done.code, done.out) == (0, "Nothing was recorded.\n")
        assert done.err.startswith(f"warning: session {session_id[-8:]}: damaged log: ")
    house.call("log", broken(house, tampering.emptied)).refused(4, "only the head is left")


def test_the_decision_of_a_session_that_cannot_be_folded_is_not_said_to_be_none(
    house: Project,
) -> None:
    session_id = house.decided()["session_id"]
    done = house.run("audit", "trail", "--decision", session_id, program=FAULTING)
    assert (done.code, done.out) == (70, "")
    assert "has no decision" not in done.err
    for of in (("--session", session_id), ()):
        done = house.run("audit", "trail", *of, program=FAULTING)
        assert done.code == 0
        assert done.is_safe()
        assert f"warning: session {session_id[-8:]} cannot be folded: event 5: Zero" in done.err
    assert "session " + session_id[-8:] + " is faulted: what it decided is not told" in (
        house.run("decisions", program=FAULTING).err
    )


# 2. A payload that is not there --------------------------------------------------------------


def test_a_payload_taken_by_hand_is_gone_and_its_session_named_among_decisions(
    house: Project,
) -> None:
    session_id = broken(house)
    (step,) = [one for one in found(house, "--json") if one["version"] == 4]
    assert (step["erased"], step["data"]) == (False, None)
    assert "its payload is gone without an erasure" in step["damage"]
    for words in (("audit", "trail", "--session", session_id), ("log", session_id)):
        done = house.call(*words)
        lines = done.out.splitlines()
        (at,) = [n for n, line in enumerate(lines) if re.search("answers (were )?given", line)]
        assert re.search(r"\(gone\)\.|    gone$", "".join(lines[at : at + 2])), words
        assert "  erased" not in done.out, words
    whole = house.decided("Add SSO")
    said = f"warning: session {session_id[-8:]} is damaged: what it decided is not told\n"
    for which in ((), ("--all",), ("--at", "9999-12-31"), ("--category", "Authentication")):
        done = house.call("decisions", *which)
        assert (done.code, done.err) == (0, said), which
        assert whole["uid"][-8:] in done.out
        as_json = house.call("decisions", "--json", *which)
        assert [one["uid"] for one in as_json.json["decisions"]] == [whole["uid"]]
        assert as_json.err == said
    assert house.call("decisions", env={"PREFLIGHTS_PROJECT": "elsewhere"}).err == ""


def test_what_an_erasure_took_is_erased_though_the_session_was_damaged_since(
    house: Project,
) -> None:
    session_id = house.decided()["session_id"]
    assert house.call("admin", "erase", session_id, "--yes").code == 0

    def changed(log: sqlite3.Connection, _: str) -> None:
        log.execute("UPDATE events SET recorded_at = 1 WHERE version = 2")
        log.execute("UPDATE events SET data = NULL, salt = NULL WHERE version = 12")

    tampered(house, session_id, changed)
    steps = found(house, "--json")
    assert [one["erased"] for one in steps] == [True] * 11 + [False] * 2
    assert all("event 2" in one["damage"] for one in steps)
    table = house.call("audit", "trail").out
    # Eleven payloads, and the status with which the session closed.
    assert (table.count("    erased\n"), table.count("    gone\n")) == (11, 1)
    assert house.call("log", session_id).out.count(" (gone).\n") == 1


@each("value", ["data = 'no JSON'", "data = 7", "data = x'ff'", "recorded_at = 'yesterday'"])
def test_the_log_of_a_damaged_session_shows_what_is_there(house: Project, value: str) -> None:
    change = f"UPDATE events SET {value} WHERE version = 4"
    session_id = broken(house, lambda log, _: log.execute(change))
    done = house.call("log", session_id)
    assert done.code == 4
    assert "The decision was recorded" in done.out
    (line,) = [line for line in done.out.splitlines() if re.search("answer(s were given|ed)", line)]
    assert line.endswith(" (damaged).") == value.startswith("data"), line
    assert done.err.count("\n") == 1
    assert f"session {session_id}, event 4: " in done.err


# 3. Decisions --------------------------------------------------------------------------------


def test_damage_is_shown_and_not_obeyed_and_a_note_hides_no_decision(house: Project) -> None:
    note = house.call("note", "Call the dentist", "--json").json["session_id"]
    tampered(house, note, tampering.flipped)
    assert house.call("decisions").err == ""
    change = "UPDATE events SET type = 'x\x1b[31m\u202e' WHERE version = 4"
    broken(house, lambda log, _: log.execute(change))
    for form in ((), ("--json",)):
        assert house.call("audit", "trail", *form).is_safe(), form


def test_of_many_damaged_sessions_a_handful_is_named_and_the_rest_counted(house: Project) -> None:
    for number in range(7):
        broken(house, intention=f"Add login number {number}")
    warned = house.call("decisions").err.splitlines()
    assert [line.endswith("is damaged: what it decided is not told") for line in warned] == [
        *[True] * 5,
        False,
    ]
    assert warned[-1] == (
        "warning: and 2 sessions more: `preflights sessions --status damaged` lists them all"
    )


def test_a_session_that_was_mended_is_said_to_wait_for_a_rebuild(house: Project) -> None:
    session_id = house.decided()["session_id"]
    change = "UPDATE events SET data = replace(data, '{}', '{}') WHERE version = 2"
    tampered(house, session_id, lambda log, _: log.execute(change.format("oauth", "login")))
    assert house.call("decisions").err.endswith("is damaged: what it decided is not told\n")
    tampered(house, session_id, lambda log, _: log.execute(change.format("login", "oauth")))
    assert house.call("decisions").err == (
        f"warning: session {session_id[-8:]} was damaged when it was folded, what it decided is "
        "not told: `preflights admin projections rebuild` folds it again\n"
    )
    assert house.call("admin", "projections", "rebuild").err == ""
    done = house.call("decisions")
    assert ("ADR-0001" in done.out, done.err) == (True, "")


def test_decisions_are_listed_though_the_rows_of_sessions_cannot_be_read(house: Project) -> None:
    house.decided()
    house.call("decisions")
    change = "UPDATE projected_sessions SET status = 'faulted', progress = 'much'"
    tampered(house, "", lambda log, _: log.execute(change))
    done = house.call("decisions")
    assert (done.code, "ADR-0001" in done.out) == (0, True)
    assert "`preflights admin projections rebuild sessions` rebuilds it" in done.err


def test_a_rebuild_ends_with_how_many_sessions_could_not_be_folded(house: Project) -> None:
    house.decided("Add SSO")
    assert house.call("admin", "projections", "rebuild").err == ""
    for number in range(2):
        broken(house, intention=f"Add login number {number}")
    lists = ("sessions", "--status", "damaged", "--any-project")
    for words in (("usage",), (), ("sessions",), ("--json",)):
        done = house.call("admin", "projections", "rebuild", *words)
        assert done.code == 0
        assert done.err == (
            f"warning: 2 sessions could not be folded: `preflights {' '.join(lists)}` lists them\n"
        )
    assert len(house.call(*lists, "--json").json["sessions"]) == 2


# 4. Erased sessions --------------------------------------------------------------------------


def test_the_architecture_of_an_earlier_day_says_how_many_sessions_were_erased(
    house: Project,
) -> None:
    first, second = (house.decided(text)["session_id"] for text in ("Add login", "Add SSO"))
    note = house.call("note", "Call the dentist", "--json").json["session_id"]
    kept = house.decided("Keep orders in a database", key="db_type=PostgreSQL")
    assert house.call("decisions", "--all").err == ""
    said = "of this project {}: what may have been decided there is not told.\n"
    for gone, count in (
        (note, ""),
        (first, "1 session " + said.format("was erased")),
        (second, "2 sessions " + said.format("were erased")),
    ):
        assert house.call("admin", "erase", gone, "--yes").code == 0
        for words in (("--all",), ("--at", "9999-12-31"), ("--all", "--json")):
            done = house.call("decisions", *words)
            assert (done.code, done.err) == (0, count), words
            assert kept["uid"][-8:] in done.out
    for others in ([], ["--at", "2020-01-01"], ["--all", "-q"]):
        assert house.call("decisions", *others).err == "", others
