"""Ranges of days in a question, in English and German, from the day on which it is asked."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from preflights_es.core.late_pattern import late_pattern

Range = tuple[date, date]
"""The first day, and the day behind the last."""

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            ("january", "januar", "jan"),
            ("february", "februar", "feb"),
            ("march", "märz", "maerz", "mar", "mär"),
            ("april", "apr"),
            ("may", "mai"),
            ("june", "juni", "jun"),
            ("july", "juli", "jul"),
            ("august", "aug"),
            ("september", "sep", "sept"),
            ("october", "oktober", "oct", "okt"),
            ("november", "nov"),
            ("december", "dezember", "dec", "dez"),
        ),
        1,
    )
    for name in names
}
_MONTH_NAMES: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ISO: Final = late_pattern(r"\b([0-9]{4})-([0-9]{2})-([0-9]{2})\b")
_ISO_MONTH: Final = late_pattern(r"\b([0-9]{4})-([0-9]{2})\b")
_DOTTED: Final = late_pattern(r"\b([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})\b")
_OF_YEAR: Final = late_pattern(rf"\b({_MONTH_NAMES})\.? ([0-9]{{4}})\b")
_IN_MONTH: Final = late_pattern(rf"\b(?:in|im|since|seit) ({_MONTH_NAMES})\b")
_YEAR: Final = late_pattern(r"\b(?:in|im jahr|year|jahr) ([0-9]{4})\b")
_LAST_DAYS: Final = late_pattern(
    r"\b(?:last|past|letzten?|vergangenen?) ([0-9]{1,4}) (?:days?|tagen?)\b"
)
_NAMED: Final = (
    (late_pattern(r"\b(?:today|heute)\b"), "day", 0),
    (late_pattern(r"\b(?:yesterday|gestern)\b"), "day", -1),
    (late_pattern(r"\b(?:this week|diese[rn]? woche)\b"), "week", 0),
    (late_pattern(r"\b(?:last week|letzten? woche|vorigen? woche)\b"), "week", -1),
    (late_pattern(r"\b(?:week before|woche davor)\b"), "week", -2),
    (late_pattern(r"\b(?:this month|diese[nmrs]+ monat)\b"), "month", 0),
    (late_pattern(r"\b(?:last month|letzte[nrms]+ monat|vorige[nrms]+ monat)\b"), "month", -1),
    (late_pattern(r"\b(?:this year|diese[ms] jahr)\b"), "year", 0),
    (late_pattern(r"\b(?:last year|letzte[nms]+ jahr|vorige[nms]+ jahr)\b"), "year", -1),
)


def said(text: str, today: date) -> Range | None:
    """The range that a text names; None where it names none, or none that a calendar has."""
    text = " ".join(text.casefold().split())
    try:
        return _explicit(text, today) or _relative(text, today)
    except (ValueError, OverflowError):
        return None


def _explicit(text: str, today: date) -> Range | None:
    if found := _ISO.search(text):
        return _days(date(*map(int, found.groups())))
    if found := _DOTTED.search(text):
        day, month, year = map(int, found.groups())
        return _days(date(year, month, day))
    if found := _ISO_MONTH.search(text):
        return _month(int(found[1]), int(found[2]))
    if found := _OF_YEAR.search(text):
        return _month(int(found[2]), _MONTHS[found[1]])
    if found := _IN_MONTH.search(text):
        month = _MONTHS[found[1]]
        return _month(today.year - (month > today.month), month)
    if found := _YEAR.search(text):
        return date(int(found[1]), 1, 1), date(int(found[1]) + 1, 1, 1)
    return None


def _relative(text: str, today: date) -> Range | None:
    if found := _LAST_DAYS.search(text):
        end = today + timedelta(days=1)
        return end - timedelta(days=max(1, int(found[1]))), end
    for pattern, unit, offset in _NAMED:
        if pattern.search(text):
            return _of_unit(today, unit, offset)
    return None


def _of_unit(today: date, unit: str, offset: int) -> Range:
    match unit:
        case "day":
            return _days(today + timedelta(days=offset))
        case "week":
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=offset)
            return monday, monday + timedelta(weeks=1)
        case "month":
            months = today.year * 12 + today.month - 1 + offset
            return _month(months // 12, months % 12 + 1)
        case _:
            return date(today.year + offset, 1, 1), date(today.year + offset + 1, 1, 1)


def _days(day: date) -> Range:
    return day, day + timedelta(days=1)


def _month(year: int, month: int) -> Range:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
