"""`projections`, `decisions`, `why`, `usage` and `audit trail`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pexpect  # type: ignore[import-untyped]  # it has no stubs
import pytest

from preflights_es.settings.prices import PriceTable
from preflights_es.store.sql import SqlStore
from tests.cli import tampering
from tests.cli.program import Project, Result, environment
from tests.cli.tampering import tampered
from tests.cli.terminal import WAIT_S
from tests.cli.test_docs import check, tables_of_keys
from tests.cli.test_model_output import HOSTILE, said
from tests.fixed import Clock, salt
from tests.projections.given import recorded
from tests.projections.recording import golden, goldens
from tests.providers.server import FakeAPI

SIM = ("--provider", "sim", "--seed", "3")
COMMANDS = (
    ("decisions",),
    ("decisions", "--all"),
    ("usage",),
    ("admin", "projections", "status"),
    ("admin", "projections", "rebuild"),
    ("audit", "trail"),
)


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as made:
        yield made


def listed(house: Project, *words: str) -> list[dict[str, Any]]:
    """The decisions, as JSON."""
    found: list[dict[str, Any]] = house.call("decisions", "--json", *words).json["decisions"]
    return found


def led(house: Project, api: FakeAPI, *words: str) -> Result:
    """A command of a session whose model is the server's."""
    env = {
        "PREFLIGHTS_OPENAI_API_KEY": "sk-not-a-key-of-anybody",
        "PREFLIGHTS_BASE_URL": api.openai,
        "PREFLIGHTS_PROVIDER": "openai",
    }
    return house.call(*words, env=env)


def trail(house: Project, *words: str) -> list[dict[str, Any]]:
    """The steps, as JSON."""
    done = house.call("audit", "trail", "--json", *words)
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


