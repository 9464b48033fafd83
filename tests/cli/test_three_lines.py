"""What no topic covers: the three lines of a record, and an answer that there is no decision."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_cli import EXIT_WAITING
from tests.cli.program import Project
from tests.cli.terminal import ANSWER, DECISION, KEY, terminal
from tests.each import each


@pytest.fixture
def open_house(house: Project) -> Project:
    """A repository whose questions are the pack's."""
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    return house


def test_three_lines_make_a_record(open_house: Project) -> None:
    with terminal(open_house, "start", "Make it faster") as t:
        asked = t.expect(DECISION)
        assert "t: it is a task, without a decision." in asked
        assert "1." not in asked
        t.type("?")
        assert "Give the answer in your own words." in t.expect(DECISION)
        t.type("tbd")
        assert "was given a placeholder" in t.expect(DECISION)
        t.type("Cache the pages of the shop")
        t.expect("\nBecause: ")
        t.type("help")
        assert "In your own words; Enter goes on." in t.expect("\nBecause: ")
        t.type("The database is slow")
        t.expect("\nInstead of: ")
        t.type("A bigger server: too expensive; Varnish")
        offered = t.expect(KEY)
        assert "This becomes an architecture decision record:" in offered
        assert "skip" not in offered  # why was asked
        assert "For what?" not in offered
        t.press("a")
        assert "docs/decisions/0001-cache-the-pages-of-the-shop.md" in t.rest()
    shown = open_house.show()
    assert shown["patch"]["fields"] == [["Description", "Cache the pages of the shop"]]
    assert shown["because"] == {"text": "The database is slow", "by": "user"}
    assert [one["name"] for one in shown["alternatives"]] == ["A bigger server", "Varnish"]
    assert open_house.call("replay", "last").code == 0


def test_what_no_topic_covers_is_listed_without_one(open_house: Project) -> None:
    open_house.call("start", "Use Vite for the build", "--accept", "--by", "Ada")
    listed = open_house.call("decisions").out
    assert "Use Vite" in listed
    assert "Other" not in listed
    (row,) = open_house.call("decisions", "--json").json["decisions"]
    assert row["category"] == "Other"


def test_why_says_that_another_answer_named_the_category(open_house: Project) -> None:
    answer = ("--answer", "auth_strategy=Passkeys", "--accept", "--by", "Ada")
    assert open_house.call("start", "Who may come in", *answer).code == 0
    text = open_house.call("why", "last").out
    assert "answer     another answer says it, by a script (Ada)" in text
    assert 'answer     "Passkeys", in own words, by a script (Ada)' in text


@each("key", ["n", "k", "r", "1", "x", "&&"])
def test_a_key_is_no_decision(open_house: Project, key: str) -> None:
    with terminal(open_house, "start", "Make it faster") as t:
        t.expect(DECISION)
        t.type(key)
        said = f"Not taken: {key} is no decision. Say it in your own words."
        assert said in t.expect(DECISION)
        t.type("R")  # a language
        t.proposal()
        t.press("l")
        t.rest()
    assert open_house.show()["patch"]["fields"] == [["Description", "R"]]


def test_what_a_form_says_and_a_reason_that_was_given_are_not_asked(open_house: Project) -> None:
    with terminal(open_house, "start", "Replace Memcached with Redis") as t:
        t.expect("Because: ")
        t.type("")
        assert "Instead of" not in t.expect(KEY)
        t.press("l")
        t.rest()
    with terminal(open_house, "start", "Make it faster", "--because", "It is slow") as t:
        t.expect(DECISION)
        t.type("Cache the pages")
        assert "Because" not in t.expect("\nInstead of: ")
        t.type("")
        t.expect(KEY)
        t.press("l")
        t.rest()


@each(("typed", "names"), [("", ["Moment.js"]), ("-", []), ("Luxon: large", ["Luxon"])])
def test_what_the_intention_replaces_is_passed_by_enter(
    open_house: Project, typed: str, names: list[str]
) -> None:
    with terminal(open_house, "start", "Replace moment.js with something smaller") as t:
        t.expect(DECISION)
        t.type("date-fns")
        t.expect("Because: ")
        t.type("")
        t.expect(r"Instead of \(Moment.js; - for nothing\): ")
        t.type(typed)
        t.expect(KEY)
        t.press("l")
        t.rest()
    assert [one["name"] for one in open_house.show()["alternatives"]] == names


