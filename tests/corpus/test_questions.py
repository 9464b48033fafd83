"""Pack `standard.v1` asks well on the four fifths of the corpus that words are written with."""

from __future__ import annotations

from preflights_es.workflows.clarification.index import finder_of
from preflights_es.workflows.clarification.pack import STANDARD
from preflights_es.workflows.clarification.topics import find
from tests.corpus.judging import counted, is_held_out
from tests.corpus.test_corpus import intentions


def test_the_questions_are_worth_answering() -> None:
    held_out = is_held_out()
    counts = counted(one for one in intentions() if one.id not in held_out)
    lines = counts["lines"]
    assert counts["useful"] >= 0.96 * lines, counts
    assert counts["right"] >= 0.92 * lines, counts
    assert counts["choice fits"] >= 0.82 * counts["choice"], counts
    assert counts["irrelevant"] <= 0.01 * lines, counts
    assert counts["asked_again"] == 0, counts


def test_the_language_is_found() -> None:
    held_out = is_held_out()
    wrong = [
        one.id
        for one in intentions()
        if one.id not in held_out and find(one.text, finder_of(STANDARD)).language != one.language
    ]
    assert len(wrong) <= 4, wrong
