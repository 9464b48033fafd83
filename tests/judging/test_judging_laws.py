"""What holds for a judgement whatever the response is."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from itertools import pairwise
from types import FrameType
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from preflights_es.judging.contract import (
    Accepted,
    Contract,
    OutputValidator,
    Rejected,
    judge,
    read_language_tables,
    rule_of,
)
from preflights_es.kernel.errors import LLMError
from preflights_es.kernel.text import escaped_text
from tests.each import each
from tests.judging.judging_corpus import code, prose
from tests.judging.judging_large import LARGE

OBJECT = Contract(name="object", version=1, schema={"type": "object"})
NOTES = Contract(
    name="notes",
    version=1,
    schema={"type": "object", "properties": {"a": {}, "b": {"type": "object"}}},
    prose="drop",
    unknown="drop",
    failure=False,
    code=False,
)
CONTRACTS = (OBJECT, NOTES, Contract(name="anything", version=1))
# Pieces of which damaged responses are made, and texts that look like them.
PIECES = st.sampled_from(
    [
        *('{"a":', '"x"', "{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "\\ud800", "'", "1", "-"),
        *("1e999", "NaN", "true", "null", "```", "```json\n", "~~~", "<think>", "</think>", "//"),
        *(" ", "\n", "\ufeff", "\u200b", "\x00", "\ud800", "so", "def f(x):", "SELECT ", "=>", "@"),
        *('{"error":"missing_information"}', '{"a":"x"}', '"b"', '{"a":1,"a":2}', "9" * 5_000),
    ]
)
RESPONSES = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=100),
    st.lists(PIECES, max_size=30).map("".join),
)
TEXTS = st.text(st.sampled_from('ab{}[]":,\\ \n`~<>é1'), max_size=8)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)


@given(RESPONSES)
def test_every_text_is_accepted_or_rejected_and_always_the_same(raw: str) -> None:
    for contract in CONTRACTS:
        found = judge(raw, contract)
        assert isinstance(found, Accepted | Rejected)
        assert found == judge(raw, contract)


@given(RESPONSES)
def test_a_rejection_says_why_on_one_safe_line(raw: str) -> None:
    for contract in CONTRACTS:
        found = judge(raw, contract)
        if isinstance(found, Rejected):
            assert found.violations or found.kind in ("missing_information", "invalid_request")
            for said in (found.message, found.excerpt):
                assert escaped_text(said) == said


@given(RESPONSES, st.sampled_from([True, False, {"type": "object"}, {"required": ["a"]}]))
def test_a_validator_raises_errors_of_its_taxonomy_alone(raw: str, schema: Any) -> None:
    with suppress(LLMError):
        OutputValidator().validate(raw, schema)


@given(OBJECTS, st.sampled_from([None, 1]))
@example({}, None)
def test_an_accepted_object_is_so_in_a_fence(value: dict[str, Any], indent: int | None) -> None:
    raw = json.dumps(value, indent=indent)
    for contract in CONTRACTS:
        plain = judge(raw, contract)
        for wrapped in (
            f"```json\n{raw}\n```",
            f"~~~\n{raw}\n~~~\n",
            f"```\n```\n{raw}",
            f"```{raw}```",
        ):
            found = judge(wrapped, contract)
            assert isinstance(found, Accepted) == isinstance(plain, Accepted)
            if isinstance(plain, Accepted) and isinstance(found, Accepted):
                assert found.payload == plain.payload


@given(OBJECTS, st.sampled_from(["{}", "```json\n{}\n```", "\n{}\n"]), st.booleans())
def test_a_cut_response_is_never_taken_for_another_answer(
    value: dict[str, Any], wrapping: str, ascii_only: bool
) -> None:
    raw = wrapping.replace("{}", json.dumps(value, ensure_ascii=ascii_only))
    for at in range(len(raw)):
        for cut in (raw[:at], raw[at:]):
            found = judge(cut, OBJECT)
            assert isinstance(found, Rejected) or found.payload == value


@given(OBJECTS)
def test_what_a_contract_drops_it_names(value: dict[str, Any]) -> None:
    found = judge(json.dumps(value), NOTES)
    if isinstance(found, Accepted):
        assert set(found.payload) == set(value) & {"a", "b"}
        assert len(found.dropped) == len(value) - len(found.payload)


RULES = [
    (language, rule_of(row))
    for behind in read_language_tables()[:4]
    for language, row in dict.fromkeys(pair for rows in behind.values() for pair in rows)
]


def test_a_needle_never_hides_what_a_rule_matches() -> None:
    assert len(RULES) > 200
    payloads = (case.verdicts[1] for case in (*code.CASES, *prose.CASES))
    texts = [text for value in payloads if isinstance(value, dict) for text in _texts(value)]
    whole = "\x7f\n".join((*texts, *map(" ".join, pairwise(texts))))
    for language, rule in RULES:
        for found in rule.pattern.finditer(whole):
            look = whole[found.start() : found.end() + 200]
            missing = [group for group in rule.needles if not any(n in look for n in group)]
            assert not missing, (language, rule.pattern.pattern, found.group())


def _texts(value: dict[str, Any]) -> list[str]:
    found = [text for text in value.values() if isinstance(text, str)]
    return [*found, "\n".join(value.get("l", ()))]


@each("name", LARGE)
def test_twice_the_response_is_at_most_twice_the_work(name: str) -> None:
    once, twice = (_calls(LARGE[name](length)) for length in (20_000, 40_000))
    assert twice <= 2.2 * once + 100


def _calls(raw: str) -> int:
    """How many calls a judgement makes, of Python and of C."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    judge("{}", OBJECT)  # imports and compiles
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        judge(raw, OBJECT)
    finally:
        sys.setprofile(before)
    return count
