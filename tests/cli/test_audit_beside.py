"""`audit verify`: what lies beside the chains is held against the log, and named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any, Final

import pytest

from preflights_es.store import audit_evidence
from tests.cli.program import Project
from tests.cli.tampering import changed, noted
from tests.cli.test_lost_claims import GOLDEN, owing, waiting
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)


def asked(house: Project, query: str) -> Any:
    with closing(sqlite3.connect(house.log)) as log:
        return log.execute(query).fetchone()[0]


def named(house: Project, *words: str, env: dict[str, str] | None = None) -> str:
    """What `audit verify` names, with exit code 4."""
    done = house.call("audit", "verify", *words, env=env)
    assert done.code == 4, done
    assert done.is_safe()
    return done.out


DAMAGE: Final = tuple(FILED["DAMAGE"])


@pytest.mark.parametrize(("statement", "found"), DAMAGE)
def test_damage_beside_the_chains_is_named_with_what_to_do(
    house: Project, statement: str, found: str
) -> None:
    house.decided()
    if "projections" in statement:
        assert house.call("decisions").code == 0
    assert house.call("audit", "verify").code == 0
    changed(house, statement.replace("GONE", "00000001-0000-7000-8000-000000000001"))
    for scope in ((), ("--all",)):
        out = named(house, *scope)
        assert found in out
        assert "1 broken." in out


def test_a_payload_of_another_kind_is_named_though_its_bytes_are_the_same(house: Project) -> None:
    house.decided()
    name = "events_are_immutable"
    made = str(asked(house, f"SELECT sql FROM sqlite_master WHERE name = '{name}'"))
    to_bytes = "UPDATE events SET data = CAST(data AS BLOB) WHERE version = 3"
    changed(house, f"DROP TRIGGER {name}", to_bytes, made)
    assert ", event 3: its payload is stored as another kind than text" in named(house)


def test_a_call_that_no_row_knows_is_named_with_the_command_that_puts_it_back(
    house: Project,
) -> None:
    waiting(house)
    assert house.call("audit", "verify", env=GOLDEN).code == 0
    changed(house, "DELETE FROM claims")
    assert "`preflights admin projections rebuild` puts it back" in named(house, env=GOLDEN)
    assert house.call("admin", "projections", "rebuild").code == 0
    assert house.call("audit", "verify", env=GOLDEN).code == 0


def test_numbers_that_were_deleted_are_named(house: Project) -> None:
    house.decided()
    house.decided("Add SSO")
    changed(house, "DELETE FROM numbers")
    said = "which the log does not know as given: put its row of 'numbers' back from a copy"
    assert named(house).count(said) == 2
    assert house.call("admin", "projections", "rebuild").code == 0
    assert named(house).count(said) == 2


def test_what_is_not_looked_at_is_said_and_a_number_once_borne_stays_given(house: Project) -> None:
    house.decided()
    elsewhere = {"PREFLIGHTS_PROJECT": "elsewhere"}
    assert house.call("start", "Not of here", env=elsewhere).code in (0, 3)
    done = house.call("audit", "verify")
    assert done.out.splitlines()[1:] == ["Not looked at: 1 session of other projects (--all)."]
    assert house.call("audit", "verify", "--all", "--json").json["skipped"] == []
    one = house.call("audit", "verify", "last", "--json").json
    assert one["skipped"] == ["all other sessions"]
    house.decided("Add SSO")
    assert house.call("admin", "erase", "last", "--yes").code == 0
    assert house.call("audit", "verify", "--all").code == 0


def moved(house: Project) -> None:
    """The session's head names another project from then on."""
    changed(house, "UPDATE heads SET project = 'other'")


@pytest.mark.parametrize("kept", ["numbers", "projections", "claims"])
def test_a_session_that_was_moved_to_another_project_is_named(house: Project, kept: str) -> None:
    if kept == "claims":
        owing(house)
        changed(house, "DELETE FROM numbers")
    else:
        house.decided()
    if kept == "projections":
        assert house.call("decisions").code == 0
        changed(house, "DELETE FROM numbers")
    moved(house)
    out = named(house)
    found = ", event 1: its events are of the project 'house', and its head says 'other': set "
    assert found in out
    assert "1 broken." in out
    assert not [words for words in ("Not looked at", "no such session", "rebuild") if words in out]
    assert found in named(house, "--all")


def test_the_guards_are_those_of_the_migrations_and_a_changed_one_is_named(house: Project) -> None:
    with closing(sqlite3.connect(house.log)) as log:
        found = audit_evidence.trigger_trouble("sqlite", lambda look: look(log.cursor()))
        assert list(found) == []
        names = log.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    assert {name for (name,) in names} == set(audit_evidence.ON_SQLITE)
    name = "events_are_immutable"
    made = str(asked(house, f"SELECT sql FROM sqlite_master WHERE name = '{name}'"))
    weakened = made.replace("NEW.type IS OLD.type", "1")
    assert weakened != made
    changed(house, f"DROP TRIGGER {name}", weakened)
    assert f"the trigger '{name}', which guards events, was changed" in named(house)
    changed(house, f"DROP TRIGGER {name}", made)
    assert house.call("audit", "verify").code == 0


# Checkpoints ---------------------------------------------------------------------------------


def test_a_log_that_calls_itself_otherwise_is_found_against_a_checkpoint(house: Project) -> None:
    house.decided()
    noted(house)
    changed(house, "UPDATE log SET id = '0123456789abcdef0123456789abcdef'")
    assert house.call("audit", "verify").code == 0, "nothing else tells"
    assert "and the checkpoint was made of" in named(house, "--against", "checkpoint.jsonl")
