"""Open tasks that a plan leaves out, each with the reason; derived, never recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.features.planning.domain.values import (
    BUFFER_MIN,
    FOCUS_MAX,
    MINI_MAX,
    MINI_MIN,
    MINIS_MAX,
    SHORT_MIN,
    Block,
    LeftOut,
    Plan,
    Reason,
    Task,
)


def left_out(day: Day, plan: Plan) -> Iterator[LeftOut]:
    """What a plan leaves out, in the order of the rules; those to be split are in `too_long`."""
    planned = [block.task_id for block in plan.blocks]
    for task in schedule.candidates(day):
        if task.id not in planned and task.id not in plan.too_long:
            yield _why(day, plan, task)


def _why(day: Day, plan: Plan, task: Task) -> LeftOut:
    planned = [block.task_id for block in plan.blocks]
    if lacking := [id_ for id_ in schedule.ahead(day, task) if id_ not in planned]:
        return LeftOut(task, "waits", other_id=lacking[0])
    minutes = schedule.minutes_of(task)
    if 2 * SHORT_MIN <= task.twice <= 2 * FOCUS_MAX:
        if not schedule.fits(day, task):
            room, ahead = _room(day, ()), schedule.ahead(day, task)
            if ahead and room >= minutes:  # there is room, but not behind the task before it
                return LeftOut(task, "waits", other_id=ahead[0])
            return LeftOut(task, "no_room", minutes, room)
        return LeftOut(task, "not_chosen" if plan.focus_task_id is None else "one_focus")
    if not schedule.can_be_mini(task):
        return LeftOut(task, _size(task), minutes)
    if len(plan.mini_task_ids) >= MINIS_MAX:
        return LeftOut(task, "two_minis")
    room = _room(day, plan.blocks)
    if room < minutes:
        return LeftOut(task, "no_room", minutes, room)
    if not plan.blocks:
        return LeftOut(task, "no_focus")
    is_short = {"mini_dropped", "focus_cut"}.intersection(plan.warnings)
    return LeftOut(task, "no_time" if is_short else "not_chosen")


def _size(task: Task) -> Reason:
    """Why a task can be neither a focus nor a mini."""
    if task.twice < 2 * MINI_MIN:
        return "too_short"
    return "between" if task.twice > 2 * MINI_MAX else "important"


def _room(day: Day, blocks: Sequence[Block]) -> int:
    """The longest time that is free beside the blocks, in minutes."""
    kept = tuple((block.start - BUFFER_MIN, block.end + BUFFER_MIN) for block in blocks)
    gaps = schedule.free(msgspec.structs.replace(day, busy=(*day.busy, *kept)))
    longest = max((end - start for start, end in gaps), default=0)
    if day.minutes is None:
        return longest
    spent = sum(block.end - block.start + BUFFER_MIN for block in blocks)
    return max(min(longest, day.minutes - spent), 0)