# 1. All of them ------------------------------------------------------------------------------


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_of_an_empty_log_every_command_says_so(house: Project, words: tuple[str, ...]) -> None:
    done = house.call(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out
    assert house.call(*words, "--json").code == 0


def test_the_json_of_every_command_is_what_is_documented(house: Project) -> None:
    former = house.decided()
    later = house.decided("Add SSO", "--supersedes", former["uid"])
    house.call("start", "Deploy it somewhere", "--answer", "hosting=Cloud", "--accept")
    house.call("note", "Call the dentist", *SIM)
    open_ = house.call("start", "Improve the orders", *SIM, "--no-input", "--json").json
    option = open_["questions"][0]["options"][0]
    house.call("answer", open_["session_id"], option)
    (house.folder / "preflights.toml").write_text(
        "[[prices]]\nprovider = 'sim'\nmodel = 'simllm/1'\nfrom = 2020-01-01\n"
        "input_per_million = 1\noutput_per_million = 2.5\ncurrency = 'EUR'\n"
    )
    foreign = "# 9. Use Redis\n\n## Status\n\nAccepted\n"
    (house.folder / "docs/decisions/0009-use-redis.md").write_text(foreign)
    check("decisions/1", house.call("decisions", "--all", "--json").json)
    check("record/1", house.call("show", "ADR-0009", "--json").json)
    whys = [
        house.call("why", s, "--json") for s in (former["uid"], later["uid"], open_["session_id"])
    ]
    assert [done.code for done in whys] == [0, 0, 0]
    check("why/1", *(done.json for done in whys))
    check("usage/1", house.call("usage", "--json").json)
    check("trail/1", *trail(house), opaque="data")
    check("projections/1", house.call("admin", "projections", "status", "--json").json)
    check("projections-rebuild/1", house.call("admin", "projections", "rebuild", "--json").json)


def test_a_damaged_session_hides_no_other_and_stops_no_command(house: Project) -> None:
    broken = house.decided()["session_id"]
    whole = house.decided("Add SSO")["session_id"]
    tampered(house, broken, tampering.flipped)
    for words in COMMANDS:
        done = house.call(*words)
        assert done.code == 0, (words, done)
    assert [one["session_id"] for one in listed(house)] == [whole]
    warned = house.call("audit", "trail")
    assert f"warning: damaged log: session {broken}, event 2" in warned.err
    assert broken[-8:] in warned.out
    steps = trail(house, "--session", broken)
    assert all("its payload was changed" in step["damage"] for step in steps)
    assert house.call("why", broken).code == 4


def test_what_was_erased_is_told_by_no_command(house: Project) -> None:
    session_id = house.decided("Add login for Zaphod")["session_id"]
    assert listed(house)
    assert house.call("admin", "erase", session_id, "--yes").code == 0
    for words in COMMANDS:
        for done in (house.call(*words), house.call(*words, "--json")):
            assert done.code == 0
            assert "Zaphod" not in done.out + done.err
            assert "Lovelace" not in done.out + done.err
    assert listed(house, "--all") == []
    assert house.call("why", session_id).code == 1
    steps = trail(house, "--session", session_id)
    assert any(step["erased"] and step["data"] is None for step in steps)
    assert "erased" in house.call("audit", "trail", "--session", session_id).out


@pytest.mark.parametrize("text", HOSTILE[:2])
def test_what_a_model_said_is_shown_and_not_obeyed(house: Project, api: FakeAPI, text: str) -> None:
    question = {"category": "Authentication", "question": text, "options": [text, "OAuth"]}
    patch = {
        "category": "Authentication",
        "fields": [{"name": "Strategy", "value": text}],
    }
    api.script(*said(question, patch))
    assert led(house, api, "start", "Add login", "--no-input").code == 3
    led(house, api, "answer", "last", "1")
    for words in (*COMMANDS, ("why", "last"), ("audit", "trail", "--format", "csv")):
        done = house.call(*words)
        assert done.code in (0, 1), done
        assert done.is_safe(), words


@pytest.mark.parametrize(
    "words",
    [
        ("decisions", "--at", "yesterday"),
        ("decisions", "--at", "2026-13-01"),
        ("decisions", "--at", ""),
        ("decisions", "--at", "2026-11-22", "--all"),
        ("decisions", "--category", " "),
        ("usage", "--by", "weekday"),
        ("usage", "--since", "\x1b[31m"),
        ("usage", "--since", "2026-11-23", "--until", "2026-11-22"),
        ("audit", "trail", "--since", "2026-11-22T12:00", "--until", "2026-11-22T11:59"),
        ("audit", "trail", "--format", "xml"),
        ("audit", "trail", "--json", "--format", "csv"),
        ("audit", "trail", "--decision", "last", "--session", "last"),
        ("audit", "trail", "--actor", ""),
        ("admin", "projections", "rebuild", "weather"),
        ("admin", "projections", "rebuild", "--jobs", "0"),
        ("admin", "projections", "follow", "--every", "0"),
        ("admin", "projections", "follow", "--every", "nan"),
        ("admin", "projections", "follow", "--every", "soon"),
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_is_one_clear_line(house: Project, words: tuple[str, ...]) -> None:
    done = house.call(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("preflights: ")
    assert done.err.count("\n") == 1
    assert done.is_safe()


@pytest.mark.parametrize("words", [("usage",), ("audit", "trail")], ids=" ".join)
def test_a_time_that_ends_before_it_begins_is_refused_with_both_ends(
    house: Project, words: tuple[str, ...]
) -> None:
    done = house.call(*words, "--since", "2026-11-23", "--until", "2026-11-22")
    assert done.code == 2
    assert done.err.startswith(
        "preflights: found --since 2026-11-23T00:00:00.000000Z after --until "
        "2026-11-22T23:59:59.999999Z: expected an earlier time"
    )
    same = ("--since", "2026-11-22", "--until", "2026-11-22")
    assert house.call(*words, *same).code == 0


# 2. Decisions --------------------------------------------------------------------------------


def test_a_decision_is_in_force_from_its_acceptance_until_it_is_superseded(house: Project) -> None:
    assert house.call("decisions").out == "Nothing is in force here.\n"
    former = house.decided()
    (one,) = listed(house)
    assert (one["uid"], one["standing"], one["number"]) == (former["uid"], "accepted", 1)
    assert one["acknowledged_by"] == {"kind": "user", "name": "Ada Lovelace"}
    assert one["fields"] == [["Strategy", "OAuth"]]
    assert one["artifact"] == "docs/decisions/0001-add-oauth-login.md"
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


def test_a_day_is_asked_for_as_a_whole_and_a_time_as_it_is(house: Project) -> None:
    house.decided()
    (one,) = listed(house)
    day = one["accepted_at"][:10]
    assert len(listed(house, "--at", day)) == 1
    assert listed(house, "--at", f"{day}T00:00:00+14:00") == []
    shape = house.call("decisions", "--at", day, "--json").json
    assert shape["at"] == f"{day}T23:59:59.999999Z"


def test_what_a_script_accepts_is_no_decision(house: Project) -> None:
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth", "--accept")
    assert listed(house) == []
    (proposed,) = listed(house, "--all")
    assert proposed["standing"] == "proposed"
    assert proposed["accepted_at"] is None
    assert proposed["acknowledged_by"]["kind"] == "script"
    assert "a script" in house.call("decisions", "--all").out
    house.call("accept", "last", "--by", "Ada")
    assert [one["acknowledged_by"]["name"] for one in listed(house)] == ["Ada"]


def test_one_category_is_named_in_any_case(house: Project) -> None:
    house.decided()
    house.decided("Keep orders in a database", key="db_type=PostgreSQL")
    assert [one["category"] for one in listed(house, "--category", "DATABASE")] == ["Database"]
    assert listed(house, "--category", "Weather") == []


def test_another_project_of_the_same_log_is_another_architecture(house: Project) -> None:
    house.decided()
    env = {"PREFLIGHTS_PROJECT": "elsewhere"}
    assert house.call("decisions", "--json", env=env).json["decisions"] == []
    assert house.call("audit", "trail", env=env).out == "Nothing was recorded.\n"
    assert house.call("audit", "trail", "--any-project", "--json", env=env).out


# 3. Why --------------------------------------------------------------------------------------


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
    assert "accepted   by Ada Lovelace" in text


@pytest.mark.parametrize(
    "what", ["Strategy", "strategy", "Authentication.Strategy", "auth_strategy"]
)
def test_a_field_is_found_among_the_decisions_in_force(house: Project, what: str) -> None:
    former = house.decided()
    later = house.decided("Add SSO", "--supersedes", former["uid"])
    (value,) = house.call("why", what, "--json").json["values"]
    assert value["uid"] == later["uid"]


def test_a_field_that_several_decisions_have_is_told_of_each_the_newest_first(
    house: Project,
) -> None:
    uids = [house.decided(text)["uid"] for text in ("Add login", "Add SSO")]
    values = house.call("why", "Strategy", "--json").json["values"]
    assert [value["uid"] for value in values] == uids[::-1]


def test_a_decision_that_was_damaged_since_hides_no_other(house: Project) -> None:
    broken, whole = (house.decided(text) for text in ("Add login", "Add SSO"))
    assert len(listed(house)) == 2
    tampered(house, broken["session_id"], tampering.flipped)
    done = house.call("why", "Strategy", "--json")
    assert [value["uid"] for value in done.json["values"]] == [whole["uid"]]
    assert f"warning: damaged log: session {broken['session_id']}" in done.err


def test_a_machines_answer_is_never_shown_as_a_persons(house: Project) -> None:
    env = {"PREFLIGHTS_ACTOR": "agent:claude"}
    words = ("--answer", "auth_strategy=OAuth", "--accept")
    house.call("start", "Add login", *words, env=env)
    done = house.call("why", "last", "Strategy", env=env)
    assert "by an agent (claude)" in done.out
    assert "proposed   by an agent (claude)" in done.out
    assert "accepted   by" not in done.out
    assert "a person" not in done.out


def test_what_a_model_read_is_the_models(house: Project, api: FakeAPI) -> None:
    patch = {
        "category": "Database",
        "fields": [{"name": "Type", "value": "PostgreSQL"}, {"name": "ORM", "value": "SQLAlchemy"}],
    }
    question = {"category": "Database", "question": "Which?", "options": ["MySQL", "SQLite"]}
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


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("Weather",), "no session, and no field that is in force, matches 'Weather'"),
        (("last", "Weather"), "has no field 'Weather': it has Category, Strategy"),
        (("deadbeef", "Strategy"), "no session matches 'deadbeef'"),
    ],
)
def test_what_is_not_there_is_said(house: Project, words: tuple[str, ...], found: str) -> None:
    house.decided()
    done = house.call("why", *words)
    assert (done.code, done.out) == (1, "")
    assert found in done.err
    assert done.err.count("\n") == 1


def test_a_session_that_has_decided_nothing_has_no_why(house: Project) -> None:
    house.started_session()
    assert "has no decision" in house.call("why", "last").err
    house.call("note", "Call the dentist", *SIM)
    done = house.call("why", "last")
    assert (done.code, "has no decision" in done.err) == (1, True)
    assert "name it by --session" in house.call("audit", "trail", "--decision", "last").err


# 4. Usage ------------------------------------------------------------------------------------


def priced(house: Project, *entries: str) -> Result:
    """The sums, where the settings say what the simulator costs."""
    text = "".join(
        "[[prices]]\nprovider = 'sim'\nmodel = 'simllm/1'\noutput_per_million = 0\n"
        f"currency = 'EUR'\n{entry}\n"
        for entry in entries
    )
    (house.folder / "preflights.toml").write_text(text)
    return house.call("usage", "--by", "model", "--json")


def test_calls_are_summed_and_without_a_price_their_cost_is_unknown(house: Project) -> None:
    house.call("note", "Call the dentist", *SIM)
    (one,) = house.call("usage", "--json").json["usage"]
    assert (one["provider"], one["calls"], one["costs"]) == ("sim", one["calls"], [])
    assert one["unpriced"] == one["calls"] > 0
    assert one["input_tokens"] > 0
    assert house.call("usage").out.splitlines()[2].endswith(" ?")
    assert house.call("usage", "--since", "9999-01-01").out == "No call fits the filter.\n"
    assert house.call("usage", "--until", "2020-01-01").out == "No call fits the filter.\n"
    elsewhere = {"PREFLIGHTS_PROJECT": "elsewhere"}
    none = house.call("usage", "--until", "2020-01-01", env=elsewhere)
    assert none.out == "No provider was asked anything.\n"


def test_the_dated_price_that_is_configured_counts(house: Project) -> None:
    house.call("note", "Call the dentist", *SIM)
    (free,) = priced(house).json["usage"]
    (one,) = priced(
        house,
        "from = 2020-01-01\ninput_per_million = 2.5",
        "from = 9000-01-01\ninput_per_million = 1000",
    ).json["usage"]
    (cost,) = one["costs"]
    assert cost["currency"] == "EUR"
    assert float(cost["amount"]) == pytest.approx(free["input_tokens"] * 2.5 / 1_000_000)
    assert one["unpriced"] == 0
    (unknown,) = priced(house, "from = 9000-01-01\ninput_per_million = 2.5").json["usage"]
    assert (unknown["costs"], unknown["unpriced"]) == ([], one["calls"])


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ("from = 2020-01-01", "`input_per_million`"),
        ("from = 'soon'\ninput_per_million = 1", "prices.from"),
        ("from = 2020-01-01\ninput_per_million = -1", "found -1, expected a number from 0"),
        ("from = 2020-01-01\ninput_per_million = nan", "found nan"),
        ("from = 2020-01-01\ninput_per_million = 'much'", "prices.input_per_million"),
        ("from = 2020-01-01\ninput_per_million = 1\nweekday = 1", "weekday: unknown key"),
    ],
)
def test_a_price_that_is_wrong_is_named(house: Project, entry: str, found: str) -> None:
    done = priced(house, entry)
    assert (done.code, done.out) == (2, "")
    assert found in done.err
    assert done.err.startswith("preflights: preflights.toml")
    assert done.err.count("\n") == 1


