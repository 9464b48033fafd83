"""Items that are told apart by their type: a violation is that of the kind that was meant.

What is dropped does not depend on the way that finds it.
"""

from __future__ import annotations

import copy
import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from preflights_es.features.clarification.domain.contracts import CLARIFY, DECIDE
from preflights_es.features.extraction.domain.contracts import EXTRACTION
from preflights_es.judging import schema
from preflights_es.judging.contract import Accepted, Contract, Rejected, judge
from tests.each import each


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1)]


class Task(Item):
    type: Literal["task"]
    minutes: Annotated[int, Field(ge=1, le=480)]


class Event(Item):
    type: Literal["event"]
    start_time: Annotated[str, Field(pattern="^[0-2][0-9]:[0-5][0-9]$")]


class Items(BaseModel):
    model_config = ConfigDict(extra="forbid")

    items: list[Annotated[Task | Event, Field(discriminator="type")]]


TASK = {"type": "task", "title": "x", "minutes": 5}
EVENT = {"type": "event", "title": "x", "start_time": "09:30"}
ITEMS = Contract(name="items", version=1, model=Items)


@each(
    ("item", "violations"),
    [
        ({"type": "task", "title": "x"}, [("/items/1/minutes", "is required")]),
        ({**TASK, "minutes": 0}, [("/items/1/minutes", "must be at least 1")]),
        ({**TASK, "minutes": "5"}, [("/items/1/minutes", "must be integer, not string")]),
        ({**TASK, "more": 1}, [("/items/1/more", "is not a property that is known here")]),
        ({**EVENT, "minutes": 5}, [("/items/1/minutes", "is not a property that is known here")]),
        (
            {**EVENT, "title": "", "start_time": "9"},
            [
                ("/items/1/start_time", 'must match the pattern "^[0-2][0-9]:[0-5][0-9]$"'),
                ("/items/1/title", "must have at least 1 characters"),
            ],
        ),
        ({**TASK, "type": "idea"}, [("/items/1/type", 'must be one of "task", "event"')]),
        ({"title": "x"}, [("/items/1/type", "is required")]),
        ("x", [("/items/1", "must be object, not string")]),
    ],
)
def test_a_violation_is_of_the_kind_meant(item: Any, violations: list[tuple[str, str]]) -> None:
    found = judge(json.dumps({"items": [TASK, item]}), ITEMS)
    assert isinstance(found, Rejected)
    assert [(v.pointer, v.message) for v in found.violations] == violations


def test_an_unknown_property_is_dropped_from_the_kind_it_is_in() -> None:
    tolerant = Contract(name="items", version=1, model=Items, unknown="drop")
    raw = json.dumps({"items": [{**TASK, "start_time": "09:30"}, {**EVENT, "more": 1}], "n": 2})
    found = judge(raw, tolerant)
    assert isinstance(found, Accepted)
    assert found.payload == {"items": [TASK, EVENT]}
    assert found.dropped == ("/items/0/start_time", "/items/1/more", "/n")


# Dropping ------------------------------------------------------------------------------------


NAMES = st.sampled_from(
    ("type", "title", "confidence", "items", "question", "field", "own", "slug", "x", "options")
)
LEAVES = st.sampled_from(("task", "event", "idea", "A title", 0.5, 1, None, True))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5)
)


@pytest.mark.parametrize("contract", [CLARIFY, DECIDE, EXTRACTION], ids=lambda c: c.id)
@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_what_is_dropped_is_so_on_any_way(contract: Contract, value: dict[str, Any]) -> None:
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
