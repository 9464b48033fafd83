"""What the plan of a day follows from: the clock, and the rows of the projection `items`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.planning.domain import schedule
from preflights_es.features.planning.domain.events import (
    ASSUMED,
    DAY_MINUTES,
    EVENT_ASSUMED,
    ROUNDED,
    TASKS_MAX,
    Busy,
    OpenTask,
    PlanTask,
    Shift,
    Situation,
)
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import SourceSession
from preflights_es.kernel.text import late_pattern
from preflights_es.system.clock_ids import LocalDay
from preflights_es.words.items import item_id

BUSY_MAX: Final = 50  # intervals that are given at once
_TIME: Final = late_pattern(r"([01]?[0-9]|2[0-3]):[0-5][0-9]|24:00")
_DASH: Final = "\u2013"  # of a range, as people write it

Row = Mapping[str, Any]


class WantedDay(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of the day, as typed."""

    minutes: int | None = None
    busy: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None

    @property
    def is_said(self) -> bool:
        """Whether anything is."""
        return self != WantedDay()


# 1. Form -------------------------------------------------------------------------------------


class Window(msgspec.Struct, frozen=True):
    """The day as it was wanted, in minutes since it began."""

    start: int
    end: int
    minutes: int | None
    busy: tuple[Busy, ...]


def window(day: LocalDay, wanted: WantedDay, until: str) -> Window:
    """What is wanted of a day.

    Args:
        until: when the day ends, where the person does not say.

    Raises:
        Refused: something is no time, no interval, or no number of minutes.
    """
    if wanted.minutes is not None and not 1 <= wanted.minutes <= DAY_MINUTES:
        message = f"found {wanted.minutes} minutes, expected 1 to {DAY_MINUTES:,}"
        raise Refused(message, code="no_minutes")
    if len(wanted.busy) > BUSY_MAX:
        raise Refused(f"at most {BUSY_MAX} intervals are taken", code="too_many_intervals")
    busy = tuple(_interval(day, typed) for typed in wanted.busy)
    first = day.now[11:16] if wanted.start is None else wanted.start
    last = until if wanted.end is None else wanted.end
    start, end = _clock_minutes(first), _clock_minutes(last)
    if (wanted.start, wanted.end) != (None, None) and end <= start:
        message = f"found {first} to {last}, expected an end after the beginning"
        raise Refused(message, code="no_interval")
    begins = _soon(day) if wanted.start is None else starting(day, start)
    return Window(begins, find_ending_minute(day, end), wanted.minutes, busy)


def kept_window(day: LocalDay, was: Situation) -> Window:
    """The window of an older plan, from now on."""
    busy = tuple(one for one in was.busy if one.source is None)
    return Window(max(was.start, _soon(day)), was.end, was.minutes, busy)


