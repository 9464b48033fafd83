"""`audit trail`: its steps, and lists of many sessions."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest

from preflights_es.runtime.features import IMPORTS
from preflights_es.store.sql import SqlStore
from tests.cli import tampering
from tests.cli.program import Project
from tests.cli.tampering import tampered
from tests.fixed import Clock, salt
from tests.projections.given import recorded
from tests.projections.recording import goldens

SIM = ("--provider", "sim", "--seed", "3")


def trail(house: Project, *words: str) -> list[dict[str, Any]]:
    """The steps, as JSON."""
    done = house.call("audit", "trail", "--json", *words)
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


def test_the_trail_of_a_decision_ends_where_it_counts(house: Project) -> None:
    one = house.decided()
    house.decided("Add SSO")
    steps = trail(house, "--decision", one["uid"])
    assert {step["session_id"] for step in steps} == {one["session_id"]}
    assert steps[-1]["type"] == "clarification.decision_recorded.v1"
    whole = trail(house, "--session", one["session_id"])
    assert len(whole) == len(house.events(one["session_id"])) > len(steps)
    assert [step["data"] for step in whole] == [
        event["data"] for event in house.events(one["session_id"])
    ]
    assert [step["hash"] for step in whole] == [
        event["hash"] for event in house.events(one["session_id"])
    ]


def test_every_step_says_who_and_what_it_follows_from(house: Project) -> None:
    house.decided()
    for step in trail(house):
        if step["role"] == "input":
            assert step["actor"]["kind"] in ("user", "script")
            assert step["follows"] is None
            assert step["at"].endswith("Z")
        else:
            assert step["actor"] is None
            assert step["follows"] < step["version"]
    assert {s["type"] for s in trail(house, "--actor", "user") if s["role"] == "input"} == {
        "clarification.decision_acknowledged.v1"
    }
    assert trail(house, "--actor", "ada lovelace") == trail(house, "--actor", "user:Ada Lovelace")
    assert trail(house, "--actor", "agent") == []


def test_the_trail_of_a_time_has_its_steps(house: Project) -> None:
    house.decided()
    assert trail(house, "--since", "9999-01-01") == []
    assert trail(house, "--until", "2020-01-01") == []
    assert trail(house, "--since", "2020-01-01", "--until", "9999-12-31") == trail(house)
    none = "No step fits the filter.\n"
    assert house.call("audit", "trail", "--since", "9999-01-01").out == none
    assert house.call("audit", "trail", "--session", "last", "--actor", "agent").out == none


@pytest.mark.slow("sizes")
def test_many_sessions_are_listed_as_each_says_of_itself(house: Project) -> None:
    with closing(SqlStore(str(house.log), Clock(), salt)) as store:
        ids = recorded(store, [one for one in goldens() if one[0].workflow != IMPORTS])
    erase = ("admin", "erase", ids[3], "--yes")
    assert house.call(*erase).code == 0
    tampered(house, ids[5], tampering.flipped)
    listing = ("sessions", "--all-workflows", "--json")
    every = house.call(*listing, "--all").json["sessions"]
    assert [row["session_id"] for row in every] == ids[::-1]
    newest = house.call(*listing).json["sessions"]
    assert [_ageless(row) for row in every[: len(newest)]] == [_ageless(row) for row in newest]
    for row in every:
        shown = house.call("show", row["session_id"], "--json")
        if row["status"] == "damaged":
            assert (row["session_id"], shown.code) == (ids[5], 4)
        else:
            assert row["status"] == shown.json["status"]
    for status in {row["status"] for row in every}:
        found = house.call(*listing, "--status", status).json["sessions"]
        assert [_ageless(row) for row in found] == [
            _ageless(row) for row in every if row["status"] == status
        ]


def _ageless(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "age_seconds"}
