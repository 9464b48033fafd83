"""What the log of a day plan folds to, and what is shown of it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import (
    PlanAsked,
    PlanAskedAgain,
    PlanMade,
    PlannedDay,
    Planner,
    PlanningChangeRefused,
    Situation,
    format_wall_clock,
)
from preflights_es.kernel import lead as leading
from preflights_es.kernel.errors import Notice
from preflights_es.kernel.events import Event, Input, Value
from preflights_es.kernel.lead import LeadState, no_answer, why_none
from preflights_es.words.questions import Language, Reached
from preflights_es.words.workflow import View

# 1. The fold ---------------------------------------------------------------------------------


class PlanningState(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    situation: Situation | None = None
    """That of the newest plan that was asked for."""
    language: Language = "en"
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: LeadState = LeadState()
    plan: PlannedDay | None = None
    suggested: PlannedDay | None = None
    """As the rules or a model made it, before a person chose otherwise."""


def is_terminal(state: PlanningState) -> bool:  # noqa: ARG001  the same shape in every workflow
    """Never: a block can be done, and the day planned again."""
    return False


def evolve(state: PlanningState, event: Event) -> PlanningState:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _evolve_planning_input(state, event)
    match event:
        case PlanningChangeRefused():
            return state
        case PlanMade(plan=plan):
            suggested = state.suggested if plan.source == "person" else plan
            return replace(apply_plan_asked_again(state), plan=plan, suggested=suggested)
        case _:
            now = apply_plan_asked_again(state)
            led = leading.evolve_lead_state(now.led, state.input, event)
            return now if led is now.led else replace(now, led=led)


def apply_plan_asked_again(state: PlanningState) -> PlanningState:
    """With the situation and lead of another plan, which count once something follows from it."""
    new = state.input
    if not isinstance(new, PlanAskedAgain):
        return state
    was = state.led
    led = LeadState(new.lead, new.prompts, was.candidates, steps=was.steps, calls=was.calls)
    # What was planned before follows from another situation.
    return replace(state, situation=new.situation, input=None, led=led, plan=None)


def _evolve_planning_input(state: PlanningState, new: Input) -> PlanningState:
    if isinstance(new, PlanAsked) and state.situation is None:
        return replace(
            state,
            situation=new.situation,
            language=new.language,
            input=new,
            led=leading.open_lead_state(new.setup),
        )
    return replace(state, input=new)


# 2. What is shown ----------------------------------------------------------------------------


class DayTimelineEntry(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the timeline; times are those of the clock on the wall."""

    start: str
    end: str
    kind: Literal["focus", "mini", "busy"]
    title: str
    task_id: str | None = None
    part: bool = False
    """Whether the block holds only a part of the task."""
    assumed: bool = False
    """Whether how long it takes is assumed."""


class NotPlanned(Value, frozen=True, omit_defaults=True):
    """An open task that has no block."""

    task_id: str
    title: str
    due: str | None = None
    """YYYY-MM-DD."""


class DayView(View, frozen=True, kw_only=True):
    """`day/1` (docs/api.md)."""

    FORMAT = "day/1"

    day: str
    window: tuple[str, str]
    focus_task_id: str | None
    mini_task_ids: tuple[str, ...]
    buffer_minutes: int
    reasoning: str
    source: Planner | None
    timeline: tuple[DayTimelineEntry, ...]
    not_planned: tuple[NotPlanned, ...]
    """In the order of the rules."""
    more: int
    """Open tasks behind these, which the plan does not look at."""
    free_minutes: int
    calls: int
    """Of the provider, retries among them."""
    language: Language
    notices: tuple[Notice, ...] = ()


def view(state: PlanningState) -> DayView:
    """All that `show` says."""
    plan, day = state.plan or PlannedDay(), state.situation
    return DayView(
        status=_planning_status(state),
        intention=day.day if day else "",
        progress=1.0 if state.plan else 0.0,
        warnings=_planning_warnings(state),
        day=day.day if day else "",
        window=(format_wall_clock(day, day.start), format_wall_clock(day, day.end))
        if day
        else ("", ""),
        focus_task_id=plan.focus_task_id,
        mini_task_ids=plan.mini_task_ids,
        buffer_minutes=plan.buffer_minutes,
        reasoning=plan.reasoning,
        source=plan.source if state.plan else None,
        timeline=_timeline(day, plan) if day else (),
        not_planned=_not_planned(day, plan) if day else (),
        more=day.more if day else 0,
        free_minutes=schedule.free_minutes(schedule.day_from_situation(day), plan) if day else 0,
        calls=state.led.calls,
        language=state.language,
    )


def _planning_status(state: PlanningState) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    return "done" if state.plan and state.plan.blocks else "stopped"


def _planning_warnings(state: PlanningState) -> tuple[str, ...]:
    plan, language = state.plan or PlannedDay(), state.language
    warnings = [schedule.WARNINGS[one][language] for one in plan.warnings]
    if state.led.stalled:
        warnings.insert(0, no_answer(state.led, "resume asks it again"))
    elif state.led.fell_back and plan.source == "rules":
        warnings.insert(0, f"{schedule.UNAVAILABLE[language]} ({why_none(state.led)})")
    return tuple(warnings)


def _not_planned(day: Situation, plan: PlannedDay) -> tuple[NotPlanned, ...]:
    planned = {block.task_id for block in plan.blocks}
    ordered = schedule.sort_open_tasks(schedule.day_from_situation(day))
    return tuple(NotPlanned(t.id, t.title, t.due) for t in ordered if t.id not in planned)


def _timeline(day: Situation, plan: PlannedDay) -> tuple[DayTimelineEntry, ...]:
    """Blocks and busy intervals of the window, by time."""

    def entry(start: int, end: int, **said: Any) -> tuple[int, int, DayTimelineEntry]:
        at, to = format_wall_clock(day, start), format_wall_clock(day, end)
        return start, end, DayTimelineEntry(start=at, end=to, **said)

    tasks = {one.task.id: one.task for one in day.tasks}
    blocks = [
        entry(
            block.start,
            block.end,
            kind=block.kind,
            title=tasks[block.task_id].title if block.task_id in tasks else "",
            task_id=block.task_id,
            part=block.part,
            assumed=block.task_id in tasks and tasks[block.task_id].assumed,
        )
        for block in plan.blocks
    ]
    inside = (one for one in day.busy if one.start < day.end and one.end > day.start)
    busy = [entry(i.start, i.end, kind="busy", title=i.title, assumed=i.assumed) for i in inside]
    return tuple(one for _, _, one in sorted((*blocks, *busy), key=lambda one: one[:2]))


def planning_reached(state: PlanningState) -> Reached:
    """The plan as the rules or the model made it; and as a person chose it."""
    suggested = _plan_result_fields(state.suggested) if state.suggested else None
    if state.plan is None or state.plan.source != "person":
        return Reached(result=suggested)
    return Reached(result=suggested, accepted=_plan_result_fields(state.plan))


def _plan_result_fields(plan: PlannedDay) -> dict[str, object]:
    tasks = {"focus_task_id": plan.focus_task_id, "mini_task_ids": list(plan.mini_task_ids)}
    return {**tasks, "buffer_minutes": plan.buffer_minutes}
