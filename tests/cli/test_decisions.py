"""`decisions` and `why`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from preflights_es.runtime.finder import RECENT
from tests.cli import tampering
from tests.cli.program import Project, Result
from tests.cli.tampering import tampered
from tests.cli.test_long_lists import multiplied
from tests.cli.test_model_output import said
from tests.cli.test_trail import SIM, trail
from tests.each import each
from tests.providers.server import FakeAPI
from tests.scripted import asks


def listed(house: Project, *words: str) -> list[dict[str, Any]]:
    """The decisions, as JSON."""
    found: list[dict[str, Any]] = house.call("decisions", "--json", *words).json["decisions"]
    return found


def led(house: Project, api: FakeAPI, *words: str) -> Result:
    """A command of a session whose model is the server's."""
    env = {
        "PREFLIGHTS_OPENAI_API_KEY": "sk-not-a-real-key",
        "PREFLIGHTS_BASE_URL": api.openai,
        "PREFLIGHTS_PROVIDER": "openai",
    }
    return house.call(*words, env=env)


# 1. Decisions --------------------------------------------------------------------------------


def test_a_decision_is_in_force_from_its_acceptance_until_it_is_superseded(house: Project) -> None:
    assert house.call("decisions").out == "Nothing is in force here.\n"
    former = house.decided()
    (one,) = listed(house)
    assert (one["uid"], one["standing"], one["number"]) == (former["uid"], "accepted", 1)
    assert one["acknowledged_by"] == {"kind": "user", "name": "Ada Lovelace"}
    assert one["fields"] == [["Strategy", "OAuth"]]
    assert one["artifact"] == "docs/decisions/0001-use-oauth-for-authentication.md"
    later = house.decided("Add SSO", "--supersedes", former["uid"])
    (now,) = listed(house)
    assert now["uid"] == later["uid"]
    assert now["supersedes"]["uid"] == former["uid"]
    (then,) = listed(house, "--at", one["accepted_at"])
    assert (then["uid"], then["standing"], then["superseded_by"]) == (
        *(former["uid"], "accepted"),
        None,
    )
    assert listed(house, "--at", "2020-01-01") == []
    assert [d["uid"] for d in listed(house, "--at", "9999-12-31")] == [later["uid"]]
    both = {d["uid"]: d["standing"] for d in listed(house, "--all")}
    assert both == {former["uid"]: "superseded", later["uid"]: "accepted"}


def test_a_list_is_of_a_day_a_time_a_project_or_a_category(house: Project) -> None:
    house.decided()
    (one,) = listed(house)
    day = one["accepted_at"][:10]
    assert len(listed(house, "--at", day)) == 1
    assert listed(house, "--at", f"{day}T00:00:00+14:00") == []
    shape = house.call("decisions", "--at", day, "--json").json
    assert shape["at"] == f"{day}T23:59:59.999999Z"
    env = {"PREFLIGHTS_PROJECT": "elsewhere"}
    assert house.call("decisions", "--json", env=env).json["decisions"] == []
    assert house.call("audit", "trail", env=env).out == "Nothing was recorded.\n"
    assert house.call("audit", "trail", "--any-project", "--json", env=env).out
    house.decided("Keep orders in a database", key="db_type=PostgreSQL")
    assert [one["category"] for one in listed(house, "--category", "DATABASE")] == ["Database"]
    assert listed(house, "--category", "Weather") == []


def test_a_proposal_is_no_decision_and_has_no_why(house: Project) -> None:
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth", "--accept", "--again")
    assert listed(house) == []
    (proposed,) = listed(house, "--all")
    assert proposed["standing"] == "proposed"
    assert proposed["accepted_at"] is None
    assert proposed["acknowledged_by"]["kind"] == "script"
    assert "(Ada)" in house.call("decisions", "--all").out  # behind "a script"
    house.call("accept", "--again", "last", "--by", "Ada")
    assert [one["acknowledged_by"]["name"] for one in listed(house)] == ["Ada"]
    undecided = house.started_session()
    assert "has no decision" in house.call("why", undecided).err
    assert "name it by --session" in house.call("audit", "trail", "--decision", undecided).err
    house.call("note", "Call the dentist", *SIM)
    told = house.call("why", "last", "--json").json["values"]
    assert {one["session_id"] for one in told} == {proposed["session_id"]}
    assert house.call("audit", "trail", "--decision", "last").code == 0


# 2. Why --------------------------------------------------------------------------------------


def test_why_names_the_answer_the_question_the_intention_and_the_person(house: Project) -> None:
    one = house.decided()
    category, strategy = house.call("why", one["uid"], "--json").json["values"]
    assert (category["keyword"], category["answer"], category["question"]) == ("oauth", None, None)
    assert strategy["question"]["text"] == "Which authentication approach?"
    assert strategy["answer"]["values"] == ["OAuth"]
    assert strategy["answer"]["by"]["kind"] == "script"
    assert strategy["intention"]["text"] == "Add OAuth login"
    assert strategy["acknowledged"]["by"] == {"kind": "user", "name": "Ada Lovelace"}
    events = house.events(one["session_id"])
    assert events[strategy["question"]["version"] - 1]["type"].endswith("question_asked.v1")
    assert events[strategy["answer"]["version"] - 1]["type"].endswith("answers_given.v1")
    text = house.call("why", one["uid"]).out
    assert 'answer     "OAuth", chosen, by a script (Ada)' in text
    assert text.count("accepted   by Ada Lovelace") == 1, "once for both values"


