"""What follows from an Input, and what a model is asked; the rules stand in `schedule.py`."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import (
    BUFFER,
    DAY_MINUTES,
    MINIS_MAX,
    REASONING_MAX,
    REPLANS_MAX,
    BlockClosed,
    BlockDone,
    ChangeRefused,
    Plan,
    PlanAsked,
    PlanAskedAgain,
    PlanMade,
    Situation,
    Task,
    TasksChosen,
    clock,
)
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.features.planning.domain.state import State, counted, evolve
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Violation,
)
from preflights_es.kernel.events import Decision, Input, Outcome
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import (
    FellBack,
    LeadChanged,
    StepRetried,
    Usable,
    concluded,
    requested,
    taken_over,
)
from preflights_es.kernel.text import one_line, shortened

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
            return model_answered(state, new)
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
    return (model_request(state),)


def _asked_again(state: State, new: PlanAskedAgain) -> Decisions:
    assert state.situation is not None, "the caller looked"
    if state.replans >= REPLANS_MAX and not new.changed:
        return (ChangeRefused(reason="replans_used_up"),)
    if new.situation.day != state.situation.day:
        return NOT_EXPECTED
    return _asked(counted(evolve(state, new)))


def _taken_over(state: State, new: LeadChanged) -> Decisions:
    """A new lead makes the plan that the former one left open or could not make."""
    goes_on = bool(state.led.stalled or state.led.fell_back)
    return taken_over(evolve, state, new, _asked, goes_on=goes_on)


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
    plan = schedule.plan_of(found, schedule.CHOSEN[state.language], too_long)
    return PlanMade(plan=replace(plan, source="person"))


def _closed(state: State, task_id: str) -> Decision:
    assert state.plan is not None, "the caller looked"
    if task_id in state.done:
        return ChangeRefused(reason="closed", task_id=task_id)
    if task_id not in (block.task_id for block in state.plan.blocks):
        return ChangeRefused(reason="not_planned", task_id=task_id)
    return BlockClosed(task_id=task_id)


# 3. The model --------------------------------------------------------------------------------

PACKAGE: Final = "preflights_es.features.planning"
PROMPTS: Final[dict[str, str]] = {"plan": "planning.v1"}
CONTRACT: Final = "planning.v1"


def model_request(state: State) -> CompletionRequested:
    """The whole of what is sent, derived from the log: the day and its tasks."""
    assert state.situation is not None, "a plan was asked for"
    said = (Message("user", _day(state.situation, state.language)),)
    return requested(state.led, "plan", CONTRACT, (PACKAGE, "plan", PROMPTS["plan"]), said)


def _day(situation: Situation, language: str) -> str:
    """The day as a model reads it, and as the simulator reads it back: one line is JSON."""
    day = msgspec.to_builtins(schedule.day_of(situation))
    window = f"{clock(situation, situation.start)}-{clock(situation, situation.end)}"
    said = f"Now: {one_line(situation.now)} ({one_line(situation.time_zone)})\nLanguage: {language}"
    return f"{said}\nWindow: {window}\n\nDay:\n{encoded(day).decode()}"


def model_answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the plan, or what was recorded instead."""
    # Imported where a response is judged: sessions without a lead need no pydantic.
    from preflights_es.features.planning.domain.contracts import PLANNING

    assert state.situation is not None, "a plan was asked for"
    day = schedule.day_of(state.situation)
    verdict = concluded(state.led, outcome, PLANNING, partial(violations, day))
    if isinstance(verdict, Usable):
        return verdict.accepted, PlanMade(plan=plan_from(day, verdict.payload))
    if any(isinstance(one, FellBack) for one in verdict):
        return *verdict, PlanMade(plan=schedule.planned(day, state.language))
    return verdict


def plan_from(day: Day, payload: dict[str, Any]) -> Plan:
    """The plan that a payload without violations asks for, as far as the time goes."""
    tasks = {task.id: task for task in day.tasks}
    focus = tasks.get(payload["focus_task_id"])
    small = [tasks[id_] for id_ in payload.get("mini_task_ids", ())]
    too_long = tuple(task.id for task in schedule.rejected(day))
    reasoning = shortened(one_line(payload["reasoning"]), REASONING_MAX)
    found = schedule.laid(day, focus, small, _buffer(payload))
    if found is None:
        made = Plan(reasoning=reasoning, too_long=too_long, warnings=("no_room",))
    else:
        made = schedule.plan_of(found, reasoning, too_long)
    return replace(made, source="model")


def _buffer(payload: dict[str, Any]) -> int:
    """Whole minutes; those of the rules where the model gives none."""
    said: float = payload.get("buffer_minutes", BUFFER)
    return min(ceil(said), DAY_MINUTES)


# 4. What the contract alone cannot say -------------------------------------------------------


def violations(day: Day, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What is wrong with a plan for this day (RESOLUTIONS of seed 3)."""
    return tuple(_unknown(day, payload) or _against_rules(day, payload))


def _unknown(day: Day, payload: dict[str, Any]) -> list[Violation]:
    ids, focus = {task.id for task in day.tasks}, payload["focus_task_id"]
    small: list[str] = payload.get("mini_task_ids", [])
    found = []
    if focus is not None and focus not in ids:
        found.append(Violation("/focus_task_id", "expected the id of a task that was given"))
    for i, id_ in enumerate(small):
        place = f"/mini_task_ids/{i}"
        if id_ not in ids:
            found.append(Violation(place, "expected the id of a task that was given"))
        elif id_ == focus:
            found.append(Violation(place, "expected another task than the focus"))
        elif id_ in small[:i]:
            found.append(Violation(place, "expected each task once"))
    return found


def _against_rules(day: Day, payload: dict[str, Any]) -> list[Violation]:
    tasks, focus = {task.id: task for task in day.tasks}, payload["focus_task_id"]
    found = []
    if focus is None:
        if any(schedule.fits(day, task) for task, _ in schedule.focuses(day)):
            found.append(Violation("/focus_task_id", "expected a task: one fits"))
    elif not schedule.can_be_focus(day, tasks[focus]):
        found.append(Violation("/focus_task_id", "expected a task of 30 to 120 minutes"))
    elif schedule.leading(day, tasks[focus]) is not None and not schedule.fits(day, tasks[focus]):
        found.append(Violation("/focus_task_id", "expected a task that fits the time"))
    for i, id_ in enumerate(payload.get("mini_task_ids", ())):
        if not schedule.can_be_mini(tasks[id_]):
            expected = "expected a task of 5 to 20 minutes that is not of high importance"
            found.append(Violation(f"/mini_task_ids/{i}", expected))
    return found or _against_order(day, payload)


def _against_order(day: Day, payload: dict[str, Any]) -> list[Violation]:
    small: list[str] = payload.get("mini_task_ids", [])
    named = [payload["focus_task_id"], *small]
    found = schedule.unmet(day, [task for task in day.tasks if task.id in named])
    return [
        Violation(
            f"/mini_task_ids/{small.index(task.id)}" if task.id in small else "/focus_task_id",
            f"expected {other_id}, which goes before it, in the plan too",
        )
        for task, other_id in found
    ]
