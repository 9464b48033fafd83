"""Ranges of days in a question, in English and German, from the day on which it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final, Literal

from preflights_es.core.late_pattern import late_pattern

Range = tuple[date, date]
"""The first day, and the day behind the last."""

Rules = Literal[1, 2]
"""By version: what the reference reads. The second knows more forms, and asks about the rest."""
RULES: Final[Rules] = 2

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
_WHOLE_NAMES: Final = "|".join(name for name in _MONTHS if len(name) > 3)
"""What stands for a month without a word in front of it: not “may”, not “Jan”."""
_DAY: Final = r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th|\.)?"
_YEAR: Final = r"(?:,? (?P<y>[0-9]{4})\b)?"
_LAST: Final = r"(?:last|past|previous|letzte[nms]?|vergangene[nms]?)"
_TO: Final = "-|\u2013|to|until|till|bis(?: zum)?|and|und|or|oder"
_BEFORE: Final = r"(?:in|im|since|seit|ab|before|vor|until|till|bis|after|nach|to|and|und)"
_BORDERS: Final = (
    (late_pattern(r"\b(?:since|seit|ab) (?:the |dem |der )?$"), "since"),
    (late_pattern(r"\b(?:before|vor) (?:the |dem |der )?$"), "before"),
    (late_pattern(r"\b(?:until|till|up to|bis(?: zu[mr]?)?) (?:the |dem |der )?$"), "until"),
    (late_pattern(r"\b(?:after|nach) (?:the |dem |der )?$"), "after"),
    (late_pattern(r"\b(?:not|except|without|nicht|au(?:ß|ss)er|ohne) (?:in |im )?$"), "not"),
)
_FIRST: Final = late_pattern(r"\b(?:between|from|zwischen|von|vom) (?:the |dem |der )?$")
_SECOND: Final = late_pattern(
    r"^ ?(?:-|\u2013|to|until|till|and|und|bis(?: zum)?) (?:the |dem |der )?$"
)


class OddRange(ValueError):
    """A text names an unknown day, or several that do not make one range."""


def said(text: str, today: date, rules: Rules = RULES) -> Range | None:
    """The range that a text names; None where it names none.

    Raises:
        OddRange: no calendar has it, or it is no range of days.
    """
    text = " ".join(text.casefold().split())
    try:
        found = sorted(_found(text, today, _EARLIER if rules == 1 else _FORMS))
        if rules > 1 and _speaks_of_time(text, found):
            raise OddRange(text)
        return _joined(text, found) if found else None
    except (ValueError, OverflowError) as error:
        raise OddRange(text) from error


def _joined(text: str, found: list[tuple[int, int, Range]]) -> Range:
    """One range of those that stand in a text, by the words around them."""
    start, end, (first, behind) = found[0]
    border = next((name for words, name in _BORDERS if words.search(text[:start])), "")
    if len(found) == 2 and not border and _FIRST.search(text[:start]):
        second, _, (_, last) = found[1]
        if _SECOND.search(text[end:second]) and first < last:
            return first, last
    if len(found) > 1 or border == "not":
        raise OddRange(text)
    match border:
        case "since":
            return first, date.max
        case "before":
            return date.min, first
        case "until":
            return date.min, behind
        case "after":
            return behind, date.max
        case _:
            return first, behind


def _speaks_of_time(text: str, found: list[tuple[int, int, Range]]) -> bool:
    """Whether a text has words of time beside its ranges."""
    starts, ends = (0, *(end for _, end, _ in found)), (*(start for start, _, _ in found), None)
    rest = " | ".join(text[start:end] for start, end in zip(starts, ends, strict=True))
    return _OF_TIME.search(" ".join(rest.split())) is not None


def _found(text: str, today: date, forms: tuple[Form, ...]) -> Iterator[tuple[int, int, Range]]:
    """Where ranges stand: from, to, and the days."""
    taken: list[tuple[int, int]] = []
    for pattern, days in forms:
        for one in pattern.finditer(text):
            start, end = one.span("at")
            if all(end <= others[0] or start >= others[1] for others in taken):
                taken.append((start, end))
                yield start, end, days(one, today)


def _last(unit: int) -> Callable[[re.Match[str], date], Range]:
    """The last `n` times so many days, with today."""

    def days(found: re.Match[str], today: date) -> Range:
        end = today + timedelta(days=1)
        if not (count := int(found["n"])):
            raise ValueError("no day")
        return end - timedelta(days=unit * count), end

    return days


def _day_of_month(found: re.Match[str], today: date) -> Range:
    """A day with or without its year: then the last one that has begun."""
    month, day = _MONTHS.get(found["m"]) or int(found["m"]), int(found["d"])
    if found["y"]:
        return _days(date(int(found["y"]), month, day))
    return _days(date(today.year - ((month, day) > (today.month, today.day)), month, day))


def _in_month(found: re.Match[str], today: date) -> Range:
    month = _MONTHS[found["at"]]
    return _month(today.year - (month > today.month), month)


def _unit(unit: str, offset: int) -> Callable[[re.Match[str], date], Range]:
    return lambda _, today: _of_unit(today, unit, offset)


Form = tuple[re.Pattern[str], Callable[[re.Match[str], date], Range]]
"""How a range is said, and what it is; its `at` takes the words."""

_NAMED: Final = (
    (r"today|heute", "day", 0),
    (r"yesterday|gestern", "day", -1),
    (r"this week|diese[rn]? woche", "week", 0),
    (r"last week|letzte[nr]? woche|vorige[nr]? woche", "week", -1),
    (r"week before|woche davor", "week", -2),
    (r"this month|diese[nmrs]+ monat", "month", 0),
    (r"last month|letzte[nrms]+ monat|vorige[nrms]+ monat", "month", -1),
    (r"this year|diese[ms] jahr", "year", 0),
    (r"last year|letzte[nms]+ jahr|vorige[nms]+ jahr", "year", -1),
)
_EARLIER: Final[tuple[Form, ...]] = (
    (
        late_pattern(r"\b(?P<at>(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2}))\b"),
        lambda one, _: _days(date(int(one["y"]), int(one["m"]), int(one["d"]))),
    ),
    (
        late_pattern(r"\b(?P<at>(?P<d>[0-9]{1,2})\.(?P<m>[0-9]{1,2})\.(?P<y>[0-9]{4}))\b"),
        lambda one, _: _days(date(int(one["y"]), int(one["m"]), int(one["d"]))),
    ),
    (
        late_pattern(r"\b(?P<at>(?P<y>[0-9]{4})-(?P<m>[0-9]{2}))\b"),
        lambda one, _: _month(int(one["y"]), int(one["m"])),
    ),
    (
        late_pattern(rf"\b(?P<at>(?P<m>{_MONTH_NAMES})\.? (?P<y>[0-9]{{4}}))\b"),
        lambda one, _: _month(int(one["y"]), _MONTHS[one["m"]]),
    ),
    (late_pattern(rf"\b{_BEFORE} (?P<at>{_MONTH_NAMES})\b"), _in_month),
    (
        late_pattern(r"\b(?:in|im jahr|year|jahr|since|seit|before|vor) (?P<at>[0-9]{4})\b"),
        lambda one, _: (date(int(one["at"]), 1, 1), date(int(one["at"]) + 1, 1, 1)),
    ),
    (
        late_pattern(
            r"\b(?P<at>(?:last|past|letzten?|vergangenen?) (?P<n>[0-9]{1,4}) (?:days?|tagen?))\b"
        ),
        _last(1),
    ),
    *(
        (late_pattern(rf"\b(?P<at>{words})\b"), _unit(unit, offset))
        for words, unit, offset in _NAMED
    ),
)
_FORMS: Final[tuple[Form, ...]] = (
    (late_pattern(rf"\b(?P<at>{_DAY}(?: of)? (?P<m>{_MONTH_NAMES})\b{_YEAR})"), _day_of_month),
    (late_pattern(rf"\b(?P<at>(?P<m>{_MONTH_NAMES})\.? {_DAY}(?!\d){_YEAR})"), _day_of_month),
    (late_pattern(r"\b(?P<at>(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?!\d)(?P<y>))"), _day_of_month),
    (
        late_pattern(r"\b(?P<at>q(?P<q>[1-4]) (?P<y>\d{4}))\b"),
        lambda one, _: _month(int(one["y"]), int(one["q"]) * 3 - 2, 3),
    ),
    (late_pattern(rf"\b(?P<at>{_LAST} (?P<n>\d{{1,4}}) (?:days?|tagen?))\b"), _last(1)),
    (late_pattern(rf"\b(?P<at>{_LAST} (?P<n>\d{{1,4}}) (?:weeks?|wochen?))\b"), _last(7)),
    *(
        (late_pattern(rf"\b(?P<at>{words})\b"), _unit(unit, offset))
        for words, unit, offset in (
            (r"day before yesterday|vorgestern", "day", -2),
            (r"week before last|vorletzte[nr]? woche", "week", -2),
            (r"previous week|vergangene[nr]? woche", "week", -1),
            (r"previous month|vergangene[nms]+ monat", "month", -1),
            (r"previous year|vergangene[nms]+ jahr", "year", -1),
            (r"this quarter|diese[ms]+ quartal", "quarter", 0),
            (rf"(?:last|previous) quarter|{_LAST} quartal", "quarter", -1),
        )
    ),
    *_EARLIER,
    (late_pattern(rf"\b(?P<at>{_WHOLE_NAMES})\b"), _in_month),
    (
        late_pattern(r"(?<![\w/.-])(?P<at>20[1-9]\d)(?![\w/-]|\.\d)"),
        lambda one, _: (date(int(one["at"]), 1, 1), date(int(one["at"]) + 1, 1, 1)),
    ),
)
_OF_TIME: Final = late_pattern(
    r"\b(?:last|past|previous|next|ago|tomorrow|letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?"
    r"|vorletzte[nmrs]?|nächste[nmrs]?|kommende[nmrs]?|morgen|übermorgen|weekend|wochenende|mai"
    r"|(?:first|second|third|fourth|erste[ns]?|zweite[ns]?|dritte[ns]?|vierte[ns]?) quart(?:er|al)"
    r"|[1-4](?:\.|st|nd|rd|th) quart(?:er|al)|h[12]|half|hälfte|ytd|early|mid|late|anfang|mitte"
    r"|ende|(?:end|beginning|start) of|q[1-4]|kw ?\d+|(?:week|woche) \d+|to date"
    r"|20\d\d-w?\d+|\d{1,4}[/.-]\d{1,2}[/.-]\d*"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|sonnabends?"
    r"|\d+ (?:hours?|days?|weeks?|months?|years?|stunden?|tagen?|wochen?|monaten?|jahren?))\b"
    rf"|\d\.? ?(?:{_TO}) ?\||\| ?(?:{_TO}) ?\d"
)
"""Words of time: a range of days was meant where no form takes them."""


def _of_unit(today: date, unit: str, offset: int) -> Range:
    match unit:
        case "day":
            return _days(today + timedelta(days=offset))
        case "week":
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=offset)
            return monday, monday + timedelta(weeks=1)
        case "quarter":
            months = today.year * 12 + (today.month - 1) // 3 * 3 + offset * 3
            return _month(months // 12, months % 12 + 1, 3)
        case "month":
            months = today.year * 12 + today.month - 1 + offset
            return _month(months // 12, months % 12 + 1)
        case _:
            return date(today.year + offset, 1, 1), date(today.year + offset + 1, 1, 1)


def _days(day: date) -> Range:
    return day, day + timedelta(days=1)


def _month(year: int, month: int, count: int = 1) -> Range:
    """Whole months, from the first day of one."""
    end = year * 12 + month - 1 + count
    return date(year, month, 1), date(end // 12, end % 12 + 1, 1)