@pytest.mark.parametrize(
    "what", ["Strategy", "strategy", "Authentication.Strategy", "auth_strategy", "oauth", "saml"]
)
def test_a_field_is_found_among_the_decisions_in_force(house: Project, what: str) -> None:
    former = house.decided()
    later = house.decided("Add SSO", "--supersedes", former["uid"], "--alternative", "SAML: slow")
    (value,) = house.call("why", what, "--json").json["values"]
    assert value["uid"] == later["uid"]


def test_last_is_the_newest_that_decided_behind_many_that_did_not(house: Project) -> None:
    decided = house.decided()
    for _ in range(RECENT + 1):
        house.call("note", "Call Bob", "--quiet")
    value, *_ = house.call("why", "last", "--json").json["values"]
    assert value["session_id"] == decided["session_id"]


def test_a_field_that_several_decisions_have_is_told_of_each_the_newest_first(
    house: Project,
) -> None:
    uids = [house.decided(text)["uid"] for text in ("Add login", "Add SSO")]
    values = house.call("why", "Strategy", "--json").json["values"]
    assert [value["uid"] for value in values] == uids[::-1]


def test_a_damaged_decision_hides_no_other_and_a_machines_answer_is_no_persons(
    house: Project,
) -> None:
    env = {"PREFLIGHTS_ACTOR": "agent:claude"}
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--again")
    house.call("start", "Add login", *words, env=env)
    done = house.call("why", "last", "Strategy", env=env)
    assert "by an agent (claude)" in done.out
    assert "proposed   by an agent (claude)" in done.out
    assert "accepted   by" not in done.out
    assert "a person" not in done.out
    broken, whole = (house.decided(text) for text in ("Add login", "Add SSO"))
    assert len(listed(house)) == 2
    tampered(house, broken["session_id"], tampering.flipped)
    done = house.call("why", "Strategy", "--json")
    assert [value["uid"] for value in done.json["values"]] == [whole["uid"]]
    assert f"warning: damaged log: session {broken['session_id']}" in done.err


def test_what_a_model_read_is_the_models(house: Project, api: FakeAPI) -> None:
    patch = {
        "category": "Database",
        "fields": [{"name": "Type", "value": "PostgreSQL"}, {"name": "ORM", "value": "SQLAlchemy"}],
    }
    question = asks("Database", "Which?", "MySQL", "SQLite")
    api.script(*said(question, patch))
    led(house, api, "start", "A database for SQLAlchemy", "--no-input")
    assert led(house, api, "answer", "last", "PostgreSQL").code == 3
    values = {v["field"]: v for v in house.call("why", "last", "--json").json["values"]}
    orm, kind = values["ORM"], values["Type"]
    assert (orm["source"], orm["by"], orm["answer"]) == (
        *("suggested", {"kind": "model", "name": ""}),
        None,
    )
    assert json.loads(orm["response"]["text"]) == patch
    assert orm["response"]["provider"] == "openai"
    assert kind["by"]["kind"] == "script"
    assert json.loads(kind["response"]["text"]) == question
    text = house.call("why", "last").out
    assert "read the value" in text
    assert "worded the question" in text
    by = {step["version"]: step for step in trail(house, "--session", "last")}
    assert by[orm["response"]["version"]]["model"]["provider"] == "openai"
    assert "model openai" in house.call("audit", "trail", "--session", "last").out


@each(
    ("words", "found"),
    [
        (
            ("Weather",),
            "'Weather' is no session, no file here, and nothing that a decision in force names",
        ),
        (("last", "Weather"), "has no field 'Weather': it has Category, Strategy"),
        (("deadbeef", "Strategy"), "no session matches 'deadbeef'"),
    ],
)
def test_what_is_not_there_is_said(shop: Project, words: tuple[str, ...], found: str) -> None:
    done = shop.call("why", *words)
    assert (done.code, done.out) == (1, "")
    assert found in done.err
    assert done.err.count("\n") == 1


def test_a_search_with_many_answers_tells_the_best_and_how_many_match(house: Project) -> None:
    session_id = house.decided()["session_id"]
    assert "best" not in house.call("decisions", "--query", "OAuth").out
    multiplied(house, session_id, 1, 60)
    done = house.call("decisions", "--query", "OAuth", "--json").json
    assert (len(done["decisions"]), done["matches"]) == (50, 61)
    assert "The best 50 of 61 that match.\n" in house.call("decisions", "--query", "OAuth").out
    assert house.call("decisions", "--json").json["matches"] is None
    assert house.call("decisions", "--query", "zebra").out == "No decision matches.\n"
    assert house.call("decisions", "--query", "zebra", "--json").json["decisions"] == []
