"""What follows from an Input, and what a model is asked; the rules stand in `schedule.py`."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import Any, Final

import msgspec

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import (
    BUFFER,
    DAY_MINUTES,
    REASONING_MAX,
    PlanAsked,
    PlanAskedAgain,
    PlanBlock,
    PlanMade,
    PlannedDay,
    PlanningChangeRefused,
    Situation,
    format_wall_clock,
)
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.features.planning.domain.state import (
    PlanningState,
    apply_plan_asked_again,
    evolve,
)
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Violation,
)
from preflights_es.kernel.events import Decision, Input, Outcome
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import (
    FellBack,
    LeadChanged,
    StepRetried,
    Usable,
    concluded,
    decide_lead_takeover,
    requested,
)
from preflights_es.kernel.text import one_line, shortened

Decisions = tuple[Decision, ...]
NOT_EXPECTED: Decisions = (PlanningChangeRefused(reason="not_expected"),)


def decide(state: PlanningState, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case PlanAsked() if state.situation is None:
            return _decide_planning_step(evolve(state, new))
        case PlanAskedAgain() if state.situation is not None and state.led.request is None:
            if new.situation.day != state.situation.day:
                return NOT_EXPECTED
            return _decide_planning_step(apply_plan_asked_again(evolve(state, new)))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return conclude_planning_outcome(state, new)
        case StepRetried() if state.led.stalled and state.situation is not None:
            return _decide_planning_step(state)
        case LeadChanged() if state.situation is not None and state.led.request is None:
            # A new lead makes the plan that the former one left open or could not make.
            goes_on = bool(state.led.stalled or state.led.fell_back)
            return decide_lead_takeover(evolve, state, new, _decide_planning_step, goes_on=goes_on)
        case _:
            return NOT_EXPECTED


# 1. Planning ---------------------------------------------------------------------------------


def _decide_planning_step(state: PlanningState) -> Decisions:
    """The model's step; the rules' plan where they lead, or where there is nothing to choose."""
    situation = state.situation
    assert situation is not None, "a plan was asked for"
    ids = {one.task.id for one in situation.tasks}
    if situation.focus is not None and situation.focus not in ids:
        return (PlanningChangeRefused(reason="unknown_task", task_id=situation.focus),)
    if state.led.lead is None or situation.focus is not None or not ids:
        return (PlanMade(plan=_make_rules_plan(state)),)
    return (compose_planning_request(state),)


def _make_rules_plan(state: PlanningState) -> PlannedDay:
    situation = state.situation
    assert situation is not None, "a plan was asked for"
    day = schedule.day_from_situation(situation)
    return schedule.plan_day_by_rules(day, state.language, situation.focus)


# 2. The model --------------------------------------------------------------------------------

PACKAGE: Final = "preflights_es.features.planning"
PROMPTS: Final[dict[str, str]] = {"plan": "planning.v1"}
CONTRACT: Final = "planning.v1"


def compose_planning_request(state: PlanningState) -> CompletionRequested:
    """The whole of what is sent, derived from the log: the day and its tasks."""
    assert state.situation is not None, "a plan was asked for"
    said = (Message("user", _render_planning_day(state.situation, state.language)),)
    return requested(state.led, "plan", CONTRACT, (PACKAGE, "plan", PROMPTS["plan"]), messages=said)


def _render_planning_day(situation: Situation, language: str) -> str:
    """The day as a model reads it, and as the simulator reads it back: one line is JSON."""
    day = msgspec.to_builtins(schedule.day_from_situation(situation))
    window_start = format_wall_clock(situation, situation.start)
    window = f"{window_start}-{format_wall_clock(situation, situation.end)}"
    said = f"Now: {one_line(situation.now)} ({one_line(situation.time_zone)})\nLanguage: {language}"
    return f"{said}\nWindow: {window}\n\nDay:\n{canonical_json(day).decode()}"


def conclude_planning_outcome(state: PlanningState, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the plan, or what was recorded instead."""
    # Imported where a response is judged: sessions without a lead need no pydantic.
    from preflights_es.features.planning.domain.contracts import PLANNING

    assert state.situation is not None, "a plan was asked for"
    day = schedule.day_from_situation(state.situation)
    verdict = concluded(state.led, outcome, PLANNING, partial(find_plan_violations, day))
    if isinstance(verdict, Usable):
        return verdict.accepted, PlanMade(plan=plan_from(day, verdict.payload))
    if any(isinstance(one, FellBack) for one in verdict):
        return *verdict, PlanMade(plan=_make_rules_plan(state))
    return verdict


def plan_from(day: Day, payload: dict[str, Any]) -> PlannedDay:
    """The plan that a payload without violations asks for."""
    reasoning = shortened(one_line(payload["reasoning"]), REASONING_MAX)
    if payload["focus_task_id"] is None:
        return PlannedDay(reasoning=reasoning, source="model", warnings=("no_room",))
    return schedule.plan_of(_blocks(day, payload), reasoning, "model", _buffer(payload))


def _blocks(day: Day, payload: dict[str, Any]) -> tuple[PlanBlock, ...]:
    """What the plan of a model comes to: the focus first, then each mini that fits."""
    tasks = {task.id: task for task in day.tasks}
    blocks = schedule.with_focus(day, tasks[payload["focus_task_id"]])
    for id_ in payload.get("mini_task_ids", ()) if blocks else ():
        blocks = schedule.with_mini(day, blocks, tasks[id_], _buffer(payload))
    return blocks


def _buffer(payload: dict[str, Any]) -> int:
    """Whole minutes; those of the rules where the model gives none."""
    said: float = payload.get("buffer_minutes", BUFFER)
    return ceil(min(said, DAY_MINUTES))


# 3. What the contract alone cannot say -------------------------------------------------------


def find_plan_violations(day: Day, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What is wrong with the ids and the time of a plan for this day (RESOLUTIONS of seed 3)."""
    return tuple(_wrong_ids(day, payload) or _without_room(day, payload))


def _wrong_ids(day: Day, payload: dict[str, Any]) -> list[Violation]:
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


def _without_room(day: Day, payload: dict[str, Any]) -> list[Violation]:
    focus, small = payload["focus_task_id"], payload.get("mini_task_ids", ())
    if focus is None:
        wrong = schedule.plan_day_by_rules(day, "en").blocks
        return [Violation("/focus_task_id", "expected a task: one fits")] if wrong else []
    placed = [block.task_id for block in _blocks(day, payload)]
    named = {"/focus_task_id": focus} | {f"/mini_task_ids/{i}": id_ for i, id_ in enumerate(small)}
    unplaced = [place for place, id_ in named.items() if id_ not in placed]
    return [Violation(place, "expected a task that fits the time") for place in unplaced]
