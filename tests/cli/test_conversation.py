"""The conversation at a keyboard: what is asked, what is taken, and how it ends."""

from __future__ import annotations

import ast
import json
import re
import sys
from subprocess import PIPE, Popen

import pytest

from preflights_cli.german import GERMAN
from tests.cli.program import Project
from tests.cli.terminal import (
    AGAIN,
    ANSWER,
    BECAUSE,
    DECISION,
    INSTEAD,
    KEY,
    OWN_WORDS,
    SIZE,
    terminal,
)
from tests.each import each
from tests.markdown import ROOT
from tests.providers import server
from tests.providers.server import FakeAPI
from tests.scripted import asks

CLARIFY = asks("Database", "Which one?", "SQLite", "MySQL")


def test_an_option_is_chosen_by_its_number_and_accepted_by_one_key(house: Project) -> None:
    with terminal(house, "start", "Add OAuth login") as t:
        asked = t.expect(ANSWER)
        assert "This is about Authentication, as the intention says." in asked
        assert "approach?  (Strategy, auth_strategy)\n  1. OAuth\n  2. Email/Password\n" in asked
        t.type("1")
        offered = t.proposal()
        assert "This becomes an architecture decision record:" in offered
        assert "Strategy  OAuth  (chosen, by a person)" in offered
        t.press("a")
        assert "written to docs/decisions/0001-use-oauth-for-authentication.md" in t.rest()
        assert t.code() == 0
    shown = house.show()
    assert (shown["status"], shown["provenance"][1]["by"]) == ("accepted", "user")
    assert 'decision-makers: ["Ada"]' in (house.folder / shown["artifacts"][0]).read_text()
    assert house.call("replay", "last").code == 0


def test_an_enter_that_came_among_single_keys_ends_the_line() -> None:
    code = "from preflights_cli.dialogue import read_line_behind as read; print(read('r'))"
    with Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b" 1\r")
        child.stdin.flush()
        assert child.stdout.read() == b"rr 1\n"


def test_every_slip_is_asked_again_and_nothing_is_lost(house: Project) -> None:
    with terminal(house, "start", "Make it nicer") as t:
        assert "is this?  (Category, change_category)\n  1. Frontend\n" in t.expect(ANSWER)
        for beyond in ("0", "7", "99999"):
            t.type(beyond)
            assert f"There is no option {beyond}: give 1 to 6" in t.expect(ANSWER)
        t.type("tbd")
        assert "'change_category' was given a placeholder" in t.expect(ANSWER)
        t.type("x" * 2_001)
        assert "has 2,001 characters, at most 2,000 are taken" in t.expect(ANSWER)
        t.type("a\x1b[31mred\x07")
        assert "holds the control character U+001B" in t.expect(ANSWER)
        t.type(b"\x00b")
        assert "holds the control character U+0000" in t.expect(ANSWER)
        t.type(b"\xff\xfe")
        assert "not valid Unicode" in t.expect(ANSWER)
        t.type("Gardening")  # a label that is no category leads to the free text
        t.expect(DECISION)
        t.type("Rounder corners")
        assert "This becomes an architecture decision record:" in t.proposal()
        t.press("l")
        assert f"preflights resume {house.show()['session_id'][-8:]}" in t.rest()
        assert t.code() == 3


def test_other_asks_for_its_text_at_once_however_it_is_chosen(house: Project) -> None:
    with terminal(house, "start", "Add a database", "--accept") as t:
        t.expect(ANSWER)
        t.type("4")
        t.expect(OWN_WORDS)
        t.type("")
        t.expect(OWN_WORDS)
        t.type("n/a")
        assert "was given a placeholder" in t.expect(ANSWER)
        t.type("other (SPECIFY)")
        t.expect(OWN_WORDS)
        t.type("CockroachDB")
        t.expect(BECAUSE)
        t.type("")
        t.expect(INSTEAD)
        t.type("")
        assert "Type      CockroachDB  (in own words, by a person)" in t.rest()
        assert t.code() == 0
    patch = house.show()["patch"]
    assert patch == {"category": "Database", "fields": [["Type", "CockroachDB"]]}


def test_the_category_can_be_revised_before_it_is_accepted(house: Project) -> None:
    with terminal(house, "start", "Rebuild the login page") as t:
        t.expect(ANSWER)
        t.type("magic link")
        t.proposal()
        t.press("r")
        assert "Which answer?\n  1. Category\n  2. Strategy\n" in t.expect(AGAIN)
        t.type("9")
        assert "Give 1 to 2." in t.expect(AGAIN)
        t.type("category")
        assert "What type of change is this?" in t.expect(ANSWER)
        t.type("1")
        assert "Which framework?" in t.expect(ANSWER)
        t.type("Svelte")
        offered = t.proposal()
        assert "Category   Frontend  (chosen, by a person)\n  Framework  Svelte" in offered
        assert "Strategy" not in offered  # the former category's answer is history
        t.press("r")
        t.expect(AGAIN)
        t.type("")  # the last one
        assert "Which framework?" in t.expect(ANSWER)
        t.type("2")
        t.proposal()
        t.press("A")
        assert "written to docs/decisions/" in t.rest()
        assert t.code() == 0
    assert house.show()["patch"] == {"category": "Frontend", "fields": [["Framework", "Vue"]]}


