"""The judgement of raw responses: what is accepted, and why the rest is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import preflights_es
from preflights_es.judging.contract import (
    Accepted,
    Contract,
    OutputValidator,
    Rejected,
    error_of,
    judge,
)
from preflights_es.kernel.errors import LLMError
from tests.each import each
from tests.filed_cases import filed_cases
from tests.judging.judging_large import LARGE

FILED = filed_cases(__file__)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "l": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"],
    "additionalProperties": False,
}
GOOD = {"a": "x"}
NOTES = Contract(name="notes", version=1, schema=SCHEMA, prose="drop", code=False)


def verdict(raw: str) -> Any:
    """The payload, or the name of the exception."""
    try:
        return OutputValidator().validate(raw, SCHEMA)
    except LLMError as error:
        return type(error).__name__


@each(
    ("raw", "error"),
    [
        *FILED["what_is_no_answer_is_refused_by_its_first_fault"],
        ('{"a":' + "9" * 5_000 + "}", "InvalidJSONError"),
        ("[" * 10_000, "InvalidJSONError"),
        ('{"a":' * 300 + "1" + "}" * 300, "InvalidJSONError"),
    ],
)
def test_what_is_no_answer_is_refused_by_its_first_fault(raw: str, error: str) -> None:
    assert verdict(raw) == error


def test_a_contract_may_drop_prose_and_says_what_it_dropped() -> None:
    found = judge('Sure! {"a": "x"} Anything else?', NOTES)
    assert isinstance(found, Accepted)
    assert found.payload == GOOD
    assert "Sure!" in found.prose
    two = judge('{"a": "x"} and {"a": "y"}', NOTES)
    assert isinstance(two, Rejected)


def test_a_violation_names_its_place() -> None:
    found = judge('{"a": "x", "l": ["y", 7]}', NOTES)
    assert isinstance(found, Rejected)
    assert [v.pointer for v in found.violations] == ["/l/1"]
    assert error_of(found).kind == "schema_violation"


@each(
    ("value", "pointer"),
    [
        ({"a": {"b/c": "import os, sys"}}, "/a/b~1c"),
        ({"a": [{"b": "words"}, {"def f(x): return x": 1}]}, "/a/1/def f(x): return x"),
        ({"a": ["words", "rm -rf build/"]}, "/a/1"),
        ({"a": ["one\rtwo\rthree", "words", "x", "rm -rf build/", "y"]}, "/a/3"),
        ({"a": "words", "l": [["def", "f", "(", "x", ")", ":"]]}, "/l/0"),
        ("rm -rf build/", ""),
    ],
)
def test_code_is_named_where_it_stands(value: Any, pointer: str) -> None:
    found = judge(json.dumps(value), Contract(name="any", version=1))
    assert isinstance(found, Rejected)
    assert [v.pointer for v in found.violations] == [pointer]


def test_the_excerpt_of_code_begins_with_it() -> None:
    value = {f"k{i}": "words" for i in range(50)} | {"a": "rm -rf build/"}
    found = judge(json.dumps(value), Contract(name="any", version=1))
    assert isinstance(found, Rejected)
    assert found.excerpt == "rm -rf build/"


def test_an_invalid_schema_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="schema"):
        OutputValidator().validate("{}", {"type": "nonsense"})


@pytest.mark.slow("sizes")
def test_five_megabytes_of_anything_are_judged() -> None:
    every_stage = Contract(name="object", version=1, schema={"type": "object"})
    for name, large in LARGE.items():
        assert isinstance(judge(large(5_000_000), every_stage), Accepted | Rejected), name


def test_every_name_is_exported() -> None:
    for name in preflights_es.__all__:
        assert getattr(preflights_es, name) is not None
