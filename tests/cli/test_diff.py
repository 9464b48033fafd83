"""`diff`: two recorded sessions side by side."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.program import Project
from tests.cli.test_docs import check


def test_the_same_said_twice_is_the_same_and_another_answer_is_a_difference(
    house: Project, tmp_path: Path, home: Path
) -> None:
    first = house.decided()["session_id"]
    elsewhere = Project(tmp_path, home)
    (tmp_path / "preflights.toml").write_text(f'project = "{house.folder.name}"\n')
    assert elsewhere.decided()["session_id"] != first
    elsewhere.call("admin", "export", "last", "-o", "other.jsonl")
    same = house.call("diff", first, str(tmp_path / "other.jsonl"))
    assert "are the same: 11 events" in same.out, same.out
    assert same.code == 0
    other = ("start", "Add login", "--answer", "auth_strategy=SAML", "--json")
    second = house.call(*other).json["session_id"]
    done = house.call("diff", first, second, "--all")
    assert done.code == 1
    assert "answer accepted: event 5" in done.out
    assert f"    {first[-8:]}:  OAuth\n    {second[-8:]}:  SAML\n" in done.out
    shape = house.call("diff", first, second, "--json").json
    check("diff/1", shape, opaque=("events[].differences[].a", "events[].differences[].b"))
    assert (shape["status"], shape["types_only"]) == ("different", False)
    (pair,) = [one for one in shape["events"] if one["type"].endswith("answer_accepted.v1")]
    assert {"pointer": "/value", "place": "value", "a": "OAuth", "b": "SAML"} in pair["differences"]
    assert len(house.call("diff", first, second).out.splitlines()) < len(done.out.splitlines())


def test_answers_of_models_are_compared_by_their_fields_and_no_json_is_told(house: Project) -> None:
    asked = ("start", "Keep orders safe", "--provider", "sim", "--no-input", "--json", "--seed")
    first, second = (house.call(*asked, seed).json["session_id"] for seed in "34")
    told = house.call("diff", first, second, "--all").out
    answered = told[told.index("model answered") :]
    assert f"  text\n    {first[-8:]}:  topic: " in answered
    assert f"    {' ' * 9}  question: " in answered
    assert not re.search(r"[{}\[\]]", told)


def test_two_workflows_are_not_compared_and_of_an_erased_session_its_types(house: Project) -> None:
    decided = house.decided()["session_id"]
    house.call("note", "milk")
    house.call("diff", decided, "last").refused(2, "two workflows", "clarification and extraction")
    first, second = house.started_session("Add \u202elogin"), house.started_session("Add login")
    assert "\u202e" not in house.call("diff", first, second, "--all").out
    house.call("admin", "erase", first, "--yes")
    done = house.call("diff", first, second)
    assert (done.code, done.out.splitlines()[0][:20]) == (1, "Payloads were erased")
    assert f"session erased: only {first[-8:]} has it" in done.out


def test_of_a_new_option_nothing_is_told_but_the_option_and_no_digest(house: Project) -> None:
    own = ("start", "Choose a queue", "--no-input", "--topic", "Queue", "--question", "Which?")
    options = ("--option", "RabbitMQ", "--option", "Kafka")
    first = house.call(*own, *options, "--json").json["session_id"]
    second = house.call(*own, "--option", "NATS", *options, "--json").json["session_id"]
    found = house.call("diff", first, second, "--json").json["events"]
    assert {one["type"] for one in found if one["differences"]} == {
        "completion.received.v1",
        "clarification.question_suggested.v1",
        "clarification.question_asked.v1",
    }
    (new,) = found[-1]["differences"]
    assert (new["place"], new["a"], new["b"]) == ("question, option 1", "(absent)", "NATS")
