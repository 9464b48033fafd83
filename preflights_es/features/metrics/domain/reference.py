"""What the rules answer: one query where every word of a question is used, or a question back.

The simulator varies around it by seed: prose around the object, a fence, a question too many,
several meanings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import reduce
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.features.metrics.domain import composing, question
from preflights_es.features.metrics.domain import question_words as known
from preflights_es.features.metrics.domain.composing import Comparison, Meant, has_aggregate
from preflights_es.features.metrics.domain.events import CANDIDATES, Dialect, Matched, Metric, Saved
from preflights_es.features.metrics.domain.meaning import meaning
from preflights_es.features.metrics.domain.question import column_name
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import RETRY
from preflights_es.kernel.questions import Language
from preflights_es.kernel.simulation import Bank, Draws, References, Route
from preflights_es.kernel.text import late_pattern

NAMED_MAX: Final = 20  # metrics that one question names
VALUES_MAX: Final = 3  # values of a dimension that one question names
_ASK: Final[dict[Language, str]] = {
    "en": "Which metric do you mean? There are: {}.",
    "de": "Welche Kennzahl ist gemeint? Es gibt: {}.",
}
_NONE: Final[dict[Language, str]] = {
    "en": "The catalogue has no metric. What do you want to know?",
    "de": "Der Katalog hat keine Kennzahl. Was soll beantwortet werden?",
}
_UNKNOWN: Final[dict[Language, str]] = {
    "en": "I do not know {words}. For {metric} I know: {known}.",
    "de": "{words} kenne ich nicht. Zu {metric} kenne ich: {known}.",
}
_NOT_KNOWN: Final[dict[Language, str]] = {
    "en": "I do not know {}.",
    "de": "{} kenne ich nicht.",
}
_NO_WAY: Final[dict[Language, str]] = {
    "en": "I cannot write this query for {}. Ask for less at once.",
    "de": "Diese Abfrage kann ich für {} nicht schreiben. Bitte weniger auf einmal fragen.",
}
_DAYS: Final[dict[Language, str]] = {"en": "a range of days", "de": "Tage von bis"}
_BY_TIME: Final[dict[Language, str]] = {
    "en": "by day, week, month, quarter, year",
    "de": "nach Tag, Woche, Monat, Quartal, Jahr",
}
_WHICH_DAYS: Final[dict[Language, str]] = {
    "en": "Which days do you mean? For example: last week, since 2026-11-20, November 2026.",
    "de": "Welche Tage sind gemeint? Zum Beispiel: letzte Woche, seit 20.11.2026, November 2026.",
}
_OF_WHICH: Final[dict[Language, str]] = {
    "en": "What is *{value}* here: {columns}? Say it in front, such as: {example}.",
    "de": "Was ist *{value}* hier: {columns}? Bitte davor sagen, zum Beispiel: {example}.",
}
_STARRED: Final = late_pattern(r"\*([^*]+)\*")
_OR: Final[dict[Language, str]] = {"en": " or ", "de": " oder "}

Reply = dict[str, Any] | str
"""A JSON object, or words."""


def answer(
    said: Sequence[str],
    metrics: Sequence[Metric],
    today: date | None,
    language: Language,
    *,
    dialect: Dialect = "sqlite",
    matched: Sequence[Matched] = (),
    saved: Sequence[Saved] = (),
) -> Reply:
    """What answers a conversation.

    The newest message is read as a whole: each of its words is used, or it is asked about. What an
    earlier message left over was asked about then.

    Args:
        said: what the person said, oldest first.
        matched: values of the database that stand in what was said.
        saved: a message that is the name of one is answered by its query.
    """
    for one in saved:
        if said and said[-1].strip() == one.name:
            return {"type": "sql", "sql": one.sql}
    named: set[str] = set()
    reply: Reply = _asked((), metrics, language)
    for count in range(1, len(said) + 1):
        reply = _Conversation(
            said[:count], metrics, today, language, dialect, matched, frozenset(named)
        ).reply()
        if isinstance(reply, str):
            named.update(word for one in _STARRED.findall(reply) for word in question.stems(one))
    return reply


class _Conversation(msgspec.Struct, frozen=True):
    """What was said up to a message, which is the newest."""

    said: Sequence[str]
    metrics: Sequence[Metric]
    today: date | None
    language: Language
    dialect: Dialect
    matched: Sequence[Matched]
    named: frozenset[str]
    """Stems of words that were asked about before."""

    def reply(self) -> Reply:
        """The query, or a question back."""
        at, found = _named(self.said, self.metrics)
        if not found:
            return self._of_no_metric()
        read = [(one, self._meant(at, one)) for one in found]
        if len(read) > 1:
            clear = [(one, meant) for one, meant in read if not (meant.left or meant.doubtful)]
            if len(clear) != 1:
                return self._several(read)
            read = clear
        ((metric, _),) = read
        return self._of(metric)

    def _of(self, metric: Metric) -> Reply:
        """What answers about one metric."""
        meant: list[Meant] = []
        for at, _ in enumerate(self.said):
            goes_on = any(one.days for one in meant)
            meant.append(self._meant(at, metric, goes_on=goes_on))
        whole = reduce(_together, meant)
        left = [*self._left(meant)]
        doubtful = [
            one
            for message in meant
            for one in message.doubtful
            if whole.include.keys().isdisjoint(one[1]) and whole.exclude.keys().isdisjoint(one[1])
        ]
        left += _doubtful_words(meant, self.said[-1])
        if left:
            return _unknown(left, metric, self.language, asks_days=meant[-1].asks_days)
        if doubtful:
            return _of_which(doubtful[0], metric, self.language)
        sql = composing.composed(metric, whole, self.dialect)
        return {"type": "sql", "sql": sql} if sql else _NO_WAY[self.language].format(metric.name)

    def _left(self, meant: Sequence[Meant]) -> Iterator[str]:
        """Words that nothing uses; those of earlier messages unless they were asked about."""
        for text, message in zip(self.said[:-1], meant, strict=False):
            own = {stem for _, words in question.named(text, self.metrics) for stem in words}
            for one in message.left:
                words = question.tokens(one)
                yield from (w.raw for w in words if w.stem not in self.named | own)
        yield from meant[-1].left

    def _meant(self, at: int, metric: Metric, *, goes_on: bool = False) -> Meant:
        said = self.said[at]
        language = self.language
        return meaning(said, metric, self.matched, self.today, goes_on=goes_on, language=language)

    def _of_no_metric(self) -> Reply:
        """Which metric is meant; with the words that none of them knows."""
        unknown = [set(self._meant(-1, one).left) for one in self.metrics]
        left = set.intersection(*unknown) if unknown else set()
        first = self._meant(-1, self.metrics[0]).left if self.metrics else ()
        return _asked([one for one in first if one in left], self.metrics, self.language)

    def _several(self, read: Sequence[tuple[Metric, Meant]]) -> Reply:
        """Candidates; or the words that none of them knows, where there are such."""
        names = {
            one
            for metric, _ in read
            for phrase in question.names_of(metric)
            for one in question.stems(phrase)
        }
        rests = [
            ([one for one in meant.left if not names.issuperset(question.stems(one))], metric)
            for metric, meant in read
        ]
        rest, metric = min(rests, key=lambda pair: len(pair[0]))
        if rest:
            return _unknown(rest, metric, self.language, asks_days=False)
        found = [metric.name for metric, _ in read]
        return {"type": "ambiguous", "candidates": found[: CANDIDATES[1]]}


def _named(said: Sequence[str], metrics: Sequence[Metric]) -> tuple[int, list[Metric]]:
    """The newest message that names a metric, and which."""
    for at in range(len(said) - 1, -1, -1):
        if found := question.named(said[at], metrics):
            return at, _of_kind(said[at], [metric for metric, _ in found])
    return 0, []


def _of_kind(text: str, found: list[Metric]) -> list[Metric]:
    """Of metrics that count and metrics that list, those of the kind that a text asks for."""
    lists = [one for one in found if not has_aggregate(one.sql)]
    counts = [one for one in found if one not in lists]
    if not (lists and counts):
        return found
    words = {one.text for one in question.tokens(question.plain(text))}
    counting = set(known.HOW_MANY | known.PER).union(
        *(known.OPERATIONS[name] for name in known.OF_GROUPS), *known.EACH_STEP.values()
    )
    return lists if words & known.LISTING and not words & counting else counts


def _doubtful_words(meant: Sequence[Meant], newest: str) -> list[str]:
    """Of a follow-up, what may take away more than it says: `and overall?`, `all orders`."""
    now, before = meant[-1], meant[:-1]
    if not before:
        return []
    if now.is_empty:
        return [newest]
    is_filtered = any(one.include or one.exclude or one.compared or one.lacking for one in before)
    says_more = now.include or now.exclude or now.groups or now.top or now.share is not None
    if is_filtered and not says_more and (now.is_total or now.says_all):
        return [newest]
    grouped = {group.column for one in before for group in one.groups}
    return [newest] if grouped.intersection(now.lacking) else []


def _together(before: Meant, now: Meant) -> Meant:
    """What a conversation means: the newest word of each kind counts."""
    if now.names_metric:  # another question: what was done with the numbers is not asked again
        before = replace(
            before, share=None, top=None, newest=None, over=(), is_average=False, lacking=()
        )
    columns = {*now.include, *now.exclude, *(now.share or {}), *now.freed, *now.lacking}
    changes: dict[str, Any] = {
        "include": {**_without(before.include, columns), **now.include},
        "exclude": {**_without(before.exclude, columns), **now.exclude},
        "lacking": tuple(c for c in before.lacking if c not in columns) + now.lacking,
        "compared": _besides(before.compared, now.compared),
        "over": now.over or before.over,
    }
    _leave_out(changes, before, now)
    for name in ("groups", "top", "newest", "days"):
        if new := getattr(now, name):
            changes[name] = new
    if now.share is not None:
        changes["share"] = now.share
    elif before.share and not {*now.include, *now.freed}.isdisjoint(before.share):
        part = {c: v for c, v in now.include.items() if c in before.share}
        changes["share"] = part or None
        changes["include"] = _without(changes["include"], part)
    if now.freed:
        changes |= {"top": now.top, "over": now.over}
    if now.is_average:
        changes["is_average"] = True
    says_more = now.groups or now.top or now.over or now.is_average or now.share is not None
    if now.is_total and not says_more:
        changes |= {"groups": (), "top": None, "over": (), "is_average": False, "share": None}
    return replace(before, **changes)


def _leave_out(changes: dict[str, Any], before: Meant, now: Meant) -> None:
    """Of several values that were meant, one less; else one more that is left out."""
    for column, values in now.exclude.items():
        kept = tuple(one for one in before.include.get(column, ()) if one not in values)
        if kept:
            changes["include"][column] = kept
            del changes["exclude"][column]
        else:
            former = () if now.names_metric else before.exclude.get(column, ())
            changes["exclude"][column] = tuple(dict.fromkeys((*former, *values)))


def _besides(before: Sequence[Comparison], now: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Comparisons of before that those of now do not replace, and those of now."""
    ends = {(one.column, one.sign[0]) for one in now}
    return (*(one for one in before if (one.column, one.sign[0]) not in ends), *now)


