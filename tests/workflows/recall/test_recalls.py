"""The reference finds the right decision: 40 labelled questions over 200 decisions."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from preflights_es.core.decision_record import Decided
from preflights_es.core.projection_ports import TERMS_MAX
from preflights_es.projections.memory import weighed
from preflights_es.workflows.recall import rules
from preflights_es.workflows.recall.values import QUERIES_MAX, RESULTS_MAX, WORDS_MAX, Match
from tests.workflows.recall.crowded import CROWDED, QUESTIONS
from tests.workflows.recall.recalls import DECISIONS, PLAIN, RECALLS, Case

FIRST: int = 3
AT_LEAST: int = 38


def rows(number: int, case: Case, superseded_at: int | None = None) -> list[dict[str, Any]]:
    """The rows of the projection `memory` for a decision."""
    decided = Decided(
        version=3,
        uid=f"{number:012d}",
        title=f"Use {case.value}",
        category=case.category,
        fields=((case.field, case.value),),
        origins=(),
        standing="accepted",
        kind="adr",
        number=None,
        proposed_at=0,
    )
    return [
        {
            "session_id": f"s{number}",
            "version": 3,
            "term": term,
            "weight": weight,
            "uid": decided.uid,
            "accepted_at": number,
            "superseded_at": superseded_at,
        }
        for term, weight in weighed(decided, case.intention)
    ]


ROWS = [row for number, case in enumerate(DECISIONS) for row in rows(number, case)]


def recalled(question: str, *, everything: bool = False, held: list[Any] = ROWS) -> list[Match]:
    words = rules.wanted(question, rules.rewritten(question))
    return rules.ranked(held, words, everything=everything)


def value_of(match: Match) -> str:
    return DECISIONS[int(match.uid)].value


def test_the_table_has_40_questions_and_200_decisions() -> None:
    assert (len(RECALLS), len(DECISIONS)) == (40, 200)


@pytest.mark.parametrize(("asked", "at_least"), [(RECALLS, AT_LEAST), (PLAIN, 122)])
def test_the_right_decision_is_among_the_first_three(
    asked: tuple[tuple[str, str], ...], at_least: int
) -> None:
    missed = [
        (question, [value_of(one) for one in recalled(question)[:FIRST]])
        for question, value in asked
        if value not in map(value_of, recalled(question)[:FIRST])
    ]
    assert len(asked) - len(missed) >= at_least, missed


def test_a_compound_belongs_to_its_first_and_last_part() -> None:
    english = rules.rewritten("Datenbankmigrationen")[1].split()
    assert {"database", "schema"} <= set(english)
    assert rules.rewritten("framework") == ("framework",)


def test_the_words_of_a_question_choose_between_decisions_of_one_topic() -> None:
    held = [row for number, case in enumerate(CROWDED) for row in rows(number, case)]
    ranks = []
    for question, values in QUESTIONS:
        found = [CROWDED[int(one.uid)].value for one in recalled(question, held=held)]
        ranks.append(min((found.index(one) for one in values if one in found), default=RESULTS_MAX))
    assert len(ranks) == 80
    assert sum(rank < FIRST for rank in ranks) >= 64
    assert sum(rank == 0 for rank in ranks) >= 45


@pytest.mark.parametrize("question", [question for question, _ in RECALLS])
def test_a_question_becomes_few_queries_of_few_words(question: str) -> None:
    queries = rules.rewritten(question)
    assert 1 <= len(queries) <= QUERIES_MAX
    assert all(1 <= len(query.split()) <= WORDS_MAX for query in queries)
    assert len(rules.wanted(question, queries)) <= TERMS_MAX


def test_a_word_counts_by_its_place() -> None:
    places = [
        Case("Alpha", "Alpha", "falcon", "alpha"),
        Case("falcon", "Alpha", "alpha", "alpha"),
        Case("Alpha", "falcon", "alpha", "alpha"),
        Case("Alpha", "Alpha", "alpha", "falcon"),
    ]
    held = [row for number, case in enumerate(reversed(places)) for row in rows(number, case)]
    assert [one.uid[-1] for one in recalled("falcon", held=held)] == ["3", "2", "1", "0"]


def test_the_newer_comes_first_and_then_the_uid() -> None:
    case = Case("Alpha", "Alpha", "falcon", "alpha")
    held = [row for number in (1, 3, 2) for row in rows(number, case)]
    assert [one.uid[-1] for one in recalled("falcon", held=held)] == ["3", "2", "1"]
    same = [{**row, "accepted_at": 7} for row in held]
    assert [one.uid[-1] for one in recalled("falcon", held=same)] == ["1", "2", "3"]


def test_superseded_decisions_are_left_out_unless_all_are_asked_for() -> None:
    held = rows(1, Case("Alpha", "Alpha", "falcon", "alpha"), superseded_at=9)
    assert recalled("falcon", held=held) == []
    assert len(recalled("falcon", held=held, everything=True)) == 1


def test_a_word_of_the_question_counts_more() -> None:
    held = [*rows(1, Case("A", "A", "login", "a")), *rows(2, Case("A", "A", "registration", "a"))]
    assert [(one.uid[-1], one.score) for one in recalled("login", held=held)] == [
        ("1", round(24 * (1 + log(2)))),
        ("2", round(16 * (1 + log(2)))),
    ]


def test_a_rare_word_says_more_than_a_common_one() -> None:
    held = [row for n in range(6) for row in rows(n, Case("A", "A", f"shop {n}", "shop"))]
    held += rows(7, Case("A", "A", "c", "falcon"))
    assert recalled("shop falcon", held=held)[0].uid == f"{7:012d}"
