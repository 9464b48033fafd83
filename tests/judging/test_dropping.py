"""Dropping unknown properties: the short way comes to what the long way does."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.clarification.domain.contracts import CLARIFY, DECIDE
from preflights_es.features.extraction.domain.contracts import EXTRACTION
from preflights_es.judging import schema
from preflights_es.judging.contract import Contract
from tests.each import each

NAMES = st.sampled_from(
    ("type", "title", "confidence", "items", "question", "field", "own", "slug", "x", "options")
)
LEAVES = st.sampled_from(("task", "event", "idea", "A title", 0.5, 1, None, True))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5)
)


@pytest.mark.parametrize("contract", [CLARIFY, DECIDE, EXTRACTION], ids=lambda c: c.id)
@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_what_is_dropped_does_not_depend_on_the_way(
    contract: Contract, value: dict[str, Any]
) -> None:
    short, long = copy.deepcopy(value), copy.deepcopy(value)
    named = contract.shape.drop_unknown(short)
    assert named == schema.drop_unknown(contract.shape.schema, long)
    assert short == long


@each(
    "unclear",
    [
        {"type": "object", "properties": {"a": {}}, "patternProperties": {"^b": {}}},
        {"properties": {"a": {"additionalProperties": True, "properties": {"b": {}}}}},
        {"oneOf": [{"properties": {"a": {}}}, {"not": {"required": ["a"]}}]},
        {"properties": []},
    ],
)
def test_a_schema_that_is_unclear_has_no_short_way(unclear: dict[str, Any]) -> None:
    assert schema.closed(unclear) is None


def test_names_of_properties_are_no_words_of_a_schema() -> None:
    asked = {"type": "object", "properties": {"if": {"type": "string"}, "not": {}}}
    assert schema.closed(asked) == {**asked, "additionalProperties": False}