def _without(
    values: Mapping[str, tuple[str, ...]], columns: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    left_out = set(columns)
    return {column: some for column, some in values.items() if column not in left_out}


# 2. Questions back ---------------------------------------------------------------------------


def _unknown(left: Sequence[str], metric: Metric, language: Language, *, asks_days: bool) -> str:
    known = [_DAYS[language], _BY_TIME[language]] if metric.date else []
    known += [_dimension(column, metric) for column in metric.dimensions]
    text = _UNKNOWN[language].format(
        words=_starred(left), metric=metric.name, known=", ".join(known) or "-"
    )
    return f"{text} {_WHICH_DAYS[language]}" if asks_days else text


def _starred(words: Iterable[str]) -> str:
    return ", ".join(f"*{one}*" for one in dict.fromkeys(words))


def _dimension(column: str, metric: Metric) -> str:
    """A dimension with the first of its values that the catalogue has."""
    values = [value for one, value, _ in metric.values if one == column]
    shown = ", ".join(values[:VALUES_MAX]) + (", ..." if len(values) > VALUES_MAX else "")
    return f"{column_name(column)} ({shown})" if values else column_name(column)


def _of_which(doubtful: tuple[str, tuple[str, ...]], metric: Metric, language: Language) -> str:
    value, columns = doubtful
    names = [_spoken(one, metric) for one in columns]
    return _OF_WHICH[language].format(
        value=value, columns=_OR[language].join(names), example=f"{names[0]} {value}"
    )


def _spoken(column: str, metric: Metric) -> str:
    """A dimension as a person would say it."""
    words = dict(metric.words).get(column, ())
    return words[0] if words else column_name(column)


def _asked(left: Sequence[str], metrics: Sequence[Metric], language: Language) -> str:
    names = ", ".join(metric.name for metric in metrics[:NAMED_MAX])
    text = _ASK[language].format(names) if names else _NONE[language]
    return f"{_NOT_KNOWN[language].format(_starred(left))} {text}" if left else text


# 3. The simulator ----------------------------------------------------------------------------

_ASKED: Final = late_pattern(
    r"^Asked at: (?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[^\n]*\nLanguage: (?P<language>[a-z]+)\Z",
    2 | 8,  # re.IGNORECASE | re.MULTILINE
)
_MORE: Final[dict[Language, str]] = {
    "en": "Which range of days do you mean?",
    "de": "Welcher Zeitraum ist gemeint?",
}

_POSTGRES: Final = "SQL dialect: postgres"
_PROSE: Final = ("Here is the query:\n", "Hier ist die Abfrage:\n")


def by_rules(request: CompletionRequested) -> str:
    """What the rules answer to the conversation."""
    return _text(_read(request))


def varied(draws: Draws, request: CompletionRequested) -> str:
    """An answer around what the rules read."""
    _, language = _situation(request)
    if draws.chance(0.15):
        return _MORE[language]
    names = [metric.name for metric in _metrics(request)]
    if draws.chance(0.1) and len(names) >= CANDIDATES[0]:
        return _text({"type": "ambiguous", "candidates": draws.sample(names, draws.between(2, 4))})
    reply = _read(request)
    if isinstance(reply, dict) and draws.chance(0.1):
        reply["confidence"] = draws.between(1, 9) / 10  # a property that no contract knows yet
    text = _text(reply)
    if isinstance(reply, str):
        return text
    if draws.chance(0.15):
        return draws.pick(_PROSE) + text
    return f"```json\n{text}\n```" if draws.chance(0.2) else text


def _text(reply: Reply) -> str:
    return reply if isinstance(reply, str) else encoded(reply).decode()


def _read(request: CompletionRequested) -> Reply:
    today, language = _situation(request)
    return answer(
        _said(request),
        _metrics(request),
        today,
        language,
        dialect="postgres" if _POSTGRES in _system(request).splitlines() else "sqlite",
        matched=list(_lines_of(request, "value", "value", Matched)),
        saved=list(_lines_of(request, "saved", "name", Saved)),
    )


def _said(request: CompletionRequested) -> list[str]:
    """What the person said: without the sentence of a retry."""
    said = [m.content for m in request.messages if m.role == "user"]
    return said[:-1] if request.attempt > 1 and said[-1:] and said[-1].startswith(RETRY) else said


def _system(request: CompletionRequested) -> str:
    return "\n".join(m.content for m in request.messages if m.role == "system")


def _situation(request: CompletionRequested) -> tuple[date | None, Language]:
    found = _ASKED.search(_system(request))
    if found is None:
        return None, "en"
    try:
        day = date.fromisoformat(found["day"])
    except ValueError:
        day = None
    return day, "de" if found["language"] == "de" else "en"


def _metrics(request: CompletionRequested) -> list[Metric]:
    """Those that the request tells of, in its order."""
    found: dict[str, Metric] = {}
    for one in _lines_of(request, "metric", "name", Metric):
        found.setdefault(one.name, one)
    return list(found.values())


T = TypeVar("T")


def _lines_of(request: CompletionRequested, key: str, name: str, of: type[T]) -> Iterator[T]:
    """What the system message tells: one JSON object a line, whose first key stands for a field."""
    for line in _system(request).splitlines():
        if line.startswith(f'{{"{key}":'):
            with suppress(msgspec.DecodeError, UnicodeError):
                said = msgspec.json.decode(line)
                said[name] = said.pop(key)
                yield msgspec.convert(said, of)


BANK: Bank = {"metrics": Route(varied, ("answer questions about data",), ("sql", "metric"))}
REFERENCES: References = {"metrics": by_rules}