@pytest.mark.slow("kills")
def test_a_model_at_work_is_shown_and_control_c_leaves_it(house: Project) -> None:
    with FakeAPI() as api:
        slow = server.slow(server.text("no JSON"), 20)
        api.script(slow, server.slow(server.text(json.dumps(CLARIFY)), 1.5))
        env = {"OPENAI_API_KEY": "sk-not-a-real-key"}
        who = ("--provider", "openai", "--model", "gpt-test", "--base-url", api.openai)
        with terminal(house, "start", "Keep orders", *who, env=env) as t:
            t.expect("asking openai gpt-test ... 1 s")
            t.interrupt()
            said = t.rest()
            id_ = house.show()["session_id"][-8:]
            assert said.endswith(f"Saved. Go on with: preflights resume {id_}\n")
            assert t.code() == 130
        with terminal(house, "resume", "--base-url", api.openai, env=env) as t:
            asked = t.expect(ANSWER)
            assert "asking openai gpt-test ... 0 s" in asked
            line = asked.partition("Which one?")[0].rpartition("\n")[2].rpartition("s\r")[2]
            assert line.strip() == ""  # the line is taken away
            t.interrupt()
            assert t.code() == 130


def test_control_c_saves_and_says_how_to_go_on(house: Project) -> None:
    with terminal(house, "start", "Add login", starts=True) as t:
        t.expect(ANSWER)
        t.interrupt()
        id_ = house.show()["session_id"][-8:]
        assert t.rest().endswith(f"Saved. Go on with: preflights resume {id_}\n")
        assert t.code() == 130
    with terminal(house, "resume") as t:
        assert "Add login\n" in t.expect(ANSWER)
        t.type("3")
        t.expect(BECAUSE)
        t.interrupt()
        assert t.code() == 130
    with terminal(house, "resume", id_) as t:
        said = t.expect(BECAUSE)
        assert "Add login\n  Category  Authentication" in said
        assert "Strategy  Magic Link" in said
        t.type("")
        t.proposal()
        t.press("a")
        assert t.code() == 0


def test_the_end_of_the_input_saves_and_waits(house: Project) -> None:
    with terminal(house, "start", "Add login") as t:
        t.expect(ANSWER)
        t.end()
        assert "Saved. Go on with: preflights resume" in t.rest()
        assert t.code() == 3
    with terminal(house, "resume") as t:
        t.expect(ANSWER)
        t.type("4")
        t.expect(OWN_WORDS)
        t.end()
        assert t.code() == 3
    assert house.show()["status"] == "needs_answers"
    with terminal(house, "resume") as t:
        t.expect(ANSWER)
        t.type("1")
        t.proposal()
        t.press("\x04")
        assert t.code() == 3
    assert house.show()["status"] == "ready"


def test_keys_that_mean_nothing_are_asked_again_and_one_with_enter_is_taken(house: Project) -> None:
    house.call("start", "Add login", "--answer", "auth_strategy=OAuth")
    with terminal(house, "resume") as t:
        t.proposal()
        for keys in ("x", "\x1b[A", "é", "\r", "accept"):
            t.press(keys)
            t.proposal()
        t.press("\x1b")
        assert t.code() == 3
    assert house.show()["status"] == "ready"
    with terminal(house, "start", "Add OAuth login", "--answer", "auth_strategy=OAuth") as t:
        t.proposal()
        t.press("a\r")
        assert "written to docs/decisions" in t.rest()
    assert house.show()["status"] == "accepted"


def test_what_was_pasted_before_the_proposal_was_seen_accepts_nothing(house: Project) -> None:
    with terminal(house, "start", "Tidy up") as t:
        t.expect(ANSWER)
        t.type("Other")
        t.expect(DECISION)
        t.paste("Sort the imports\ra\ra\r")
        t.proposal()
        assert t.is_silent_for(0.5)
        t.press("l")
        assert t.code() == 3
    assert house.show()["status"] == "ready"