def test_n_or_an_option_dismisses_a_menu_that_is_about_something_else(open_house: Project) -> None:
    with terminal(open_house, "start", "Which queue do we need?") as t:
        t.expect(ANSWER)
        t.type("N")
        t.expect(DECISION)
        t.end()
        t.rest()
    asked = [one["label"] for one in open_house.show()["fields"]]
    assert asked == ["Decision", "Because", "Instead of"]
    assert open_house.call("replay", "last").code == 0
    done = open_house.call("start", "Which queue do we need?", "--no-input")
    assert "Not about this: preflights answer " in done.out
    assert open_house.show()["can_dismiss"]
    shown = open_house.call("answer", "last", "--not-this", "--json").json
    asked = [one["label"] for one in shown["fields"]]
    assert (asked, shown["provenance"]) == (["Decision", "Because", "Instead of"], [])
    again = open_house.call("answer", "last", "--not-this")
    assert (again.code, open_house.show()["can_dismiss"]) == (1, False)
    assert open_house.call("answer", "last", "--not-this", "Kafka").code == 2


@each(("intention", "prompt"), [("Make it faster", DECISION), ("Which queue do we need?", ANSWER)])
def test_t_makes_it_a_task(open_house: Project, intention: str, prompt: str) -> None:
    with terminal(open_house, "start", intention) as t:
        t.expect(prompt)
        t.type("t")
        offered = t.expect(KEY)
        assert "accepting files a task without a decision" in offered
        assert "Because" not in offered
        t.press("a")
        assert "written to docs/tasks/" in t.rest()
    assert (open_house.show()["status"], open_house.show()["kind"]) == ("accepted", "task")


def test_lines_may_stay_empty_and_an_option_may_be_called_as_a_key(open_house: Project) -> None:
    words = ("--question", "Which letter?", "--option", "N", "--option", "T")
    with terminal(open_house, "start", "Name the branch", *words) as t:
        t.expect(ANSWER)
        t.type("t")
        assert "T  (chosen, by a person)" in t.proposal()
        t.press("l")
        t.rest()
    with terminal(open_house, "start", "Make it faster", "--accept") as t:
        t.expect(DECISION)
        t.type("Cache the pages")
        t.expect("\nBecause: ")
        t.type("")
        t.expect("\nInstead of: ")
        t.type("")
        assert "written to docs/decisions/" in t.rest()
        assert t.code() == 0
    assert (open_house.show()["because"], open_house.show()["alternatives"]) == (None, [])


def test_a_script_is_told_the_three_lines(open_house: Project) -> None:
    done = open_house.call("start", "Make it faster", "--no-input")
    assert done.code == EXIT_WAITING
    assert "What should be decided?  (Decision, description)\n" in done.out
    assert "  Because: may stay empty; --because TEXT\n" in done.out
    assert '  Instead of: may stay empty; --alternative "NAME: WHY NOT"\n' in done.out
    shape = open_house.call("start", "Make it faster", "--json").json
    assert [(one["key"], one["required"], one["how"]) for one in shape["fields"]] == [
        ("description", True, "--answer description=TEXT"),
        ("because", False, "--because TEXT"),
        ("alternatives", False, '--alternative "NAME: WHY NOT"'),
    ]
    given = ("--answer", "description=Cache", "--because", "Slow", "--alternative", "Wait: no")
    whole = open_house.call("start", "Make it faster", *given, "--accept", "--by", "Ada", "--json")
    assert (whole.json["status"], whole.json["kind"], whole.json["fields"]) == (
        "accepted",
        "adr",
        [],
    )
    text = (open_house.folder / Path(whole.json["artifacts"][0])).read_text()
    assert "because: Slow" in text
    local = open_house.call(
        "start", "Make it faster", "--answer", "description=Wait", "--as-task", "--json"
    )
    assert local.json["kind"] == "task"


def test_a_decision_in_own_words_has_no_topic_in_why(open_house: Project) -> None:
    own = ("--answer", "description=Two colours only", "--accept", "--by", "Ada")
    assert open_house.call("start", "Make the shop calmer", *own).code == 0
    text = open_house.call("why", "Decision").out
    assert (text.splitlines()[0], "Other" in text) == ("Decision: Two colours only", False)


def test_a_menu_has_no_such_lines_and_a_call_for_help_names_both_keys(open_house: Project) -> None:
    assert open_house.call("start", "Which queue do we need?", "--json").json["fields"] == []
    with terminal(open_house, "start", "Which queue do we need?") as t:
        t.expect(ANSWER)
        t.type("?")
        told = " ".join(t.expect(ANSWER).split())
        assert "a number from 1 to 4" in told
        assert "n: it is not about this. t: it is a task" in told
        t.end()
        t.rest()
