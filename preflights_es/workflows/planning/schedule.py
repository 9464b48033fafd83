"""The deterministic day plan: candidates, focus, minis, and where they fit (seed 3).

It keeps no state and knows no clock: times are minutes since the day began.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from preflights_es.core.views import Language
from preflights_es.workflows.planning import sentences
from preflights_es.workflows.planning.sentences import Why
from preflights_es.workflows.planning.values import (
    BUFFER,
    BUFFER_MIN,
    FOCUS_MAX,
    FOCUS_MIN,
    MINI_MAX,
    MINI_MIN,
    MINIS_MAX,
    PART_MAX,
    ROUNDED,
    SHORT_MIN,
    Block,
    Plan,
    Situation,
    Task,
    Warned,
)

_RANK: Final = {"high": 0, "normal": 1, "low": 2}
Span = tuple[int, int]
"""Beginning and end, in minutes since the day began."""


class Day(msgspec.Struct, frozen=True):
    """What the schedule looks at."""

    day: str
    start: int
    end: int
    minutes: int | None
    busy: tuple[Span, ...]
    tasks: tuple[Task, ...]


class Laid(msgspec.Struct, frozen=True):
    """Blocks that fit into the day."""

    blocks: tuple[Block, ...]
    buffer: int
    warnings: tuple[Warned, ...] = ()


def day_of(situation: Situation) -> Day:
    """The day, without the sources of what it holds."""
    busy = tuple((one.start, one.end) for one in situation.busy)
    tasks = tuple(one.task for one in situation.tasks)
    window = (situation.start, situation.end, situation.minutes)
    return Day(situation.day, *window, busy, tasks)


def planned(day: Day, language: Language) -> Plan:
    """The plan that the rules make."""
    too_long = tuple(task.id for task in rejected(day))
    if not day.tasks:
        return Plan(warnings=("no_tasks",))
    has_focus = False
    for focus, why in focuses(day):
        has_focus = True
        if found := laid(day, focus, minis(day, focus), BUFFER):
            reasoning = sentences.reasoning(language, focus, why)
            plan = plan_of(found, reasoning, too_long)
            short = ("short_focus",) if why == "short" else ()
            return msgspec.structs.replace(plan, warnings=(*short, *plan.warnings))
    chosen = () if has_focus else minis(day, None)
    found = laid(day, None, chosen, BUFFER) if chosen else None
    if found is None:
        warned: Warned = "no_room" if has_focus or chosen else "no_focus"
        return Plan(too_long=too_long, warnings=(warned,))
    plan = plan_of(found, sentences.MINIS_ALONE[language], too_long)
    return msgspec.structs.replace(plan, warnings=("no_focus", *plan.warnings))


def plan_of(found: Laid, reasoning: str, too_long: tuple[str, ...]) -> Plan:
    """A plan of blocks that fit."""
    by_kind = {
        kind: tuple(b.task_id for b in found.blocks if b.kind == kind) for kind in ("focus", "mini")
    }
    return Plan(
        focus_task_id=next(iter(by_kind["focus"]), None),
        mini_task_ids=by_kind["mini"],
        buffer_minutes=found.buffer if len(found.blocks) > 1 else 0,
        reasoning=reasoning,
        blocks=tuple(sorted(found.blocks, key=lambda block: block.start)),
        too_long=too_long,
        warnings=found.warnings,
    )


# 1. Choosing ---------------------------------------------------------------------------------


def candidates(day: Day) -> list[Task]:
    """The open tasks: overdue first, the more important, the older."""
    return sorted(
        day.tasks,
        key=lambda t: (not is_overdue(day, t), _RANK[t.importance], t.created, t.id),
    )


def is_overdue(day: Day, task: Task) -> bool:
    """Whether it was due before the day of the plan."""
    return bool(task.due) and str(task.due) < day.day


def focuses(day: Day) -> Iterator[tuple[Task, Why]]:
    """Tasks that can be the focus, in the order of the rules, each with the rule that found it."""
    ordered = candidates(day)
    if are_all_too_long(day):
        yield from ((task, "part") for task in sorted(ordered, key=lambda t: t.twice))
        return
    whole = [t for t in ordered if 2 * FOCUS_MIN <= t.twice <= 2 * FOCUS_MAX]
    short = [t for t in ordered if 2 * SHORT_MIN <= t.twice < 2 * FOCUS_MIN]
    named: list[tuple[Task, Why]] = [
        *((t, "overdue") for t in whole if is_overdue(day, t)),
        *((t, "important") for t in whole if t.importance == "high"),
        *((t, "deep_work") for t in whole if t.energy == "deep_work"),
        *((t, "longest") for t in sorted(whole, key=lambda t: -t.twice)),
        *((t, "short") for t in short),
    ]
    seen: set[str] = set()
    for task, why in named:
        if task.id not in seen:
            yield task, why
        seen.add(task.id)


def are_all_too_long(day: Day) -> bool:
    """Whether every task is too long for a focus."""
    return bool(day.tasks) and all(task.twice > 2 * FOCUS_MAX for task in day.tasks)


def rejected(day: Day) -> list[Task]:
    """Tasks that are too long: a person should split them."""
    return [task for task in candidates(day) if task.twice > 2 * FOCUS_MAX]


def can_be_focus(day: Day, task: Task) -> bool:
    """Whether the rules allow a task as the focus."""
    if are_all_too_long(day):
        return task.twice == min(one.twice for one in day.tasks)
    return 2 * SHORT_MIN <= task.twice <= 2 * FOCUS_MAX


def can_be_mini(task: Task) -> bool:
    """Whether the rules allow a task as a mini."""
    return 2 * MINI_MIN <= task.twice <= 2 * MINI_MAX and task.importance != "high"


def minis(day: Day, focus: Task | None) -> tuple[Task, ...]:
    """At most two: administration first, then another kind where there is one."""
    own = focus.id if focus else None
    found = [t for t in candidates(day) if can_be_mini(t) and t.id != own]
    found.sort(key=lambda task: task.energy != "admin")
    if len(found) <= 1:
        return tuple(found)
    first, *others = found
    second = next((task for task in others if task.energy != first.energy), others[0])
    return first, second


# 2. Placing ----------------------------------------------------------------------------------


def laid(day: Day, focus: Task | None, small: Sequence[Task], buffer: int) -> Laid | None:
    """Blocks of the tasks, with less of them the less time there is; None where nothing fits."""
    small = tuple(small[:MINIS_MAX])
    length = _focus_minutes(focus) if focus else 0
    is_part = focus is not None and focus.twice > 2 * FOCUS_MAX
    tries: list[tuple[int, tuple[Task, ...], int]] = [(length, small, buffer)]
    if small:
        tries += [(length, small[:count], BUFFER_MIN) for count in range(len(small), -1, -1)]
    if length > FOCUS_MIN:
        tries.append((FOCUS_MIN, (), BUFFER_MIN))
    for minutes, kept, between in tries:
        if not (minutes or kept):
            continue
        lengths = ([minutes] if focus else []) + [_minutes(task) for task in kept]
        if starts := _starts(day, lengths, between):
            is_cut = minutes < length
            blocks = _blocks(
                focus, kept, list(zip(starts, lengths, strict=True)), is_part or is_cut
            )
            cut: tuple[Warned, ...] = ("focus_cut",) if is_cut else ()
            dropped: tuple[Warned, ...] = ("mini_dropped",) if len(kept) < len(small) else ()
            return Laid(blocks, between, (*cut, *dropped))
    return None


def _minutes(task: Task) -> int:
    """The average of its durations, rounded up."""
    return -(-task.twice // (2 * ROUNDED)) * ROUNDED


def _focus_minutes(task: Task) -> int:
    return PART_MAX if task.twice > 2 * FOCUS_MAX else _minutes(task)


def _blocks(
    focus: Task | None, small: Sequence[Task], spans: Sequence[Span], is_part: bool
) -> tuple[Block, ...]:
    tasks = ([focus] if focus else []) + list(small)
    return tuple(
        Block(
            task_id=task.id,
            kind="focus" if task is focus else "mini",
            start=start,
            end=start + minutes,
            part=is_part and task is focus,
        )
        for task, (start, minutes) in zip(tasks, spans, strict=True)
    )


def _starts(day: Day, lengths: Sequence[int], buffer: int) -> list[int]:
    """The earliest beginning of each, the first before all others; empty where one has no room."""
    gaps = free(day)
    available = sum(end - start for start, end in gaps)
    if day.minutes is not None:
        available = min(available, day.minutes)
    if sum(lengths) + buffer * (len(lengths) - 1) > available:
        return []
    taken: list[Span] = []
    for length in lengths:
        start = _earliest(gaps, taken, length, buffer)
        if start is None:
            return []
        taken.append((start, start + length))
    return [start for start, _ in taken]


def free(day: Day) -> list[Span]:
    """What is left of the window between the busy intervals."""
    found: list[Span] = []
    at = day.start
    for start, end in sorted(day.busy):
        if start >= end:
            continue
        if min(start, day.end) > at:
            found.append((at, min(start, day.end)))
        at = max(at, end)
    if day.end > at:
        found.append((at, day.end))
    return found


def _earliest(gaps: Sequence[Span], taken: Sequence[Span], length: int, buffer: int) -> int | None:
    for begin, end in gaps:
        at = begin
        for start, stop in sorted(taken):
            if at + length + buffer <= start:
                break
            at = max(at, stop + buffer)
        if at + length <= end:
            return at
    return None