@pytest.mark.slow("whole runs")
def test_a_session_that_another_process_ends_meanwhile_ends_here_too(house: Project) -> None:
    with terminal(house, "start", "Add login") as t:
        t.expect(ANSWER)
        house.call("abandon", "last")
        t.type("OAuth")
        seen = t.rest()
        assert "Not taken: session" in seen
        assert "abandoned" in seen
        assert t.code() == 0
    with terminal(house, "resume") as t:
        assert "It is closed." in t.rest()
    with terminal(house, "start", "Add login") as t:
        t.expect(ANSWER)
        house.call("answer", "last", "1")
        t.type("2")
        assert "is answered already" in t.proposal()
        house.call("accept", "last", "--by", "Eve")
        t.press("a")
        assert "is at version" in t.rest()
        assert t.code() == 1
    assert house.show()["patch"]["fields"] == [["Strategy", "OAuth"]]


@each("why", ["The vendor is gone", ""])
def test_a_proposal_is_declined_with_a_reason_that_may_be_empty(house: Project, why: str) -> None:
    with terminal(house, "start", "Add login", "--answer", "auth_strategy=OAuth") as t:
        t.proposal()
        t.press("?")
        told = t.proposal()
        assert "d declines it: the session is abandoned, with your reason." in " ".join(
            told.split()
        )
        assert max(map(len, told.splitlines())) <= SIZE[1]
        t.press("d")
        t.expect(r"Why is it declined\? \(Enter: no reason\) ")
        t.type(why)
        told = t.rest()
        assert "It is closed." in told
        assert ", abandoned, 100 %" in told
        assert t.code() == 0
    assert house.show()["status"] == "abandoned"
    (ended,) = [one["data"] for one in house.events() if one["type"] == "session.abandoned.v1"]
    assert ended.get("reason", "") == why


def test_what_an_agent_proposed_is_declined_in_the_inbox(house: Project) -> None:
    words = ("--answer", "auth_strategy=OAuth", "--accept", "--as", "agent:claude")
    house.call("start", "Add login", *words)
    with terminal(house, "inbox") as t:
        t.expect("one by one")
        t.type("y")
        assert "Because: " not in t.expect(KEY)  # nothing is asked of it
        t.press("d")
        t.expect("no reason")
        t.type("Not now")
        t.rest()
    assert house.show()["status"] == "abandoned"


def test_nothing_is_revised_where_an_empty_line_answers(house: Project) -> None:
    with terminal(house, "start", "Add login", "--answer", "auth_strategy=OAuth") as t:
        t.proposal()
        t.press("r")
        t.expect(AGAIN)
        t.type("2")
        t.expect(ANSWER)
        t.type("")
        assert "Nothing was changed." in t.expect(KEY)
        t.press("l")
        t.rest()


def test_a_strict_stream_and_a_secret_are_asked_again_and_told_once(house: Project) -> None:
    with terminal(house, "start", "Add login, the key is AKIAIOSFODNN7EXAMPLE") as t:
        assert t.expect(ANSWER).count("warning: 1 secret was taken out") == 1
        t.type("tbd")
        assert "warning" not in t.expect(ANSWER)
        t.end()
        assert t.code() == 3
    assert b"AKIAIOSFODNN7EXAMPLE" not in house.recorded()
    with terminal(house, "start", "Add login", env={"PYTHONIOENCODING": "utf-8:strict"}) as t:
        t.expect(ANSWER)
        t.type(b"\xff")
        assert "Not taken: it is no valid text" in t.expect(ANSWER)
        t.type("Magic Link")
        t.proposal()


@pytest.mark.parametrize("command", [("start", "Add login"), ("resume",)])
def test_json_and_no_input_never_ask_even_at_a_terminal(
    house: Project, command: tuple[str, ...]
) -> None:
    house.started_session()
    for option in ("--json", "--no-input"):
        with terminal(house, *command, option) as t:
            assert "\n> " not in t.rest()
            assert t.code() == 3


def test_a_narrow_terminal_still_shows_every_column(house: Project) -> None:
    house.call("start", "Add login " + "and more " * 30)
    with terminal(house, "sessions", size=(20, 40)) as t:
        lines = t.rest().splitlines()
        assert max(map(len, lines)) <= 40
        assert any(line.startswith("…") or line.endswith("…") for line in lines)
        for column in ("clarif", "needs", "Add"):
            assert column in "".join(lines[3:6]), lines
    for command, env in (("log", {"PAGER": "cat"}), ("show", {}), ("inbox", {})):
        with terminal(house, command, "-q", size=(20, 80), env=env) as t:
            lines = t.rest().splitlines()
            assert max(map(len, lines)) <= 80
            assert not [line for line in lines if line.rstrip().endswith(("mor", "an"))]
    with terminal(house, "prompt", size=(20, 40)) as t:
        assert max(map(len, t.rest().splitlines())) > 40, "what people copy keeps its lines"
    with terminal(house, "show", "no-such-session", size=(20, 40)) as t:
        assert max(map(len, t.rest().splitlines())) <= 40


