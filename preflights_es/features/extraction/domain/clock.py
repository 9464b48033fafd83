"""Times of day and durations, as notes say them in German and English."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import msgspec

from preflights_es.features.extraction.domain.values import DURATION_MAX

_FLAGS: Final = re.IGNORECASE | re.VERBOSE
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

# The first that matches at the earliest place wins; each names the parts that `_read` knows.
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
    start, end = _read(match, is_late=_ahead(_LATE, said, match.start()) is not None)
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


def _is_hours(unit: str) -> bool:
    return unit[0].lower() in "sh"


def _in_minutes(number: str, unit: str) -> int:
    value = float(number.replace(",", "."))
    return round(value * 60) if _is_hours(unit) else round(value)


def _read(match: re.Match[str], *, is_late: bool) -> tuple[str, str]:
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
