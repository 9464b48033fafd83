"""The closed form of a question: which parts its words are, and nothing that has to be guessed.

A metric, `by` a dimension or a step of time, `dimension=value`, a range of days in English or
German, `top N`; in any order. Each word belongs to the longest part that begins with it; a word of
none is left over, and so is one that could be two things.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple, get_args

from preflights_es.features.metrics.domain.events import NAME_MAX, Metric
from preflights_es.kernel.text import caseless, late_pattern
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


# 1. Words ------------------------------------------------------------------------------------

_QUOTED: Final = "\"[^\"]*\"|'[^']*'|„[^“”]*[“”]|“[^”]*”|«[^»]*»"
_NO_VALUE: Final = "\"'„“«=!<>~"
"""How no bare value begins: an open quote, or a sign of another comparison."""
_TOKEN: Final = late_pattern(
    rf"(?P<value>=\s*(?:{_QUOTED}|(?![{_NO_VALUE}])[^\s,]+)?)|(?P<quoted>{_QUOTED})"
    rf"|(?P<mark>,|\.\.)|(?P<word>(?:(?!\.\.)[^\s,=])+)"
)
PHRASE_MAX: Final = NAME_MAX // 2  # words of a name


class Token(NamedTuple):
    """A word, a quoted name, a value behind its `=`, or a comma or two full stops."""

    kind: Literal["word", "quoted", "value", "mark"]
    said: str
    """As it was typed."""
    text: str
    """Of a quoted name and of a value: without `=` and quotes."""
    name: str
    """As it is compared."""


def tokens_of(text: str) -> list[Token]:
    """The words of a text, without a question mark at its end."""
    found = [_token(one.lastgroup or "", one[0]) for one in _TOKEN.finditer(text)]
    if found and found[-1].kind == "word":
        last = found.pop().said.rstrip("?")
        found += [_token("word", last)] if last else []
    return found


def _token(kind: str, said: str) -> Token:
    inner = said.removeprefix("=").strip() if kind == "value" else said
    is_quoted = kind in ("quoted", "value") and inner[:1] in tuple("\"'„“«")
    text = inner[1:-1] if is_quoted else inner
    name = said if kind == "value" else " ".join(text.split())
    return Token(kind, said, text, caseless(name))  # type: ignore[arg-type]  # groups of _TOKEN


def normalize_catalogue_phrase(text: str) -> str:
    """A name of the catalogue as its words are compared."""
    return " ".join(one.name for one in tokens_of(text))


# 2. Parts ------------------------------------------------------------------------------------

Step = Literal["day", "week", "month", "quarter", "year"]
_GERMAN: Final = ("tag", "woche", "monat", "quartal", "jahr")
STEPS: Final[Mapping[str, Step]] = {
    **{step: step for step in get_args(Step)},
    **dict(zip(_GERMAN, get_args(Step), strict=True)),
}
BY: Final = ("by", "nach")
AND: Final = ("and", "und")
_PLACES: Final = late_pattern(r"[1-9][0-9]{0,3}")


class NamedMetrics(NamedTuple):
    """Metrics that one name stands for."""

    metrics: tuple[str, ...]


class GroupedBy(NamedTuple):
    """The phrase of a dimension, or a step of time; of one that may be both, both."""

    step: Step | None
    dimension: str


class Equals(NamedTuple):
    """The phrase of a dimension, and what it must be; a blank value is missing."""

    dimension: str
    value: str


class Top(NamedTuple):
    """The first groups by the metric."""

    places: int


class DayRangePart(NamedTuple):
    """A range."""

    range: Range


class LeftoverWords(NamedTuple):
    """Words that are no part."""

    words: str


Part = NamedMetrics | GroupedBy | Equals | Top | DayRangePart | LeftoverWords


class CatalogueWords(NamedTuple):
    """What the names of a catalogue stand for, by phrase."""

    metrics: Mapping[str, tuple[str, ...]]
    dimensions: frozenset[str]


def words_of(metrics: Iterable[Metric]) -> CatalogueWords:
    """Names and aliases of metrics, and what each dimension of any of them is called."""
    named: dict[str, dict[str, None]] = {}
    dimensions: set[str] = set()
    for metric in metrics:
        for name in (metric.name, *metric.aliases):
            named.setdefault(normalize_catalogue_phrase(name), {})[metric.name] = None
        dimensions.update(known for one in metric.dimensions for known in phrases(one, metric))
    metrics_of = {known: tuple(names) for known, names in named.items()}
    return CatalogueWords(metrics_of, frozenset(dimensions))


def phrases(column: str, metric: Metric) -> frozenset[str]:
    """What a dimension is called: its column, without its table, or one of its words."""
    bare = column.rpartition(".")[2]
    words = (column, bare, bare.replace("_", " "), *dict(metric.words).get(column, ()))
    return frozenset(map(normalize_catalogue_phrase, words))


def parts_of(text: str, words: CatalogueWords, today: date | None) -> list[Part]:
    """The parts of a text in their order; words that are left over stand together."""
    tokens = tokens_of(text)
    parts: list[Part] = []
    left: list[str] = []
    at = 0
    while at < len(tokens):
        is_group = bool(parts) and isinstance(parts[-1], GroupedBy) and not left
        count, found = _part_at(tokens, at, words, today, goes_on=is_group)
        if found is None and tokens[at].name != ",":
            left += [one.said for one in tokens[at : at + count]]
        if left and (found is not None or tokens[at].name == ","):
            parts.append(LeftoverWords(" ".join(left)))
            left = []
        parts += [found] if found is not None else []
        at += count
    return [*parts, LeftoverWords(" ".join(left))] if left else parts


def _part_at(
    tokens: Sequence[Token], at: int, words: CatalogueWords, today: date | None, *, goes_on: bool
) -> tuple[int, Part | None]:
    """The longest part that begins at a token, and how many tokens it takes.

    None where there is none, or where the same words could be two.

    Args:
        goes_on: a group stands in front, so that `and` begins another.
    """
    found = [*_metrics_at(tokens, at, words.metrics), *_equals_at(tokens, at, words.dimensions)]
    found += _groups_at(tokens, at, words.dimensions, BY + AND if goes_on else BY)
    if _is_bare(tokens[at]):
        bare = [one.name if _is_bare(one) else "" for one in tokens[at:]]
        if bare[0] == "top" and bare[1:] and _PLACES.fullmatch(bare[1]):
            found.append((2, Top(int(bare[1]))))
        if named := range_at(bare, today):
            found.append((named[0], DayRangePart(named[1])))
    longest = max((count for count, _ in found), default=1)
    those = [part for count, part in found if count == longest]
    return longest, those[0] if len(those) == 1 else None


def _is_bare(token: Token) -> bool:
    """Whether a token may be of the language: a quoted text is a name."""
    return token.kind in ("word", "mark")


def _phrases_at(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """Names that could begin there, the longest first."""
    if tokens[at : at + 1] and tokens[at].kind == "quoted":
        yield 1, normalize_catalogue_phrase(tokens[at].text)
        return
    for count in range(min(PHRASE_MAX, len(tokens) - at), 0, -1):
        run = tokens[at : at + count]
        if all(one.kind != "quoted" for one in run):
            yield count, " ".join(one.name for one in run)


def _metrics_at(
    tokens: Sequence[Token], at: int, known: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[int, Part]]:
    for count, name in _phrases_at(tokens, at):
        if name in known:
            yield count, NamedMetrics(known[name])
            return


def _dimension_at(
    tokens: Sequence[Token], at: int, known: frozenset[str]
) -> Iterator[tuple[int, str]]:
    return ((count, name) for count, name in _phrases_at(tokens, at) if name in known)


def _equals_at(
    tokens: Sequence[Token], at: int, known: frozenset[str]
) -> Iterator[tuple[int, Part]]:
    for count, name in _dimension_at(tokens, at, known):
        if at + count < len(tokens) and tokens[at + count].kind == "value":
            yield count + 1, Equals(name, tokens[at + count].text)
            return


def _groups_at(
    tokens: Sequence[Token], at: int, known: frozenset[str], opening: Sequence[str]
) -> Iterator[tuple[int, Part]]:
    if not (_is_bare(tokens[at]) and tokens[at].name in opening and at + 1 < len(tokens)):
        return
    following = tokens[at + 1]
    step = STEPS.get(following.name) if _is_bare(following) else None
    named = (
        (count + 1, GroupedBy(step if count == 1 else None, name))
        for count, name in _dimension_at(tokens, at + 1, known)
        if [one.kind for one in tokens[at + 1 + count : at + 2 + count]] != ["value"]
    )
    if longest := next(named, None):
        yield longest
    elif step:
        yield 2, GroupedBy(step, following.name)
