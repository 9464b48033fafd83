"""A day by the clock on the wall, in zones whose days have 23, 24 and 25 hours."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

import pytest

from preflights_es.features.planning.use import find_ending_minute, starting
from preflights_es.kernel.errors import Refused, StoreUnavailable
from preflights_es.system import clock_ids
from preflights_es.system.clock_ids import LocalDay
from tests.each import each


def local_day(zone: str, *moment: int) -> LocalDay:
    """As a process in that zone has it."""
    at = int(datetime(*moment, tzinfo=UTC).timestamp() * 1e6)  # type: ignore[arg-type,misc]  # parts of a moment
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        return clock_ids.local_day(at)
    finally:
        del os.environ["TZ"]
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


def test_a_day_of_24_hours() -> None:
    day = local_day("Europe/Berlin", 2026, 11, 23, 7, 58, 30)
    assert (day.day, day.now, day.time_zone) == (
        "2026-11-23",
        "2026-11-23T08:58+01:00",
        "Europe/Berlin",
    )
    assert (day.minute, day.length, day.shifts) == (539, 1_440, ())


def test_a_day_of_23_hours() -> None:
    day = local_day("Europe/Berlin", 2026, 3, 29, 12, 0)
    assert (day.minute, day.length, day.shifts) == (13 * 60, 1_380, ((120, 60),))
    # Half past two does not exist: it begins and ends at the leap.
    assert (starting(day, 150), find_ending_minute(day, 150)) == (120, 120)
    assert (starting(day, 180), find_ending_minute(day, 540)) == (120, 480)


def test_a_day_of_25_hours() -> None:
    day = local_day("Europe/Berlin", 2026, 10, 25, 12, 0)
    assert (day.minute, day.length, day.shifts) == (14 * 60, 1_500, ((180, -60),))
    # Half past two comes twice: it begins with the first and ends with the second.
    assert (starting(day, 150), find_ending_minute(day, 150)) == (150, 210)
    assert (starting(day, 540), find_ending_minute(day, 24 * 60)) == (600, 1_500)


@each("hour", [0, 1, 2, 22])
def test_the_day_is_the_same_at_any_hour_of_it(hour: int) -> None:
    found = local_day("Europe/Berlin", 2026, 10, 25, hour, 30)
    assert (found.day, found.length, found.shifts) == ("2026-10-25", 1_500, ((180, -60),))


def test_a_clock_that_is_moved_by_half_an_hour() -> None:
    day = local_day("Australia/Lord_Howe", 2026, 10, 4, 3, 0)
    assert (day.length, day.shifts) == (1_410, ((120, 30),))


def test_a_day_that_does_not_begin_at_midnight() -> None:
    day = local_day("Asia/Beirut", 2026, 3, 29, 12, 0)
    assert (day.length, day.shifts) == (1_380, ((0, 60),))
    assert starting(day, 540) == 480


@each(
    "zone",
    [
        *("UTC", "", "CET-1CEST", "<+03>-3", "Asia/Kolkata"),
        *(":Europe/Berlin", "/usr/share/zoneinfo/Europe/Berlin"),
    ],
)
def test_a_zone_of_any_form_is_taken(zone: str) -> None:
    assert local_day(zone, 2026, 11, 23, 12, 0).length == 1_440


@each(
    "zone",
    [
        *("Mars/Olympus", "Europe", "Berlin", "../etc/passwd", "Europe/Berlin "),
        *("/etc/passwd", ":/etc/passwd", "/usr/share", "/no/such/file"),
    ],
)
def test_a_zone_that_is_none_is_refused(zone: str) -> None:
    with pytest.raises(Refused, match="expected a time zone such as Europe/Berlin"):
        local_day(zone, 2026, 11, 23, 12, 0)


def test_a_clock_beyond_what_an_event_can_have_is_to_be_set() -> None:
    def late() -> int:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")  # as `time` does

    with pytest.raises(StoreUnavailable, match=r"the clock says \d{4}-\d\d-\d\d: set it") as told:
        clock_ids.read_clock(late)
    assert told.value.code == "clock_wrong"
    assert clock_ids.read_clock(lambda: 2**63 - 1) == (2**63 - 1) // 1_000