def test_two_prices_of_one_day_and_a_currency_that_is_none_are_refused(house: Project) -> None:
    entry = "from = 2020-01-01\ninput_per_million = 1"
    assert "entry 2: a second price" in priced(house, entry, entry).err
    (house.folder / "preflights.toml").write_text(
        (house.folder / "preflights.toml").read_text().replace("EUR", "euros")
    )
    assert "expected three capital letters" in house.call("usage").err


def test_every_key_of_a_price_is_documented() -> None:
    names = {name.replace("since", "from") for name in PriceTable.__struct_fields__}
    assert {key for key in tables_of_keys(4) if key} == {n for n in names if "_" not in n}
    assert names >= tables_of_keys(4)


# 5. The trail --------------------------------------------------------------------------------


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
        "clarification.decision_acknowledged.v2"
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


def test_the_csv_is_read_by_any_reader_and_computed_by_none(house: Project) -> None:
    env = {"PREFLIGHTS_ACTOR": "=cmd|'/c calc'!A1"}
    house.call("start", "Add login, quickly", env=env)
    done = house.call("audit", "trail", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["version"] for row in rows] == [str(s["version"]) for s in trail(house)]
    assert rows[0]["actor_name"].startswith("'=cmd")
    assert "Add login, quickly" in rows[0]["what"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def test_a_cloudevent_has_what_the_specification_asks_for(house: Project) -> None:
    house.decided()
    house.call("note", "Call the dentist", *SIM)
    done = house.call("audit", "trail", "--format", "cloudevents")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert len({(event["source"], event["id"]) for event in events}) == len(events)
    for event, step in zip(events, trail(house), strict=True):
        assert event["specversion"] == "1.0"
        assert event["id"]
        assert re.fullmatch(r"/preflights/[\w.%~-]+", event["source"])
        assert event["type"] == step["type"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", event["time"])
        assert event["datacontenttype"] == "application/json"
        assert event["data"] == step["data"]
        for name, value in event.items():
            assert re.fullmatch(r"[a-z0-9]{1,20}", name), name
            assert value is not None
    assert any(event.get("provider") == "sim" for event in events)


def test_many_sessions_are_listed_as_each_says_of_itself(house: Project) -> None:
    with closing(SqlStore(str(house.log), Clock(), salt)) as store:
        ids = recorded(store, goldens())
    erase = ("admin", "erase", ids[3], "--yes")
    assert house.call(*erase).code == 0
    tampered(house, ids[5], tampering.flipped)
    every = house.call("sessions", "--all", "--json").json["sessions"]
    assert [row["session_id"] for row in every] == ids[::-1]
    newest = house.call("sessions", "--json").json["sessions"]
    assert [_ageless(row) for row in every[: len(newest)]] == [_ageless(row) for row in newest]
    for row in every:
        shown = house.call("show", row["session_id"], "--json")
        if row["status"] == "damaged":
            assert (row["session_id"], shown.code) == (ids[5], 4)
        else:
            assert row["status"] == shown.json["status"]
    for status in {row["status"] for row in every}:
        found = house.call("sessions", "--status", status, "--json").json["sessions"]
        assert [_ageless(row) for row in found] == [
            _ageless(row) for row in every if row["status"] == status
        ]


def _ageless(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "age_seconds"}


# 6. Projections ------------------------------------------------------------------------------


def states(house: Project) -> dict[str, str]:
    found = house.call("admin", "projections", "status", "--json").json["projections"]
    return {one["name"]: one["state"] for one in found}


def test_nothing_is_folded_before_somebody_asks(house: Project) -> None:
    house.decided()
    assert set(states(house).values()) == {"never built"}
    assert house.call("admin", "projections", "status", "--json").json["waiting"] > 0
    listed(house)
    assert set(states(house).values()) == {"complete"}
    assert house.call("admin", "projections", "status", "--json").json["waiting"] == 0


def test_one_projection_is_rebuilt_and_all_where_none_is_named(house: Project) -> None:
    house.decided()
    done = house.call("admin", "projections", "rebuild", "usage", "usage")
    assert done.out == "Rebuilt usage from 1 session (11 events).\n"
    assert states(house)["usage"] == "complete"
    assert house.call("admin", "projections", "rebuild", "--json").json["rebuilt"] == [
        *("sessions", "decisions"),
        "usage",
    ]


def test_several_processes_rebuild_together(house: Project) -> None:
    for number in range(4):
        house.decided(f"Add login number {number}")
    before = listed(house)
    done = house.run("admin", "projections", "rebuild", "--jobs", "3")
    assert (done.code, done.err) == (0, "")
    assert listed(house) == before
    assert set(states(house).values()) == {"complete"}


def test_at_a_terminal_a_bar_shows_how_far_it_is(house: Project) -> None:
    with closing(SqlStore(str(house.log), Clock(), salt)) as store:
        recorded(store, golden("keyword_skips_the_generic_question") * 250)
    child = pexpect.spawn(
        "preflights",
        ["admin", "projections", "rebuild"],
        cwd=str(house.folder),
        env=environment(house.home),
        timeout=WAIT_S,
    )
    child.expect(r"Rebuilding .*100%")
    child.expect(r"Rebuilt sessions, decisions, usage from 250 sessions")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_projection_of_a_newer_program_is_refused_with_what_to_do(house: Project) -> None:
    house.decided()
    listed(house)

    def kept_by_a_newer_one(log: Any, _session_id: str) -> None:
        log.execute("UPDATE projections SET version = 99 WHERE name = 'decisions'")

    tampered(house, "", kept_by_a_newer_one)
    done = house.call("decisions")
    assert done.code == 4
    assert "a newer version of preflights keeps the projection 'decisions'" in done.err
    assert states(house)["decisions"] == "of another version"
