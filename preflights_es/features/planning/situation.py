"""What the plan of a day follows from: the clock, and the rows of the projection `items`.

What changed since a plan was made is told from the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    Change,
    OpenTask,
    Shift,
    Situation,
    Task,
)
from preflights_es.features.planning.domain.schedule import Day
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Source
from preflights_es.kernel.items import item_id, place_of, waiting
from preflights_es.kernel.text import late_pattern
from preflights_es.system import clock_ids
from preflights_es.system.clock_ids import LocalDay

BUSY_MAX: Final = 50  # intervals that are given at once
_TIME: Final = late_pattern(r"([01]?[0-9]|2[0-3]):[0-5][0-9]|24:00")
_DASH: Final = "\u2013"  # of a range, as people write it

Row = Mapping[str, Any]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of the day, as typed."""

    minutes: int | None = None
    busy: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None

    @property
    def is_said(self) -> bool:
        """Whether anything is."""
        return self != Wanted()


# 1. Form -------------------------------------------------------------------------------------


class Window(msgspec.Struct, frozen=True):
    """The day as it was wanted, in minutes since it began."""

    start: int
    end: int
    minutes: int | None
    busy: tuple[Busy, ...]


def window(day: LocalDay, wanted: Wanted, until: str) -> Window:
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
    now = -(-day.minute // ROUNDED) * ROUNDED
    begins = now if wanted.start is None else starting(day, start)
    return Window(begins, ending(day, end), wanted.minutes, busy)


def _interval(day: LocalDay, typed: str) -> Busy:
    first, dash, last = typed.strip().replace(_DASH, "-").partition("-")
    if not dash:
        message = f"found {typed!r}, expected an interval such as 13:00-14:00"
        raise Refused(message, code="no_interval")
    start, end = _clock_minutes(first), _clock_minutes(last)
    if end <= start:
        message = f"found {typed!r}, expected an interval that ends after it begins"
        raise Refused(message, code="no_interval")
    return Busy(start=starting(day, start), end=ending(day, end))


def _clock_minutes(typed: str) -> int:
    text = typed.strip()
    if not _TIME.fullmatch(text):
        raise Refused(f"found {typed!r}, expected a time such as 13:00", code="no_time")
    hours, _, minutes = text.partition(":")
    return int(hours) * 60 + int(minutes)


# 2. The clock on the wall --------------------------------------------------------------------


def starting(day: LocalDay, clock: int) -> int:
    """The first minute of the day at which the clock shows a time, or a later one."""
    return next((m for m in range(day.length) if _shown(day, m) >= clock), day.length)


def ending(day: LocalDay, clock: int) -> int:
    """The minute behind the last one at which the clock shows less than a time."""
    return next((m + 1 for m in reversed(range(day.length)) if _shown(day, m) < clock), 0)


def _shown(day: LocalDay, minute: int) -> int:
    return minute + sum(by for at, by in day.shifts if at <= minute)


# 3. What notes hold --------------------------------------------------------------------------


def situation(day: LocalDay, asked: Window, rows: Sequence[Row]) -> Situation:
    """The day with the open tasks, and the events that are on it."""
    busy = sorted((*asked.busy, *busy_of(day, rows)), key=lambda one: (one.start, one.end))
    return Situation(
        day=day.day,
        now=day.now,
        time_zone=day.time_zone,
        start=asked.start,
        end=asked.end,
        minutes=asked.minutes,
        busy=tuple(busy),
        shifts=tuple(Shift(at, by) for at, by in day.shifts),
        tasks=open_tasks(day.day, rows),
    )


def busy_of(day: LocalDay, rows: Iterable[Row]) -> tuple[Busy, ...]:
    """The events of a day: each on its date, or on the day of its note."""
    return tuple(_event(day, row) for row in rows if _is_of(day, row))


def open_tasks(day: str, rows: Sequence[Row]) -> tuple[OpenTask, ...]:
    """The open tasks, in the order of the rules; no more than one plan looks at."""
    found = {one.task.id: one for one in tasks_of(rows)}
    listed = tuple(one.task for one in found.values())
    ordered = schedule.candidates(Day(day, 0, 0, None, (), listed))
    return tuple(found[task.id] for task in ordered[:TASKS_MAX])


def tasks_of(rows: Sequence[Row]) -> tuple[OpenTask, ...]:
    """The open tasks, each after the open one that a person named.

    Args:
        rows: all of the projection `items`.
    """
    tasks = [row for row in rows if row["type"] == "task" and row["status"] == "open"]
    named = [item_id(row["session_id"], row["number"]) for row in tasks]
    counts = {name: named.count(name) for name in named} if len(set(named)) < len(named) else {}
    places = [place_of(row["session_id"], row["number"]) for row in tasks]
    ids = {
        place: place if counts.get(name, 1) > 1 else name
        for place, name in zip(places, named, strict=True)
    }
    after = {place: ids[other] for place, other in waiting(rows).items()}
    return tuple(
        OpenTask(_task(row, ids[place], after.get(place)), row["number"], _source(row))
        for row, place in zip(tasks, places, strict=True)
    )


def _task(row: Row, id_: str, after: str | None) -> Task:
    low, high = row["duration_min"], row["duration_max"]
    assumed = low is None and high is None
    least, most = ASSUMED if assumed else (low or high, high or low)
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
        "after": after,
    }
    # Converted, a "normal" of the database is the default, and so is left out as in a replay.
    return msgspec.convert(told, Task)


