"""Ranges of days in a question, in English and German, from the day on which it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import Final

from preflights_es.core.late_pattern import late_pattern

Range = tuple[date, date]
"""The first day, and the day behind the last."""


def _numbered(names: str, first: int) -> dict[str, int]:
    """The number of each name; names of one number stand between slashes."""
    each = enumerate(names.split(), first)
    return {name: number for number, one in each for name in one.split("/")}


_MONTHS: Final = _numbered(
    "january/januar/jan february/februar/feb march/märz/maerz/mar/mär april/apr may/mai"
    " june/juni/jun july/juli/jul august/aug september/sep/sept october/oktober/oct/okt"
    " november/nov december/dezember/dec/dez",
    1,
)
_MONTH_NAMES: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAYS: Final = _numbered(
    "monday/montag tuesday/dienstag wednesday/mittwoch thursday/donnerstag friday/freitag"
    " saturday/samstag/sonnabend sunday/sonntag",
    0,
)
_NUMBERS: Final = _numbered("two/zwei three/drei four/vier five/fünf six/sechs", 2)
_BEFORE: Final = (
    r"(?:in|im|since|seit|ab|before|vor|until|till|bis|after|nach|to|and|und"
    r"|from|between|von|zwischen|during)"
)
_TIME: Final = late_pattern(
    r"(?<!\bby )(?<!\bper )(?<!\bnach )(?<!\bpro )(?<!\bje )"
    r"\b(?:weeks?|wochen?|months?|monate?[ns]?|quarters?|quartale?[ns]?|years?|jahre?[ns]?|hours?"
    r"|stunden?|minuten?|minutes?|weekends?|wochenenden?|halbjahr\w*|half|tomorrow|morgen|kw|q[1-4]"
    r"|february|februar|april|june|juni|july|juli|august|september|october|oktober|november"
    r"|december|dezember|[0-9]+/[0-9]+(?:/[0-9]+)?|[0-9]+ (?:days?|tagen?))\b"
)
"""Words of time: where one is left over, the person meant days that are not known here."""
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


def said(text: str, today: date, names: Iterable[str] = ()) -> Range | None:
    """The range that a text names; None where it names none.

    Args:
        names: words of the catalogue, which say nothing of days.

    Raises:
        OddRange: no calendar has it, or it is no range of days.
    """
    text = " ".join(text.casefold().split())
    try:
        found = sorted(_found(text, today))
        rest = text
        for start, end, _ in found:
            rest = rest[:start] + "|" * (end - start) + rest[end:]
        for name in sorted(names, key=len, reverse=True):
            rest = re.sub(rf"\b{re.escape(name.casefold())}\b", "|", rest)
        if _TIME.search(rest):
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


def _found(text: str, today: date) -> Iterator[tuple[int, int, Range]]:
    """Where ranges stand: from, to, and the days."""
    taken: list[tuple[int, int]] = []
    for pattern, days in _FORMS:
        for one in pattern.finditer(text):
            start, end = one.span("at")
            if all(end <= others[0] or start >= others[1] for others in taken):
                taken.append((start, end))
                yield start, end, days(one, today)


def _last(found: re.Match[str], today: date) -> Range:
    """So many days, weeks, months or years up to today."""
    end, number = today + timedelta(days=1), _NUMBERS.get(found["n"]) or int(found["n"])
    if not number:
        raise ValueError("no day")
    if found["u"][0] in "dtw":
        return end - timedelta(days=number * (7 if found["u"][0] == "w" else 1)), end
    months = end.year * 12 + end.month - 1 - number * (1 if found["u"][0] == "m" else 12)
    first, behind = _month(months // 12, months % 12 + 1)
    return min(first + timedelta(days=end.day - 1), behind), end


def _date(found: re.Match[str], today: date) -> Range:
    """A day of a month, or several; without a year the last that has begun."""
    month = _MONTHS.get(found["m"]) or int(found["m"])
    year = int(found["y"] or today.year)
    year += 2000 * (year < 100)
    day = date(year, month, int(found["d"]))
    if found["y"] is None and day > today:
        day = day.replace(year=year - 1)
    since = found.groupdict().get("since")
    return (day.replace(day=int(since)) if since else day), day + timedelta(days=1)


def _month_of(found: re.Match[str], today: date) -> Range:
    """A month; without a year the last that has begun."""
    month = _MONTHS.get(found["m"]) or int(found["m"])
    return _month(int(found["y"] or today.year - (month > today.month)), month)


def _quarter(found: re.Match[str], today: date) -> Range:
    month = 3 * int(found["q"] or found["quartal"]) - 2
    year = int(found["y"] or today.year - (month > today.month))
    return date(year, month, 1), _month(year, month + 2)[1]


def _week(found: re.Match[str], today: date) -> Range:
    year, week = int(found["y"] or today.year), int(found["w"])
    monday = date.fromisocalendar(year, week, 1)
    if found["y"] is None and monday > today:
        monday = date.fromisocalendar(year - 1, week, 1)
    return monday, monday + timedelta(weeks=1)


def _weekday(found: re.Match[str], today: date) -> Range:
    back = (today.weekday() - _WEEKDAYS[found["name"]]) % 7
    return _days(today - timedelta(days=back or (7 if found["last"] else 0)))


def _year(found: re.Match[str], _: date) -> Range:
    return date(int(found["at"]), 1, 1), date(int(found["at"]) + 1, 1, 1)


def _unit(unit: str, offset: int) -> Callable[[re.Match[str], date], Range]:
    return lambda _, today: _of_unit(today, unit, offset)


_LAST: Final = r"(?:last|previous|(?:letzte|vorige)[nrms]*)"
_THIS: Final = r"(?:this|diese[nmrs]*)"
_NAMED: Final = (
    (r"today|heute", "day", 0),
    (r"(?:the )?day before yesterday|vorgestern", "day", -2),
    (r"yesterday|gestern", "day", -1),
    (rf"{_THIS} (?:week|woche)", "week", 0),
    (rf"{_LAST} (?:week|woche)", "week", -1),
    (r"week before|woche davor", "week", -2),
    (rf"{_THIS} mon(?:th|at)", "month", 0),
    (rf"{_LAST} mon(?:th|at)", "month", -1),
    (rf"{_THIS} (?:quarter|quartal)", "quarter", 0),
    (rf"{_LAST} (?:quarter|quartal)", "quarter", -1),
    (rf"{_THIS} (?:year|jahr)", "year", 0),
    (rf"{_LAST} (?:year|jahr)", "year", -1),
    (r"all time|all days|ever|alle tage|jemals", "", 0),
)
_DAY: Final = r"(?P<d>[0-9]{1,2})"
_TH: Final = r"(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<y>[0-9]{4})"
_MONTH: Final = rf"(?P<m>{_MONTH_NAMES})"
_TO: Final = r"(?: ?[-\u2013] ?| (?:to|until|bis(?: zum)?) (?:the )?)"
_DAYS: Final = rf"(?:(?P<since>[0-9]{{1,2}})\.?{_TO})?{_DAY}(?:\.|{_TH})(?: of)?"
_SO_MANY: Final = rf"(?P<n>[0-9]{{1,4}}|{'|'.join(_NUMBERS)})"
_UNITS: Final = r"(?P<u>days?|tagen?|weeks?|wochen?|months?|monaten?|years?|jahren?)"
_QUARTER: Final = r"(?:q(?P<q>[1-4])|(?P<quartal>[1-4])\. quartal)"
_WEEK: Final = r"(?:kw|week|(?:kalender)?woche) (?P<w>[0-9]{1,2})"
_FORMS: Final = tuple(
    (late_pattern(words), days)
    for words, days in (
        (rf"\b(?P<at>{_YEAR}-(?P<m>[0-9]{{2}})-(?P<d>[0-9]{{2}}))\b", _date),
        (rf"\b(?P<at>{_DAY}\.(?P<m>[0-9]{{1,2}})\.(?P<y>[0-9]{{4}}|[0-9]{{2}})?)(?![0-9])", _date),
        (rf"\b(?P<at>{_YEAR}-(?P<m>[0-9]{{2}}))\b", _month_of),
        (rf"\b(?P<at>{_DAYS} {_MONTH}\b(?:\.?,? {_YEAR})?)\b", _date),
        (rf"\b(?P<at>{_MONTH}\.? {_DAY}{_TH}\b(?:,? {_YEAR})?)\b", _date),
        (rf"\b(?P<at>{_MONTH}\.? {_YEAR})\b", _month_of),
        (rf"\b{_BEFORE} (?P<at>{_MONTH}(?P<y>))\b", _month_of),
        (rf"\b(?P<at>{_QUARTER}(?:[ /]{_YEAR})?)\b", _quarter),
        (rf"\b(?P<at>{_WEEK}(?:[ /]{_YEAR})?)\b", _week),
        (rf"\b(?P<at>(?:past|{_LAST}|vergangenen?) {_SO_MANY} {_UNITS})\b", _last),
        (rf"\b(?P<at>(?P<last>{_LAST} )?(?P<name>{'|'.join(_WEEKDAYS)}))s?\b", _weekday),
        *((rf"\b(?P<at>{words})\b", _unit(unit, offset)) for words, unit, offset in _NAMED),
        (r"\b(?:in|im jahr|year|jahr|since|seit|before|vor) (?P<at>[0-9]{4})\b", _year),
        (r"(?<![0-9.-])(?P<at>20[0-9]{2})(?=$|[?.!,] ?$)", _year),
    )
)


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
        case "quarter":
            months = today.year * 12 + (today.month - 1) // 3 * 3 + 3 * offset
            return date(months // 12, months % 12 + 1, 1), _month(months // 12, months % 12 + 3)[1]
        case "":
            return date.min, date.max
        case _:
            return date(today.year + offset, 1, 1), date(today.year + offset + 1, 1, 1)


def _days(day: date) -> Range:
    return day, day + timedelta(days=1)


def _month(year: int, month: int) -> Range:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
