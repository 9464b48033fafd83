"""Questions of authors who had not seen the index; regression tests since they were run once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from tests.workflows.recall.held import Held
from tests.workflows.recall.unseen import FIRST, Asked, asked, ours


@cache
def memory(ids: tuple[str, ...], set_: str) -> Held:
    found = next(one.among for one in asked(set_) if ids == tuple(d["id"] for d in one.among))
    return ours(found)


def held_of(one: Asked, set_: str) -> Held:
    return memory(tuple(d["id"] for d in one.among), set_)


@pytest.mark.parametrize(("set_", "at_least"), [("three_projects", 50), ("plain", 32)])
def test_the_right_decision_is_among_the_first_three(set_: str, at_least: int) -> None:
    every = asked(set_)
    missed = [
        one.text
        for one in every
        if one.right.isdisjoint(m.uid for m in held_of(one, set_).recalled(one.text)[:FIRST])
    ]
    assert len(every) - len(missed) >= at_least, missed


def test_some_questions_without_an_answer_get_nothing() -> None:
    every = asked("no_answer", "plain")
    nothing = [one.text for one in every if not held_of(one, "plain").recalled(one.text)]
    assert len(nothing) >= 17


def test_every_question_is_about_decisions_that_there_are() -> None:
    for set_ in ("three_projects", "plain"):
        for one in asked(set_):
            there: Mapping[str, Any] = {d["id"]: d for d in one.among}
            assert one.right <= there.keys()
