"""What an event may hold, the sessions that it names, sequences that grow, and decoders."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.inspect import IntType, Type

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    AnswersRevised,
    ClarificationQuestionAsked,
    DecisionSuperseded,
)
from preflights_es.features.clarification.domain.values import HeuristicsConfig
from preflights_es.features.extraction.domain import WORKFLOW as EXTRACTION
from preflights_es.features.extraction.domain.events import NoteAnswersGiven
from preflights_es.kernel.completions import COMPLETION_EVENTS, CompletionReceived
from preflights_es.kernel.events import (
    ARTIFACT_EVENTS,
    CHUNK,
    INT_MAX,
    NUMBER_MAX,
    SESSION_EVENTS,
    Actor,
    ArtifactWritten,
    Event,
    Growing,
    Input,
    SessionAbandoned,
    SourceSession,
    Value,
    has_sources,
    sources,
)
from preflights_es.kernel.json import canonical_json, repeated
from preflights_es.kernel.lead import LeadState, add_user_message
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.words.questions import GivenAnswer
from tests.each import each
from tests.toy import ADA

EVERY: Final = dict.fromkeys(
    (
        *(*SESSION_EVENTS, *COMPLETION_EVENTS, *ARTIFACT_EVENTS),
        *(event for workflow in WORKFLOWS.values() for event in workflow.decider.events),
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
    return canonical_json({**msgspec.to_builtins(made), **fields})


@each(
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


@each(
    ("field", "value"),
    [("at", 2**63 - 1), ("at", -(2**63)), ("latency_ms", -1), ("input_tokens", 0)],
)
def test_a_number_that_may_have_been_recorded_is_read(field: str, value: int) -> None:
    decoder = msgspec.json.Decoder(CompletionReceived)
    event = decoder.decode(received(**{field: value}))
    assert getattr(event, field) == value
    assert canonical_json(event) == received(**{field: value})


@each(
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
def test_an_input_that_records_what_was_taken_out_marks_its_texts(new: type[Input]) -> None:
    assert set(new.typed) <= set(new.__struct_fields__)
    assert bool(new.typed) >= ("redacted" in new.__struct_fields__)
    texts = (typed for typed in new.typed.values() if not typed.parts)
    assert all(0 < typed.limit <= 20_000 for typed in texts)


ITEMS = st.lists(st.integers(), max_size=3 * CHUNK + 1)


@given(ITEMS, ITEMS)
def test_it_holds_what_it_grew_by_in_that_order(first: list[int], then: list[int]) -> None:
    before = Growing[int]().plus(*first)
    after = before.plus(*then)
    assert (list(before), list(after)) == (first, first + then)
    assert (len(after), bool(after)) == (len(first + then), bool(first + then))


@given(ITEMS, st.integers(0, 3 * CHUNK))
def test_two_that_grew_by_the_same_items_are_one_value(items: list[int], at: int) -> None:
    at_once = Growing[int]().plus(*items)
    in_parts = Growing[int]().plus(*items[:at]).plus(*items[at:])
    assert (at_once, hash(at_once)) == (in_parts, hash(in_parts))
    assert at_once != at_once.plus(0)
    assert msgspec.json.decode(msgspec.json.encode(at_once), type=Growing[int]) == at_once


def test_what_it_holds_is_shared_and_not_copied() -> None:
    grown = Growing[int]().plus(*range(100 * CHUNK + 1))
    assert grown.plus(1).full is grown.full
    assert all(
        one is other for one, other in zip(grown.plus(*range(CHUNK)).full, grown.full, strict=False)
    )
    assert max(len(grown.plus(*range(n)).last) for n in range(CHUNK)) <= CHUNK


def test_a_state_shares_its_conversation_with_the_one_before() -> None:
    led = LeadState()
    for number in range(CHUNK + 1):
        led = add_user_message(led, f"answer {number}")
    assert add_user_message(led, "one more").said.full is led.said.full
    assert [said.content for said in led.said] == [f"answer {n}" for n in range(CHUNK + 1)]


def test_a_state_shares_what_grows_with_its_events() -> None:
    question = HeuristicsConfig().category_question()
    growing: tuple[tuple[str, Event], ...] = (
        ("turns.asked", ClarificationQuestionAsked(question=question, turn=1)),
        ("filed.hashes", ArtifactWritten(at=1, actor=ADA, call="c", path="p", sha256="0" * 64)),
        ("turns.redacted", AnswersRevised(at=1, actor=ADA, answers=(), redacted=("token",))),
    )
    for name, event in growing:
        state = WORKFLOW.decider.initial
        for _ in range(CHUNK + 1):
            state = WORKFLOW.decider.evolve(state, event)
        grown = attrgetter(f"{name}.full")
        assert grown(WORKFLOW.decider.evolve(state, event)) is grown(state)
    given_ = NoteAnswersGiven(
        at=1, actor=ADA, answers=(GivenAnswer("a", ("b",)),), redacted=("token",)
    )
    noted = EXTRACTION.decider.initial
    for _ in range(CHUNK + 1):
        noted = EXTRACTION.decider.evolve(noted, given_)
    assert EXTRACTION.decider.evolve(noted, given_).redacted.full is noted.redacted.full


ONE, TWO, THREE, FOUR = (SourceSession(name, 1, "00") for name in ("one", "two", "three", "four"))


class Read(Value, frozen=True):
    name: str
    source: SourceSession | None = None


class Nest(Value, frozen=True):
    within: tuple[Nest, ...] = ()
    read: tuple[Read, ...] = ()


class Begun(Input, frozen=True):
    tag: ClassVar[str] = "test.begun.v1"
    text: str = ""
    read: tuple[Read, ...] = ()
    former: SourceSession | None = None
    named: Mapping[str, Annotated[SourceSession, msgspec.Meta(title="x")]] = {}
    nest: Nest | None = None


def begun(**fields: Any) -> Begun:
    return Begun(at=1, actor=ADA, **fields)


def test_a_source_is_found_in_a_field_a_tuple_a_mapping_and_a_nested_value() -> None:
    nest = Nest(within=(Nest(read=(Read("x", FOUR),)),))
    event = begun(read=(Read("x", TWO), Read("y")), former=ONE, named={"k": THREE}, nest=nest)
    assert sources(event) == (TWO, ONE, THREE, FOUR)


def test_a_source_that_is_named_twice_counts_once() -> None:
    assert sources(begun(read=(Read("x", ONE), Read("y", ONE)), former=ONE)) == (ONE,)


def test_an_event_that_names_no_session_has_none() -> None:
    assert sources(begun(text="one")) == ()
    assert sources(SessionAbandoned(at=1, actor=ADA)) == ()


@each("cls", SESSION_EVENTS)
def test_the_kernels_own_events_can_name_none(cls: type[Any]) -> None:
    assert not has_sources(cls)


def test_what_can_name_another_session_is_known_of_every_event_that_ships() -> None:
    found = {
        cls.tag
        for workflow in WORKFLOWS.values()
        for cls in workflow.decider.events
        if has_sources(cls)
    }
    assert found == {
        "clarification.decision_acknowledged.v1",
        "clarification.decision_kept.v1",
        "clarification.intention_declared.v1",
        "clarification.replacement_chosen.v1",
        "compiler.pass_begun.v1",
        "compiler.plan_approved.v1",
        "compiler.plan_locked.v1",
        "recall.decisions_found.v1",
        "planning.plan_asked.v1",
        "planning.plan_asked_again.v1",
    }


# Decoders ------------------------------------------------------------------------------------


PROGRAM: Final = """
import sys, threading, types
from preflights_es.kernel.json import decoder
COUNT = 200
source = ["import msgspec", "from typing import Literal"]
for n in range(COUNT):
    source += [
        f"class Inner{n}(msgspec.Struct): kind: Literal['a']; name: str = ''; more: int = 0",
        f"class One{n}(msgspec.Struct): inner: Inner{n}; others: tuple[Inner{n}, ...]",
        f"class Other{n}(msgspec.Struct): inner: Inner{n}; one: One{n} | None = None",
    ]
module = sys.modules["made"] = types.ModuleType("made")
exec(chr(10).join(source), module.__dict__)
together = threading.Barrier(2)
decoded = []
def decode(kind, data):
    for n in range(COUNT):
        together.wait()
        found = decoder(getattr(module, f"{kind}{n}"))
        decoded.append([found(data) for _ in range(20)][-1].inner.kind)
sys.setswitchinterval(1e-6)
threads = [
    threading.Thread(target=decode, args=pair)
    for pair in [
        ("One", b'{"inner":{"kind":"a"},"others":[]}'),
        ("Other", b'{"inner":{"kind":"a"}}'),
    ]
]
for one in threads: one.start()
for one in threads: one.join()
print(len(decoded))
"""
"""Without a lock msgspec 0.22 ends nine of ten such processes by a segmentation fault."""


@pytest.mark.slow("crowds")
def test_threads_find_out_what_a_class_holds_one_after_the_other() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "400\n"), done.stderr
