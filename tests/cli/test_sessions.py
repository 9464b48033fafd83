"""`sessions`, `show`, `log`, `prompt`, and how a session is named."""

from __future__ import annotations

import json
import re
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

import preflights_es
from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.kernel import ids
from preflights_es.kernel.errors import Refused
from preflights_es.store.frozen import MATCHES_MAX
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.use.answers import finish_due_documents
from tests.cli.program import Project
from tests.cli.tampering import tampered
from tests.each import each
from tests.projections.recording import Recording, golden
from tests.records.reading import section

BRIEF_BYTES_MAX = 1_500  # under 500 tokens of any script: a token has three bytes or more


def test_sessions_are_listed_newest_first(house: Project) -> None:
    assert house.call("sessions").out.startswith("No sessions here yet.\nBegin with: preflights")
    house.decided("Add login\nfor everyone")
    house.started_session("Do it")
    listed = house.call("sessions").out.splitlines()
    assert listed[0].split() == ["id", "began", "workflow", "status", "intention"]
    assert listed[2].endswith("needs answers  Do it")
    assert listed[3].endswith("accepted       Add login for everyone")
    assert all(line == line.rstrip() for line in listed)
    shape = house.call("sessions", "--json").json
    assert [s["intention"] for s in shape["sessions"]] == ["Do it", "Add login\nfor everyone"]
    assert [s["status"] for s in shape["sessions"]] == ["needs_answers", "accepted"]


