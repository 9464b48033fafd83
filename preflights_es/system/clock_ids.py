"""The one place that asks the machine for time and chance; everything else is handed them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from preflights_es.kernel import ids
from preflights_es.kernel.errors import Refused, StoreUnavailable
from preflights_es.kernel.text import late_pattern

STEP: Final = 15  # minutes; every clock is moved at a multiple of it, in UTC
_BY_RULE: Final = late_pattern(r"(<[^>]+>|[A-Za-z]{3,})[-+]?[0-9]{1,2}.*|UTC|GMT")
"""A zone that says its rules itself, as POSIX has it: CET-1CEST."""


class LocalDay(msgspec.Struct, frozen=True):
    """A day by the clock on the wall; times are real minutes since it began."""

    day: str
    """YYYY-MM-DD."""
    now: str
    """ISO 8601 with the offset, to the minute."""
    time_zone: str
    minute: int
    """Of now, rounded up."""
    length: int
    """1,440 on most days."""
    shifts: tuple[tuple[int, int], ...]
    """When the clock is moved, and by how many minutes."""


def now() -> int:
    """Microseconds since 1970 UTC; errors as of `read_clock`."""
    return read_clock(time.time_ns)


def read_clock(clock: Callable[[], int]) -> int:
    """What a clock says in nanoseconds, in microseconds.

    Raises:
        StoreUnavailable: more than 64 bits hold, as from the year 2262 on.
    """
    try:
        return clock() // 1_000
    except OverflowError as error:
        said = time.strftime("%Y-%m-%d", time.gmtime())
        raise StoreUnavailable(f"the clock says {said}: set it", code="clock_wrong") from error


def local(microseconds: int) -> tuple[str, str]:
    """A time as the clock on the wall says it: ISO 8601 to the minute, and the zone's name."""
    moment = datetime.fromtimestamp(microseconds / 1e6, UTC).astimezone()
    zone = os.environ.get("TZ", "") or _named_zone(str(moment.tzinfo))
    return moment.isoformat(timespec="minutes"), zone


def _named_zone(short: str) -> str:
    """The machine's zone, such as `Europe/Berlin`, where its clock says more than `CET`."""
    link = os.path.realpath("/etc/localtime")
    _, found, name = link.partition("/zoneinfo/")
    return name if found and short != "UTC" else short


def local_day(microseconds: int) -> LocalDay:
    """The day that a time belongs to.

    Raises:
        Refused: the variable TZ names no time zone.
    """
    _refuse_no_zone(os.environ.get("TZ", "").removeprefix(":"))
    now, zone = local(microseconds)
    day = now[:10]
    around = microseconds // 60_000_000 // STEP * STEP
    first = _last_of_day(around, day, -STEP)
    length = _last_of_day(around, day, STEP) + STEP - first
    minute = -(-microseconds // 60_000_000) - first
    return LocalDay(
        day, now, zone, minute=minute, length=length, shifts=tuple(_shifts(first, length))
    )


def _local_time_at_minute(minute: int) -> datetime:
    return datetime.fromtimestamp(minute * 60, UTC).astimezone()


def _last_of_day(minute: int, day: str, step: int) -> int:
    while _local_time_at_minute(minute + step).date().isoformat() == day:
        minute += step
    return minute


def _shifts(first: int, length: int) -> Iterator[tuple[int, int]]:
    begins = _local_time_at_minute(first)
    was = begins.utcoffset()
    if begins.hour or begins.minute:
        yield 0, begins.hour * 60 + begins.minute
    for minute in range(STEP, length, STEP):
        offset = _local_time_at_minute(first + minute).utcoffset()
        if offset is not None and was is not None and offset != was:
            yield minute, (offset - was).days * 1_440 + (offset - was).seconds // 60
        was = offset


def _refuse_no_zone(name: str) -> None:
    if not name or _BY_RULE.fullmatch(name):
        return
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        if name.startswith("/"):
            with open(name, "rb") as file:
                ZoneInfo.from_file(file)
        else:
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"TZ is {name!r}, expected a time zone such as Europe/Berlin"
        raise Refused(message, code="no_time_zone") from error


def new_id() -> str:
    """A UUIDv7; errors as of `now`."""
    return ids.uuid7(now() // 1_000, os.urandom(10))


def salt() -> bytes:
    """What keeps a payload's digest from being guessed after an erasure."""
    return os.urandom(ids.SALT_BYTES)
