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
    telling_words,
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
    shapes.SEED,
    shapes.PHONE,
)
LINES = [line.replace("↵", "\n") for block in FILED.values() for line in block.splitlines()]
DIALLED = ["+49 30 901820", "0049 30 901820", "011 44 20 7946 0958", "%2B4930901820"]
PIECES = st.sampled_from([*LINES, *FRAGMENTS, *DIALLED])
TEXTS = st.lists(PIECES, max_size=6).flatmap(
    lambda pieces: st.sampled_from(["", " ", "\n"]).map(lambda between: between.join(pieces))
)
ODD_CASE = st.sampled_from([str, str.upper, str.title, lambda text: text.replace("s", "\u017f")])


PROSE = "\n" + "We looked at it again, and nothing more is to be said of that.\n" * 9
"""With it, a text is long: only its words that may tell of a secret are searched."""


def check_each_rule(text: str) -> None:
    for rule in RULES:
        expected = [match.span() for match in compile_pattern(split_rule(rule)[1]).finditer(text)]
        assert [match.span() for match in find_by_rule(rule, text)] == expected, rule
    for table in (shapes._KEYS, shapes._TOKENS):
        pattern = compile_pattern(f"{shapes._RUN}(?:{'|'.join(rules(table))})")
        assert bool(pattern.search(text)) == bool(pattern.search(telling_words(text)))
    low = lower_as_matched(text)
    found = [*compile_pattern(labels._LABEL).finditer(low)]
    starts = set(find_starts(split_words(labels.LABEL_WORDS), text))
    assert {label.start() for label in found} <= starts
    for label in found:
        each_way = [w for w in labels._split_ways() if compile_pattern(w).match(low, label.end())]
        assert labels.ways_from(low, label) == each_way, label.group()


@given(TEXTS, ODD_CASE)
def test_a_rule_finds_what_its_pattern_finds(text: str, spelled: object) -> None:
    assert callable(spelled)
    for one in (text, text + PROSE):
        check_each_rule(spelled(one))


@each("text", LINES)
def test_a_rule_finds_what_its_pattern_finds_in_the_corpus(text: str) -> None:
    for one in (text, PROSE + text):
        check_each_rule(one)