def _is_of(day: LocalDay, row: Row) -> bool:
    if row["type"] != "event" or row["start_time"] is None:
        return False
    # An item that was filed without a note has no clock of its own.
    noted_at = row["noted_at"] or clock_ids.local(max(row["began_at"], 0))[0]
    return bool((row["date"] or noted_at[:10]) == day.day)


def _event(day: LocalDay, row: Row) -> Busy:
    start = _clock_minutes(row["start_time"])
    end = (
        _clock_minutes(row["end_time"])
        if row["end_time"]
        else min(start + EVENT_ASSUMED, DAY_MINUTES)
    )
    end = end if end > start else DAY_MINUTES  # it ends on another day
    return Busy(
        start=starting(day, start),
        end=ending(day, end),
        title=row["title"],
        assumed=row["end_time"] is None,
        source=_source(row),
        number=row["number"],
    )


def _source(row: Row) -> Source:
    return Source(row["session_id"], row["version"], row["hash"])


# 4. What changed since a plan was made -------------------------------------------------------

Place = tuple[str, int]
"""The session of an item, and its number."""


def changes(
    was: Situation, done: frozenset[str], day: LocalDay, rows: Sequence[Row]
) -> tuple[Change, ...]:
    """What is another than when a plan was made.

    A new task counts where it is due by today: what is noted for later changes no day.

    Args:
        done: ids of tasks that were finished in the plan, which changes nothing of it.
        rows: all of the projection `items`, as they are now.
    """
    by_place = {(row["session_id"], row["number"]): row for row in rows}
    return (*_of_tasks(was, done, rows, by_place), *_of_events(was, day, rows, by_place))


def changes_in_words(found: Sequence[Change]) -> str:
    """The first change in words, and how many there are besides."""
    first, *others = found
    named = (
        f"{first.type} {first.id} {'is' if first.what in ('new', 'gone') else 'was'} {first.what}"
    )
    return f"{named}, and {len(others)} more" if others else named


def _of_tasks(
    was: Situation, done: frozenset[str], rows: Sequence[Row], by_place: Mapping[Place, Row]
) -> Iterator[Change]:
    now = {_place_of(one): one for one in tasks_of(rows)}
    ids = {one.task.id for one in now.values()}
    for one in was.tasks:
        place = _place_of(one)
        if place not in now:
            row: Mapping[str, Any] = by_place.get(place, {})
            if one.task.id not in done:
                yield Change(one.task.id, "task", row.get("status", "gone"))
            continue
        # What went before it and is over changes nothing.
        after = one.task.after if one.task.after in ids else None
        if replace(one.task, after=after) != replace(now[place].task, id=one.task.id):
            yield Change(one.task.id, "task", "edited")
    known = {_place_of(one) for one in was.tasks}
    for place, one in now.items():
        is_due = one.task.due is not None and one.task.due <= was.day
        if place not in known and is_due and len(known) < TASKS_MAX:
            yield Change(one.task.id, "task", "new")


def _of_events(
    was: Situation, day: LocalDay, rows: Sequence[Row], by_place: Mapping[Place, Row]
) -> Iterator[Change]:
    before = {_place_of(one): one for one in was.busy if one.source is not None}
    now = {_place_of(one): one for one in busy_of(day, rows)}
    for place, one in before.items():
        if place not in now:
            yield Change(item_id(*place), "event", "edited" if place in by_place else "gone")
        elif replace(now[place], source=one.source) != one:
            yield Change(item_id(*place), "event", "edited")
    for place in now:
        if place not in before:
            yield Change(item_id(*place), "event", "new")


def _place_of(one: OpenTask | Busy) -> Place:
    assert one.source is not None, "a note holds it"
    return one.source.session_id, one.number
