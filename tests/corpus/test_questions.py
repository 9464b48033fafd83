"""Pack `standard.v2` asks well on the four fifths of the corpus that words are written with."""

from __future__ import annotations

from itertools import product
from typing import Final

from preflights_es.core.views import Language
from preflights_es.workflows.clarification.index import finder_of
from preflights_es.workflows.clarification.pack import STANDARD, worded
from preflights_es.workflows.clarification.topics import find
from tests.corpus.judging import counted, is_held_out
from tests.corpus.test_corpus import intentions

LANGUAGES: Final[tuple[Language, ...]] = ("en", "de")


def test_the_questions_are_worth_answering() -> None:
    held_out = is_held_out()
    counts = counted(one for one in intentions() if one.id not in held_out)
    lines = counts["lines"]
    assert counts["useful"] >= 0.95 * lines, counts
    assert counts["right"] >= 0.92 * lines, counts
    assert counts["choice fits"] >= 0.82 * counts["choice"], counts
    assert counts["irrelevant"] <= 0.01 * lines, counts
    assert counts["asked_again"] == 0, counts


def test_the_title_of_a_decision_is_not_asked_for() -> None:
    """What a record says is said: neither in English nor in German is its topic asked about."""
    asked, count = [], 0
    for topic in worded(STANDARD).topics:
        for value, language in product((*topic.options, *topic.values), LANGUAGES):
            title = topic.title(topic.said(value, language), language)
            seen = find(title, finder_of(STANDARD))
            if seen.kind == "choice" and seen.topics[0] == topic.id:
                asked.append(title)
            count += 1
    # The rest are values that are everyday words, such as "age", "Cloud" and "API keys".
    assert len(asked) <= 0.01 * count, asked


def test_the_language_is_found() -> None:
    held_out = is_held_out()
    wrong = [
        one.id
        for one in intentions()
        if one.id not in held_out and find(one.text, finder_of(STANDARD)).language != one.language
    ]
    assert len(wrong) <= 4, wrong
