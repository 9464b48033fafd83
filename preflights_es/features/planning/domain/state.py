"""What the log of a day plan folds to, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import (
    BUFFER_MIN,
    FOCUS_MAX,
    MINI_MAX,
    MINI_MIN,
    MINIS_MAX,
    SHORT_MIN,
    Block,
    BlockClosed,
    ChangeRefused,
    Plan,
    PlanAsked,
    PlanAskedAgain,
    PlanMade,
    Planner,
    Reason,
    Situation,
    Task,
    clock,
)
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.kernel import lead as leading
from preflights_es.kernel.errors import Notice
from preflights_es.kernel.events import Event, Input, Value
from preflights_es.kernel.lead import Led, no_answer, why_none
from preflights_es.kernel.questions import Language, Reached
from preflights_es.kernel.views import View

# 1. The fold ---------------------------------------------------------------------------------


class State(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    situation: Situation | None = None
    """That of the newest plan that was asked for."""
    language: Language = "en"
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: Led = Led()
    plan: Plan | None = None
    suggested: Plan | None = None
    """As the rules or a model made it, before a person chose otherwise."""
    done: frozenset[str] = frozenset()
    """Ids of tasks that were finished in this session."""
    replans: int = 0


def is_terminal(state: State) -> bool:  # noqa: ARG001  the same shape in every workflow
    """Never: a block can be done, and the day planned again."""
    return False


def evolve(state: State, event: Event) -> State:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _after_input(state, event)
    match event:
        case ChangeRefused():
            return state
        case PlanMade(plan=plan):
            suggested = state.suggested if plan.source == "person" else plan
            return replace(counted(state), plan=plan, suggested=suggested)
        case BlockClosed(task_id=task_id):
            return replace(state, done=state.done | {task_id})
        case _:
            now = counted(state)
            led = leading.after(now.led, state.input, event)
            return now if led is now.led else replace(now, led=led)


def counted(state: State) -> State:
    """With the situation and the lead of a replan, which count once something follows from it."""
    new = state.input
    if not isinstance(new, PlanAskedAgain):
        return state
    was = state.led
    led = Led(new.lead, new.prompts, was.candidates, steps=was.steps, calls=was.calls)
    replans = state.replans + (not new.changed)
    # What was planned before follows from another situation.
    return replace(state, situation=new.situation, input=None, led=led, plan=None, replans=replans)


def _after_input(state: State, new: Input) -> State:
    if isinstance(new, PlanAsked) and state.situation is None:
        return replace(
            state,
            situation=new.situation,
            language=new.language,
            input=new,
            led=leading.opened(new.setup),
        )
    return replace(state, input=new)


# 2. What is shown ----------------------------------------------------------------------------


class Entry(Value, frozen=True, kw_only=True, omit_defaults=True):
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
    done: bool = False


class NotPlanned(Value, frozen=True):
    """An open task that the plan leaves out."""

    task_id: str
    title: str
    code: Reason
    reason: str
    """The same in words, in the language of the session."""


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
    timeline: tuple[Entry, ...]
    too_long: tuple[str, ...]
    """Ids of tasks to split."""
    left_out: tuple[NotPlanned, ...]
    replans: int
    calls: int
    """Of the provider, retries among them."""
    language: Language
    notices: tuple[Notice, ...] = ()


def view(state: State) -> DayView:
    """All that `show` says."""
    plan, day = state.plan or Plan(), state.situation
    return DayView(
        status=_status(state),
        intention=day.day if day else "",
        progress=_progress(state),
        warnings=_warnings(state),
        day=day.day if day else "",
        window=(clock(day, day.start), clock(day, day.end)) if day else ("", ""),
        focus_task_id=plan.focus_task_id,
        mini_task_ids=plan.mini_task_ids,
        buffer_minutes=plan.buffer_minutes,
        reasoning=plan.reasoning,
        source=plan.source if state.plan else None,
        timeline=_timeline(state, day, plan) if day else (),
        too_long=plan.too_long,
        left_out=_not_planned(state, day) if day else (),
        replans=state.replans,
        calls=state.led.calls,
        language=state.language,
    )


def _status(state: State) -> str:
    if state.led.request is not None or state.led.stalled:
        return "waiting"
    return "done" if state.plan and state.plan.blocks else "stopped"


def _progress(state: State) -> float:
    """The share of blocks that are done; 0.0 without a plan."""
    blocks = state.plan.blocks if state.plan else ()
    if not blocks:
        return 0.0
    return sum(block.task_id in state.done for block in blocks) / len(blocks)


def _warnings(state: State) -> tuple[str, ...]:
    plan, language = state.plan or Plan(), state.language
    warnings = [schedule.WARNINGS[one][language] for one in plan.warnings]
    tasks = state.situation.tasks if state.situation else ()
    titles = {one.task.id: one.task.title for one in tasks}
    warnings += [schedule.SPLIT[language].format(titles.get(id_, id_)) for id_ in plan.too_long]
    if state.led.stalled:
        warnings.insert(0, no_answer(state.led, "resume asks it again"))
    elif state.led.fell_back and plan.source == "rules":
        warnings.insert(0, f"{schedule.UNAVAILABLE[language]} ({why_none(state.led)})")
    return tuple(warnings)


def _not_planned(state: State, day: Situation) -> tuple[NotPlanned, ...]:
    if state.plan is None:
        return ()
    found = left_out(schedule.day_of(day), state.plan, state.language)
    return tuple(one for one in found if one.task_id not in state.done)


def _timeline(state: State, day: Situation, plan: Plan) -> tuple[Entry, ...]:
    """Blocks and busy intervals of the window, by time."""

    def entry(start: int, end: int, **said: Any) -> tuple[int, int, Entry]:
        return start, end, Entry(start=clock(day, start), end=clock(day, end), **said)

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
            done=block.task_id in state.done,
        )
        for block in plan.blocks
    ]
    busy = [
        entry(one.start, one.end, kind="busy", title=one.title, assumed=one.assumed)
        for one in day.busy
        if one.start < day.end and one.end > day.start
    ]
    return tuple(one for _, _, one in sorted((*blocks, *busy), key=lambda one: one[:2]))


def reached(state: State) -> Reached:
    """The plan as the rules or the model made it; and as a person chose it."""
    suggested = _content(state.suggested) if state.suggested else None
    if state.plan is None or state.plan.source != "person":
        return Reached(result=suggested)
    return Reached(result=suggested, accepted=_content(state.plan))


def _content(plan: Plan) -> dict[str, object]:
    return {
        "focus_task_id": plan.focus_task_id,
        "mini_task_ids": list(plan.mini_task_ids),
        "buffer_minutes": plan.buffer_minutes,
    }


# 3. What is left out -------------------------------------------------------------------------


def left_out(day: Day, plan: Plan, language: Language) -> Iterator[NotPlanned]:
    """What a plan leaves out, in the order of the rules; those to be split are in `too_long`."""
    planned = [block.task_id for block in plan.blocks]
    titles = {task.id: task.title for task in day.tasks}
    for task in schedule.candidates(day):
        if task.id in planned or task.id in plan.too_long:
            continue
        code, said = _why(day, plan, task)
        other_id = str(said.get("other", ""))
        other = schedule.QUOTED[language].format(titles.get(other_id, other_id))
        reason = schedule.LEFT_OUT[code][language].format(**{**said, "other": other})
        yield NotPlanned(task.id, task.title, code, reason)


def _why(day: Day, plan: Plan, task: Task) -> tuple[Reason, dict[str, int | str]]:
    """The reason, and what its sentence names: minutes, the room for them, the task before it."""
    planned = [block.task_id for block in plan.blocks]
    if lacking := [id_ for id_ in schedule.ahead(day, task) if id_ not in planned]:
        return "waits", {"other": lacking[0]}
    minutes = schedule.minutes_of(task)
    if 2 * SHORT_MIN <= task.twice <= 2 * FOCUS_MAX:
        if not schedule.fits(day, task):
            room, ahead = _room(day, ()), schedule.ahead(day, task)
            if ahead and room >= minutes:  # there is room, but not behind the task before it
                return "waits", {"other": ahead[0]}
            return "no_room", {"minutes": minutes, "room": room}
        return "not_chosen" if plan.focus_task_id is None else "one_focus", {}
    if not schedule.can_be_mini(task):
        return _size(task), {"minutes": minutes}
    if len(plan.mini_task_ids) >= MINIS_MAX:
        return "two_minis", {}
    room = _room(day, plan.blocks)
    if room < minutes:
        return "no_room", {"minutes": minutes, "room": room}
    if not plan.blocks:
        return "no_focus", {}
    is_short = {"mini_dropped", "focus_cut"}.intersection(plan.warnings)
    return "no_time" if is_short else "not_chosen", {}


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
