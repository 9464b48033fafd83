"""Ranges of days in a question, in English and German, from the day on which it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from preflights_es.kernel.text import late_pattern
from preflights_es.kernel.words import NUMBER_OF

Range = tuple[date, date]
"""The first day, and the day behind the last."""

_MONTH_NAMES: Final = "|".join(sorted(NUMBER_OF, key=len, reverse=True))
_WHOLE_NAMES: Final = "|".join(name for name in NUMBER_OF if len(name) > 3)
"""What stands for a month without a word in front of it: not “may”, not “Jan”."""
_DAY: Final = r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th|\.)?"
_YEAR: Final = r"(?:,? (?P<y>[0-9]{4})\b)?"
_TO: Final = r"(?:-|\u2013|to|until|till|through|bis(?: zum)?)"
_LAST: Final = r"(?:last|past|previous|letzte[nms]?|vergangene[nms]?)"
_BEFORE: Final = r"(?:in|im|since|seit|ab|before|vor|until|till|bis|after|nach|to|and|und)"
_BORDERS: Final = (
    (late_pattern(r"\b(?:since|seit|ab) (?:the |dem |der )?$"), "since"),
    (late_pattern(r"\b(?:before|vor) (?:the |dem |der )?$"), "before"),
    (late_pattern(r"\b(?:until|till|up to|bis(?: zu[mr]?)?) (?:the |dem |der )?$"), "until"),
    (late_pattern(r"\b(?:after|nach) (?:the |dem |der )?$"), "after"),
    (
        late_pattern(r"(?<!compared )(?<!comparison )\b(?:through|to|as of) (?:the )?$"),
        "not",  # up to then, or from then on
    ),
    (late_pattern(r"\b(?:not|except|without|nicht|au(?:ß|ss)er|ohne) (?:in |im )?$"), "not"),
)
_FIRST: Final = late_pattern(r"\b(?:between|from|zwischen|von|vom) (?:the |dem |der )?$")
_SECOND: Final = late_pattern(
    r"^ ?(?:-|\u2013|to|until|till|through|and|und|bis(?: zum)?) (?:the |dem |der )?$"
)
_ONWARDS: Final = late_pattern(r"^ (?:on|onwards?|an)\b")
_FROM: Final = late_pattern(r"\b(?:from|von|vom|ab|starting|beginning) (?:the |dem )?$")
_YEAR_SAID: Final = late_pattern(r"\b[12][0-9]{3}\b")
_OF_A_YEAR: Final = late_pattern(rf"[0-9]|\b(?:{_MONTH_NAMES})\b")
_UP_TO: Final = late_pattern(rf"^ ?{_TO} (?:the |dem |der )?$")
"""Between two ranges: all from the one to the other, also without a word in front."""


_ORDINALS: Final = (
    ("1", "fir", "ers"),
    ("2", "sec", "zwe"),
    ("3", "thi", "dri"),
    ("4", "fou", "vie"),
)


class OddRange(ValueError):
    """A text names an unknown day, or several that do not make one range."""


class Named(NamedTuple):
    """Days that a text names, and where the words stand that say so."""

    days: Range
    spans: tuple[tuple[int, int], ...]


def said(text: str, today: date) -> list[Named]:
    """The ranges that a text names, in their order; "between A and B" is one.

    Args:
        text: in lower case, with single spaces.

    Raises:
        OddRange: no calendar has one, or days are meant to be left out.
    """
    try:
        found = sorted(_found(text, today))
    except (ValueError, OverflowError) as error:
        raise OddRange(text) from error
    named: list[Named] = []
    while found:
        named.append(_first(text, found))
    return named


def _first(text: str, found: list[tuple[int, int, Range]]) -> Named:
    """The first range of those that are left, by the words around it; they are taken away."""
    start, end, (first, behind) = found.pop(0)
    before, name = next(
        ((hit.start(), name) for words, name in _BORDERS if (hit := words.search(text[:start]))),
        (start, ""),
    )
    span = (before, end)
    if (opening := _FROM.search(text[:start])) and (on := _ONWARDS.search(text[end:])):
        if text[end + on.end() :].strip(" ?!.,"):
            raise OddRange(text)  # from October on the web
        return Named((first, date.max), ((opening.start(), end + on.end()),))
    if found and not name and (pair := _pair(text, start, end, first, found[0])):
        found.pop(0)
        return pair
    match name:
        case "not":
            raise OddRange(text)
        case "since":
            return Named((first, date.max), (span,))
        case "before":
            return Named((date.min, first), (span,))
        case "until":
            return Named((date.min, behind), (span,))
        case "after":
            return Named((behind, date.max), (span,))
        case _:
            return Named((first, behind), (span,))


def _pair(
    text: str, start: int, end: int, first: date, other: tuple[int, int, Range]
) -> Named | None:
    """One range from the first to the second of two; None where they are two ranges."""
    second, last_end, (_, last) = other
    opens, between = _FIRST.search(text[:start]), text[end:second]
    is_pair = (opens and _SECOND.search(between)) or _UP_TO.search(between)
    if not is_pair:
        return None
    later = text[second:last_end]
    year = _YEAR_SAID.search(later)
    if year and not _YEAR_SAID.search(text[start:end]) and _OF_A_YEAR.search(text[start:end]):
        first = _in_year(text[start:end], year[0])
    if first >= last:
        return None
    if _YEAR_SAID.search(text[start:end]) and _OF_A_YEAR.search(later) and not year:
        raise OddRange(text)  # October 2024 to March: of which year
    return Named((first, last), ((opens.start() if opens else start, last_end),))


def _in_year(text: str, year: str) -> date:
    """The first day of what a text says, in a year.

    Raises:
        OddRange: it cannot be said with a year.
    """
    for said_so in (f"{text} {year}", f"{text}{year}"):
        found = [one for one in _found(said_so, date(int(year), 12, 31)) if one[0] == 0]
        if found and found[0][1] == len(said_so):
            return found[0][2][0]
    raise OddRange(text)


def _found(text: str, today: date) -> Iterator[tuple[int, int, Range]]:
    """Where ranges stand: from, to, and the days."""
    taken: list[tuple[int, int]] = []
    for pattern, days in _FORMS:
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
    month, day = NUMBER_OF.get(found["m"]) or int(found["m"]), int(found["d"])
    if found["y"]:
        return _days(date(int(found["y"]), month, day))
    return _days(date(today.year - ((month, day) > (today.month, today.day)), month, day))


def _iso_week(found: re.Match[str], today: date) -> Range:
    """A week by its number; without a year the last one that has begun."""
    week = int(found["w"])
    year = int(found["y"] or today.isocalendar().year)
    monday = date.fromisocalendar(year, week, 1)
    if not found["y"] and monday > today:
        monday = date.fromisocalendar(year - 1, week, 1)
    return monday, monday + timedelta(weeks=1)


def _quarter(found: re.Match[str], today: date) -> Range:
    """A quarter by its number; without a year the last one that has begun."""
    number = int(found["q"] or _ordinal(found["o"]))
    year = int(found["y"] or today.year - (number * 3 - 2 > today.month))
    return _month(year, number * 3 - 2, 3)


def _half(found: re.Match[str], today: date) -> Range:
    number = int(found["h"] or _ordinal(found["o"]))
    return _month(int(found["y"] or today.year), number * 6 - 5, 6)


def _ordinal(word: str) -> int:
    return next(n for n, begin in enumerate(_ORDINALS, 1) if word.startswith(begin))


def _days_of_month(found: re.Match[str], today: date) -> Range:
    """From a day to another of the same month; without a year the last ones that have begun."""
    month, first, last = NUMBER_OF[found["m"]], int(found["d"]), int(found["e"])
    year = int(found["y"] or today.year - ((month, first) > (today.month, today.day)))
    begin, end = date(year, month, first), date(year, month, last) + timedelta(days=1)
    if begin >= end:
        raise ValueError(found["at"])
    return begin, end


def _months(found: re.Match[str], today: date) -> Range:
    """From a month to another of the same year; without one, the last that have begun."""
    first, last = NUMBER_OF[found["m"] or found["n"]], NUMBER_OF[found["b"]]
    year = int(found["y"] or today.year - (first > today.month))
    return _month(year, first, last - first + 1) if first <= last else _month(year, 13)


def _in_month(found: re.Match[str], today: date) -> Range:
    month = NUMBER_OF[found["at"]]
    return _month(today.year - (month > today.month), month)


def _unit(unit: str, offset: int) -> Callable[[re.Match[str], date], Range]:
    return lambda _, today: _of_unit(today, unit, offset)


Form = tuple[re.Pattern[str], Callable[[re.Match[str], date], Range]]
"""How a range is said, and what it is; its `at` takes the words."""

_UNITS: Final = (
    (r"day before yesterday|vorgestern", "day", -2),
    (r"week before last|vorletzte[nr]? woche", "week", -2),
    (r"previous week|vergangene[nr]? woche", "week", -1),
    (r"previous month|vergangene[nms]+ monat|vormonat(?:s|es)?", "month", -1),
    (r"previous year|vergangene[nms]+ jahr|vorjahr(?:s|es)?", "year", -1),
    (r"this quarter|current quarter|diese[ms]+ quartal|laufende[nms]+ quartal", "quarter", 0),
    (rf"(?:last|previous) quarter|{_LAST} quartal", "quarter", -1),
    (r"today|heute", "day", 0),
    (r"yesterday|gestern", "day", -1),
    (r"this week|current week|diese[rn]? woche|laufende[nr]? woche", "week", 0),
    (r"last week|letzte[nr]? woche|vorige[nr]? woche", "week", -1),
    (r"week before|woche davor", "week", -2),
    (r"this month|current month|diese[nmrs]+ monat|laufende[nrms]+ monat", "month", 0),
    (r"last month|letzte[nrms]+ monat|vorige[nrms]+ monat", "month", -1),
    (r"this year|current year|diese[ms] jahr|laufende[nms]+ jahr|heuer", "year", 0),
    (r"last year|letzte[nms]+ jahr|vorige[nms]+ jahr", "year", -1),
)
"""Words, the unit of time that they name, and how far it is from now; the longer first."""

_FORMS: Final[tuple[Form, ...]] = (
    (
        late_pattern(
            rf"\b(?P<at>(?:(?:between|zwischen) (?P<m>{_MONTH_NAMES})\.? (?:and|und)"
            rf"|(?:(?:from|von) )?(?P<n>{_MONTH_NAMES})\.? ?(?:-|\u2013|to|until|till|through|bis)"
            rf"(?: zum)?) ?(?P<b>{_MONTH_NAMES})\b\.?{_YEAR})"
        ),
        _months,
    ),
    (
        late_pattern(
            rf"\b(?P<at>(?:(?:from|von|vom) )?(?:the |dem )?(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?"
            rf" ?{_TO} ?(?P<e>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?(?: of)?"
            rf" (?P<m>{_MONTH_NAMES})\b{_YEAR})"
        ),
        _days_of_month,
    ),
    (
        late_pattern(
            rf"\b(?P<at>(?:between|zwischen) (?:the |dem )?(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?"
            rf" (?:and|und) (?:the |dem )?(?P<e>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?(?: of)?"
            rf" (?P<m>{_MONTH_NAMES})\b{_YEAR})"
        ),
        _days_of_month,
    ),
    (
        late_pattern(
            rf"\b(?P<at>(?:(?:from|von|vom) )?(?P<m>{_MONTH_NAMES})\.? (?P<d>[0-9]{{1,2}})"
            rf"(?:st|nd|rd|th|\.)? ?{_TO} ?(?P<e>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?(?![\w.]){_YEAR})"
        ),
        _days_of_month,
    ),
    (late_pattern(rf"\b(?P<at>{_DAY}(?: of)? (?P<m>{_MONTH_NAMES})\b{_YEAR})"), _day_of_month),
    (late_pattern(rf"\b(?P<at>(?P<m>{_MONTH_NAMES})\.? {_DAY}(?!\d){_YEAR})"), _day_of_month),
    (late_pattern(r"\b(?P<at>(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?!\d)(?P<y>))"), _day_of_month),
    (
        late_pattern(r"\b(?P<at>q(?P<q>[1-4]) (?P<y>\d{4}))\b"),
        lambda one, _: _month(int(one["y"]), int(one["q"]) * 3 - 2, 3),
    ),
    (
        late_pattern(
            r"\b(?P<at>(?:(?:calendar )?week|kw|kalenderwoche) ?(?P<w>\d{1,2})"
            r"(?:,?(?: of)? (?P<y>20\d\d))?)\b"
        ),
        _iso_week,
    ),
    (
        late_pattern(
            r"\b(?P<at>(?:q(?P<q>[1-4])|(?P<o>1st|2nd|3rd|4th|first|second|third|fourth|erste[ns]?"
            r"|zweite[ns]?|dritte[ns]?|vierte[ns]?|[1-4]\.) (?:quarter|quartal))"
            r"(?:,?(?: of)? (?P<y>20\d\d))?)\b"
        ),
        _quarter,
    ),
    (
        late_pattern(
            r"\b(?P<at>(?:h(?P<h>[12])|(?P<o>1st|2nd|first|second|erste[ns]?|zweite[ns]?|[12]\.)"
            r" (?:half|halbjahr|hälfte))(?:,?(?: of| von)? (?P<y>20\d\d)| of (?:the|this) year"
            r"| (?:des|dieses) jahres))\b"
        ),
        _half,
    ),
    (
        late_pattern(r"\b(?P<at>ytd|year to date|seit jahresbeginn|seit jahresanfang)\b"),
        lambda _, today: (date(today.year, 1, 1), today + timedelta(days=1)),
    ),
    (
        late_pattern(r"\b(?P<at>(?:vor (?P<v>\d{1,4}) tag(?:en)?|(?P<n>\d{1,4}) days? ago))\b"),
        lambda one, today: _days(today - timedelta(days=int(one["n"] or one["v"]))),
    ),
    (late_pattern(rf"\b(?P<at>{_LAST} (?P<n>\d{{1,4}}) (?:days?|tagen?))\b"), _last(1)),
    (late_pattern(rf"\b(?P<at>{_LAST} (?P<n>\d{{1,4}}) (?:weeks?|wochen?))\b"), _last(7)),
    *(
        (late_pattern(rf"\b(?P<at>{words})\b"), _unit(unit, offset))
        for words, unit, offset in _UNITS
    ),
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
        lambda one, _: _month(int(one["y"]), NUMBER_OF[one["m"]]),
    ),
    (late_pattern(rf"\b{_BEFORE} (?P<at>{_MONTH_NAMES})\b"), _in_month),
    (
        late_pattern(r"\b(?:in|im jahr|year|jahr|since|seit|before|vor) (?P<at>[0-9]{4})\b"),
        lambda one, _: (date(int(one["at"]), 1, 1), date(int(one["at"]) + 1, 1, 1)),
    ),
    (late_pattern(rf"\b(?P<at>{_WHOLE_NAMES})\b"), _in_month),
    (
        late_pattern(r"(?<![\w/.-])(?P<at>20[1-9]\d)(?![\w/-]|\.\d)"),
        lambda one, _: (date(int(one["at"]), 1, 1), date(int(one["at"]) + 1, 1, 1)),
    ),
)


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
