"""The deterministic plan, row by row, and what holds for every day."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import Block, Plan, Shift, Situation, Task, clock
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.features.planning.domain.state import left_out
from tests.each import each
from tests.features.planning.cases import NINE, Planned, situation, task
from tests.features.planning.plans import PLANS, Labelled


def shown(day: Situation, block: Block) -> str:
    at = f"{clock(day, block.start)}-{clock(day, block.end)}"
    return f"{at} {block.task_id}{'*' * (block.kind == 'focus')}{'/' * block.part}"


def planned(day: Situation) -> Plan:
    return schedule.planned(schedule.day_of(day), "en")


@each("row", PLANS)
def test_a_day_is_planned_as_the_table_says(row: Labelled) -> None:
    day = situation(*row.tasks, **row.day)
    plan = planned(day)
    assert ", ".join(shown(day, block) for block in plan.blocks) == row.plan
    assert (plan.buffer_minutes, plan.warnings) == (row.buffer, row.warnings)
    assert sorted(plan.too_long) == sorted(row.too_long)
    assert plan.source == "rules"


def test_the_table_has_sixty_rows_and_each_a_name() -> None:
    assert len({row.name for row in PLANS}) == len(PLANS) >= 60


# What is left out ----------------------------------------------------------------------------


@each(
    ("tasks", "day", "found"),
    [
        ((task("a", 90),), {"end": NINE + 45}, ["a: 90 minutes do not fit into 45"]),
        ((task("a", 60), task("b", 10)), {"end": NINE + 65}, ["b: 10 minutes do not fit into 0"]),
        ((task("a", 60), task("b", 10)), {"minutes": 75}, ["b: 10 minutes do not fit into 5"]),
        ((task("a", 90), task("b", 60)), {}, ["b: a plan has one focus"]),
        (
            (task("a", 60), *(task(f"m{n}", 10) for n in range(3))),
            {},
            ["m2: a plan has two small tasks"],
        ),
        (
            (task("a", 60), task("b", 25)),
            {},
            ["b: 25 minutes are too long for a small task, and too short for a focus"],
        ),
        (
            (task("a", 60), task("b", 10, importance="high")),
            {},
            ["b: it is important, and too short for a focus"],
        ),
        ((task("a", 60), task("b", 2)), {}, ["b: it takes less than 5 minutes"]),
        (
            (task("a", 90), task("b", 10)),
            {"end": NINE + 45},
            ["a: 90 minutes do not fit into 45", "b: nothing is planned where no focus fits"],
        ),
        (
            (task("a", 60, importance="high"), task("b", 10, after="c"), task("c", 90)),
            {"end": NINE + 75, "minutes": 75},
            ["b: it comes after “Task c”", "c: a plan has one focus"],
        ),
    ],
)
def test_what_is_left_out_is_told_with_the_reason(
    tasks: tuple[Task, ...], day: dict[str, Any], found: list[str]
) -> None:
    plan = Planned(rules=True, day=situation(*tasks, **day))
    assert [f"{one.task_id}: {one.reason}" for one in plan.view.left_out] == found


def test_a_task_to_split_is_told_once() -> None:
    plan = Planned(rules=True, day=situation(task("a", 60), task("b", 300)))
    assert plan.view.left_out == ()
    assert plan.view.warnings == ("“Task b” takes more than two hours: split it.",)


# Days of 23 and 25 hours ---------------------------------------------------------------------


def test_on_a_day_of_23_hours_the_clock_leaps() -> None:
    day = situation(task("a", 120), start=60, end=300, shifts=(Shift(120, 60),))
    assert [shown(day, block) for block in planned(day).blocks] == ["01:00-04:00 a*"]


def test_on_a_day_of_25_hours_an_hour_comes_twice() -> None:
    day = situation(task("a", 120), start=60, end=300, shifts=(Shift(180, -60),))
    assert [shown(day, block) for block in planned(day).blocks] == ["01:00-02:00 a*"]


# What holds for every day --------------------------------------------------------------------

MINUTES = st.integers(0, 1_500)
TASKS = st.lists(
    st.builds(
        lambda low, more, **said: Task(
            title="t", duration_min=low, duration_max=low + more, **said
        ),
        low=st.integers(1, 300) | st.integers(1, 40),
        more=st.integers(0, 60),
        id=st.uuids().map(str),
        importance=st.sampled_from(("low", "normal", "high")),
        energy=st.sampled_from((None, "deep_work", "admin", "creative")),
        due=st.sampled_from((None, "2026-11-22", "2026-11-23")),
        created=st.integers(0, 9),
    ),
    max_size=8,
)


def ordered(tasks: list[Task], pairs: list[tuple[int, int]]) -> tuple[Task, ...]:
    """The tasks, some after others; circles among them."""
    found = list(tasks)
    for one, other in pairs:
        if found:
            i, j = one % len(found), other % len(found)
            found[i] = replace(found[i], after=found[j].id)
    return tuple(found)


PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=4)
DAYS = st.builds(
    Day,
    day=st.just("2026-11-23"),
    start=MINUTES,
    end=MINUTES,
    minutes=st.none() | st.integers(1, 400),
    busy=st.lists(st.tuples(MINUTES, MINUTES), max_size=4).map(tuple),
    tasks=st.builds(ordered, TASKS, PAIRS),
)


def holds(day: Day, plan: Plan) -> None:
    """What the specification promises of any plan."""
    for block in plan.blocks:
        assert day.start <= block.start < block.end <= day.end
        for start, end in day.busy:
            assert start >= end or block.end <= start or end <= block.start
    for one, other in combinations(plan.blocks, 2):
        assert one.end + plan.buffer_minutes <= other.start
    spent = sum(block.end - block.start for block in plan.blocks)
    spent += plan.buffer_minutes * max(len(plan.blocks) - 1, 0)
    assert day.minutes is None or spent <= day.minutes
    assert len(plan.mini_task_ids) <= 2
    ids = [block.task_id for block in plan.blocks]
    assert sorted(ids) == sorted({*ids})
    assert {*ids} == {*plan.mini_task_ids, *filter(None, [plan.focus_task_id])}
    assert {*ids} <= {task.id for task in day.tasks}
    assert plan.buffer_minutes in ((0,) if len(ids) < 2 else range(10, 31))
    by_id = {task.id: task for task in day.tasks}
    assert all(schedule.can_be_mini(by_id[id_]) for id_ in plan.mini_task_ids)
    if plan.focus_task_id is not None:
        assert schedule.can_be_focus(day, by_id[plan.focus_task_id])


def in_order(day: Day, plan: Plan) -> None:
    """What goes before a planned task is planned before it."""
    at = {block.task_id: block for block in plan.blocks}
    for one in day.tasks:
        if one.id in at:
            for id_ in schedule.ahead(day, one):
                assert at[id_].end <= at[one.id].start


@given(DAYS)
def test_what_goes_before_a_task_is_planned_before_it(day: Day) -> None:
    in_order(day, schedule.planned(day, "en"))


@given(DAYS)
def test_what_is_left_out_and_what_is_planned_are_all_there_is(day: Day) -> None:
    plan = schedule.planned(day, "de")
    left = list(left_out(day, plan, "en"))
    planned = [block.task_id for block in plan.blocks]
    ids = [*planned, *(one.task_id for one in left), *({*plan.too_long} - {*planned})]
    assert sorted(ids) == sorted(task.id for task in day.tasks)
    for one in left:
        assert one.reason
        if one.code == "no_room":
            minutes, room = map(int, re.findall("[0-9]+", one.reason))
            assert minutes > room
        assert one.code != "not_chosen"


@given(DAYS)
def test_a_plan_keeps_its_promises(day: Day) -> None:
    holds(day, schedule.planned(day, "de"))


@given(DAYS)
def test_the_order_in_which_tasks_come_changes_nothing(day: Day) -> None:
    back = Day(day.day, day.start, day.end, day.minutes, day.busy[::-1], day.tasks[::-1])
    assert schedule.planned(back, "en") == schedule.planned(day, "en")


@given(DAYS)
def test_there_is_a_focus_wherever_one_fits(day: Day) -> None:
    fits = [t for t, _ in schedule.focuses(day) if schedule.fits(day, t)]
    assert (schedule.planned(day, "en").focus_task_id is None) == (not fits)


@given(DAYS, st.data())
def test_what_is_chosen_is_laid_within_the_same_rules(day: Day, data: st.DataObject) -> None:
    focuses = [t for t in day.tasks if schedule.can_be_focus(day, t)]
    focus = data.draw(st.sampled_from([None, *focuses]))
    small = [t for t in day.tasks if schedule.can_be_mini(t) and t is not focus][:2]
    found = schedule.laid(day, focus, small, data.draw(st.integers(10, 30)))
    if found is not None:
        holds(day, schedule.plan_of(found, "", ()))
        in_order(day, schedule.plan_of(found, "", ()))
