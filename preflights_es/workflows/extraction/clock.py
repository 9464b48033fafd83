"""Times of day and durations, as notes say them in German and English."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from preflights_es.workflows.extraction.values import DURATION_MAX

_FLAGS: Final = re.IGNORECASE | re.VERBOSE
_H: Final = r"(?<![\d.,:/-])(?:[01]?\d|2[0-3])"
_M: Final = r"[0-5]\d"
_HALF: Final = r"(?:a\.?m\b\.?|p\.?m\b\.?)"
_TO: Final = r"\s*(?:-|–|—|bis|to|until|till)\s*"

# The first that matches at the earliest place wins; each names the parts that `_read` knows.
_TIMES: Final = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        # 14-15 Uhr, 14:00 bis 15:30 Uhr, 9.30-11 Uhr
        rf"(?P<h>{_H})(?:[:.](?P<m>{_M}))?{_TO}(?P<h2>[01]?\d|2[0-3])(?:[:.](?P<m2>{_M}))?\s*uhr\b",
        # 14:00-15:30
        rf"(?P<h>{_H}):(?P<m>{_M}){_TO}(?P<h2>[01]?\d|2[0-3]):(?P<m2>{_M})\b",
        # 2-3 pm, 2:30 pm to 4 pm, 11 am until 1 pm
        (
            rf"(?P<h>{_H})(?::(?P<m>{_M}))?\s*(?P<half>{_HALF})?{_TO}"
            rf"(?P<h2>[01]?\d)(?::(?P<m2>{_M}))?\s*(?P<half2>{_HALF})"
        ),
        # 2:30 pm, 2pm
        rf"(?P<h>{_H})(?::(?P<m>{_M}))?\s*(?P<half>{_HALF})",
        # 14 Uhr, 14.30 Uhr, 14 Uhr 30, 3 Uhr nachmittags
        (
            rf"(?P<h>{_H})(?:[:.](?P<m>{_M}))?\s*uhr\b(?:\s*(?P<m3>{_M})\b)?"
            r"(?:\s*(?P<part>nachmittags?|abends?|morgens?|vormittags?|früh)\b)?"
        ),
        # 14:30
        rf"(?P<h>{_H}):(?P<m>{_M})(?![\d:])",
        r"\b(?P<word>noon|midnight|mitternacht)\b",
    )
)
_WORDS: Final = {"noon": "12:00", "midnight": "00:00", "mitternacht": "00:00"}
_BEFORE: Final = re.compile(r"\b(?:um|at|@|ab|gegen|from|von|ca\.|around|about)\s*$", re.IGNORECASE)
_UNTIL: Final = re.compile(
    r"\b(?:bis|by|before|vor|until|till|spätestens)(?:\s+um)?\s*$", re.IGNORECASE
)

_UNIT: Final = (
    r"(?P<unit>minuten|minutes|minute|mins?|min\.|stunden?|std\.?|hours?|hrs?|h)(?![a-zäöüß])"
)
_DURATION: Final = re.compile(
    rf"(?<![\d.,:])(?P<a>\d{{1,3}}(?:[.,]\d)?)(?:\s*(?:-|–|bis|to)\s*(?P<b>\d{{1,3}}(?:[.,]\d)?))?\s*{_UNIT}"
    r"(?:\s*(?P<rest>[0-5]\d)(?:\s*min)?\b)?",
    re.IGNORECASE,
)
_SPOKEN: Final = {
    "eine halbe stunde": 30,
    "halbe stunde": 30,
    "half an hour": 30,
    "viertelstunde": 15,
    "quarter of an hour": 15,
    "dreiviertelstunde": 45,
    "eine stunde": 60,
    "an hour": 60,
    "one hour": 60,
}
_SPOKEN_WORDS: Final = re.compile(
    r"\b(?:" + "|".join(sorted(_SPOKEN, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_ABOUT: Final = re.compile(
    r"(?:\b(?:ca\.|etwa|ungefähr|about|around|für|for|dauert|takes)|~)\s*$", re.IGNORECASE
)
_RELATIVE: Final = re.compile(r"\b(?:in|vor|seit|nach|since|after|every|alle)\s*$", re.IGNORECASE)
_AGO: Final = re.compile(r"\s*(?:ago|später|later|earlier)\b", re.IGNORECASE)


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
    found = [match for pattern in _TIMES if (match := pattern.search(text))]
    if not found:
        return None
    match = min(found, key=lambda match: match.start())
    start, end = _read(match)
    if not start:
        return None
    ahead = text[: match.start()]
    until, before = _UNTIL.search(ahead), _BEFORE.search(ahead)
    begin = (until or before or match).start()
    return Moment(start, end, (begin, match.end()), until is not None)


def bare_hour(text: str) -> str:
    """The time that a text is which holds an hour and nothing else; empty for any other."""
    digits = text.strip()
    is_hour = digits.isascii() and digits.isdecimal() and len(digits) < 3 and int(digits) < 24
    return f"{int(digits):02d}:00" if is_hour else ""


def duration(text: str) -> Duration | None:
    """The first duration that a text says, within a working day; None where it says none."""
    for match in _DURATION.finditer(text):
        ahead = text[: match.start()]
        if _RELATIVE.search(ahead) or _AGO.match(text, match.end()):
            continue  # "in 30 min" says when, not how long
        is_hours = match["unit"][0].lower() in "sh"
        low = _in_minutes(match["a"], is_hours) + int(match["rest"] or 0 if is_hours else 0)
        high = _in_minutes(match["b"], is_hours) if match["b"] else low
        if 1 <= low <= high <= DURATION_MAX:
            return Duration(low, high, (_begin(ahead), match.end()))
    spoken = _SPOKEN_WORDS.search(text)
    if spoken is None or _RELATIVE.search(text[: spoken.start()]):
        return None
    minutes = _SPOKEN[spoken.group().lower()]
    return Duration(minutes, minutes, (_begin(text[: spoken.start()]), spoken.end()))


def later(start: str, minutes: int) -> str:
    """The time so many minutes after another, on the same day; empty where it is the next."""
    total = int(start[:2]) * 60 + int(start[3:]) + minutes
    return f"{total // 60:02d}:{total % 60:02d}" if total < 24 * 60 else ""


def _begin(ahead: str) -> int:
    about = _ABOUT.search(ahead)
    return about.start() if about else len(ahead)


def _in_minutes(number: str, is_hours: bool) -> int:
    value = float(number.replace(",", "."))
    return round(value * 60) if is_hours else int(value)


def _read(match: re.Match[str]) -> tuple[str, str]:
    """Start and end, each HH:MM or empty."""
    parts = match.groupdict()
    if word := parts.get("word"):
        return _WORDS[word.lower()], ""
    half2 = parts.get("half2")
    half = parts.get("half") or _implied(parts, half2)
    minutes = parts.get("m") or parts.get("m3") or "00"
    start = _hour(int(parts["h"]), half, parts.get("part"))
    end = _hour(int(parts["h2"]), half2, None) if parts.get("h2") else ""
    return start and f"{start}:{minutes}", end and f"{end}:{parts.get('m2') or '00'}"


def _implied(parts: dict[str, str | None], half2: str | None) -> str | None:
    """The half of "2" in "2-3 pm"; "11-1 pm" began in the morning."""
    if half2 is None or half2[0].lower() == "a":
        return half2
    return half2 if int(parts["h"] or 0) % 12 <= int(parts["h2"] or 0) % 12 else "am"


def _hour(hour: int, half: str | None, part: str | None) -> str:
    """Two digits, or nothing for an hour that no clock with halves has."""
    if half:
        if not 1 <= hour <= 12:
            return ""
        hour = hour % 12 + (12 if half[0].lower() == "p" else 0)
    elif part and part[0].lower() in "na" and hour < 12:
        hour += 12
    return f"{hour:02d}"
