"""What makes a plan older than a change, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from preflights_es.features.planning.use.changes import changes, words
from tests.features.planning.use.test_situation import NOTE, TODAY, row, today

TASK, OTHER = row(1, duration_min=60), row(2, after=f"{NOTE}1.1")
EVENT = row(3, "event", start_time="10:00")
ROWS = (TASK, OTHER, EVENT)
NEW = row(4, "event", start_time="12:00")


def found(*rows: dict[str, Any], done: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    return [(one.id, one.what) for one in changes(today(*ROWS), done, TODAY, rows)]


@pytest.mark.parametrize(
    ("rows", "change"),
    [
        (({**TASK, "status": "done"}, OTHER, EVENT), ("00000001.1", "done")),
        (({**TASK, "status": "cancelled"}, OTHER, EVENT), ("00000001.1", "cancelled")),
        (({**TASK, "title": "Other"}, OTHER, EVENT), ("00000001.1", "edited")),
        (({**TASK, "due": "2026-11-23"}, OTHER, EVENT), ("00000001.1", "edited")),
        ((TASK, {**OTHER, "after": None}, EVENT), ("00000001.2", "edited")),
        ((TASK, EVENT), ("00000001.2", "gone")),
        ((TASK, OTHER, {**EVENT, "start_time": "11:00"}), ("00000001.3", "edited")),
        ((TASK, OTHER, {**EVENT, "date": "2026-11-24"}), ("00000001.3", "edited")),
        ((TASK, OTHER), ("00000001.3", "gone")),
        ((*ROWS, NEW), ("00000001.4", "new")),
        ((*ROWS, row(5, due="2026-11-23")), ("00000001.5", "new")),
        ((*ROWS, row(5, due="2026-11-01")), ("00000001.5", "new")),
    ],
)
def test_a_change_of_what_a_plan_was_made_from_is_found(
    rows: tuple[dict[str, Any], ...], change: tuple[str, str]
) -> None:
    assert found(*rows) == [change]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        tuple({**one, "version": 9, "hash": "11"} for one in ROWS),
        (*ROWS, row(5)),
        (*ROWS, row(5, due="2026-11-24")),
        (*ROWS, {**NEW, "date": "2026-11-24"}),
        (*ROWS, row(5, "idea")),
    ],
)
def test_nothing_else_makes_a_plan_older(rows: tuple[dict[str, Any], ...]) -> None:
    assert found(*rows) == []


def test_a_finished_block_changes_nothing_nor_does_what_came_after_it() -> None:
    rows = ({**TASK, "status": "done"}, OTHER, EVENT)
    assert found(*rows, done=frozenset(("00000001.1",))) == []


def test_the_first_change_is_named_and_the_others_are_counted() -> None:
    both = changes(today(*ROWS), frozenset(), TODAY, ({**TASK, "title": "x"}, OTHER, EVENT, NEW))
    assert words(both) == "task 00000001.1 was edited, and 1 more"
    assert words(both[1:]) == "event 00000001.4 is new"
