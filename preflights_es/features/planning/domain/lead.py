"""What a model is asked for, and what becomes of its answers."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.clock import clock
from preflights_es.features.planning.domain.events import PlanMade
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.features.planning.domain.state import State
from preflights_es.features.planning.domain.values import (
    BUFFER,
    DAY_MINUTES,
    REASONING_MAX,
    Plan,
    Situation,
)
from preflights_es.kernel.completions import CompletionRequested, Message, Violation
from preflights_es.kernel.events import Decision, Outcome
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import FellBack, Usable, concluded, requested
from preflights_es.kernel.text import one_line, shortened

PACKAGE: Final = "preflights_es.features.planning"
PROMPTS: Final[dict[str, str]] = {"plan": "planning.v1"}
CONTRACT: Final = "planning.v1"


def request(state: State) -> CompletionRequested:
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


def answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the plan, or what was recorded instead."""
    # Imported where a response is judged: sessions without a lead need no pydantic.
    from preflights_es.features.planning.domain.contracts import PLANNING

    assert state.situation is not None, "a plan was asked for"
    day = schedule.day_of(state.situation)
    verdict = concluded(state.led, outcome, PLANNING, partial(violations, day))
    if isinstance(verdict, Usable):
        return verdict.accepted, PlanMade(plan=plan(day, verdict.payload))
    if any(isinstance(one, FellBack) for one in verdict):
        return *verdict, PlanMade(plan=schedule.planned(day, state.language))
    return verdict


def plan(day: Day, payload: dict[str, Any]) -> Plan:
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


# What the contract alone cannot say ----------------------------------------------------------


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
