"""The deterministic day plan: the order, the focus, the minis, and where they fit (seed 3).

It keeps no state and knows no clock: times are minutes since the day began. What a person reads of
it stands here in two languages, and so does what the simulator answers around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import msgspec

from preflights_es.features.planning.domain.events import (
    BUFFER,
    MINI_MAX,
    MINIS_MAX,
    PlanBlock,
    PlannedDay,
    Planner,
    PlanTask,
    Situation,
    Warned,
)
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import canonical_json
from preflights_es.words.questions import Language
from preflights_es.words.simulation import Bank, Draws, Route, write_json_reply

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
    tasks: tuple[PlanTask, ...]


def day_from_situation(situation: Situation) -> Day:
    """The day, without the sources of what it holds."""
    busy = tuple((one.start, one.end) for one in situation.busy)
    tasks = tuple(one.task for one in situation.tasks)
    window = (situation.start, situation.end, situation.minutes)
    return Day(situation.day, *window, busy, tasks)


# 1. Choosing ---------------------------------------------------------------------------------


def plan_day_by_rules(day: Day, language: Language, chosen: str | None = None) -> PlannedDay:
    """The plan that the rules make.

    Args:
        chosen: id of the task that a person wants as the focus.
    """
    ordered = sort_open_tasks(day)
    focus = next((task for task in ordered if task.id == chosen), next(iter(ordered), None))
    if focus is None:
        return PlannedDay(warnings=("no_tasks",))
    blocks = with_focus(day, focus)
    if not blocks:
        return PlannedDay(warnings=("no_room",))
    minis = 0
    for task in ordered:
        if task is not focus and task.twice <= 2 * MINI_MAX and minis < MINIS_MAX:
            more = with_mini(day, blocks, task, BUFFER)
            minis, blocks = minis + len(more) - len(blocks), more
    if chosen == focus.id:
        return plan_of(blocks, CHOSEN[language], "person")
    reason = REASONS[_reason_for_focus(day, focus)][language]
    return plan_of(blocks, reason.format(QUOTED[language].format(focus.title)), "rules")


def sort_open_tasks(day: Day) -> list[PlanTask]:
    """The open tasks: overdue, due today, the more important, the older."""

    def place(task: PlanTask) -> tuple[int, int, int, str]:
        return _lateness(day, task), _RANK[task.importance], task.created, task.id

    return sorted(day.tasks, key=place)


def _lateness(day: Day, task: PlanTask) -> int:
    """0 where it is overdue, 1 where it is due on the day, else 2."""
    if task.due is None or task.due > day.day:
        return 2
    return int(task.due == day.day)


def _reason_for_focus(day: Day, focus: PlanTask) -> Why:
    late: tuple[Why, ...] = ("overdue", "due_today", "first")
    found = late[_lateness(day, focus)]
    return "important" if (found, focus.importance) == ("first", "high") else found


def plan_of(
    blocks: Sequence[PlanBlock], reasoning: str, source: Planner, buffer: int = BUFFER
) -> PlannedDay:
    """A plan of blocks that fit, the focus first."""
    return PlannedDay(
        focus_task_id=blocks[0].task_id,
        mini_task_ids=tuple(block.task_id for block in blocks[1:]),
        buffer_minutes=buffer if len(blocks) > 1 else 0,
        reasoning=reasoning,
        source=source,
        blocks=tuple(sorted(blocks, key=lambda block: block.start)),
    )


# 2. Placing ----------------------------------------------------------------------------------


def with_focus(day: Day, focus: PlanTask) -> tuple[PlanBlock, ...]:
    """The block of the focus: the earliest place of all of it, or the longest place there is.

    Empty where nothing is free.
    """
    gaps, wanted = free(day), minutes_of(focus)
    longest = max((end - start for start, end in gaps), default=0)
    longest = longest if day.minutes is None else min(longest, day.minutes)
    if longest <= 0:
        return ()
    length = min(wanted, longest)
    start = next(start for start, end in gaps if end - start >= length)
    part = length < wanted
    return (PlanBlock(task_id=focus.id, kind="focus", start=start, end=start + length, part=part),)


def with_mini(
    day: Day, blocks: tuple[PlanBlock, ...], task: PlanTask, buffer: int
) -> tuple[PlanBlock, ...]:
    """The blocks with one more, at its earliest place; as they are where it has none."""
    length = minutes_of(task)
    spent = sum(block.end - block.start + buffer for block in blocks)
    if day.minutes is not None and spent + length > day.minutes:
        return blocks
    gaps = free(_mark_blocks_busy(day, blocks, buffer))
    start = next((start for start, end in gaps if end - start >= length), None)
    if start is None:
        return blocks
    return (*blocks, PlanBlock(task_id=task.id, kind="mini", start=start, end=start + length))


def minutes_of(task: PlanTask) -> int:
    """The average of its durations, rounded up."""
    return -(-task.twice // 2)


def free(day: Day) -> list[Span]:
    """What is left of the window between the busy intervals."""
    found: list[Span] = []
    at = day.start
    for start, end in sorted((*day.busy, (day.end, day.end + 1))):
        if start >= end:
            continue
        if min(start, day.end) > at:
            found.append((at, min(start, day.end)))
        at = max(at, end)
    return found


def free_minutes(day: Day, plan: PlannedDay) -> int:
    """How many minutes stay free."""
    return sum(end - start for start, end in free(_mark_blocks_busy(day, plan.blocks, 0)))


def _mark_blocks_busy(day: Day, blocks: Iterable[PlanBlock], buffer: int) -> Day:
    taken = ((block.start - buffer, block.end + buffer) for block in blocks)
    return msgspec.structs.replace(day, busy=(*day.busy, *taken))


# 3. Sentences --------------------------------------------------------------------------------

Why = Literal["overdue", "due_today", "important", "first"]
"""What of the order found the focus."""
UNAVAILABLE: Final[dict[Language, str]] = {
    "en": "AI not available. Choose yourself?",
    "de": "KI nicht verfügbar. Selbst auswählen?",
}
CHOSEN: Final[dict[Language, str]] = {"en": "Chosen by hand.", "de": "Von Hand gewählt."}
QUOTED: Final[dict[Language, str]] = {"en": "“{}”", "de": "„{}“"}
WARNINGS: Final[dict[Warned, dict[Language, str]]] = {
    "no_tasks": {"en": "No open tasks.", "de": "Keine offenen Aufgaben."},
    "no_room": {"en": "No time is free today.", "de": "Heute ist keine Zeit frei."},
}
REASONS: Final[dict[Why, dict[Language, str]]] = {
    "overdue": {"en": "{} comes first: it is overdue.", "de": "{} zuerst: überfällig."},
    "due_today": {"en": "{} comes first: it is due today.", "de": "{} zuerst: heute fällig."},
    "important": {"en": "{} comes first: it is important.", "de": "{} zuerst: wichtig."},
    "first": {"en": "{} comes first: it is the oldest.", "de": "{} zuerst: die älteste Aufgabe."},
}

# 4. The simulator ----------------------------------------------------------------------------

_DAY = re.compile(
    r"^Language: (?P<language>en|de)\n.*?^Day:\n(?P<day>\{.*)\Z", re.DOTALL | re.MULTILINE
)
_PROSE = ("Here is a plan:\n", "Hier ist der Plan:\n", "")


def answer_planning_by_rules(request: CompletionRequested) -> str:
    """The plan of the rules, as a model would answer it."""
    return canonical_json(_make_plan_payload(*_parse_planning_request(request))).decode()


def vary_planning_answer(draws: Draws, request: CompletionRequested) -> str:
    """A `planning.v1` around the plan of the rules."""
    day, language = _parse_planning_request(request)
    chosen = draws.pick(day.tasks).id if day.tasks and draws.chance(0.3) else None
    payload = _make_plan_payload(day, language, chosen)
    if payload["mini_task_ids"] and draws.chance(0.3):
        payload["mini_task_ids"].pop()
    if draws.chance(0.4):
        payload["buffer_minutes"] = draws.between(0, BUFFER)
    if draws.chance(0.1):
        payload["mood"] = draws.pick(("busy", "calm"))  # a property that no contract knows yet
    return write_json_reply(draws, payload, _PROSE)


def _make_plan_payload(day: Day, language: Language, chosen: str | None = None) -> dict[str, Any]:
    plan = plan_day_by_rules(day, language, chosen)
    return {
        "focus_task_id": plan.focus_task_id,
        "mini_task_ids": list(plan.mini_task_ids),
        "buffer_minutes": plan.buffer_minutes,
        "reasoning": plan.reasoning or WARNINGS["no_room"][language],
    }


def _parse_planning_request(request: CompletionRequested) -> tuple[Day, Language]:
    """The day and the language, as the request says them; nothing where it says none."""
    said = next((m.content for m in request.messages if m.role == "user"), "")
    found = _DAY.search(said)
    try:
        day = msgspec.json.decode(found["day"] if found else "", type=Day)
    except msgspec.MsgspecError:
        return Day(day="", start=0, end=0, minutes=None, busy=(), tasks=()), "en"
    return day, "de" if found and found["language"] == "de" else "en"


BANK: Bank = {"planning": Route(vary_planning_answer, ("plan a day",))}
