"""`audit checkpoint`, and `audit verify --against`: what no chain shows is found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli import tampering
from tests.cli.program import Project
from tests.cli.tampering import Tampering, noted, tampered
from tests.cli.test_audit import FOUND
from tests.each import each


def against(house: Project, *args: str) -> Any:
    return house.call("audit", "verify", "--against", "checkpoint.jsonl", "--json", *args).json[
        "against"
    ]


def test_a_checkpoint_names_every_session_with_its_version_and_hash(house: Project) -> None:
    ids = sorted((house.decided()["session_id"], house.started_session()))
    said = noted(house)
    scope, *tips, root = map(
        json.loads, (house.folder / "checkpoint.jsonl").read_text().splitlines()
    )
    log_id = scope.pop("log")
    assert len(log_id) == 32
    assert scope == {"checkpoint": 1, "project": "house"}
    assert tips == [
        {"session_id": id_, "version": last["version"], "hash": last["hash"]}
        for id_ in ids
        for last in house.events(id_)[-1:]
    ]
    assert root["sessions"] == 2
    assert said == f"Wrote 2 sessions to checkpoint.jsonl, root {root['root']}.\n"
    assert house.call("audit", "checkpoint").out == (house.folder / "checkpoint.jsonl").read_text()
    again = house.call("audit", "checkpoint", "-o", "checkpoint.jsonl")
    assert (again.code, again.err) == (1, "preflights: checkpoint.jsonl exists: name a new file\n")
    assert house.call("audit", "checkpoint", "-o", "no/such/folder.jsonl").code == 5


def test_its_root_can_be_made_again_and_git_changes_no_damage(house: Project) -> None:
    house.decided()
    noted(house)
    done = house.run(program=("sh", "-c", "head -n -1 checkpoint.jsonl | sha256sum"))
    assert done.out.split()[0] in house.call("audit", "checkpoint").out.splitlines()[-1]
    file = house.folder / "checkpoint.jsonl"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert against(house)["same"] == 1


def test_a_log_that_only_grew_fits_its_checkpoint(house: Project) -> None:
    house.decided()
    house.started_session()
    noted(house)
    house.call("answer", "last", "OAuth")
    grown = house.events()[3:]
    house.started_session("Something new")
    assert against(house) == {
        "sessions": 2,
        "same": 1,
        "grown": 1,
        "new": 1,
        "erased": [],
        "differences": [],
        "grew": [
            {
                "session_id": grown[0]["session_id"],
                "remembered": 3,
                "events": [
                    {
                        "version": one["version"],
                        "type": one["type"],
                        "recorded_at": one["recorded_at"],
                        "actor_kind": one["actor_kind"],
                        "actor_name": "Ada" if one["actor_kind"] else None,
                    }
                    for one in grown
                ],
            }
        ],
    }
    done = house.call("audit", "verify", "--against", "checkpoint.jsonl")
    assert done.code == 0
    id_ = grown[0]["session_id"][-8:]
    assert f"\n{id_} grew by 3 events since version 3:\n  event 4, 20" in done.out
    assert " UTC: answers given by script Ada\n" in done.out
    assert done.out.splitlines()[-1] == (
        "Against checkpoint.jsonl (2 sessions): 1 as they were, 1 grown, 1 new."
    )


AGAINST: dict[Tampering, tuple[str, int, str]] = {
    tampering.cut_with_its_head: (
        "cut",
        10,
        "was cut: the checkpoint has it at version 11, 10 are left",
    ),
    tampering.removed: ("missing", 0, "is missing: the checkpoint has it at version 11"),
    tampering.recomputed: (
        "recomputed",
        11,
        "was recomputed: event 11 has another hash than it had",
    ),
}


@pytest.mark.parametrize("tampering", AGAINST, ids=lambda t: t.__name__)
def test_what_no_chain_shows_is_found_against_a_checkpoint(
    house: Project, tampering: Tampering
) -> None:
    session_id = house.decided()["session_id"]
    house.started_session()
    noted(house)
    tampered(house, session_id, tampering)
    house.call("admin", "projections", "rebuild")  # what was folded before would say more
    kind, version, words = AGAINST[tampering]
    alone = house.call("audit", "verify", "--all")
    if "cut" in words:  # the event that is gone said that the document was written
        assert (alone.code, alone.out.count("\n")) == (4, 2)
        assert "it owes the document 'docs/decisions/0001-" in alone.out
    else:
        assert alone.code == 0, "its own chain holds, if there is one"
    done = house.call("audit", "verify", "--against", "checkpoint.jsonl")
    assert done.code == 4
    assert f"{session_id[-8:]} {words}\n" in done.out
    found = against(house)
    assert (found["same"], found["new"]) == (1, 0)
    assert found["differences"] == [
        {"session_id": session_id, "kind": kind, "remembered": 11, "version": version}
    ]


@pytest.mark.parametrize("tampering", FOUND, ids=lambda t: t.__name__)
def test_what_a_chain_shows_is_said_beside_the_checkpoint(
    house: Project, tampering: Tampering
) -> None:
    session_id = house.decided()["session_id"]
    noted(house)
    tampered(house, session_id, tampering)
    done = house.call("audit", "verify", "--against", "checkpoint.jsonl", "--json")
    assert done.code == 4
    assert [broken["session_id"] for broken in done.json["broken"]] == [session_id]


def test_no_checkpoint_is_made_of_a_log_that_does_not_verify(house: Project) -> None:
    tampered(house, house.decided()["session_id"], tampering.flipped)
    done = house.call("audit", "checkpoint", "-o", "checkpoint.jsonl")
    assert (done.code, done.out) == (4, "")
    assert "event 2: its payload was changed" in done.err
    assert not (house.folder / "checkpoint.jsonl").exists()


def test_a_checkpoint_of_one_project_is_held_against_that_project(house: Project) -> None:
    house.decided()
    noted(house)
    elsewhere = {"PREFLIGHTS_PROJECT": "elsewhere"}
    house.call("start", "Not of here", env=elsewhere)
    done = house.call(
        "audit", "verify", "--against", "checkpoint.jsonl", "--all", "--json", env=elsewhere
    )
    assert (done.code, done.json["sessions"]) == (0, 2)
    assert (done.json["against"]["same"], done.json["against"]["new"]) == (1, 0)


def test_that_a_checkpoint_is_of_another_project_is_said(house: Project) -> None:
    house.decided()
    noted(house)
    words = ("audit", "verify", "--against", "checkpoint.jsonl")
    assert house.call(*words).err == ""
    elsewhere = house.call(*words, env={"PREFLIGHTS_PROJECT": "else\u202ewhere"})
    assert (elsewhere.code, elsewhere.is_safe()) == (0, True)
    assert elsewhere.err == (
        "warning: checkpoint.jsonl is a checkpoint of the project 'house', and this folder belongs"
        " to 'else\\u202ewhere': it is compared with that project\n"
    )
    noted(house, "--all", "-o", "all.jsonl")
    words = ("audit", "verify", "--against", "all.jsonl")
    assert house.call(*words, env={"PREFLIGHTS_PROJECT": "elsewhere"}).err == ""


@each("name", ["nosuch.jsonl", ".", "a\0b"])
def test_a_checkpoint_that_cannot_be_read_is_refused(house: Project, name: str) -> None:
    done = house.call("audit", "verify", "--against", name)
    assert (done.code, done.out) == (1, "")
    assert "cannot be read" in done.err


def damaged(lines: list[bytes]) -> list[list[bytes]]:
    """The lines of a checkpoint with two sessions, each time otherwise wrong."""
    scope, first, second, root = lines
    return [
        [scope, second, root],
        [scope, second, first, root],
        [scope, first, first, root],
        [scope, first, second],
        [scope],
        [first, second, root],
        [scope, first, second, root, root],
        [scope.replace(b"house", b"horse"), first, second, root],
        [scope, first.replace(b'"version":11', b'"version":9'), second, root],
        [scope, first, second, root.replace(b'"sessions":2', b'"sessions":3')],
        [scope, first.replace(b'"hash":"', b'"hash":"zz'), second, root],
        [scope, first.replace(b'"session_id":"0', b'"session_id":"\\u001b'), second, root],
        [scope, b"[" * 100_000, second, root],
        [],
    ]


@pytest.mark.parametrize("case", range(14))
def test_damage_to_the_checkpoint_itself_is_found(house: Project, case: int) -> None:
    house.decided()
    house.started_session()
    noted(house)
    file = house.folder / "checkpoint.jsonl"
    cases = damaged(file.read_bytes().splitlines())
    assert len(cases) == 14
    file.write_bytes(b"\n".join(cases[case]) + b"\n")
    done = house.call("audit", "verify", "--against", "checkpoint.jsonl")
    assert (done.code, done.out) == (4, ""), done
    assert done.err.startswith("preflights: damaged log: checkpoint.jsonl")
    assert done.is_safe()


def test_a_checkpoint_of_a_newer_version_or_of_a_session_is_refused(house: Project) -> None:
    (house.folder / "checkpoint.jsonl").write_text('{"checkpoint":2,"tree":"merkle"}\n')
    done = house.call("audit", "verify", "--against", "checkpoint.jsonl")
    assert done.code == 4
    assert "checkpoint version 2, this version knows 1: upgrade preflights" in done.err
    assert house.call("audit", "verify", "last", "--against", "x").code == 2


NUMBERS = {
    "DELETE FROM numbers": "{}: its record bears the number 1, which the log does not know as",
    "UPDATE numbers SET number = 77": "{}: its record bears the number 1, which the log does not",
    "INSERT INTO numbers VALUES ('house', '', 9, '01a0-absent')": "1a0-absent"[-8:]
    + ": it was given the number 9 of house, and is gone: it was removed",
    "INSERT INTO numbers VALUES ('house', '', 9, 'e' || char(27) || '[2J')": (
        "e\\x1b[2J: it was given"
    ),
    "DELETE FROM log": "the log: it does not say its id",
    "INSERT INTO log VALUES ('another')": "the log: it says 2 ids, expected one",
}


@pytest.mark.parametrize("statement", NUMBERS)
def test_what_nothing_else_could_make_again_is_held_against_the_sessions(
    house: Project, statement: str
) -> None:
    session_id = house.decided()["session_id"]
    tampered(house, session_id, lambda log, _: log.execute(statement))
    for words in ((), ("--all",)):
        done = house.call("audit", "verify", *words)
        assert done.code == 4, done
        assert done.out.startswith(NUMBERS[statement].format(session_id[-8:])), done
        assert done.is_safe()
