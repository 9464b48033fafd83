"""Ids that sort by time and are typed by their end, and times as people have them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from preflights_es.kernel.text import late_pattern

SHORT = 8
"""Characters of an id that people see and type: its random end (issue 1)."""

SHORT_AT: Final = 36 - SHORT
"""Characters of an id before its short form."""

TYPED_MIN = 4
"""A shorter part of an id counts as a typing error."""

DIGITS = frozenset("0123456789abcdef-")
"""All that an id is made of."""


SALT_BYTES = 16
"""Random bytes beside a payload, so that its digest does not reveal the payload."""

_TIME = late_pattern(r"[0-9a-f]{8}-[0-9a-f]{4}-")
"""The first characters of an id."""


def uuid7(milliseconds: int, entropy: bytes) -> str:
    """A UUIDv7 (RFC 9562, section 5.7) in its canonical form, from ten random bytes."""
    time, drawn = f"{max(milliseconds, 0) & (1 << 48) - 1:012x}", entropy[:10].hex()
    variant = "89ab"[int(drawn[4], 16) & 3]
    return f"{time[:8]}-{time[8:]}-7{drawn[1:4]}-{variant}{drawn[5:8]}-{drawn[8:]}"


def milliseconds(session_id: str) -> int:
    """When an id was made, in milliseconds since 1970 UTC."""
    return int(session_id.replace("-", "")[:12], 16)


def keep_id_ascending(made: str, last: str) -> str:
    """An id as it was made, or with a later time where it would not sort behind the last one.

    Where a clock stepped back, ids go on (RFC 9562, section 6.2).
    """
    if made > last or not _TIME.match(last):
        return made
    at = milliseconds(last) + 1
    if at >= 1 << 48:  # nothing sorts behind the last of all times
        return made
    digits = f"{at:012x}"
    return f"{digits[:8]}-{digits[8:]}{made[13:]}"


def short_session(session_id: str) -> str:
    """The form that people see and type."""
    return session_id[-SHORT:]


def decision_name(number: int | None, uid: str) -> str:
    """What people call a decision: by the number of its record, else by the end of its uid."""
    return f"ADR-{number:04}" if number else short_session(uid)


def decision_uid(session_id: str) -> str:
    """The immutable name of the one decision a session can come to: its last twelve digits.

    Being an end of the session's id, it is accepted wherever a session is asked for.
    """
    return session_id[-12:]


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH: Final = EPOCH.replace(tzinfo=None)  # without a zone to write, it takes half as long
DAY_LENGTH: Final = 10  # characters of a date such as 2026-11-22
EARLIEST: Final = -62_135_596_800_000_000
LATEST: Final = 253_402_300_799_999_999
"""The first and the last microsecond that a date can have: of the years 1 and 9999."""


def iso(at: int) -> str:
    """ISO 8601, UTC, to the microsecond; what no date can have is written as the nearest one."""
    moment = _EPOCH + timedelta(microseconds=min(max(at, EARLIEST), LATEST))
    return f"{moment.isoformat(timespec='microseconds')}Z"


def format_date_only(at: int | None) -> str:
    """The date of it alone; empty where there is no time."""
    return "" if at is None else iso(at)[:DAY_LENGTH]


def format_time_only(at: int | None) -> str:
    """The time of day alone, to the second."""
    return "" if at is None else iso(at)[DAY_LENGTH + 1 :][:8]


def iso_or_none(at: int | None) -> str | None:
    """The same of a time that may not be known."""
    return None if at is None else iso(at)


_WEEK: Final = late_pattern(r"\d{4}-?W\d{2}(?!-?\d)")
"""A week without a day: Python takes it for its Monday."""
_DATE: Final = late_pattern(
    r"[0-9]{4}(-?)(?:[0-9]{2}\1[0-9]{2}|W[0-9]{2}\1[0-9])(?P<rest>.*)", re.DOTALL
)
"""A day, and what stands behind it: Python takes any sign there for the one before a time."""


def parse_moment(text: str, *, is_end: bool = False) -> int:
    """A day, or a time of UTC unless it says otherwise, in microseconds since 1970 UTC.

    Args:
        is_end: of a day, its last moment and not its first.

    Raises:
        ValueError: it is neither; the message says what is expected.
    """
    text = text.strip()
    if _WEEK.match(text):
        message = f"{text!r} is a week: name a day of it, such as 2026-11-22"
        raise ValueError(message)
    day = _DATE.fullmatch(text)
    try:
        if day is None or day["rest"][:1] not in ("", "T", "t", " "):
            raise ValueError
        found = datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is no date: expected 2026-11-22, or 2026-11-22T14:30+01:00"
        raise ValueError(message) from None
    try:
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        at = (aware - EPOCH) // timedelta(microseconds=1)
    except OverflowError:
        message = f"{text!r} is out of the range of dates"
        raise ValueError(message) from None
    if is_end and len(text) <= DAY_LENGTH:
        return at + timedelta(days=1) // timedelta(microseconds=1) - 1
    return at
