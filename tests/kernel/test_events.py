"""What an event may hold, written by any program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest
from msgspec.inspect import IntType, Type

from preflights_es.features.clarification.domain.events import DecisionSuperseded
from preflights_es.kernel.artifacts import ARTIFACT_EVENTS
from preflights_es.kernel.completions import COMPLETION_EVENTS, CompletionReceived
from preflights_es.kernel.events import INT_MAX, NUMBER_MAX, SESSION_EVENTS, Actor, Event, Input
from preflights_es.kernel.json import encoded, repeated
from preflights_es.runtime.registry import WORKFLOWS
from tests.each import each

EVERY: Final = dict.fromkeys(
    (
        *(*SESSION_EVENTS, *COMPLETION_EVENTS, *ARTIFACT_EVENTS),
        *(event for workflow in WORKFLOWS.values() for event in workflow.events),
    )
)


def whole_numbers(info: Any) -> Iterator[IntType]:
    """Every whole number that a type may hold, however deep."""
    if isinstance(info, IntType):
        yield info
    elif isinstance(info, msgspec.inspect.StructType):
        for field in info.fields:
            yield from whole_numbers(field.type)
    elif isinstance(info, (Type, tuple)):
        parts = (
            info if isinstance(info, tuple) else [getattr(info, n) for n in info.__struct_fields__]
        )
        for part in parts:
            if isinstance(part, (Type, tuple)):
                yield from whole_numbers(part)


@each("event", [*EVERY])
def test_no_whole_number_of_an_event_is_larger_than_a_database_keeps(event: type[Any]) -> None:
    for found in whole_numbers(msgspec.inspect.type_info(event)):
        assert found.ge is not None
        assert found.le is not None
        assert -INT_MAX - 1 <= found.ge < found.le <= INT_MAX


def test_the_numbers_of_parts_are_looked_at_as_well() -> None:
    def names(event: type[Event]) -> int:
        return len(list(whole_numbers(msgspec.inspect.type_info(event))))

    assert names(CompletionReceived) == 4
    assert names(DecisionSuperseded) == 2, "its time, and the number of the other record"
    assert NUMBER_MAX < INT_MAX, "another one behind the last still fits a column"


def received(**fields: Any) -> bytes:
    """A response as JSON, with fields of any value."""
    made = CompletionReceived(at=1, actor=Actor("script"), call="c", text="x")
    return encoded({**msgspec.to_builtins(made), **fields})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("at", 2**63),
        ("at", -(2**63) - 1),
        ("input_tokens", 2**63),
        ("output_tokens", -1),
        ("latency_ms", 2**63),
    ],
)
def test_a_number_out_of_range_is_refused(field: str, value: int) -> None:
    decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(CompletionReceived)
    with pytest.raises(msgspec.ValidationError, match=field):
        decoder.decode(received(**{field: value}))


@pytest.mark.parametrize(
    ("field", "value"),
    [("at", 2**63 - 1), ("at", -(2**63)), ("latency_ms", -1), ("input_tokens", 0)],
)
def test_a_number_that_may_have_been_recorded_is_read(field: str, value: int) -> None:
    decoder = msgspec.json.Decoder(CompletionReceived)
    event = decoder.decode(received(**{field: value}))
    assert getattr(event, field) == value
    assert encoded(event) == received(**{field: value})


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'{"a":1,"b":{"a":2}}', None),
        (b'[{"a":1},{"a":2}]', None),
        (b'{"a":1,"a":1}', '"a"'),
        (b'{"a":1,"\\u0061":2}', '"a"'),
        (b'{"a":[{"b":1,"c":2,"b":3}]}', '"b"'),
    ],
)
def test_a_name_that_an_object_has_twice_is_found(data: bytes, name: str | None) -> None:
    assert repeated(data) == name


INPUTS: Final = [event for event in EVERY if issubclass(event, Input)]


@each("new", INPUTS)
def test_an_input_that_records_what_was_taken_out_marks_the_texts_it_comes_from(
    new: type[Input],
) -> None:
    assert set(new.typed) <= set(new.__struct_fields__)
    assert bool(new.typed) >= ("redacted" in new.__struct_fields__)
    texts = (typed for typed in new.typed.values() if not typed.parts)
    assert all(0 < typed.limit <= 20_000 for typed in texts)
