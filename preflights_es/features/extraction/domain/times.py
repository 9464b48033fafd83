"""Times of day, durations and days, as notes say them in German and English."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta
from typing import Final

import msgspec

from preflights_es.features.extraction.domain.events import DURATION_MAX
from preflights_es.kernel.words import NUMBER_OF

_FLAGS: Final = re.IGNORECASE | re.VERBOSE
# 1. Times of day, and durations --------------------------------------------------------------

_H: Final = r"(?<![\w.,:/-])(?:[01]?\d|2[0-3])"
_H12: Final = r"(?<![\w.,:/-])(?:0?[1-9]|1[0-2])"
_M: Final = r"[0-5]\d"
# "Raum 3 am Montag" is German: a bare "am" before a capital or a digit is no half of a day.
_AM: Final = (
    r"(?:(?<=\d)am\b|a\.m\b\.?"
    r"|am\b(?-i:(?!\s+(?:\d|(?!(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:\b|[a-z]*day))[A-ZÄÖÜ]))))"
)
_HALF: Final = rf"(?:{_AM}|p\.?m\b\.?)"
_TO: Final = r"\s*(?:-|–|—|bis|to|until|till)\s*"
_LATER: Final = r"\s*(?:(?:-|–|bis|to)\s*\d|min|std|stunde|h\b|hour)"
_PART: Final = (
    r"(?P<part>nachmittags?|abends?|morgens?|vormittags?|mittags?|früh"
    r"|in\s+the\s+(?:morning|afternoon|evening))\b"
)

# The first that matches at the earliest place wins; each names the parts that `_read_time` knows.
# Ranges to a word: 9am to noon, 14 Uhr bis Mitternacht. An hour alone is one before noon; before
# midnight it says nothing of morning or evening.
_WORD_TO: Final = r"(?:bis(?:\s+zum)?|to|until|till)\s+"
_TO_WORD: Final = rf"(?:\s*{_WORD_TO}|[-–—])(?P<word2>noon|midnight|mitternacht|mittag)\b"
_FROM: Final = r"(?:(?<=\bfrom\s)|(?<=\bvon\s))"
_TIMES: Final = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        rf"(?P<h>{_H12})(?:[:.](?P<m>{_M}))?\s*(?P<half>{_HALF}){_TO_WORD}",
        rf"(?P<h>{_H})(?:[:.](?P<m>{_M}))?\s*uhr(?:\s*(?P<m3>{_M})\b)?{_TO_WORD}",
        rf"(?P<h>{_H}):(?P<m>{_M}){_TO_WORD}",
        rf"{_FROM}(?P<h>0?[1-9]|1[01])\s+{_WORD_TO}(?P<word2>noon|mittag)\b",
        # 14-15 Uhr, 14 Uhr bis 15:30 Uhr, 9.30-11 Uhr
        (
            rf"(?P<h>{_H})(?:[:.](?P<m>{_M}))?(?:\s*uhr(?:\s*(?P<m3>{_M})\b)?)?{_TO}"
            rf"(?P<h2>[01]?\d|2[0-3])(?:[:.](?P<m2>{_M}))?\s*uhr\b(?:\s*(?P<m4>{_M})\b(?!{_LATER}))?"
        ),
        # 14:00-15:30
        rf"(?P<h>{_H}):(?P<m>{_M}){_TO}(?P<h2>[01]?\d|2[0-3]):(?P<m2>{_M})\b(?!:)",
        # 2-3 pm, 2:30 pm to 4 pm, 11 am until 1 pm
        (
            rf"(?P<h>{_H12})(?:[:.](?P<m>{_M}))?\s*(?P<half>{_HALF})?{_TO}"
            rf"(?P<h2>0?[1-9]|1[0-2])(?:[:.](?P<m2>{_M}))?\s*(?P<half2>{_HALF})"
        ),
        # 2:30 pm, 2pm
        rf"(?P<h>{_H12})(?:[:.](?P<m>{_M}))?\s*(?P<half>{_HALF})",
        # 14 Uhr, 14.30 Uhr, 14 Uhr 30, 3 Uhr nachmittags
        (
            rf"(?P<h>{_H})(?:[:.](?P<m>{_M}))?\s*uhr\b(?:\s*(?P<m3>{_M})\b(?!{_LATER}))?"
            rf"(?:\s*{_PART})?"
        ),
        # 14:30, 14:30h, 8:00 in the evening
        rf"(?P<h>{_H}):(?P<m>{_M})(?:\s?h)?(?!\w|:\d)(?:\s+{_PART})?",
        # um 14h
        rf"(?<=\bum\s)(?P<h>{_H})\s?h\b",
        r"\b(?P<word>noon|midnight|mitternacht)\b",
    )
)
_WORDS: Final = {"noon": "12:00", "midnight": "00:00", "mitternacht": "00:00", "mittag": "12:00"}
_BEFORE: Final = re.compile(
    r"(?:\b(?:um|at|ab|gegen|from|von|ca\.|around|about)|@)\s*$", re.IGNORECASE
)
_UNTIL: Final = re.compile(
    r"\b(?:bis|by|before|vor|until|till|spätestens)(?:\s+um)?\s*$", re.IGNORECASE
)

_AFTER_NOON: Final = re.compile("nachmittag|abend|afternoon|evening", re.IGNORECASE)
_LATE: Final = re.compile(
    r"\b(?:nachmittags?|abends?|afternoon|evening|tonight)\s+(?:(?:um|gegen|ab|at|from)\s+)?$",
    re.IGNORECASE,
)

_HOURS: Final = r"(?:stunden?|std\.?|hours?|hrs?|h)"
_MINUTES: Final = r"(?:minuten|minutes|minute|mins?|min\.)"
_ENDS: Final = r"(?![^\W\d]|&)"  # "1h30" ends there, "5 H&M" does not
_DURATION: Final = re.compile(
    rf"(?<![\w.,:/])(?P<a>\d{{1,3}}(?:[.,]\d)?)"
    rf"(?:\s*(?P<of>{_HOURS}|{_MINUTES})?\s*(?:-|–|bis|to)\s*(?P<b>\d{{1,3}}(?:[.,]\d)?))?"
    rf"\s*(?:(?P<minutes>{_MINUTES}){_ENDS}|(?P<hours>{_HOURS}){_ENDS}"
    rf"(?:\s*(?:(?:und|and)\s+)?(?P<rest>[0-5]?\d)\s*{_MINUTES}{_ENDS}|\s*(?P<more>[0-5]\d)\b)?)",
    re.IGNORECASE,
)
_SPOKEN: Final = {
    "eine halbe stunde": 30,
    "halbe stunde": 30,
    "half an hour": 30,
    "eine viertelstunde": 15,
    "viertelstunde": 15,
    "quarter of an hour": 15,
    "eine dreiviertelstunde": 45,
    "dreiviertelstunde": 45,
    "eine stunde": 60,
    "an hour and a half": 90,
    "an hour": 60,
    "one hour": 60,
}
_SPOKEN_WORDS: Final = re.compile(
    r"\b(?:" + "|".join(sorted(_SPOKEN, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_ABOUT: Final = re.compile(
    r"(?:\b(?:ca\.|etwa|ungefähr|about|around|für|for|dauert|takes)|~)\s*$", re.IGNORECASE
)
# "in 30 min" says when, "every 30 min" how often and "3 x 20 min" how often too: none how long.
_RELATIVE: Final = re.compile(
    r"(?:\b(?:in|vor|seit|nach|binnen|innerhalb(?:\s+von)?|alle|jede"
    r"|since|after|within|every|each)|\d\s*(?:x|×|mal))\s*$",
    re.IGNORECASE,
)
_AGO: Final = re.compile(
    r"\s*(?:ago|später|later|earlier|vor|nach|bevor|before|after)\b", re.IGNORECASE
)
_HOUR_ALONE: Final = re.compile(
    r"\s*(?:(?:um|at|gegen|ab|@)\s*)?(?P<h>[01]?\d|2[0-3])\s*(?:h\s*)?", re.IGNORECASE
)
_UM: Final = re.compile(r"\bum\s+(?P<h>[01]?\d|2[0-3])\s*$", re.IGNORECASE)
_NEAR: Final = 24  # characters before a number that may say what it is; the longest words are 15
# What matches ASCII where case is ignored, and is not.
_ALIKE: Final = {"ſ": "s", "ı": "i", "İ": "I", "\u212a": "K", "：": ":"}


class Moment(msgspec.Struct, frozen=True):
    """A time of day that a text says, and where."""

    start: str
    """HH:MM, 24 hours."""
    end: str
    """Empty where the text says none."""
    at: tuple[int, int]
    """Where it stands in the text, words before it such as "um" included."""
    deadline: bool
    """Something is due by then: it does not happen then."""


class Duration(msgspec.Struct, frozen=True):
    """How long something takes, as a text says it, and where."""

    low: int
    """Minutes."""
    high: int
    at: tuple[int, int]


def moment(text: str) -> Moment | None:
    """The first time of day that a text says; None where it says none."""
    said = plain(text)
    found = [match for pattern in _TIMES if (match := pattern.search(said))]
    if not found:
        return None
    match = min(found, key=lambda match: match.start())
    start, end = _read_time(match, is_late=_ahead(_LATE, said, match.start()) is not None)
    until = _ahead(_UNTIL, said, match.start())
    begin = (until or _ahead(_BEFORE, said, match.start()) or match).start()
    return Moment(start, end, (begin, match.end()), until is not None)


def last_hour(text: str) -> Moment | None:
    """The hour that an appointment ends with, as Germans say it: "Zahnarzt um 9"."""
    found = _UM.search(plain(text))
    return Moment(f"{int(found['h']):02d}:00", "", found.span(), deadline=False) if found else None


def bare_hour(text: str) -> str:
    """The time that a text is which holds an hour and nothing else; empty for any other."""
    found = _HOUR_ALONE.fullmatch(plain(text))
    return f"{int(found['h']):02d}:00" if found else ""


def duration(text: str) -> Duration | None:
    """The first duration that a text says, within a working day; None where it says none."""
    said = plain(text)
    for match in (*_DURATION.finditer(said), *_SPOKEN_WORDS.finditer(said)):
        if _ahead(_RELATIVE, said, match.start()) or _AGO.match(said, match.end()):
            continue
        low, high = _minutes(match)
        if 1 <= low <= high <= DURATION_MAX:
            about = _ahead(_ABOUT, said, match.start())
            return Duration(low, high, ((about or match).start(), match.end()))
    return None


def later(start: str, minutes: int) -> str:
    """The time so many minutes after another, on the same day; empty where it is the next."""
    total = int(start[:2]) * 60 + int(start[3:]) + minutes
    return f"{total // 60:02d}:{total % 60:02d}" if total < 24 * 60 else ""


def plain(text: str) -> str:
    """Digits and look-alikes as ASCII has them, each in its place."""
    if text.isascii():
        return text
    return "".join(_ALIKE.get(c) or str(unicodedata.decimal(c, c)) for c in text)


def _ahead(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    """What stands right before a place; only as far as words reach, so that reading is linear."""
    return pattern.search(text, max(at - _NEAR, 0), at)


def _minutes(match: re.Match[str]) -> tuple[int, int]:
    """The shortest and the longest, in minutes."""
    if match.re is _SPOKEN_WORDS:
        minutes = _SPOKEN[match.group().lower()]
        return minutes, minutes
    unit = match["hours"] or match["minutes"]
    rest = int(match["rest"] or match["more"] or 0)
    if match["b"] is None:
        low = _in_minutes(match["a"], unit) + rest
        return low, low
    return _in_minutes(match["a"], match["of"] or unit), _in_minutes(match["b"], unit) + rest


def _in_minutes(number: str, unit: str) -> int:
    value = float(number.replace(",", "."))
    return round(value * 60) if unit[0].lower() in "sh" else round(value)


def _read_time(match: re.Match[str], *, is_late: bool) -> tuple[str, str]:
    """Start, and end where there is one, each HH:MM.

    Args:
        is_late: the words before say that it is after noon.
    """
    parts = match.groupdict()
    if word := parts.get("word"):
        return _WORDS[word.lower()], ""
    word2, half2 = parts.get("word2"), parts.get("half2")
    half = parts.get("half") or _implied(parts, half2)
    minutes = parts.get("m") or parts.get("m3") or "00"
    if word2:
        start = _hour(int(parts["h"]), half, late=is_late)
        return f"{start}:{minutes}", _WORDS[word2.lower()]
    late = is_late or _AFTER_NOON.search(parts.get("part") or "") is not None
    start = _hour(int(parts["h"]), half, late=late)
    end = _hour(int(parts["h2"]), half2, late=late) if parts.get("h2") else ""
    return f"{start}:{minutes}", end and f"{end}:{parts.get('m2') or parts.get('m4') or '00'}"


def _implied(parts: dict[str, str | None], half2: str | None) -> str | None:
    """The half of "2" in "2-3 pm"; "11-1 pm" began in the morning."""
    if half2 is None or half2[0].lower() == "a":
        return half2
    return half2 if int(parts["h"] or 0) % 12 <= int(parts["h2"] or 0) % 12 else "am"


def _hour(hour: int, half: str | None, *, late: bool) -> str:
    """Two digits; "8 Uhr abends" is 20."""
    if half:
        hour = hour % 12 + (12 if half[0].lower() == "p" else 0)
    elif late and 0 < hour < 12:
        hour += 12
    return f"{hour:02d}"


# 2. Days -------------------------------------------------------------------------------------

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
_HALF_BEHIND: Final = (
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
        rf"\b(?:the\s+)?(?P<word>übermorgen|day\s+after\s+tomorrow)\b{_HALF_BEHIND}",
        rf"\b(?P<word>morgen|tomorrow|heute|today|tonight)\b{_HALF_BEHIND}",
        r"\bin\s+(?P<n>\d{1,3}|einem|einer|zwei|drei|a|one|two|three)\s+(?P<unit>tag|day|woche|week)(?:en|n|s)?\b",
        (
            rf"\b(?:{_NEXT}\s+(?P<week>woche|week)\s+)?{_ON}(?:(?:{_NEXT}|{_THIS})\s+)?"
            rf"(?P<day>{_NAMED}){_DAYTIME}\b{_HALF_BEHIND}(?:\s+{_NEXT}\s+(?P<week2>woche|week)\b)?"
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
_NEAR_DAY: Final = 16  # characters before a day that may say what it is
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
_DAYS_AHEAD: Final = {"morgen": 1, "tomorrow": 1, "heute": 0, "today": 0, "tonight": 0}


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
            if not _NOT_THEN.search(said, max(match.start() - _NEAR_DAY, 0), match.start())
            and (when := _read_day(said, match, today))
        ]
        if found:
            return min(found, key=lambda one: (one.at[0], -one.at[1]))
    return None


def _read_day(text: str, match: re.Match[str], today: date) -> date | None:
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
            text, max(match.start() - _NEAR_DAY, 0), match.start()
        )
        return None if is_morning else today + timedelta(days=_DAYS_AHEAD.get(word, 2))
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
