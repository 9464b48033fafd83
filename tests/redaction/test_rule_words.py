"""The words that a text must hold for a rule: with them, a search finds what it finds without."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.redaction import labels, places, shapes
from preflights_es.redaction.patterns import (
    compile_pattern,
    find_by_rule,
    find_starts,
    lower_as_matched,
    rules,
    split_rule,
    split_words,
)
from tests.each import each
from tests.redaction.test_redaction import FILED, FRAGMENTS

RULES = (
    *rules(places._PLACES),
    *rules(places._ADDRESSED),
    *rules(places._OPTIONS),
    places._COOKIES,
    places._HEADER,
    places._PAIR,
    shapes._SEED,
    shapes._PHONE,
)
LINES = [line.replace("↵", "\n") for block in FILED.values() for line in block.splitlines()]
DIALLED = ["+49 30 901820", "0049 30 901820", "011 44 20 7946 0958", "%2B4930901820"]
PIECES = st.sampled_from([*LINES, *FRAGMENTS, *DIALLED])
TEXTS = st.lists(PIECES, max_size=6).flatmap(
    lambda pieces: st.sampled_from(["", " ", "\n"]).map(lambda between: between.join(pieces))
)
ODD_CASE = st.sampled_from([str, str.upper, str.title, lambda text: text.replace("s", "\u017f")])


def check_each_rule(text: str) -> None:
    low = lower_as_matched(text)
    for rule in RULES:
        _, pattern, begins = split_rule(rule)
        if begins:
            expected = [match.span() for match in compile_pattern(pattern).finditer(text)]
            assert [match.span() for match in find_by_rule(rule, text, low)] == expected, rule
    found = [*compile_pattern(labels._LABEL).finditer(low)]
    starts = set(find_starts(split_words(labels._LABEL_WORDS), low))
    assert {label.start() for label in found} <= starts
    ways = [way for way in labels.possible_ways(low) if way != labels._FLAG]
    for label in found:
        each_way = any(compile_pattern(way).match(low, label.end()) for way in ways)
        at_once = compile_pattern(labels._any_way()).match(low, label.end()) is not None
        assert at_once == each_way, label.group()


@given(TEXTS, ODD_CASE)
def test_a_rule_finds_what_its_pattern_finds(text: str, spelled: object) -> None:
    assert callable(spelled)
    check_each_rule(spelled(text))


@each("text", LINES)
def test_a_rule_finds_what_its_pattern_finds_in_the_corpus(text: str) -> None:
    check_each_rule(text)
