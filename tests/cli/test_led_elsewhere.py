"""A session stays with the server that it began with, and says so before anything is recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.program import Project, Result
from tests.providers import server
from tests.providers.server import FakeAPI
from tests.scripted import asks

pytestmark = pytest.mark.slow("whole runs")

KEY = {"PREFLIGHTS_OPENAI_API_KEY": "sk-not-a-real-key"}
CLARIFY = asks("Database", "Which one?", "SQLite", "MySQL")
DECIDE = {"category": "Database", "fields": [{"name": "Type", "value": "SQLite"}]}


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as made:
        yield made


def said(*payloads: object) -> list[server.Reply]:
    return [server.text(json.dumps(payload)) for payload in payloads]


def started(house: Project, api: FakeAPI, *words: str) -> Result:
    who = ("--provider", "openai", "--base-url", api.openai)
    return house.call("start", "Keep orders in a database", *who, "--no-input", *words, env=KEY)


def events(house: Project) -> int:
    return len(house.call("log", "last", "--json").out.splitlines())


def test_what_was_said_to_one_server_goes_nowhere_else(house: Project, api: FakeAPI) -> None:
    api.script(*said(CLARIFY, DECIDE))
    assert started(house, api).code == 3
    before = events(house)
    there = "at another server, and today's address is at api.openai.com: set PREF"
    house.call("answer", "last", "SQLite", env=KEY).refused(5, there)
    assert (events(house), len(api.requests)) == (before, 1)
    with FakeAPI() as other:
        elsewhere = {**KEY, "PREFLIGHTS_BASE_URL": other.openai}
        assert house.call("answer", "last", "SQLite", env=elsewhere).code == 5
        assert not other.requests
    assert api.openai not in house.call("log", "last", "--json").out
    # Another process: nothing but the log and the environment tells it which server to ask.
    done = house.run("answer", "last", "SQLite", env={**KEY, "PREFLIGHTS_BASE_URL": api.openai})
    assert done.code == 3, done
    assert len(api.requests) == 2
    assert house.call("show", "last", "--json").json["status"] == "ready"


def test_nothing_is_recorded_while_the_key_is_missing(house: Project, api: FakeAPI) -> None:
    api.script(*said(CLARIFY, DECIDE))
    started(house, api)
    before = events(house)
    other = {"PREFLIGHTS_BASE_URL": "https://api.openai.com/v1"}
    done = house.call("answer", "last", "SQLite", env=other)
    assert done.code == 5
    assert events(house) == before


def test_resume_with_an_address_asks_the_same_server_again(house: Project, api: FakeAPI) -> None:
    api.script(server.status(500), server.status(500), *said(CLARIFY))
    assert started(house, api, "--strict").code == 5
    done = house.call("resume", "last", "--base-url", api.openai, env=KEY)
    assert done.code == 3, done
    assert "Which one?" in done.out
    types = [event["type"] for event in house.events()]
    assert "led.step_retried.v1" in types
    assert "led.lead_changed.v1" not in types


def test_a_parameter_that_a_server_refuses_is_left_out_from_then_on(
    house: Project, api: FakeAPI
) -> None:
    there = {**KEY, "PREFLIGHTS_BASE_URL": api.openai, "PREFLIGHTS_TEMPERATURE": "0.5"}
    words = ("start", "Keep orders in a database", "--provider", "openai", "--model", "alias")
    no = server.status(400, "Unsupported parameter: 'temperature'")
    api.script(no, server.text("no JSON"), *said(CLARIFY, DECIDE))
    assert house.call(*words, env=there).code == 3
    assert house.call("answer", "last", "SQLite", env=there).code == 3
    sent = ["temperature" in one.body for one in api.requests]
    assert sent == [True, False, False, False]
    calls = [(one["data"]["call"], one["data"]["attempt"]) for one in requests(house)]
    again = ("clarify-1.1-without-temperature", 1)  # it counts once
    assert calls == [("clarify-1.1", 1), again, ("clarify-1.2", 2), ("decide-2.1", 1)]
    assert house.call("replay", "last").code == 0
    api.script(*said(CLARIFY))
    assert house.call(*words, env=there).code == 3  # in the same process
    assert "temperature" not in api.requests[-1].body


def test_a_note_and_a_question_are_sent_with_the_temperature_of_their_seed(
    house: Project, api: FakeAPI
) -> None:
    there = {**KEY, "PREFLIGHTS_BASE_URL": api.openai}
    as_model = ("--provider", "openai", "--model", "alias")
    for words, temperature in (
        (("note", "buy milk"), 0.3),
        (("ask", "how many?"), 0.0),
        (("start", "Keep orders in a database", "--no-input"), None),
    ):
        api.script(server.text("no JSON"), server.text("no JSON"))
        house.call(*words, *as_model, env=there)
        assert api.requests[-1].body.get("temperature") == temperature, words


def test_the_rules_plan_a_day_anew_that_a_model_at_another_server_planned(
    house: Project, api: FakeAPI
) -> None:
    note = house.call("note", "write the report ~30m", "--json").json["session_id"]
    api.script(*said({"focus_task_id": f"{note[-8:]}.1", "reasoning": "It is due."}))
    there = {**KEY, "PREFLIGHTS_BASE_URL": api.openai}
    words = ("today", "--from", "8:00", "--until")
    house.call(*words, "17:00", "--provider", "openai", "--model", "alias", env=there)
    for env in ({}, KEY):
        done = house.call(*words, "18:00", env=env)
        assert (done.code, "made by the rules" in done.out) == (0, True), done
    assert len(api.requests) == 1


def test_the_address_of_the_makers_sdk_is_asked_and_named(house: Project, api: FakeAPI) -> None:
    there = {"OPENAI_API_KEY": "sk-not-a-real-key", "OPENAI_BASE_URL": api.openai}
    host = api.url.partition("//")[2]
    words = ("start", "Keep orders in a database", "--provider", "openai", "--strict")
    api.script(server.status(401))
    done = house.call(*words, env=there)
    assert (done.code, f"openai was asked at {host}" in done.err) == (5, True), done
    assert host not in house.call("log", "last", "--json").out
    listed = house.call("prompts", env={**there, "PREFLIGHTS_PROVIDER": "openai"}).out
    assert f"to openai gpt-6.1-terra at {host}." in listed
    with FakeAPI() as other:
        elsewhere = {**there, "OPENAI_BASE_URL": other.openai}
        done = house.call("resume", "last", env=elsewhere)
        assert (done.code, len(done.err.splitlines())) == (5, 1), done
        assert "or give one to `resume` by --base-url" in done.err
        other.script(*said(CLARIFY))
        assert house.call("resume", "last", "--base-url", other.openai, env=there).code == 3
        assert (len(api.requests), len(other.requests)) == (1, 1)
        # A regression run asks at today's address, whichever the session began with.
        api.script(*said(CLARIFY))
        done = house.call("regress", "--model", "m2", "--live", "--json", env=there)
        assert (len(api.requests) > 1, len(other.requests)) == (True, 1), done


def test_resume_lays_options_over_who_leads_and_a_model_leads_again(house: Project) -> None:
    house.call("start", "Add login", "--provider", "sim", "--faults", "error=1", "--strict")
    done = house.call("resume", "last", "--faults", "none")
    assert done.code == 3, done
    changed = [event for event in house.events() if event["type"] == "led.lead_changed.v1"]
    (lead,) = [event["data"]["lead"] for event in changed]
    assert (lead["provider"], lead["strict"]) == ("sim", True)
    assert lead["parameters"] == [["seed", "0"], ["faults", "none"]]
    house.call("start", "Add login", "--provider", "sim", "--faults", "error=1", "--no-input")
    assert house.call("resume", "last", "--seed", "3", "--faults", "none").code == 3
    assert house.events()[-1]["type"] == "led.lead_taken.v1"
    done = house.call("answer", "last", "OAuth")
    assert done.code == 3
    assert any(event["type"] == "completion.received.v1" for event in house.events())


def test_the_log_and_the_record_have_a_provider_and_its_question(
    house: Project, api: FakeAPI
) -> None:
    key = {"ANTHROPIC_API_KEY": "sk-not-a-real-key"}
    api.script(*said(CLARIFY, DECIDE))
    who = ("--provider", "claude", "--base-url", api.anthropic)
    house.call("start", "Keep orders in a database", *who, "--no-input", env=key)
    there = {**key, "PREFLIGHTS_BASE_URL": api.anthropic}
    assert house.call("answer", "last", "SQLite", env=there).code == 3
    assert {e["data"]["provider"] for e in requests(house)} == {"anthropic"}
    done = house.call("regress", "--led-by", "claude", "--json")
    assert done.json["counts"]["same"] == 1, done
    question = asks("Backup", "How often?", "Daily", "Never")
    decide = {"category": "Other", "fields": [{"name": "Backup", "value": "Daily"}]}
    api.script(*said(question, decide))
    done = started(house, api, "--answer", "custom.backup=Daily", "--accept", "--by", "Ada")
    assert done.code == 0, done
    (path,) = (house.folder / "docs" / "decisions").glob("*.md")
    text = path.read_text("utf-8")
    assert "Decision Outcome" in text
    assert "Backup" in text.partition("Decision Outcome")[2]
    assert "Daily" in text.partition("Decision Outcome")[2]
    assert "Never" not in text.partition("Decision Outcome")[2]  # which was merely offered
    assert "* Never\n" in text.partition("Considered Options")[2]
    assert "Backup: Daily" in house.call("prompt", "last").out.replace("*", "")


def requests(house: Project) -> list[Any]:
    return [event for event in house.events() if event["type"] == "completion.requested.v1"]


def test_what_a_model_suggested_is_accepted_only_once_it_was_seen(
    house: Project, api: FakeAPI
) -> None:
    more = {"name": "ORM", "value": "orders"}
    api.script(*said(CLARIFY, {**DECIDE, "fields": [*DECIDE["fields"], more]}))
    given = ("--answer", "db_type=SQLite", "--accept", "--by", "Ada")
    done = started(house, api, *given)
    assert (done.code, "a model suggested orders: look at it" in done.err) == (3, True), done
    assert house.show()["status"] == "ready"
    assert house.call("accept", "last", "--by", "Ada", env=KEY).code == 0
