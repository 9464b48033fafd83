"""A sequence that grows at its end: a value, and no copy of what it holds."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    AnswersRevised,
    QuestionAsked,
)
from preflights_es.features.clarification.domain.values import HeuristicsConfig
from preflights_es.features.extraction.domain import WORKFLOW as EXTRACTION
from preflights_es.features.extraction.domain.events import AnswersGiven
from preflights_es.kernel.artifacts import ArtifactWritten
from preflights_es.kernel.completion_step import Led, heard
from preflights_es.kernel.events import Event
from preflights_es.kernel.growing import CHUNK, Growing
from preflights_es.kernel.questions import Given
from tests.toy import ADA

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
    led = Led()
    for number in range(CHUNK + 1):
        led = heard(led, f"answer {number}")
    assert heard(led, "one more").said.full is led.said.full
    assert [said.content for said in led.said] == [f"answer {n}" for n in range(CHUNK + 1)]


def test_a_state_shares_what_grows_with_its_events() -> None:
    question = HeuristicsConfig().category_question()
    growing: tuple[tuple[str, Event], ...] = (
        ("asked", QuestionAsked(question=question, turn=1)),
        ("hashes", ArtifactWritten(at=1, actor=ADA, call="c", path="p", sha256="0" * 64)),
        ("redacted", AnswersRevised(at=1, actor=ADA, answers=(), redacted=("token",))),
    )
    for name, event in growing:
        state = WORKFLOW.initial
        for _ in range(CHUNK + 1):
            state = WORKFLOW.evolve(state, event)
        assert getattr(WORKFLOW.evolve(state, event), name).full is getattr(state, name).full
    given_ = AnswersGiven(at=1, actor=ADA, answers=(Given("a", ("b",)),), redacted=("token",))
    noted = EXTRACTION.initial
    for _ in range(CHUNK + 1):
        noted = EXTRACTION.evolve(noted, given_)
    assert EXTRACTION.evolve(noted, given_).redacted.full is noted.redacted.full
