"""What can be shown of a day plan; all of it derived, none of it stored."""

from __future__ import annotations

from typing import Literal

from preflights_es.features.planning.domain import schedule, sentences
from preflights_es.features.planning.domain.clock import clock
from preflights_es.features.planning.domain.left_out import left_out
from preflights_es.features.planning.domain.state import State
from preflights_es.features.planning.domain.values import Plan, Planner, Reason, Situation
from preflights_es.kernel.events import Value
from preflights_es.kernel.lead import no_answer, why_none
from preflights_es.kernel.questions import Language, Reached, View


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
    """The fields of `plan/1` (docs/api.md)."""

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
        left_out=_left_out(state, day) if day else (),
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
    warnings = [sentences.WARNINGS[one][language] for one in plan.warnings]
    titles = _titles(state.situation)
    warnings += [sentences.split(language, titles.get(id_, id_)) for id_ in plan.too_long]
    if state.led.stalled:
        warnings.insert(0, no_answer(state.led, "resume asks it again"))
    elif state.led.fell_back and plan.source == "rules":
        warnings.insert(0, f"{sentences.UNAVAILABLE[language]} ({why_none(state.led)})")
    return tuple(warnings)


def _titles(situation: Situation | None) -> dict[str, str]:
    return {one.task.id: one.task.title for one in situation.tasks} if situation else {}


def _left_out(state: State, situation: Situation) -> tuple[NotPlanned, ...]:
    if state.plan is None:
        return ()
    titles = _titles(situation)
    return tuple(
        NotPlanned(
            task_id=one.task.id,
            title=one.task.title,
            code=one.reason,
            reason=sentences.left_out(state.language, one, titles.get(one.other_id, one.other_id)),
        )
        for one in left_out(schedule.day_of(situation), state.plan)
        if one.task.id not in state.done
    )


def _timeline(state: State, day: Situation, plan: Plan) -> tuple[Entry, ...]:
    """Blocks and busy intervals of the window, by time."""
    tasks = {one.task.id: one.task for one in day.tasks}
    blocks = [
        (
            (block.start, block.end),
            Entry(
                start=clock(day, block.start),
                end=clock(day, block.end),
                kind=block.kind,
                title=tasks[block.task_id].title if block.task_id in tasks else "",
                task_id=block.task_id,
                part=block.part,
                assumed=block.task_id in tasks and tasks[block.task_id].assumed,
                done=block.task_id in state.done,
            ),
        )
        for block in plan.blocks
    ]
    busy = [
        (
            (one.start, one.end),
            Entry(
                start=clock(day, one.start),
                end=clock(day, one.end),
                kind="busy",
                title=one.title,
                assumed=one.assumed,
            ),
        )
        for one in day.busy
        if one.start < day.end and one.end > day.start
    ]
    return tuple(entry for _, entry in sorted((*blocks, *busy), key=lambda pair: pair[0]))


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
