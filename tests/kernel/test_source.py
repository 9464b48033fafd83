"""The sessions that an event names, wherever in it they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
import pytest

from preflights_es.kernel.events import SESSION_EVENTS, Actor, Input, SessionAbandoned, Value
from preflights_es.kernel.source import Source, has_sources, sources
from preflights_es.runtime.registry import WORKFLOWS

ONE, TWO, THREE, FOUR = (Source(name, 1, "00") for name in ("one", "two", "three", "four"))
ADA = Actor("user", "Ada")


class Read(Value, frozen=True):
    name: str
    source: Source | None = None


class Nest(Value, frozen=True):
    within: tuple[Nest, ...] = ()
    read: tuple[Read, ...] = ()


class Begun(Input, frozen=True):
    tag: ClassVar[str] = "test.begun.v1"
    text: str = ""
    read: tuple[Read, ...] = ()
    former: Source | None = None
    named: Mapping[str, Annotated[Source, msgspec.Meta(title="x")]] = {}
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


@pytest.mark.parametrize("cls", SESSION_EVENTS)
def test_the_kernels_own_events_can_name_none(cls: type[Any]) -> None:
    assert not has_sources(cls)


def test_what_can_name_another_session_is_known_of_every_event_that_ships() -> None:
    found = {
        cls.tag for workflow in WORKFLOWS.values() for cls in workflow.events if has_sources(cls)
    }
    assert found == {
        "clarification.decision_acknowledged.v1",
        "clarification.decision_kept.v1",
        "clarification.intention_declared.v1",
        "compiler.findings_waived.v1",
        "compiler.pass_begun.v1",
        "compiler.plan_approved.v1",
        "compiler.plan_locked.v1",
        "recall.comparison_asked.v1",
        "recall.decisions_found.v1",
        "recall.evolution_detected.v1",
        "recall.learning_asked.v1",
        "planning.plan_asked.v1",
        "planning.plan_asked_again.v1",
        "planning.tasks_chosen.v1",
    }
