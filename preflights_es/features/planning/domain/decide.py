"""What follows from an Input: the branches are here, the rules in `schedule.py`."""

from __future__ import annotations

from functools import reduce
from typing import Literal

from msgspec.structs import replace

from preflights_es.features.planning.domain import lead, schedule, sentences
from preflights_es.features.planning.domain.events import (
    BlockClosed,
    BlockDone,
    ChangeRefused,
    PlanAsked,
    PlanAskedAgain,
    PlanMade,
    TasksChosen,
)
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.features.planning.domain.state import State, counted, evolve
from preflights_es.features.planning.domain.values import BUFFER, MINIS_MAX, REPLANS_MAX, Task
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.lead import LeadChanged, LeadTaken, StepRetried

Decisions = tuple[Decision, ...]
NOT_EXPECTED: Decisions = (ChangeRefused(reason="not_expected"),)


def decide(state: State, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case PlanAsked() if state.situation is None:
            return _asked(evolve(state, new))
        case PlanAskedAgain() if state.situation is not None and state.led.request is None:
            return _asked_again(state, new)
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return lead.answered(state, new)
        case StepRetried() if state.led.stalled and state.situation is not None:
            return _asked(state)
        case LeadChanged() if state.situation is not None and state.led.request is None:
            return _taken_over(state, new)
        case TasksChosen() if state.plan is not None and state.led.request is None:
            return _chosen(state, new)
        case BlockDone() if state.plan is not None:
            return (_closed(state, new.task_id),)
        case _:
            return NOT_EXPECTED


# 1. Planning ---------------------------------------------------------------------------------


def _asked(state: State) -> Decisions:
    """The model's step; the rules' plan where they lead, or where there is nothing to plan."""
    assert state.situation is not None, "a plan was asked for"
    if state.led.lead is None or not state.situation.tasks:
        day = schedule.day_of(state.situation)
        return (PlanMade(plan=schedule.planned(day, state.language)),)
    return (lead.request(state),)


def _asked_again(state: State, new: PlanAskedAgain) -> Decisions:
    assert state.situation is not None, "the caller looked"
    if state.replans >= REPLANS_MAX and not new.changed:
        return (ChangeRefused(reason="replans_used_up"),)
    if new.situation.day != state.situation.day:
        return NOT_EXPECTED
    return _asked(counted(evolve(state, new)))


def _taken_over(state: State, new: LeadChanged) -> Decisions:
    """A new lead makes the plan that the former one left open or could not make."""
    taken = (LeadTaken(),)
    after = reduce(evolve, taken, evolve(state, new))
    return taken + (_asked(after) if state.led.stalled or state.led.fell_back else ())


# 2. By hand ----------------------------------------------------------------------------------

Wrong = Literal["unknown_task", "closed", "no_focus_task", "no_mini_task"]


def _chosen(state: State, new: TasksChosen) -> Decisions:
    """The plan of a person, within the rules; the first that is wrong, otherwise."""
    assert state.situation is not None, "there is a plan"
    assert state.plan is not None, "there is a plan"
    over = state.done | {one.task_id for one in new.closed}
    day, plan = _without(schedule.day_of(state.situation), over), state.plan
    focus_id = plan.focus_task_id if new.focus is None else new.focus
    kept = tuple(id_ for id_ in plan.mini_task_ids if id_ != focus_id)
    mini_ids = kept if new.minis is None else new.minis
    if len(mini_ids) > MINIS_MAX:
        return (ChangeRefused(reason="too_many_minis"),)
    named = [id_ for id_ in (focus_id, *mini_ids) if id_ is not None]
    if twice := [id_ for id_ in named if named.count(id_) > 1]:
        return (ChangeRefused(reason="named_twice", task_id=twice[0]),)
    tasks = {task.id: task for task in day.tasks}
    for id_ in named:
        is_new = id_ in (new.focus, *(new.minis or ()))
        wrong = _wrong(day, tasks.get(id_), is_focus=id_ == focus_id, is_over=id_ in over)
        if is_new and wrong:
            return (ChangeRefused(reason=wrong, task_id=id_),)
    focus = tasks.get(focus_id) if focus_id is not None else None
    small = tuple(tasks[id_] for id_ in mini_ids if id_ in tasks)
    lacking = schedule.unmet(day, filter(None, (focus, *small)))
    while new.minis is None and (early := [task for task, _ in lacking if task != focus]):
        small = tuple(task for task in small if task not in early)
        lacking = schedule.unmet(day, filter(None, (focus, *small)))
    for task, other_id in lacking:
        return (ChangeRefused(reason="waits", task_id=task.id, other_id=other_id),)
    return (_laid(state, day, focus, small, is_asked=new.minis is not None),)


def _without(day: Day, over: frozenset[str]) -> Day:
    """The day as those tasks leave it that are over: nothing comes after them any more."""
    tasks = (replace(one, after=None) if one.after in over else one for one in day.tasks)
    return replace(day, tasks=tuple(tasks))


def _wrong(day: Day, task: Task | None, *, is_focus: bool, is_over: bool) -> Wrong | None:
    if task is None:
        return "unknown_task"
    if is_over:
        return "closed"
    if is_focus:
        return None if schedule.can_be_focus(day, task) else "no_focus_task"
    return None if schedule.can_be_mini(task) else "no_mini_task"


def _laid(
    state: State, day: Day, focus: Task | None, small: tuple[Task, ...], *, is_asked: bool
) -> Decision:
    """The plan that a person asked for; nothing that was asked for is left out of it."""
    found = schedule.laid(day, focus, small, BUFFER)
    if found is None or (is_asked and "mini_dropped" in found.warnings):
        return ChangeRefused(reason="no_room")
    too_long = tuple(task.id for task in schedule.rejected(day))
    plan = schedule.plan_of(found, sentences.CHOSEN[state.language], too_long)
    return PlanMade(plan=replace(plan, source="person"))


def _closed(state: State, task_id: str) -> Decision:
    assert state.plan is not None, "the caller looked"
    if task_id in state.done:
        return ChangeRefused(reason="closed", task_id=task_id)
    if task_id not in (block.task_id for block in state.plan.blocks):
        return ChangeRefused(reason="not_planned", task_id=task_id)
    return BlockClosed(task_id=task_id)
