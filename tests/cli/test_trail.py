"""`audit trail`: whose each step is, who is asked for, and what other programs are given."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import msgspec
import pytest

from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import IMPORTS
from preflights_es.store.sql import SqlStore
from tests.cli import tampering
from tests.cli.program import RAW, Project
from tests.cli.tampering import tampered
from tests.fixed import Clock, salt
from tests.projections.given import recorded
from tests.projections.recording import golden, goldens

MODEL = {"kind": "model", "name": "simllm/1"}


def trail(house: Project, *words: str) -> list[dict[str, Any]]:
    """The steps, as JSON."""
    done = house.call("audit", "trail", "--json", *words)
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


def inputs(house: Project, *words: str) -> list[str]:
    """Tags of the Inputs."""
    return [step["type"] for step in trail(house, *words) if step["role"] == "input"]


def kept(house: Project, *sessions: Sequence[Stored]) -> None:
    """Sessions, as an import would bring them."""
    with closing(SqlStore(str(house.log), Clock(), salt)) as store:
        recorded(store, sessions)


def named(events: Sequence[Stored], name: str) -> tuple[Stored, ...]:
    """The same session, by a person of that name."""

    def of_them(data: bytes | None) -> bytes:
        assert data is not None, "no golden session was erased"
        payload = decode_plain_json(data)
        if "actor" in payload:
            payload["actor"]["name"] = name
        return canonical_json(payload)

    return tuple(msgspec.structs.replace(one, data=of_them(one.data)) for one in events)


def newest(house: Project) -> str:
    """The id of the newest session."""
    return str(house.call("sessions", "--json").json["sessions"][0]["session_id"])


# 1. What a model said ------------------------------------------------------------------------


def test_what_a_model_said_is_the_models_in_every_form_also_erased(house: Project) -> None:
    house.call("note", "Call the dentist", "--provider", "sim", "--seed", "3")
    (step,) = [s for s in trail(house) if s["type"].startswith("completion.received.")]
    assert (step["actor"], step["model"]) == (MODEL, {"provider": "sim", "model": "simllm/1"})
    lines = house.call("audit", "trail").out.splitlines()
    (line,) = [line for line in lines if "model answered" in line]
    assert re.search("model answered +model sim simllm/1", line)
    assert "The model answered" in house.call("log", house.newest()).out
    (stored,) = [e for e in house.events() if e["type"] == step["type"]]
    assert stored["actor_kind"] == "script", "what the log says of it stays as it is"
    assert house.call("admin", "erase", house.newest(), "--yes").code == 0
    assert inputs(house, "--actor", "model") == ["completion.received.v1"]
    (step,) = [s for s in trail(house) if s["type"].startswith("completion.received.")]
    assert (step["actor"], step["erased"]) == ({"kind": "model", "name": ""}, True)


def test_what_a_model_said_is_found_and_listed_as_the_models(house: Project) -> None:
    env = {"PREFLIGHTS_ACTOR": "agent:claude"}
    house.call("note", "Call the dentist", "--provider", "sim", "--seed", "3", env=env)
    response = ["completion.received.v1"]
    for who in ("model", "model:simllm/1", "simllm/1", "model:sim", "sim"):
        assert inputs(house, "--actor", who) == response, who
    assert inputs(house, "--actor", "agent") == ["extraction.note_taken.v1"]
    for who in ("user", "agent", "script", "claude", "agent:simllm/1"):
        assert response[0] not in inputs(house, "--actor", who), who
    edits = golden("a_model_says_why_and_a_person_edits_it")
    kept(house, *golden("somebody_else_takes_over"), *edits)
    lines = house.call("decisions", "--all").out.splitlines()
    at = lines[0].index("category"), lines[0].index("decided")  # titles stand below, from the left
    category = " ".join(" ".join(line[at[0] : at[1]] for line in lines).split())
    decided = " ".join(" ".join(line[at[1] :] for line in lines).split())
    assert "Framework: Svelte Strategy: OAuth" in decided
    assert "Hosting: Kubernetes, CI_CD: orders (model)" in decided
    assert "Frontend Authentication Database (model) Infra (model)" in category
    assert f"{category} {decided}".count("(model)") == 3


def test_a_value_that_a_model_read_is_the_models_wherever_it_is_shown(house: Project) -> None:
    kept(house, *golden("a_model_leads"))
    shown = house.show(newest(house))
    listed = house.call("decisions", "--all", "--json").json["decisions"][-1]["provenance"]
    values = house.call("why", shown["session_id"], "--json").json["values"]
    for one in (*listed, *values):
        assert (one["source"] == "suggested") == (one["by"]["kind"] == "model")
    for one in shown["provenance"]:
        assert (one["source"] == "suggested") == (one["by"] == "model")
    assert "suggested" in {one["source"] for one in listed}
    text = house.call("show", shown["session_id"]).out
    assert "(read by the model)" in text
    assert "by an agent" not in text


# 2. Who is asked for -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["agent", "script"])
def test_a_machine_that_is_called_user_is_no_user(house: Project, kind: str) -> None:
    house.call("start", "Add login", env={"PREFLIGHTS_ACTOR": f"{kind}:user"})
    assert trail(house, "--actor", "user") == []
    assert trail(house, "--actor", kind) == trail(house, "--actor", f"{kind}:user") == trail(house)


def test_every_step_says_who_when_and_what_it_follows_from(house: Project) -> None:
    house.decided()
    done = house.call("audit", "trail", "--actor", "Ada", "--until", "2020-01-01")
    assert (done.code, done.out, done.err) == (0, "No step fits the filter.\n", "")
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
    assert trail(house, "--since", "9999-01-01") == []
    assert trail(house, "--until", "2020-01-01") == []
    assert trail(house, "--since", "2020-01-01", "--until", "9999-12-31") == trail(house)
    none = "No step fits the filter.\n"
    assert house.call("audit", "trail", "--since", "9999-01-01").out == none
    assert house.call("audit", "trail", "--session", "last", "--actor", "agent").out == none


def test_a_category_that_no_decision_has_is_said(house: Project) -> None:
    assert house.call("decisions", "--category", "Database").err == ""
    former = house.decided()
    house.decided("Add SSO", "--supersedes", former["uid"])
    done = house.call("decisions", "--category", "Databse", "--json")
    assert (done.code, done.json["decisions"]) == (0, [])
    assert done.err == (
        "warning: no decision here is of the category 'Databse': there are Authentication\n"
    )
    then = ("--at", "2020-01-01")
    assert house.call("decisions", "--category", "authentication", *then).err == ""


# 3. What other programs are given ------------------------------------------------------------


def test_json_holds_nothing_that_a_terminal_would_obey(house: Project) -> None:
    name = "Ada \u202eecalevoL\u202c \x9b31m \u2028 \x7f \U000e0041"
    kept(house, named(golden("keyword_skips_the_generic_question")[0], name))
    done = house.run("audit", "trail", "--json")
    assert not RAW & set(done.out)
    assert "\\u202e" in done.out
    assert "\\udb40\\udc41" in done.out
    data = [json.loads(line)["data"] for line in done.out.splitlines()]
    stored = house.call("log", newest(house), "--json").out.rstrip("\n").split("\n")
    assert data == [json.loads(line)["data"] for line in stored]
    assert data[0]["actor"]["name"] == name


# 4. The steps --------------------------------------------------------------------------------


SIM = ("--provider", "sim", "--seed", "3")


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
