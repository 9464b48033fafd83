"""Decisions in force at a terminal: kept, replaced, or for something else; and what `why` says."""

from __future__ import annotations

import pytest

from preflights_cli import EXIT_WAITING
from tests.cli.program import House, Project
from tests.cli.terminal import ANSWER, BECAUSE, KEY, terminal
from tests.each import each

QUESTION = "Which queue for the domain events?"
RECORD = "# 7. Use PostgreSQL for the orders\n\n## Status\n\nAccepted\n\nIt joins.\n"


@pytest.fixture
def kafka(house: House) -> Project:
    """A repository with two decisions in force about events, asked by the pack."""
    house.made(two)
    return house


def two(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    for text in ("Use Kafka because replay matters", "Use PostgreSQL for the domain events"):
        assert house.call("start", text, "--accept", "--by", "Ada").code == 0


def test_a_related_decision_is_kept_with_or_without_its_number(kafka: Project) -> None:
    with terminal(kafka, "start", QUESTION) as t:
        told = t.expect(ANSWER)
        assert "ADR-0001 Use Kafka" in told
        assert "2. related: ADR-0002 Use PostgreSQL for the domain events" in told
        assert "k keeps the first and decides nothing new; r replaces it." in told
        t.type("k 3")
        assert "'3' was not said to be in force here" in t.expect(ANSWER)
        t.type("k 2")
        assert "ADR-0002 is kept" in t.rest()
        assert t.code() == 0
    assert kafka.show()["keeps"]["number"] == 2
    with terminal(kafka, "start", "Where do the domain events live?") as t:
        assert "1. related: ADR-0002" in t.expect("Decision: ")
        t.type("k")
        assert "ADR-0002 is kept" in t.rest()


@pytest.mark.parametrize("key", ["r", "r 2"])
def test_any_of_them_is_replaced_and_not_asked_about_again(kafka: Project, key: str) -> None:
    number = 2 if "2" in key else 1
    with terminal(kafka, "start", QUESTION) as t:
        t.expect(ANSWER)
        t.type(key)
        assert f"ADR-000{number} Use " in t.expect("is replaced once you accept")
        t.expect(ANSWER)
        t.type("R")  # a language, and no key
        assert f"replaces ADR-000{number} Use " in t.proposal()
        t.press("l")
        t.rest()
    with terminal(kafka, "resume") as t:
        assert f"1. related: ADR-000{number}" not in t.proposal()
        t.press("a")
        if number == 2:  # the other is of the same topic
            t.expect(r"\[r\]eplace it")
            t.press("r")
        assert "written to" in t.rest()
    found = kafka.show()
    assert found["provenance"][-1]["value"] == "R"
    assert found["supersedes"]["number"] == number
    assert f"replaced by {found['uid'][-8:]}" in kafka.call("show", f"ADR-{number}").out
    assert kafka.call("replay", "last").code == 0


def test_a_record_of_another_tool_is_replaced(kafka: Project) -> None:
    path = "docs/decisions/0007-move-the-orders.md"
    (kafka.folder / path).write_text(RECORD)
    with terminal(kafka, "start", "Orders: where do they live?") as t:
        assert f"1. related: {path}" in t.expect("Decision: ")
        t.type("r 1")
        t.expect("is replaced once you accept")
        t.expect("Decision: ")
        t.type("In files")
        t.proposal()
        t.press("a")
        t.rest()
    assert "Superseded by" in (kafka.folder / path).read_text()


def test_a_stated_value_costs_two_lines_and_the_proposal(kafka: Project) -> None:
    with terminal(kafka, "start", "Use SQLite for the events archive") as t:
        told = t.expect("Because: ")
        assert "1. related: ADR-0002 Use PostgreSQL" in told
        assert "k keeps it and decides nothing new; r replaces it." in told
        t.say()
        t.expect("Instead of: ")
        t.say()
        assert "k 1 keeps what is in force, r 1 replaces it" in t.expect(KEY)
        t.press("a")
        assert "written to" in t.rest()


@each("prompt", ["Because: ", "Instead of: ", KEY])
def test_every_prompt_takes_the_keys_of_what_is_in_force(kafka: Project, prompt: str) -> None:
    for key in ("r 1", "k 1"):
        with terminal(kafka, "start", "Use NATS") as t:
            told = t.expect("Because: ")
            assert told.count("1. contradicts: ADR-0001 Use Kafka") == 1
            for passed in ("Because: ", "Instead of: ", KEY):
                if prompt == passed:
                    break
                t.say()
                t.expect({"Because: ": "Instead of: "}.get(passed, KEY))
            if prompt == KEY:
                t.press(key[0])
            t.say(key[1:] if prompt == KEY else key)
            if key == "r 1":
                assert "ADR-0001 Use Kafka" in t.expect("is replaced once you accept")
                assert "replaces ADR-0001 Use Kafka" in t.proposal()
                t.press("l")
            told = t.rest()
            assert ("ADR-0001 is kept: Use Kafka" in told) == (key == "k 1")
    assert kafka.show()["keeps"]["number"] == 1


def test_r_and_enter_revises_and_what_options_say_is_not_asked_about(kafka: Project) -> None:
    with terminal(kafka, "start", "Use NATS") as t:
        t.proposal()
        t.press("r")
        t.expect("r")  # a line is read from here on
        t.type("")
        t.expect("Which answer")
        t.end()
        t.proposal()
        t.press("l")
        t.rest()
    for words in (("--supersedes", "ADR-1"), ("--accept", "--exception", "ADR-1")):
        with terminal(kafka, "start", "Use NATS for telemetry", *words) as t:
            assert "ADR-0001 Use Kafka" not in t.expect("Because: ")
            t.end()
            t.rest()


@each("words", [(), ("--because", "Its brokers run already")])
def test_what_says_the_same_ends_it_before_a_reason_is_asked(
    kafka: Project, words: tuple[str, ...]
) -> None:
    with terminal(kafka, "start", "Use Apache Kafka", *words) as t:
        told = t.rest()
        assert "ADR-0001 says the same: Use Kafka for messaging" in told
        assert "Because: " not in told
        again = "To record your reasons, start again with --supersedes"
        id_ = kafka.show("ADR-0001")["session_id"][-8:]
        assert (f"{again} {id_}." in told) == bool(words)
        assert t.code() == 0
    assert kafka.show()["keeps"]["number"] == 1


def test_what_is_recorded_once_more_has_its_reasons(kafka: Project) -> None:
    with terminal(kafka, "start", "Use Kafka", "--accept", "--again") as t:
        t.expect("Because: ")
        t.end()
        t.rest()
    asked = kafka.call("start", "Use Kafka", "--no-input")
    assert "1. says the same: ADR-0001 Use Kafka" in asked.out
    assert "Accepting records nothing new, since ADR-0001 says the same" in asked.out
    again = ("Use Kafka", "--because", "It is cheap", "--supersedes", "ADR-1", "--accept")
    assert kafka.call("start", *again, "--by", "Ada").code == 0
    assert kafka.show()["because"]["text"] == "It is cheap"


def test_several_are_replaced_at_once(kafka: Project) -> None:
    for number, value in ((7, "SQLite"), (8, "MySQL")):
        record = RECORD.replace("7. Use PostgreSQL", f"{number}. Use {value}")
        (kafka.folder / f"docs/decisions/000{number}-move.md").write_text(record)
    with terminal(kafka, "start", "Orders: where do they live?") as t:
        t.expect("Decision: ")
        for key in ("r 1", "r 2"):
            t.type(key)
            t.expect("is replaced once you accept")
            t.expect("Decision: ")
        t.type("In files")
        proposed = t.proposal()
        assert proposed.count("replaces ") == 2
        assert "Will be stopped: SQLite, MySQL, in every file" in proposed, (
            "neither is in force then"
        )
        t.press("a")
        t.rest()
    found = kafka.show()
    assert [one["number"] for one in (found["supersedes"], *found["also_supersedes"])] == [7, 8]


def test_the_keys_are_german_where_the_intention_is(kafka: Project) -> None:
    with terminal(kafka, "start", "Welche Queue brauchen wir für die Bestellungen?") as t:
        told = t.expect("> ")
        assert "1. verwandt: ADR-0001 Use Kafka" in told
        assert "k behält sie, und nichts Neues wird entschieden" in told
        t.type("n")
        t.expect("Entscheidung: ")
        t.type("")  # an empty first line leaves
        assert "Gespeichert." in t.rest()


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


def test_a_record_of_another_tool_is_kept_and_contradicted(kafka: Project) -> None:
    path = "docs/decisions/0007-move-the-orders.md"
    (kafka.folder / path).write_text(RECORD)
    asked = kafka.call("start", "Orders: where do they live?", "--no-input")
    assert f"  In force:\n    1. related: {path} Use PostgreSQL for the orders" in asked.out
    unasked = kafka.call("why", path)
    assert (unasked.code, "has no session" in unasked.err) == (1, True)
    kept = kafka.call("start", "Orders: where do they live?", "--no-input", "--keep-known", path)
    assert (kept.code, "ADR-0007 is kept" in kept.out) == (0, True)
    for typed in (path, "ADR-7", "0007-move-the-orders.md"):
        assert 'again      "Orders: where do they live?"' in kafka.call("why", typed).out
    (record,) = kafka.call("why", path, "--json").json["records"]
    assert (record["path"], len(record["asked_again"])) == (path, 1)

    done = kafka.call("start", "Use MySQL for the orders", "--accept", "--by", "Ada", "--json")
    assert done.code == 0
    (told,) = [line for line in done.err.splitlines() if path in line]
    assert told.startswith(f"both hold now: ADR-0008, and {path} Use PostgreSQL for the orders. ")
    assert done.json["status"] == "accepted"
    anew = ("start", "Use MySQL for the orders", "--accept", "--by", "Ada", "--supersedes")
    kept = kafka.call(*anew, "ADR-0008", "--keep", f"{path}=Old reports need it", "--json")
    assert (kept.json["status"], path in kept.err) == ("accepted", False)


def test_a_record_that_contradicts_an_answer_is_said_before_and_after_the_acceptance(
    kafka: Project,
) -> None:
    path = "docs/decisions/0007-move-the-orders.md"
    (kafka.folder / path).write_text(RECORD)
    with terminal(kafka, "start", "Which database for the orders?") as t:
        assert "contradicts" not in t.expect(ANSWER)
        t.type("MySQL")
        assert f"  1. contradicts: {path}" in t.expect(BECAUSE)
        t.type("")
        assert f"  stays in force beside it: {path}" in t.proposal()
        t.press("a")
        said = " ".join(t.rest().split())
        assert f"both hold now: ADR-0008, and {path} Use PostgreSQL for the orders. " in said
        id_ = kafka.show("last")["session_id"][-8:]
        assert f"--accept --supersedes {id_} --supersedes {path}` replaces both; " in said
        assert f"--accept --supersedes {id_} --keep {path}=REASON` keeps both" in said
        assert t.code() == 0


def test_an_unknown_key_at_the_proposal_is_answered_with_those_that_there_are(
    kafka: Project,
) -> None:
    with terminal(kafka, "start", "Use NATS for the orders") as t:
        t.proposal()
        t.press("x")
        t.expect("The keys are a, r, e, d and l; \\? says what each does.")
        t.press("l")
        assert t.code() == EXIT_WAITING


def test_what_start_calls_a_contradiction_is_one_in_the_brief_and_in_a_check(
    kafka: Project,
) -> None:
    path = "docs/decisions/0008-packages.md"
    title = "# 8. Use pnpm for JavaScript packages"
    (kafka.folder / path).write_text(RECORD.replace(RECORD.splitlines()[0], title))
    begun = kafka.call("start", "Use npm instead of pnpm", "--no-input")
    assert f"1. contradicts: {path}" in begun.out
    done = kafka.call("accept", "last", "--by", "Ada")
    assert f"both hold now: ADR-0009, and {path} " in done.err
    (clash,) = kafka.call("prompt", "--json").json["conflicts"]
    assert clash["values"] == [["npm", "ADR-0009"], ["pnpm", path]]
    assert f"Management, Tool: npm (ADR-0009) and pnpm ({path})" in kafka.call("decisions").out
    checked = kafka.call("check")
    assert (checked.code, "npm (ADR-0009) and pnpm" in checked.out) == (0, True)
    again = ("start", "Use npm instead of pnpm", "--accept", "--by", "Ada")
    kafka.call(*again, "--supersedes", "ADR-9", "--supersedes", path)
    assert (kafka.call("check").code, kafka.call("prompt", "--json").json["conflicts"]) == (0, [])


def test_a_record_that_takes_a_value_back_is_no_contradiction(house: Project) -> None:
    folder = house.folder / "docs/decisions"
    folder.mkdir(parents=True)
    titles = (
        "Invoices in PostgreSQL",
        "Drop MySQL, store invoices in PostgreSQL",
        "PostgreSQL for everything but invoices",
        "Move invoices away from PostgreSQL",
    )
    for number, title in enumerate(titles, 1):
        text = RECORD.replace(RECORD.splitlines()[0], f"# {number}. {title}")
        (folder / f"000{number}-a.md").write_text(text)
    words = ("--answer", "db_type=MySQL", "--accept", "--by", "Ada")
    done = house.call("start", "Store invoices in a database", *words)
    told = [title for title in titles if f"-a.md {title}. " in done.err]
    assert (done.code, told) == (0, [*titles[:2]])


def test_a_contradiction_is_said_before_what_is_stated_is_recorded(kafka: Project) -> None:
    stated = kafka.call("start", "Use NATS", "--no-input")
    assert "1. contradicts: ADR-0001 Use Kafka" in stated.out.partition("stated in the")[0]
    (first, *_) = kafka.show()["known"]
    assert (first["same_place"], first["differs"]) == (True, True)
    settled = kafka.call("start", "Use NATS", "--supersedes", "ADR-1", "--accept", "--by", "Ada")
    assert (settled.code, "contradicts" in settled.out) == (0, False)


def test_what_keeps_a_decision_replaces_none_and_says_so(kafka: Project) -> None:
    before = kafka.newest()
    both = ("start", QUESTION, "--no-input", "--supersedes", "ADR-2", "--keep-known", "1")
    kafka.call(*both).refused(2, "--supersedes would replace nothing: leave --keep-known out")
    assert kafka.newest() == before
    with terminal(kafka, "start", QUESTION, "--supersedes", "ADR-2") as t:
        t.expect(ANSWER)
        t.type("k")
        said = " ".join(t.rest().split())
    assert "ADR-0001 is kept" in said
    assert "Nothing new is recorded, so " in said
    assert "stays in force. To replace it, record a decision" in said
    assert " replaces " not in said
    assert len(kafka.call("decisions", "--json").json["decisions"]) == 2


def test_a_person_keeps_only_what_was_said_first(kafka: Project) -> None:
    before = kafka.newest()
    done = kafka.call("start", QUESTION, "--keep-known", "ADR-9")
    assert (done.code, "'ADR-9' was not said to be in force here: ADR-0001" in done.err) == (
        1,
        True,
    )
    assert kafka.newest() == before
    assert kafka.call("start", QUESTION, "--keep-known", "1", "--by", "Eve").code == 0
    (value, *_) = kafka.call("why", "ADR-1", "--json").json["values"]
    assert value["asked_again"][0]["by"] == {"kind": "user", "name": "Eve"}


def test_a_question_without_a_topic_is_the_title_and_another_scope_is_told(kafka: Project) -> None:
    asked = ("--question", "Do pages live in memory?", "--option", "Yes", "--option", "No")
    kafka.call("start", "Speed up the shop", *asked, "--no-input")
    assert kafka.call("answer", "last", "Yes").code == 3
    assert kafka.show()["title"] == "Do pages live in memory? Yes"
    start = ("start", "Use Redis for the carts", "--no-input", "--scope")
    told = "it is recorded for invoices; the intention says for carts"
    assert told in kafka.call(*start, "invoices").err
    assert "it is recorded" not in kafka.call(*start, "the  carts").err  # the same
