"""What the plan of a day follows from, where less than all is said, and what changes it."""

from __future__ import annotations

from typing import Any

import pytest

from preflights_es.features.planning import use as made
from preflights_es.features.planning.domain.events import DAY_MINUTES, TASKS_MAX, Busy, Situation
from preflights_es.features.planning.use import WantedDay, is_changed, kept_window
from preflights_es.kernel.errors import Refused
from preflights_es.system.clock_ids import LocalDay
from tests.each import each

TODAY = LocalDay("2026-11-23", "2026-11-23T08:58+00:00", "UTC", 538, DAY_MINUTES, ())
NOTE = "01a0c0de-0000-7000-8000-00000000000"


def row(number: int = 1, type_: str = "task", session: str = "1", **said: Any) -> dict[str, Any]:
    """A row of the projection `items`."""
    names = ("importance", "energy", "due", "duration_min", "duration_max", "start_time")
    none = dict.fromkeys((*names, "end_time", "date"))
    of = {"session_id": NOTE + session, "number": number, "version": 2, "hash": "00"}
    when = {"began_at": number, "noted_at": "2026-11-23T08:00+00:00"}
    whole = {**of, "type": type_, "status": "open", "title": f"Item {number}", **none, **when}
    on = {"date": "2026-11-23"} if type_ == "event" else {}
    return {**whole, **on, **said}


def today(*rows: dict[str, Any], wanted: WantedDay = WantedDay()) -> Situation:  # noqa: B008  frozen
    return made.compose_day_situation(TODAY, made.window(TODAY, wanted, "18:00"), rows)


def busy(*rows: dict[str, Any]) -> list[tuple[int, int, bool]]:
    return [(one.start, one.end, one.assumed) for one in today(*rows).busy]


@each(
    ("start", "end", "taken"),
    [
        ("10:00", "11:30", (600, 690, False)),
        ("10:00", None, (600, 660, True)),
        ("23:30", None, (1_410, 1_440, True)),
        ("22:00", "06:00", (1_320, 1_440, False)),
        ("10:00", "10:00", (600, 1_440, False)),
    ],
)
def test_an_event_is_busy_until_it_ends(
    start: str, end: str | None, taken: tuple[int, int, bool]
) -> None:
    assert busy(row(1, "event", start_time=start, end_time=end)) == [taken]


@each(
    ("start", "end", "taken"),
    [
        ("22:00", "06:00", [(0, 360, False)]),
        ("22:00", "00:00", []),
        ("10:00", "10:00", []),
        ("09:00", "11:00", []),
        ("22:00", None, []),
    ],
)
def test_an_event_over_midnight_is_busy_on_the_next_morning(
    start: str, end: str | None, taken: list[tuple[int, int, bool]]
) -> None:
    yesterday = row(1, "event", start_time=start, end_time=end, date="2026-11-22")
    assert busy(yesterday) == taken


def test_an_event_is_busy_on_its_own_day_at_its_time() -> None:
    other = row(1, "event", start_time="09:00", date="2026-11-24")
    former = row(
        2, "event", start_time="11:00", date="2026-11-23", noted_at="2026-11-20T08:00+00:00"
    )
    assert busy(other, former) == [(660, 720, True)]
    other = row(1, "event", start_time="10:00", date="2026-11-24")
    undated = row(4, "event", start_time="10:00", date=None)
    over = row(5, "event", start_time="10:00", status="cancelled")
    assert busy(other, row(2, "event"), row(3, start_time="10:00"), undated, over) == []


def test_what_a_person_says_and_what_notes_hold_come_by_time() -> None:
    wanted = WantedDay(start="09:00", busy=("12:00-13:00",))
    found = today(row(1, "event", start_time="10:00"), wanted=wanted)
    assert [(one.start, bool(one.source)) for one in found.busy] == [(600, True), (720, False)]
    assert (found.start, found.end, found.busy[1]) == (540, 1_080, Busy(start=720, end=780))


@each(
    ("low", "high", "minutes"),
    [
        (None, None, (45, 45, True)),
        (20, None, (20, 20, False)),
        (None, 90, (90, 90, False)),
        (10, 15, (10, 15, False)),
    ],
)
def test_a_duration_that_is_half_known_stands_for_both(
    low: int | None, high: int | None, minutes: tuple[int, int, bool]
) -> None:
    (found,) = today(row(duration_min=low, duration_max=high)).tasks
    task = found.task
    assert (task.duration_min, task.duration_max, task.assumed) == minutes


def test_tasks_whose_short_ids_are_one_have_whole_ones() -> None:
    same = "01a0c0df" + NOTE[8:] + "1"
    found = today(row(1), row(1, session_id=same), row(2))
    assert {one.task.id for one in found.tasks} == {f"{NOTE}1.1", f"{same}.1", "00000001.2"}


def test_a_plan_looks_at_the_first_of_many_tasks() -> None:
    day = today(*(row(n) for n in range(1, TASKS_MAX + 1)), row(9_999, importance="high"))
    numbers = [one.number for one in day.tasks]
    assert (len(numbers), numbers[0], numbers[-1]) == (TASKS_MAX, 9_999, TASKS_MAX - 1)
    assert day.more == 1, "and counts the others"


def test_at_most_fifty_intervals_are_taken() -> None:
    wanted = WantedDay(busy=("12:00-13:00",) * 51)
    with pytest.raises(Refused) as refused:
        today(wanted=wanted)
    assert refused.value.code == "too_many_intervals"


TASK, OTHER = row(1, duration_min=60), row(2)
EVENT = row(3, "event", start_time="10:00")
ROWS = (TASK, OTHER, EVENT)
NEW = row(4, "event", start_time="12:00")


@each(
    "rows",
    [
        ({**TASK, "status": "done"}, OTHER, EVENT),
        ({**TASK, "status": "cancelled"}, OTHER, EVENT),
        (TASK, EVENT),
        (TASK, OTHER, {**EVENT, "status": "cancelled"}),
        (TASK, OTHER),
        (*ROWS, NEW),
        (*ROWS, row(5)),
    ],
)
def test_a_change_of_a_task_or_an_appointment_is_found(rows: tuple[dict[str, Any], ...]) -> None:
    assert is_changed(today(*ROWS), today(*rows))


@each(
    "rows",
    [
        ROWS,
        tuple({**one, "version": 9, "hash": "11"} for one in ROWS),
        (*ROWS, {**NEW, "date": "2026-11-24"}),
        (*ROWS, row(5, "idea")),
        (*ROWS, row(5, status="done")),
    ],
)
def test_nothing_else_makes_a_plan_older(rows: tuple[dict[str, Any], ...]) -> None:
    wanted = WantedDay(start="09:00", busy=("12:00-13:00",))
    assert not is_changed(today(*ROWS), today(*rows, wanted=wanted))


def test_a_window_that_was_said_holds_from_now_on() -> None:
    wanted = WantedDay(start="08:00", end="17:00", busy=("12:00-13:00",), minutes=90)
    kept = kept_window(TODAY, today(EVENT, wanted=wanted))
    assert (kept.start, kept.end, kept.minutes) == (540, 1_020, 90)
    assert kept.busy == (Busy(start=720, end=780),)
    assert kept_window(TODAY, today(wanted=WantedDay(start="14:00"))).start == 840