def test_the_age_of_a_session_counts_from_its_beginning(house: Project) -> None:
    house.call("sessions")
    (events,) = golden("keyword_skips_the_generic_question")
    ages = (3_700, 90_000, 259_205)
    for number, seconds in enumerate(ages, 1):
        then = clock_ids.now() - seconds * 1_000_000
        with closing(SqlStore(str(house.log), partial(int, then), clock_ids.salt)) as store:
            began = Recording(events, number)
            began.session_id = ids.uuid7(then // 1_000, bytes(10))
            batch = began.next()
            assert batch is not None
            store.append([batch])
    rows = house.call("sessions", "--any-project", "--json").json["sessions"]
    told = house.call("sessions", "--any-project").out
    for row, seconds in zip(rows, ages, strict=True):
        assert seconds <= row["age_seconds"] < seconds + 60
        assert f"  {row['began_at'][:10]}  " in told


def test_a_session_is_found_by_each_day_on_which_something_happened_in_it(house: Project) -> None:
    house.call("sessions")
    began = Recording(golden("keyword_skips_the_generic_question")[0], 1)
    days = [clock_ids.now() - ago * 86_400_000_000 for ago in (3, 2, 1)]
    began.session_id = ids.uuid7(days[0] // 1_000, bytes(10))
    for then in (days[0], days[2]):
        with closing(SqlStore(str(house.log), partial(int, then), clock_ids.salt)) as store:
            batch = began.next()
            assert batch is not None
            began.appended(*store.append([batch]))
    on = [ids.iso(one)[:10] for one in days]
    counts = [
        len(house.call("sessions", "--any-project", "--json", *words).json["sessions"])
        for words in (
            *(("--since", day, "--until", day) for day in on),
            *(("--since", on[1]), ("--until", on[1]), ("--since", on[0], "--until", on[2])),
        )
    ]
    assert counts == [1, 0, 1, 1, 1, 1]


def test_sessions_are_found_by_words_id_model_calls_and_cost(house: Project) -> None:
    house.started_session("Add login for everyone")
    house.call("start", "Store the orders", "--provider", "sim", "--seed", "3", "--no-input")
    (asked,) = house.call("sessions", "--model", "simllm/1", "--json").json["sessions"]
    assert (asked["intention"], asked["models"]) == ("Store the orders", ["simllm/1"])
    assert (asked["calls"] > 0, asked["costs"]) == (True, [])
    price = "from = 2020-01-01\ninput_per_million = 3\noutput_per_million = 3\ncurrency = 'EUR'"
    (house.folder / "preflights.toml").write_text(
        f"[[prices]]\nprovider = 'sim'\nmodel = 'simllm/1'\n{price}\n"
    )
    today, id_ = asked["began_at"][:10], asked["session_id"]

    def found(*words: str) -> list[str]:
        rows = house.call("sessions", *words, "--json").json["sessions"]
        return [row["intention"] for row in rows]

    for words in (
        *(("--query", "orders STORE"), ("--query", id_), ("--query", id_[-8:])),
        ("--with", "calls"),
        *(("--cost-over", "0.000001"), ("--with", "calls", "--since", today, "--until", today)),
        *(("--query", "store", "--status", "needs_answers"), ("--with", "calls", "--all")),
    ):
        assert found(*words) == ["Store the orders"], words
    for words in (
        *(("--query", "zebra"), ("--with", "fallbacks"), ("--model", "x"), ("--cost-over", "9")),
        *(("--until", "2020-01-01"), ("--since", "2999-01-01"), ("--with", "late")),
    ):
        assert found(*words) == [], words
    assert house.call("sessions", "--query", "zebra").out == "No session here fits.\n"
    listed = house.call("sessions", "--query", "orders").out
    assert listed.split()[4:7] == ["model", "calls", "cost"]
    assert " EUR" in listed
    assert house.call("sessions", "--since", "2026-11-02", "--until", "2026-11-01").code == 2


def test_sessions_are_filtered_by_status_and_by_workflow(house: Project) -> None:
    house.decided()
    house.started_session()
    shape = house.call("sessions", "--status", "accepted", "--json").json
    assert [s["status"] for s in shape["sessions"]] == ["accepted"]
    assert house.call("sessions", "--status", "ready").out == "No session here is ready.\n"
    done = house.call("sessions", "--status", "open")
    assert done.code == 2
    assert "no session has the status 'open': expected one of" in done.err
    done = house.call("sessions", "--workflow", "notes")
    assert done.code == 1
    assert (
        "no workflow is called 'notes': expected one of calls, clarification, compiler," in done.err
    )
    assert house.call("sessions", "--workflow", "recall", "--all-workflows").code == 2


def test_the_newest_twenty_sessions_are_shown_unless_all_are_wanted(house: Project) -> None:
    for i in range(21):
        house.call("start", f"Thing {i}")
    shape = house.call("sessions", "--json").json
    assert (len(shape["sessions"]), shape["more"]) == (20, True)
    assert house.call("sessions").out.endswith("Older ones with: preflights sessions --all\n")
    everything = house.call("sessions", "--all", "--json").json
    assert (len(everything["sessions"]), everything["more"]) == (21, False)
    assert "Older ones" not in house.call("sessions", "--all").out


def test_sessions_and_last_stay_within_the_project(house: Project) -> None:
    mine = house.started_session("Mine")
    other = {"PREFLIGHTS_PROJECT": "other"}
    told = "This is the project other; the log holds sessions of others: `preflights sessions"
    found = house.call("sessions", env=other).out
    assert found.startswith("No sessions here yet.")
    assert told in found
    assert told in house.call("calls", env=other).out
    assert "holds sessions of others" not in house.call("calls").out
    house.call("show", env=other).refused(1, "this project has no such session yet")
    shape = house.call("sessions", "--any-project", "--json", env=other).json
    assert [s["session_id"] for s in shape["sessions"]] == [mine]
    assert house.call("show", mine, env=other).code == 0, "an id names it anywhere"


@each("env", [{"PREFLIGHTS_ACTOR": "Eve"}, {"CLAUDECODE": "1"}])
def test_last_is_the_newest_of_the_project_and_not_only_ones_own(
    house: Project, env: dict[str, str]
) -> None:
    house.started_session("Mine")
    theirs = house.call("start", "Add login", "--json", env=env).json["session_id"]
    assert house.show("last")["session_id"] == theirs
    mine = house.started_session("Mine again")
    assert house.show("last")["session_id"] == mine
    assert house.call("show", "--json", env=env).json["session_id"] == mine


@each("ends", [("abandon",), ("admin", "erase", "--yes")])
def test_last_may_be_closed(house: Project, ends: tuple[str, ...]) -> None:
    house.decided()
    id_ = house.started_session()
    assert house.call(*ends, id_).code == 0
    assert house.show("last")["session_id"] == id_


def test_last_is_the_newest_that_the_command_can_take(house: Project) -> None:
    assert house.call("note", "milk").code == 0
    assert house.show("last")["workflow"] == "extraction"
    assert "this project has no such session yet" in house.call("prompt", "last").err
    asked = house.started_session()
    id_ = house.decided()["session_id"]
    assert house.call("note", "bread").code == 0
    assert house.call("recall", "login").code == 0
    for command in ("show", "log", "why", "replay", "resume", "admin export"):
        assert house.call(*command.split(), "last").code == 0
    assert house.show("last")["workflow"] == "recall"
    assert house.call("prompt", "last", "--json").json["session_id"] == id_
    assert house.call("answer", "last", "OAuth", "--json").json["session_id"] == asked
    assert house.call("revise", "last", "auth_strategy=OAuth").code == 1, "the newest decision"
    house.call("admin", "import", "-", stdin=house.call("admin", "export", id_).out.encode())
    assert house.show("last")["workflow"] == "recall", "no import"
    house.call("abandon", asked)


def test_a_list_has_no_note_recall_or_plan(house: Project) -> None:
    assert house.call("note", "milk").code == 0
    id_ = house.decided()["session_id"]
    assert house.call("note", "bread").code == 0
    assert house.call("recall", "login").code == 0
    (row,) = house.call("sessions", "--json").json["sessions"]
    assert (row["session_id"], row["workflow"]) == (id_, "clarification")
    notes = house.call("sessions", "--workflow", "extraction", "--json").json["sessions"]
    assert [one["intention"] for one in notes] == ["bread", "milk"]
    every = house.call("sessions", "--all-workflows", "--json").json["sessions"]
    workflows = ["recall", "extraction", "clarification", "extraction"]
    assert [one["workflow"] for one in every] == workflows
    with preflights_es.open(house.folder) as log:
        assert [one.session_id for one in log.sessions()] == [id_]
        assert len(log.sessions(1, workflow="extraction")) == 1
        assert len(log.sessions(all_workflows=True)) == 4
        with pytest.raises(Refused, match="no workflow is called 'notes'"):
            log.sessions(workflow="notes")


def test_a_session_is_named_by_any_part_that_names_it_alone_and_by_no_less(house: Project) -> None:
    whole = house.decided()["session_id"]
    house.started_session()
    uid = house.show(whole)["uid"]
    for typed in (whole, whole.upper(), whole[-8:], whole[-4:], uid, f" {whole[-12:]} "):
        assert house.show(typed)["session_id"] == whole, typed
    assert house.show(whole[:23])["session_id"] == whole
    ids = [house.started_session() for _ in range(MATCHES_MAX + 1)]
    house.call("show", ids[0][:6]).refused(1, f"{ids[0][:6]!r} matches ", "type more of the id")


@each("typed", ["", "abc", "nosuch", "%%%%", "____", "-----", "'; DROP TABLE x"])
def test_what_names_no_session_is_refused(waiting: Project, typed: str) -> None:
    done = waiting.call("show", "--", typed)
    assert done.code == 1
    assert done.err.startswith(f"preflights: no session matches {typed!r}")


def test_show_says_who_decided_what_and_the_log_has_a_line_for_each_event(house: Project) -> None:
    house.decided()
    shown = house.call("show").out
    assert shown.startswith("Add OAuth login\n  session ")
    assert "Category  Authentication  (from the intention)" in shown
    assert "Strategy  OAuth  (chosen, by a script)" in shown
    assert "written to docs/decisions/0001-use-oauth-for-authentication.md" in shown
    assert "Brief an agent with: preflights prompt" in shown
    assert "Brief" not in house.call("show", "-q").out
    lines = house.call("log").out.splitlines()[2:]
    heads = [re.split("[:(.]", line[14:])[0].rstrip() for line in lines if line[0].isdigit()]
    assert heads == [
        *("A script", "  The category was detected", "  The question was asked"),
        *("A script", "  The answer was accepted", "  The patch was proposed"),
        *("Ada Lovelace accepted it", "  The decision was recorded", "  A document is due"),
        *("The document was written by a script", "  The artifact was filed"),
    ]
    assert lines[-1].startswith("Session ")
    exported = house.call("admin", "export", "last").out
    assert exported == '{"format":1}\n' + house.call("log", "--json").out
    assert house.call("log", "--json").out.count("\n") == len(heads)


def test_the_brief_has_the_intention_the_decisions_and_what_is_open(house: Project) -> None:
    house.decided("Add OAuth login")
    brief = house.call("prompt", "last").out
    assert "> Add OAuth login" in brief
    assert "* Strategy: OAuth" in brief
    assert "proposal" not in brief
    assert house.call("prompt", "last", "--json").json["prompt"].strip() == brief.strip()
    house.started_session("Add login")
    brief = house.call("prompt", "last").out
    assert "* Which authentication approach?" in brief
    assert "No person has accepted this yet" in brief


def test_the_brief_of_the_project_tells_what_is_in_force_and_what_is_not(house: Project) -> None:
    def chosen(value: str, *more: str) -> str:
        words = ("--answer", "change_category=Database", "--answer", f"db_type={value}")
        found = house.call("start", f"Use {value}", *words, "--no-input", "--json", *more)
        return str(found.json["session_id"])

    first = chosen("MySQL", "--accept", "--by", "Ada")
    house.decided_apart("Use PostgreSQL", "change_category=Database", "db_type=PostgreSQL")
    brief = house.call("prompt").out
    assert "\nDatabase: Type is PostgreSQL (ADR-0002), MySQL (ADR-0001)\n" in brief
    assert "\nDatabase: MySQL" not in brief, "what is in conflict is not in force"
    kept = ("--keep", "ADR-0002=Reports need it")
    chosen("MongoDB", "--accept", "--by", "Ada", "--supersedes", first, *kept)
    chosen("SQLite")
    found = house.call("prompt", "--json").json
    assert found["format"] == "brief/1"
    assert [one["excludes"] for one in found["decisions"]] == [["MySQL"], []]
    assert [one["fields"] for one in found["proposed"]] == [[["Type", "SQLite"]]]
    lists = ("decisions", "conflicts", "unclear", "proposed", "open")
    assert found["left_out"] == dict.fromkeys(lists, 0)
    assert found["prompt"].strip() == house.call("prompt").out.strip()
    superseded = house.call("prompt", first).out
    assert "## Superseded, do not follow" in superseded
    assert "This decision was superseded by ADR-0003: ask for the newer one." in superseded


def for_scope(house: Project, value: str, scope: str, *more: str) -> None:
    words = ("--answer", "change_category=Database", "--answer", f"db_type={value}")
    done = house.call("start", "Store it", *words, "--scope", scope, "--accept", "--by", "A", *more)
    assert done.code == 0, done


def test_the_brief_of_a_task_begins_with_what_concerns_it(house: Project) -> None:
    for_scope(house, "PostgreSQL", "orders", "--because", "joins matter")
    for_scope(house, "Redis", "user sessions")
    for_scope(house, "MongoDB", "carts")
    rest = [
        "Carts: MongoDB (ADR-0003)",
        "User sessions: Redis (ADR-0002)",
        "Orders: PostgreSQL (ADR-0001)",
    ]
    brief = house.call("prompt").out
    assert (brief.splitlines()[0], in_force(brief)) == ("# Decisions of this project", rest)
    done = house.call("prompt", "--for", "Add a column to the table of each order")
    first = "Orders: PostgreSQL (ADR-0001). Because: joins matter"
    assert in_force(done.out) == [first, *rest[:2]]
    shape = house.call("prompt", "--for", "expire sessions of a user", "--json").json
    assert (shape["near"], shape["decisions"][0]["scope"]) == (1, "user sessions")
    topic = house.call("prompt", "--for", "back up the databases and the carts", "--json").json
    assert (topic["near"], topic["decisions"][0]["scope"]) == (3, "carts")
    assert house.call("prompt", "--for", "Paint the shed", "--json").json["near"] == 0
    assert house.call("prompt", "last", "--for", "orders").code == 2
    with preflights_es.open(house.folder) as log:
        assert in_force(log.brief("a column of orders").prompt)[0] == first


def test_the_brief_of_a_session_names_the_decisions_that_touch_it(house: Project) -> None:
    for_scope(house, "PostgreSQL", "orders", "--because", "joins matter")
    for_scope(house, "Redis", "user sessions")
    house.call("start", "Archive old orders", "--no-input")
    said = house.call("prompt", "last").out
    assert said.startswith("# Task\n\n> Archive old orders\n")
    assert in_force(said) == [
        "Orders: PostgreSQL (ADR-0001). Because: joins matter",
        "User sessions: Redis (ADR-0002)",
    ]
    own = house.call("prompt", "ADR-1").out
    assert in_force(own) == ["User sessions: Redis (ADR-0002)"], "its own is told above"


def test_scopes_are_no_conflict_and_questions_of_other_workflows_are_not_told(
    house: Project,
) -> None:
    for_scope(house, "PostgreSQL", "orders")
    for_scope(house, "MongoDB", "carts")
    assert house.call("note", "--language", "de", "Arzt @14:00").code == 3
    found = house.call("prompt", "--json").json
    assert (found["conflicts"], found["open"]) == ([], [])
    with preflights_es.open(house.folder) as log:
        request = log.request(actor="Ada", kind="user")
        answers = ("change_category=Database", "db_type=MySQL")
        words = [word for answer in answers for word in ("--answer", answer)]
        id_ = house.call("start", "x", *words, "--scope", "the order", "--json").json["session_id"]
        finish_due_documents(request, clarifications_of(request).accept(id_))
    (clash,) = house.call("prompt", "--json").json["conflicts"]
    assert [value for value, _ in clash["values"]] == ["MySQL", "PostgreSQL"]
    assert (
        "\nThe order: Type is MySQL (ADR-0003), PostgreSQL (ADR-0001)\n" in house.call("prompt").out
    )


def test_a_record_of_another_tool_is_in_conflict_with_a_decision(house: Project) -> None:
    record = house.folder / "docs" / "decisions" / "0001-use-mysql-for-carts.md"
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("# Use MySQL for carts\n\n## Status\n\nAccepted\n")
    for_scope(house, "MongoDB", "carts")
    said = house.call("prompt").out
    clash = "Carts: Type is MongoDB (ADR-0002), MySQL (docs/decisions/0001-use-mysql-for-carts.md)"
    assert section(said, "In conflict, ask which one holds") == [clash]
    assert not any("MongoDB" in line for line in in_force(said))
    own = house.call("prompt", "last").out
    assert "* Type: MongoDB" in own
    assert clash in section(own, "In conflict, ask which one holds")[0]
    assert in_force(own) == ["Nothing: ask before you choose a technology."]


def in_force(text: str) -> list[str]:
    """The lines of decisions."""
    return section(text, "In force, do not reconsider")[0].split("\n")


@each("letter", ["word ", "ä", "码", "🛫", "* [a](b) "])
def test_the_brief_stays_short_whatever_the_intention_is(house: Project, letter: str) -> None:
    intention = f"login {letter * 3_900}"[:4_000]
    house.call("start", intention, "--answer", f"auth_strategy={letter * 400}"[:2_000])
    assert len(house.call("prompt", "last").out.encode()) <= BRIEF_BYTES_MAX


def test_a_damaged_session_is_listed_and_hides_no_other(house: Project) -> None:
    house.started_session("Sound")
    broken = house.started_session("Broken")
    change = "UPDATE events SET data = replace(data, 'Broken', 'Mended') WHERE version = 1"
    tampered(house, broken, lambda log, _: log.execute(change))
    shape = house.call("sessions", "--json").json
    assert [s["status"] for s in shape["sessions"]] == ["damaged", "needs_answers"]
    assert "event 1: its payload was changed" in json.dumps(shape)
    assert house.call("sessions", "--status", "damaged").out.count("damaged") >= 1
    reading, changing = ("show", "log", "prompt", "replay"), ("resume", "accept", "abandon")
    for command in (*reading, "admin export", *changing):
        done = house.call(*command.split(), broken)
        assert (done.code, "damaged log" in done.err) == (4, True), done
    assert house.call("answer", broken, "OAuth").code == 4


def test_show_says_what_models_came_to_in_one_sentence(house: Project) -> None:
    id_ = house.started_session("Add OAuth login")
    assert "model was asked" not in house.call("show", id_).out
    house.call("start", "Keep orders safe", "--provider", "sim", "--seed", "7")
    shown = " ".join(house.call("show", "last").out.split())
    assert "its answer was used; the question was asked. 1 call, " in shown
    assert " tokens, " in shown
    assert "model was asked" not in house.call("show", "last", "--json").out


def test_show_and_log_say_why_a_session_is_faulted_without_what_is_secret(house: Project) -> None:
    id_ = house.started_session()
    bug = ("python", str(Path(__file__).parent / "faulting.py"))
    house.run("answer", id_, "OAuth", program=bug)
    for command in ("show", "log"):
        told = " ".join(house.run(command, id_, program=bug).err.split())
        assert "failed at it. Today's code fails, too, with ZeroDivisionError: division by" in told
        assert "\\x1b[31mzero, password=[redacted:" in told
        assert "Today's code decides it" in " ".join(house.call(command, id_).err.split())
