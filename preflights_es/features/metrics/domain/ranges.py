"""Ranges of days in a question, in English and German, from the day on which it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Final

from preflights_es.kernel.text import late_pattern
from preflights_es.words.language import NUMBER_OF

Range = tuple[date, date]
"""The first day, and the day behind the last."""

EVER: Final[Range] = (date(1, 1, 1), date(9999, 12, 31))
TO: Final = ".."
"""Between two periods: from the first day of the one to the last day of the other."""
WORDS_MAX: Final = 3  # of a period
_YEAR: Final = r"(?P<y>(?:19|20|21)[0-9]{2})"
_MONTH: Final = rf"(?P<m>{'|'.join(NUMBER_OF)})\.?"
_UNITS: Final = {
    **dict.fromkeys(("week", "woche"), "week"),
    **dict.fromkeys(("month", "monat"), "month"),
    **dict.fromkeys(("quarter", "quartal"), "quarter"),
    **dict.fromkeys(("year", "jahr"), "year"),
}
_DAYS_AGO: Final = {"today": 0, "heute": 0, "yesterday": 1, "gestern": 1}
Days = Callable[[re.Match[str], date], Range]


def _of_unit(found: re.Match[str], today: date) -> Range:
    """This or the last week, month, quarter or year; weeks begin on Monday."""
    ago = int(found["which"].startswith("l"))
    match _UNITS[found["unit"]]:
        case "week":
            monday = today - timedelta(days=today.weekday()) - timedelta(weeks=ago)
            return monday, monday + timedelta(weeks=1)
        case "month":
            return _months(today.year * 12 + today.month - 1 - ago)
        case "quarter":
            return _months(today.year * 12 + (today.month - 1) // 3 * 3 - ago * 3, 3)
        case _:
            return _months((today.year - ago) * 12, 12)


def _last_days(found: re.Match[str], today: date) -> Range:
    """So many days, the last of which is the day of the question."""
    end = today + timedelta(days=1)
    return end - timedelta(days=int(found["n"])), end


def _one_day(day: date) -> Range:
    return day, day + timedelta(days=1)


def _months(first: int, count: int = 1) -> Range:
    """Whole months, the first of them counted from the year 0 on."""
    end = first + count
    return date(first // 12, first % 12 + 1, 1), date(end // 12, end % 12 + 1, 1)


def _range_of_written_date(found: re.Match[str], _: date) -> Range:
    month = NUMBER_OF.get(found["m"]) or int(found["m"])
    return _one_day(date(int(found["y"]), month, int(found["d"])))


def _month(found: re.Match[str], _: date) -> Range:
    month = NUMBER_OF.get(found["m"]) or int(found["m"])
    return _months(date(int(found["y"]), month, 1).year * 12 + month - 1)


_PERIODS: Final[tuple[tuple[re.Pattern[str], Days], ...]] = (
    (late_pattern("all days|alle tage"), lambda _, __: EVER),
    (
        late_pattern("|".join(_DAYS_AGO)),
        lambda found, today: _one_day(today - timedelta(days=_DAYS_AGO[found[0]])),
    ),
    (
        late_pattern(rf"(?P<which>this|last|(?:dies|letzt)e[mnrs]?) (?P<unit>{'|'.join(_UNITS)})"),
        _of_unit,
    ),
    (late_pattern(r"(?:last|letzten?) (?P<n>[1-9][0-9]{0,3}) (?:days?|tagen?|tag)"), _last_days),
    (late_pattern(_YEAR), lambda found, _: _months(int(found["y"]) * 12, 12)),
    (
        late_pattern(rf"(?:{_YEAR}-)?q(?P<q>[1-4])(?: (?P<z>(?:19|20|21)[0-9]{{2}}))?"),
        lambda found, _: _quarter(found["q"], found["y"], found["z"]),
    ),
    (
        late_pattern(rf"(?P<q>[1-4])\. quartal {_YEAR}"),
        lambda found, _: _quarter(found["q"], found["y"], None),
    ),
    (late_pattern(rf"{_YEAR}-(?P<m>[0-9]{{2}})"), _month),
    (late_pattern(rf"{_MONTH} {_YEAR}"), _month),
    (late_pattern(rf"{_YEAR}-(?P<m>[0-9]{{2}})-(?P<d>[0-9]{{2}})"), _range_of_written_date),
    (late_pattern(rf"(?P<d>[0-9]{{1,2}})\.(?P<m>[0-9]{{1,2}})\.{_YEAR}"), _range_of_written_date),
    (late_pattern(rf"(?P<d>[0-9]{{1,2}})\.? {_MONTH} {_YEAR}"), _range_of_written_date),
)
"""What names days; a month or a quarter without its year could be several, and names none."""


def _quarter(number: str, before: str | None, behind: str | None) -> Range:
    """A quarter with its year on one side.

    Raises:
        ValueError: it has no year, or two.
    """
    if bool(before) == bool(behind):
        raise ValueError(number)
    return _months(int(before or behind or 0) * 12 + int(number) * 3 - 3, 3)


def range_at(words: Sequence[str], today: date | None) -> tuple[int, Range] | None:
    """How many words, in small letters, name a range at their beginning, and which.

    Args:
        today: None where a log of other hands has no day.
    """
    if today is None:
        return None
    found = _period_at(words, today)
    if found is None or words[found[0] : found[0] + 1] != [TO]:
        return found
    count, (first, end) = found
    last = _period_at(words[count + 1 :], today)
    if last is None or EVER in ((first, end), last[1]):
        return None
    count, (second, behind) = count + 1 + last[0], last[1]
    return (count, (first, behind)) if first <= second and end <= behind else None


def _period_at(words: Sequence[str], today: date) -> tuple[int, Range] | None:
    """The longest one; none of what no calendar has."""
    for count in range(min(WORDS_MAX, len(words)), 0, -1):
        text = " ".join(words[:count])
        for pattern, days in _PERIODS:
            if found := pattern.fullmatch(text):
                try:
                    return count, days(found, today)
                except (ValueError, OverflowError):
                    return None
    return None


def shown_range(days: Range) -> str:
    """A range as `range_at` reads it, with both ends in it."""
    first, last = days[0], days[1] - timedelta(days=1)
    return f"{first}" if first == last else f"{first}{TO}{last}"
