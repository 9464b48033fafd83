"""Days, as notes say them in German and English."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

import msgspec

from preflights_es.features.extraction.domain.clock import plain
from preflights_es.kernel.words import NUMBER_OF

_FLAGS: Final = re.IGNORECASE | re.VERBOSE
_WEEKDAYS: Final = (
    ("montag", "monday", "mon", "mo"),
    ("dienstag", "tuesday", "tues", "tue", "di"),
    ("mittwoch", "wednesday", "wed", "mi"),
    ("donnerstag", "thursday", "thurs", "thu", "do"),
    ("freitag", "friday", "fri", "fr"),
    ("samstag", "sonnabend", "saturday", "sat", "sa"),
    ("sonntag", "sunday", "sun", "so"),
)
_WEEKDAY: Final = {word: i for i, words in enumerate(_WEEKDAYS) for word in words}


def _one_of(words: dict[str, int], *, is_short: bool) -> str:
    """A choice of the words; short ones are other words too where they have no capital."""
    found = sorted((w for w in words if (len(w) <= 5) == is_short), key=len, reverse=True)
    return "|".join(w.capitalize() if is_short else w for w in found)


_NAMED: Final = _one_of(_WEEKDAY, is_short=False)
_SHORT: Final = rf"(?-i:{_one_of(_WEEKDAY, is_short=True)})\b\.?"
_LONG_MONTH: Final = _one_of(NUMBER_OF, is_short=False)
_NAME: Final = rf"(?:{_LONG_MONTH}|(?-i:{_one_of(NUMBER_OF, is_short=True)})\b\.?)"
# "am Freitag, den 28.11.", "Sat 28 November": the date says it all.
_DAY_BEFORE: Final = rf"(?:\b(?:{_NAMED}|{_SHORT}),?\s+)?(?:\b(?:am|den|dem|on|the)\s+){{0,2}}"
_YEAR: Final = r"(?:\s*(?P<y>\d{4})\b(?!\s*(?:uhr|:)))?"
_HALF: Final = (
    r"(?:\s*\b(?:früh|morgens?|vormittags?|mittags?|nachmittags?|abends?|nachts?"
    r"|morning|afternoon|evening|night)\b)?"
)
_DAYTIME: Final = r"(?:vormittags?|mittags?|nachmittags?|abends?|morgens?|nachts?|früh)?"
_NEXT: Final = r"(?:nächste[nrs]?|kommende[nrs]?|next|coming)"
_THIS: Final = r"(?:diese[nrs]?|this)"
_TIME: Final = r"\s+(?:um\s+|at\s+|@\s*)?\d{1,2}(?:[:.]\d\d|\s*(?:uhr|h\b|[ap]\.?m\b|[-\u2013]))"
_ON: Final = r"(?:\b(?:am|an|on|den)\s+)?"

_DATES: Final = tuple(
    re.compile(_DAY_BEFORE + pattern, _FLAGS)
    for pattern in (
        r"(?<![\w.,:/-])(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?![\w-])",
        r"(?<![\w.,:/-])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.(?P<y>\d{4}|\d{2})(?![\w.])",
        r"(?<![\w.,:/-])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.(?!\d)",
        r"(?<=\b(?:am|en)\s)(?P<d>\d{1,2})\.(?P<m>\d{1,2})\b(?![.:]|\s*uhr)",
        rf"(?<![\w.,:/-])(?P<d>\d{{1,2}})(?:\.|st|nd|rd|th)?\s*(?:of\s+)?(?P<name>{_NAME})(?!\w){_YEAR}",
        (
            rf"\b(?P<name>{_NAME})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b"
            rf"(?!\s*(?:uhr|h\b|[ap]\.?m\b|min|std|stunde|hour)|[:.]\d|\s*-\s*\d){_YEAR}"
        ),
    )
)
_DAYS: Final = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        rf"\b(?:the\s+)?(?P<word>übermorgen|day\s+after\s+tomorrow)\b{_HALF}",
        rf"\b(?P<word>morgen|tomorrow|heute|today|tonight)\b{_HALF}",
        r"\bin\s+(?P<n>\d{1,3}|einem|einer|zwei|drei|a|one|two|three)\s+(?P<unit>tag|day|woche|week)(?:en|n|s)?\b",
        (
            rf"\b(?:{_NEXT}\s+(?P<week>woche|week)\s+)?{_ON}(?:(?:{_NEXT}|{_THIS})\s+)?"
            rf"(?P<day>{_NAMED}){_DAYTIME}\b{_HALF}(?:\s+{_NEXT}\s+(?P<week2>woche|week)\b)?"
        ),
        rf"{_ON}\b(?P<day>{_SHORT}),?(?={_TIME})",
    )
)
# Due by then, every week, or over: no day on which it happens.
_NOT_THEN: Final = re.compile(
    r"\b(?:bis|bis\s+zum|by|before|vor|until|till|spätestens|since|seit|nach|after|jede[nrs]?|alle"
    r"|every|each|letzte[nrs]?|vorige[nrs]?|vergangene[nrs]?|last)\s+$",
    re.IGNORECASE,
)
# "am Morgen" is a time of day.
_A_MORNING: Final = re.compile(r"\b(?:am|guten|jeden|diesen|gestern)\s+$", re.IGNORECASE)
_NEAR: Final = 16  # characters before a day that may say what it is
_COUNTS: Final = {
    "a": 1,
    "one": 1,
    "einem": 1,
    "einer": 1,
    "zwei": 2,
    "two": 2,
    "drei": 3,
    "three": 3,
}
_AHEAD: Final = {"morgen": 1, "tomorrow": 1, "heute": 0, "today": 0, "tonight": 0}


class Day(msgspec.Struct, frozen=True):
    """A day that a text says, and where."""

    date: str
    """YYYY-MM-DD."""
    at: tuple[int, int]
    """Where it stands in the text, words before it such as "am" included."""


def day(text: str, noted: str) -> Day | None:
    """The day that a text says: a date before any other, else the first; None where it says none.

    Args:
        noted: the day from which it counts, YYYY-MM-DD; empty where it is not known.
    """
    try:
        today = date.fromisoformat(noted)
    except ValueError:
        return None
    said = plain(text)
    for patterns in (_DATES, _DAYS):
        found = [
            Day(when.isoformat(), match.span())
            for pattern in patterns
            for match in pattern.finditer(said)
            if not _NOT_THEN.search(said, max(match.start() - _NEAR, 0), match.start())
            and (when := _read(said, match, today))
        ]
        if found:
            return min(found, key=lambda one: (one.at[0], -one.at[1]))
    return None


def _read(text: str, match: re.Match[str], today: date) -> date | None:
    parts = match.groupdict()
    try:
        if parts.get("d"):
            month = parts.get("name")
            number = NUMBER_OF[month.lower().rstrip(".")] if month else int(parts["m"] or 0)
            return _dated(today, parts.get("y"), number, int(parts["d"] or 0))
        if name := parts.get("day"):
            is_next = bool(parts.get("week") or parts.get("week2"))
            return _weekday(today, _WEEKDAY[name.lower().rstrip(".")], is_next_week=is_next)
        if count := parts.get("n"):
            days = 7 if (parts["unit"] or "").lower() in ("woche", "week") else 1
            return today + timedelta(days=days * int(_COUNTS.get(count.lower(), 0) or count))
        word = (parts["word"] or "").lower()
        is_morning = word == "morgen" and _A_MORNING.search(
            text, max(match.start() - _NEAR, 0), match.start()
        )
        return None if is_morning else today + timedelta(days=_AHEAD.get(word, 2))
    except (ValueError, OverflowError):
        return None  # 31.2., or behind the last year that there is


def _dated(today: date, year: str | None, month: int, number: int) -> date:
    """The date; without a year the next one, today included.

    Raises:
        ValueError: there is none.
    """
    if year:
        return date(int(year) + (2_000 if len(year) == 2 else 0), month, number)
    if (month, number) == (2, 29):
        years = range(today.year, today.year + 9)
        leap = (y for y in years if y % 4 == 0 and (y % 100 or y % 400 == 0))
        return next(d for y in leap if (d := date(y, 2, 29)) >= today)
    found = date(today.year, month, number)
    return found if found >= today else date(today.year + 1, month, number)


def _weekday(today: date, number: int, *, is_next_week: bool) -> date:
    """The next day of that name, behind today."""
    if is_next_week:
        return today + timedelta(days=7 - today.weekday() + number)
    return today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)
