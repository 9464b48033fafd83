"""Decisions in force at a terminal: kept, replaced, or for something else; and what `why` says."""

from __future__ import annotations

import pytest

from preflights_cli import EXIT_WAITING
from tests.cli.program import House, Project
from tests.cli.terminal import ANSWER, KEY, WHY, terminal

KEYS = r"asks the question: "
QUESTION = "Which queue for the domain events?"
RECORD = "# 7. Move the orders to PostgreSQL\n\n## Status\n\nAccepted\n\nIt joins.\n"


@pytest.fixture
def kafka(house: House) -> Project:
    """A repository with two decisions in force about events, asked by the pack."""
    house.made(two)
    return house


def two(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    for text in ("Use Kafka because replay matters", "Use PostgreSQL for the domain events"):
        assert house.call("start", text, "--accept", "--by", "Ada").code == 0


def test_the_second_is_kept_by_its_number(kafka: Project) -> None:
    with terminal(kafka, "start", QUESTION) as t:
        told = t.expect(KEYS)
        assert "1. ADR-0001 Use Kafka" in told
        assert "2. related: ADR-0002 Use PostgreSQL for domain events" in told
        assert "[k]eep it, [r]eplace it, [o]ther scope?" in told
        t.type("k 2")
        assert "ADR-0002 is kept" in t.rest()
        assert t.code() == 0
    assert kafka.show()["keeps"]["number"] == 2


def test_another_scope_is_asked_for_and_supersedes_nothing(kafka: Project) -> None:
    with terminal(kafka, "start", QUESTION) as t:
        t.expect(KEYS)
        t.type("?")
        assert "o asks what the new one is for" in t.expect(KEYS)
        t.type("o 2")
        assert "Give k, r, o or Enter" in t.expect(KEYS)
        t.type("o")
        t.expect(r"For what\? ")
        t.type("")  # nothing is said: it asks again
        t.expect(KEYS)
        t.type("o")
        t.expect(r"For what\? ")
        t.type("tbd")
        assert "was given a placeholder" in t.expect(KEYS)
        t.type("o")
        t.expect(r"For what\? ")
        t.type("telemetry of trucks")
        t.expect(ANSWER)
        t.type("NATS")
        asked = t.expect(WHY)
        assert "For what?" not in asked
        t.type("")
        t.expect(KEY)
        t.press("a")
        said = t.expect(r"\[l\]eave\? ")
        assert "Is an exception to" in said  # the first one is for the whole project
        t.press("e")
        assert "accepted" in t.rest()
    found = kafka.show()
    assert found["title"] == "Use NATS for telemetry of trucks"
    assert (found["supersedes"], found["also_supersedes"]) == (None, [])
    assert len(kafka.call("decisions", "--json").json["decisions"]) == 3


def test_the_keys_are_german_where_the_intention_is(kafka: Project) -> None:
    with terminal(kafka, "start", "Welche Queue brauchen wir für die Bestellungen?") as t:
        assert "für etwas anderes [o]?" in t.expect("stellt die Frage: ")
        t.type("o")
        t.expect(r"Wofür\? ")
        t.type("Telemetrie")
        t.expect("> ")
        t.end()
        t.rest()
    assert kafka.show()["scope"] == "Telemetrie"


def test_a_script_is_told_and_keeps_and_why_says_so(kafka: Project) -> None:
    done = kafka.call("start", QUESTION, "--no-input", "--json")
    assert done.code == EXIT_WAITING
    lines = [one["line"] for one in done.json["known"]]
    assert [line.partition(" ")[0] for line in lines] == ["ADR-0001", "ADR-0002"]
    assert kafka.call("why", "ADR-1", "--json").json["values"][0]["asked_again"] == []
    assert kafka.call("start", QUESTION, "--no-input", "--keep-known", "ADR-1").code == 0
    same = ("start", "Use Apache Kafka", "--accept", "--by", "Grace Hopper", "--json")
    assert kafka.call(*same).json["keeps"]["number"] == 1
    (first, second) = kafka.call("why", "ADR-1", "Broker", "--json").json["values"][0][
        "asked_again"
    ]
    assert (first["intention"], first["by"]["kind"]) == (QUESTION, "script")
    assert (second["by"], second["relayed_by"]["kind"]) == (
        {"kind": "user", "name": "Grace Hopper"},
        "script",
    )
    said = kafka.call("why", "Messaging.Broker").out
    assert f'again      "{QUESTION}", kept by a script (Ada), ' in said
    assert "kept by Grace Hopper" in said
    assert "again " not in kafka.call("why", "ADR-2").out


def test_a_record_of_another_tool_is_kept_and_perhaps_contradicted(kafka: Project) -> None:
    path = "docs/decisions/0007-move-the-orders.md"
    (kafka.folder / path).write_text(RECORD)
    asked = kafka.call("start", "Where do the orders live?", "--no-input")
    assert f"1. related: {path} Move the orders to PostgreSQL" in asked.out
    unasked = kafka.call("why", path)
    assert (unasked.code, "has no session" in unasked.err) == (1, True)
    kept = kafka.call("start", "Where do the orders live?", "--no-input", "--keep-known", path)
    assert (kept.code, "ADR-0007 is kept" in kept.out) == (0, True)
    for typed in (path, "ADR-7", "0007-move-the-orders.md"):
        assert 'again      "Where do the orders live?"' in kafka.call("why", typed).out
    (record,) = kafka.call("why", path, "--json").json["records"]
    assert (record["path"], len(record["asked_again"])) == (path, 1)

    done = kafka.call("start", "Use MySQL for the orders", "--accept", "--by", "Ada", "--json")
    assert done.code == 0
    assert f"perhaps contradicts {path}: Move the orders to PostgreSQL" in done.err
    differing = [{"path": path, "title": "Move the orders to PostgreSQL"}]
    assert (done.json["status"], done.json["perhaps"]) == ("accepted", differing)
    assert kafka.show()["perhaps"] == differing
    assert f"perhaps contradicts {path}" in kafka.call("show", "last").out
    acknowledged = [e for e in kafka.events() if e["type"].endswith("acknowledged.v1")]
    assert acknowledged[-1]["data"]["perhaps"] == differing


def test_only_a_decision_at_the_same_place_is_kept_without_its_number(kafka: Project) -> None:
    with terminal(kafka, "start", "Where do the domain events live?") as t:
        told = t.expect(KEYS)
        assert "1. related: ADR-0002" in told
        t.type("k")
        assert "a number from 1 to" in t.expect(KEYS)
        t.type("k 1")
        assert "ADR-0002 is kept" in t.rest()


def test_what_was_not_said_first_is_not_kept_and_leaves_no_session(kafka: Project) -> None:
    before = kafka.newest()
    done = kafka.call("start", QUESTION, "--keep-known", "ADR-9")
    assert (done.code, "'ADR-9' was not said to be in force here: ADR-0001" in done.err) == (
        1,
        True,
    )
    assert kafka.newest() == before


def test_a_person_is_named_who_keeps_a_decision(kafka: Project) -> None:
    assert kafka.call("start", QUESTION, "--keep-known", "1", "--by", "Eve").code == 0
    (value, *_) = kafka.call("why", "ADR-1", "--json").json["values"]
    assert value["asked_again"][0]["by"] == {"kind": "user", "name": "Eve"}


def test_a_question_without_a_topic_is_the_title(kafka: Project) -> None:
    asked = ("--question", "Do pages live in memory?", "--option", "Yes", "--option", "No")
    kafka.call("start", "Speed up the shop", *asked, "--no-input")
    assert kafka.call("answer", "last", "Yes").code == 3
    assert kafka.show()["title"] == "Do pages live in memory? Yes"


def test_a_scope_beside_the_one_of_the_intention_is_told(kafka: Project) -> None:
    start = ("start", "Use Redis for the carts", "--no-input", "--scope")
    told = "it is recorded for invoices; the intention says for carts"
    assert told in kafka.call(*start, "invoices").err
    assert "it is recorded" not in kafka.call(*start, "the  carts").err  # the same