def _soon(day: LocalDay) -> int:
    return -(-day.minute // ROUNDED) * ROUNDED


def _interval(day: LocalDay, typed: str) -> Busy:
    first, dash, last = typed.strip().replace(_DASH, "-").partition("-")
    if not dash:
        message = f"found {typed!r}, expected an interval such as 13:00-14:00"
        raise Refused(message, code="no_interval")
    start, end = _clock_minutes(first), _clock_minutes(last)
    if end <= start:
        message = f"found {typed!r}, expected an interval that ends after it begins"
        raise Refused(message, code="no_interval")
    return Busy(start=starting(day, start), end=find_ending_minute(day, end))


def _clock_minutes(typed: str) -> int:
    text = typed.strip()
    if not _TIME.fullmatch(text):
        raise Refused(f"found {typed!r}, expected a time such as 13:00", code="no_time")
    hours, _, minutes = text.partition(":")
    return int(hours) * 60 + int(minutes)


# 2. The clock on the wall --------------------------------------------------------------------


def starting(day: LocalDay, clock: int) -> int:
    """The first minute of the day at which the clock shows a time, or a later one."""
    return next((m for m in range(day.length) if _wall_clock_minute(day, m) >= clock), day.length)


def find_ending_minute(day: LocalDay, clock: int) -> int:
    """The minute behind the last one at which the clock shows less than a time."""
    return next(
        (m + 1 for m in reversed(range(day.length)) if _wall_clock_minute(day, m) < clock), 0
    )


def _wall_clock_minute(day: LocalDay, minute: int) -> int:
    return minute + sum(by for at, by in day.shifts if at <= minute)


# 3. What notes hold --------------------------------------------------------------------------


def compose_day_situation(day: LocalDay, asked: Window, rows: Sequence[Row]) -> Situation:
    """The day with the open tasks, and the events that are on it.

    Args:
        rows: all of the projection `items`.
    """
    events = (_busy_from_event_row(day, row) for row in rows if _is_of(day, row))
    tasks = open_tasks(day.day, rows)
    return Situation(
        day=day.day,
        now=day.now,
        time_zone=day.time_zone,
        start=asked.start,
        end=asked.end,
        minutes=asked.minutes,
        busy=tuple(sorted((*asked.busy, *events), key=lambda one: (one.start, one.end))),
        shifts=tuple(Shift(at, by) for at, by in day.shifts),
        tasks=tasks[:TASKS_MAX],
        more=max(len(tasks) - TASKS_MAX, 0),
    )


def is_changed(was: Situation, now: Situation) -> bool:
    """Whether a task or an event of the day is another than when a plan was made."""
    return _comparable_day_content(was) != _comparable_day_content(now)


def _comparable_day_content(day: Situation) -> tuple[object, ...]:
    """What counts of a day, wherever it was read."""
    events = (replace(one, source=None) for one in day.busy if one.source is not None)
    return tuple(one.task for one in day.tasks), tuple(events), day.more


def open_tasks(day: str, rows: Iterable[Row]) -> tuple[OpenTask, ...]:
    """The open tasks, in the order of the rules."""
    tasks = [row for row in rows if row["type"] == "task" and row["status"] == "open"]
    named = [item_id(row["session_id"], row["number"]) for row in tasks]
    twice = {name for name in named if named.count(name) > 1} if len({*named}) < len(named) else ()
    found = {
        id_: OpenTask(_task(row, id_), row["number"], _source_from_item_row(row))
        for row, name in zip(tasks, named, strict=True)
        for id_ in (f"{row['session_id']}.{row['number']}" if name in twice else name,)
    }
    listed = tuple(one.task for one in found.values())
    ordered = schedule.sort_open_tasks(
        Day(day, start=0, end=0, minutes=None, busy=(), tasks=listed)
    )
    return tuple(found[task.id] for task in ordered)


def _task(row: Row, id_: str) -> PlanTask:
    low, high = row["duration_min"], row["duration_max"]
    assumed = low is None and high is None
    least, most = (ASSUMED, ASSUMED) if assumed else (low or high, high or low)
    told: dict[str, Any] = {
        "id": id_,
        "title": row["title"],
        "duration_min": least,
        "duration_max": most,
        "assumed": assumed,
        "importance": row["importance"] or "normal",
        "energy": row["energy"],
        "due": row["due"],
        "created": max(row["began_at"], 0),
    }
    # Converted, a "normal" of the database is the default, and so is left out as in a replay.
    return msgspec.convert(told, PlanTask)


def _is_of(day: LocalDay, row: Row) -> bool:
    is_event = row["type"] == "event" and row["status"] == "open"
    return is_event and row["start_time"] is not None and bool(row["date"] == day.day)


def _busy_from_event_row(day: LocalDay, row: Row) -> Busy:
    start = _clock_minutes(row["start_time"])
    end = (
        _clock_minutes(row["end_time"])
        if row["end_time"]
        else min(start + EVENT_ASSUMED, DAY_MINUTES)
    )
    end = end if end > start else DAY_MINUTES  # it ends on another day
    return Busy(
        start=starting(day, start),
        end=find_ending_minute(day, end),
        title=row["title"],
        assumed=row["end_time"] is None,
        source=_source_from_item_row(row),
        number=row["number"],
    )


def _source_from_item_row(row: Row) -> SourceSession:
    return SourceSession(row["session_id"], row["version"], row["hash"])
