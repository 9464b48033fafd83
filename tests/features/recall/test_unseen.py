"""Questions of authors who had not seen the index; regression tests since they were run once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from tests.each import each
from tests.features.recall.held import Held
from tests.features.recall.unseen import FIRST, Asked, asked, ours

AT_LEAST: Final = (("three_projects", 48), ("one_project", 45), ("plain", 34), ("second", 25))
"""By set: questions whose decision is found; the first runs found 48, 46, 32 and 26."""
NOTHING: Final = (
    ("no_answer", "plain", 24),
    ("second", "second", 11),
    ("no_answer_second", "one_project", 6),
)
"""Questions without an answer, their decisions, and how many get nothing."""


@cache
def memory(ids: tuple[str, ...], set_: str) -> Held:
    found = next(one.among for one in asked(set_) if ids == tuple(d["id"] for d in one.among))
    return ours(found)


def held_of(one: Asked, set_: str) -> Held:
    return memory(tuple(d["id"] for d in one.among), set_)


@each(("set_", "at_least"), AT_LEAST)
def test_the_right_decision_is_among_the_first_three(set_: str, at_least: int) -> None:
    every = [one for one in asked(set_) if one.right]
    missed = [
        one.text
        for one in every
        if one.right.isdisjoint(m.uid for m in held_of(one, set_).recalled(one.text)[:FIRST])
    ]
    assert len(every) - len(missed) >= at_least, missed


@each(("set_", "decisions", "at_least"), NOTHING)
def test_some_unanswerable_questions_get_nothing(set_: str, decisions: str, at_least: int) -> None:
    every = [one for one in asked(set_, decisions) if not one.right]
    nothing = [one.text for one in every if not held_of(one, decisions).recalled(one.text)]
    assert len(nothing) >= at_least


def test_every_question_is_about_decisions_that_there_are() -> None:
    for set_, _ in AT_LEAST:
        for one in asked(set_):
            there: Mapping[str, Any] = {d["id"]: d for d in one.among}
            assert one.right <= there.keys()