def test_a_pager_shows_the_log_at_a_terminal_but_for_an_agent(house: Project) -> None:
    house.call("start", "Add login")
    pager = {"PAGER": "sed s/^/|/"}
    for env, is_paged in ((pager, True), ({**pager, "CLAUDECODE": "1"}, False)):
        with terminal(house, "log", env=env) as t:
            assert ("|1 " in t.rest()) is is_paged


@pytest.mark.slow("whole runs")
def test_colours_are_the_terminals_unless_a_variable_says_otherwise(house: Project) -> None:
    house.call("start", "Add login")
    for command, env, styled in (
        ("sessions", {}, True),
        ("sessions", {"NO_COLOR": "1"}, False),
        ("show", {"TERM": "dumb"}, False),
        ("show", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ):
        with terminal(house, command, env=env) as t:
            t.rest()
            assert ("\x1b[1m" in t.raw) is styled, (command, env)
    for command in ("show", "sessions", "log"):
        assert "\x1b[1m" in house.call(command, env={"FORCE_COLOR": "1"}).out
        assert "\x1b" not in house.call(command).out


def test_a_call_for_help_is_no_answer_and_no_reason(house: Project) -> None:
    with terminal(house, "start", "Add a login") as t:
        t.expect(ANSWER)
        for word in ("?", "help", "Help"):
            t.type(word)
            told = t.expect(ANSWER)
            assert "a number from 1 to" in told
            assert "An empty line leaves it for later." in told
        assert house.show()["provenance"][1:] == []
        t.type("1")
        t.expect(BECAUSE)
        t.type("help")
        assert "In your own words; Enter goes on." in t.expect(BECAUSE)
        t.type("The team knows it")
        assert "because: The team knows it" in t.proposal()
        t.press("l")
        t.rest()


def test_a_dialogue_in_german_is_german_to_its_end(house: Project) -> None:
    env = {"XDG_CONFIG_HOME": str(house.folder / "none")}  # the pack asks, not the reference
    with terminal(house, "start", "Wir brauchen einen Login für den Shop", env=env) as t:
        asked = t.expect("> ")
        assert "Die Absicht nennt das Thema: Anmeldung." in asked
        assert "Wie melden sich die Nutzer an?" in asked
        t.type("?")
        assert "Gib eine Zahl von 1 bis 4 an" in t.expect("> ")
        t.type("1")
        t.expect("\nWeil: ")
        t.type("")
        t.expect("\nStatt: ")
        t.type("")
        offered = t.expect(r"\[l\]assen\? ")
        assert "Daraus wird ein Architekturentscheid (ADR):" in offered
        assert "OAuth  (gewählt, von einer Person)" in offered
        t.press("l")
        assert "Gespeichert. Weiter mit: preflights resume" in t.rest()


def test_every_german_sentence_names_what_the_english_one_does() -> None:
    for english, german in GERMAN.items():
        assert re.findall(r"{\w+}", english) == re.findall(r"{\w+}", german), english
        keys = re.findall(r"\[(\w)\]", english)
        assert sorted(keys) == sorted(re.findall(r"\[(\w)\]", german)), english
        assert english[-1].isalpha() or english[-1] in (german[-1], "\u201d"), english


def test_every_sentence_that_a_dialogue_says_has_a_german_one() -> None:
    said = set[str]()
    for path in (*(ROOT / "cli").rglob("*.py"), *(ROOT / "preflights_es").rglob("*.py")):
        for one in ast.walk(ast.parse(path.read_text())):
            match one:
                case ast.Call(func=ast.Name(id="say"), args=[ast.Constant(value=str(text)), *_]):
                    said.add(text)
    assert len(said) > 20
    assert said <= GERMAN.keys()


def test_a_german_session_has_no_sentence_of_the_english_one(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    told = ""
    for text in ("Wir nehmen Kafka für die Ereignisse", "Wir nehmen NATS für die Ereignisse"):
        with terminal(house, "start", text) as t:
            for line in ("TBD", "es skaliert"):
                told += t.expect("Weil: ")
                t.say(line)
            told += t.expect("Statt: ")
            t.say("RabbitMQ: kennt keiner")
            told += t.expect(r"\[l\]assen\? ")
            t.press("a")
            if "NATS" in text:
                told += t.expect(r"\[l\]assen\? ")
                t.press("r")
            told += t.rest()
    told += house.call("show", "last").out
    told += house.call("start", "Welche Queue für die Mails?", "--no-input").out
    told += house.call("start", "Den Laden ruhiger machen", "--no-input").out
    english = [one for one in GERMAN if not re.search(r"[{}]", one) and len(one) > len("Weil: ")]
    assert [one for one in english if one in told] == []
    assert "angenommen, 100 %" in told
    assert "Sitzungen liegen neben den Dokumenten" in told
    assert not {"Messaging", "Broker"}.intersection(re.findall(r"\w+", told))
    assert "widerspricht: ADR-0001" in told
