"""The deterministic plan, row by row, and what holds for every day."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import (
    PlanBlock,
    PlannedDay,
    PlanTask,
    Shift,
    Situation,
    format_wall_clock,
)
from preflights_es.features.planning.domain.schedule import Day
from tests.each import each
from tests.features.planning.cases import Planned, situation, task
from tests.features.planning.plans import PLANS, Labelled


def shown(day: Situation, block: PlanBlock) -> str:
    at = f"{format_wall_clock(day, block.start)}-{format_wall_clock(day, block.end)}"
    return f"{at} {block.task_id}{'*' * (block.kind == 'focus')}{'/' * block.part}"


def planned(day: Situation) -> PlannedDay:
    return schedule.plan_day_by_rules(schedule.day_from_situation(day), "en")


@each("row", PLANS)
def test_a_day_is_planned_as_the_table_says(row: Labelled) -> None:
    day = situation(*row.tasks, **row.day)
    plan = planned(day)
    assert ", ".join(shown(day, block) for block in plan.blocks) == row.plan
    assert (plan.buffer_minutes, plan.warnings) == (row.buffer, row.warnings)
    assert plan.source == "rules"


def test_a_person_chooses_any_open_task() -> None:
    day = schedule.day_from_situation(situation(task("a", 60), task("b", 4), task("c", 600)))
    assert schedule.plan_day_by_rules(day, "en").focus_task_id == "a"
    for chosen in ("b", "c"):
        plan = schedule.plan_day_by_rules(day, "en", chosen)
        assert (plan.focus_task_id, plan.source, plan.reasoning) == (
            chosen,
            "person",
            "Chosen by hand.",
        )


@each(
    ("said", "reason"),
    [
        ({"due": "2026-11-22"}, "“Task a” comes first: it is overdue."),
        ({"due": "2026-11-23"}, "“Task a” comes first: it is due today."),
        ({"importance": "high"}, "“Task a” comes first: it is important."),
        ({}, "“Task a” comes first: it is the oldest."),
    ],
)
def test_a_plan_says_why_its_focus_comes_first(said: dict[str, Any], reason: str) -> None:
    assert planned(situation(task("a", 60, **said))).reasoning == reason


# What is not planned -------------------------------------------------------------------------


def test_everything_else_stands_below_in_the_order_with_its_due_date() -> None:
    tasks = [task(f"m{n}", 10, created=n) for n in range(4)]
    late = task("z", 90, due="2026-11-24", importance="high", created=9)
    plan = Planned(rules=True, day=situation(task("a", 60, due="2026-11-22"), late, *tasks))
    assert [(one.task_id, one.due) for one in plan.view.not_planned] == [
        ("z", "2026-11-24"),
        ("m2", None),
        ("m3", None),
    ]
    assert plan.view.free_minutes == 540 - 60 - 20


# Days of 23 and 25 hours ---------------------------------------------------------------------


@each(("shift", "block"), [(Shift(120, 60), "01:00-04:00 a*"), (Shift(180, -60), "01:00-02:00 a*")])
def test_on_days_of_23_and_25_hours_an_hour_is_missing_or_twice(shift: Shift, block: str) -> None:
    day = situation(task("a", 120), start=60, end=300, shifts=(shift,))
    assert [shown(day, one) for one in planned(day).blocks] == [block]


# What holds for every day --------------------------------------------------------------------

MINUTES = st.integers(0, 1_500)
TASKS = st.lists(
    st.builds(
        lambda low, more, **said: PlanTask(
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


DAYS = st.builds(
    Day,
    day=st.just("2026-11-23"),
    start=MINUTES,
    end=MINUTES,
    minutes=st.none() | st.integers(1, 400),
    busy=st.lists(st.tuples(MINUTES, MINUTES), max_size=4).map(tuple),
    tasks=TASKS.map(tuple),
)


def holds(day: Day, plan: PlannedDay) -> None:
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
    assert plan.buffer_minutes == 0 or len(ids) > 1
    assert (plan.focus_task_id is None) == (not plan.blocks)


@given(DAYS)
def test_a_plan_keeps_its_promises(day: Day) -> None:
    holds(day, schedule.plan_day_by_rules(day, "de"))


@given(DAYS)
def test_the_first_of_the_order_is_the_focus_in_whatever_order_tasks_come(day: Day) -> None:
    plan = schedule.plan_day_by_rules(day, "en")
    back = Day(day.day, day.start, day.end, day.minutes, day.busy[::-1], day.tasks[::-1])
    assert schedule.plan_day_by_rules(back, "en") == plan
    assert bool(plan.blocks) == bool(day.tasks and schedule.free(day))
    if plan.blocks:
        assert plan.focus_task_id == schedule.sort_open_tasks(day)[0].id


@given(DAYS)
def test_no_short_task_is_left_beside_free_time(day: Day) -> None:
    plan = schedule.plan_day_by_rules(day, "en")
    if len(plan.blocks) in (1, 2) and day.minutes is None:
        apart = tuple((block.start - 15, block.end + 15) for block in plan.blocks)
        gaps = schedule.free(replace(day, busy=(*day.busy, *apart)))
        planned = {block.task_id for block in plan.blocks}
        left = [t for t in day.tasks if t.id not in planned and t.twice <= 60]
        longest = max((end - start for start, end in gaps), default=0)
        assert all(schedule.minutes_of(one) > longest for one in left)
