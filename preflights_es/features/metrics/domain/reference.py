"""What the rules answer: the query of a question in the closed form, or a question back.

The simulator varies around it by seed: prose around the object, a fence, a question too many,
several meanings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.features.metrics.domain import closed_form as form
from preflights_es.features.metrics.domain.closed_form import EVER, shown_range
from preflights_es.features.metrics.domain.composing import Group, Meant, composed, has_aggregate
from preflights_es.features.metrics.domain.events import (
    CANDIDATES,
    END_DAY,
    TEXT_MAX,
    Dialect,
    Metric,
)
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import RETRY
from preflights_es.kernel.text import caseless, late_pattern, shortened
from preflights_es.words.questions import Language
from preflights_es.words.simulation import Bank, Draws, References, Route, write_json_reply

NAMED_MAX: Final = 50  # metrics, and values of a dimension, that one question names
VALUES_SHOWN: Final = 4  # of each dimension, where all parts are listed

RANGES: Final[dict[Language, tuple[str, ...]]] = {
    "en": ("today", "last week", "this month", "last month", "last quarter", "this year"),
    "de": (
        "heute",
        "letzte Woche",
        "dieser Monat",
        "letzter Monat",
        "letztes Quartal",
        "dieses Jahr",
    ),
}
"""Those of a menu; any other can be typed."""

# 1. What is asked back -----------------------------------------------------------------------

_SAYS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "metric": "Which metric do you mean? There are: {}.",
        "no metric": "The catalogue has no metric. What do you want to know?",
        "left": "I do not know {}.",
        "twice": "{} can be said once only.",
        "value": "{} has no {}. There are: {}.",
        "no value": "Give a value, such as {}=VALUE, in quotes where it has a blank.",
        "no dimension": "{} cannot be grouped or narrowed by {}.",
        "no date": "{} has no days.",
        "top": "`top` needs one `by` that says of what.",
        "step": "{} is a step of time and a dimension: put the dimension in quotes.",
        "list": "{} lists rows: it cannot be grouped.",
        "no query": "I cannot write this query for {}. Ask for less at once.",
        "there is": "For {} you can say: {}.",
        "range": "a range such as last week, 2026-11 or 2026-11-02..2026-11-08",
        "days": "A range",
        "by": "by",
        "ever": "all days",
    },
    "de": {
        "metric": "Welche Kennzahl ist gemeint? Es gibt: {}.",
        "no metric": "Der Katalog hat keine Kennzahl. Was soll beantwortet werden?",
        "left": "{} kenne ich nicht.",
        "twice": "{} darf nur einmal dastehen.",
        "value": "{} hat kein {}. Es gibt: {}.",
        "no value": "Es fehlt ein Wert, etwa {}=WERT, mit Leerzeichen in Anführungszeichen.",
        "no dimension": "{} lässt sich nicht nach {} gruppieren oder eingrenzen.",
        "no date": "{} hat keine Tage.",
        "top": "`top` braucht ein `nach`, das sagt, wovon.",
        "step": "{} ist ein Zeitschritt und eine Dimension: die Dimension in Anführungszeichen.",
        "list": "{} listet Zeilen: das lässt sich nicht gruppieren.",
        "no query": "Diese Abfrage kann ich für {} nicht schreiben. Bitte weniger auf einmal.",
        "there is": "Zu {} geht: {}.",
        "range": "ein Zeitraum wie letzte Woche, 2026-11 oder 2026-11-02..2026-11-08",
        "days": "Ein Zeitraum",
        "by": "nach",
        "ever": "alle Tage",
    },
}


class QuestionBack(NamedTuple):
    """A question back."""

    text: str
    options: tuple[str, ...] = ()
    """Messages that would answer it."""
    is_choice: bool = False
    """Whether the words said mean one of the options, so that these are offered."""


Reply = dict[str, Any] | str
"""A JSON object, or words."""
Key = tuple[str, str]
"""A part that stands once: its kind, and the group or the column of a value."""


# 2. What a conversation means ----------------------------------------------------------------


def answer_conversation(
    said: Sequence[str],
    metrics: Sequence[Metric],
    today: date | None,
    language: Language,
    *,
    dialect: Dialect = "sqlite",
) -> Reply:
    """What answers a conversation.

    Args:
        said: what the person said, oldest first.
    """
    meant = understood(said, metrics, today, language)
    if isinstance(meant, QuestionBack):
        is_offered = meant.is_choice and CANDIDATES[0] <= len(meant.options) <= CANDIDATES[1]
        return {"type": "ambiguous", "candidates": [*meant.options]} if is_offered else meant.text
    if sql := composed(meant, dialect):
        return {"type": "sql", "sql": sql}
    return _format_reply_sentence("no query", language, meant.metric.name)


def understood(
    said: Sequence[str], metrics: Sequence[Metric], today: date | None, language: Language
) -> Meant | QuestionBack:
    """What the newest question of a conversation means, or what is asked back.

    A message that names a metric begins anew, where one was clear before. Any other changes the
    parts that it names. A word that was named as unknown is not named again.
    """
    words = form.words_of(metrics)
    question: list[list[form.Part]] = []
    named: list[str] = []
    clear_from = 0
    for text in said:
        parts = form.parts_of(text, words, today)
        if names := [one.metrics for one in parts if isinstance(one, form.NamedMetrics)]:
            question = [] if len(named) == 1 else question
            named = list(dict.fromkeys(name for one in names for name in one))
            clear_from = len(question)
        question.append(parts)
    found = [one for one in metrics if one.name in named]
    if len(found) != 1:
        return _which_metric(question, found or metrics, language, is_choice=bool(found))
    reading = _MetricReading(found[0], language)
    for place, parts in enumerate(question):
        # Before the metric was clear, only words that no metric knows were named.
        known = [part for part in parts if not isinstance(part, form.LeftoverWords)]
        reading.hear(known if place < clear_from else parts, is_answer=place > clear_from)
    return reading.understood()


def _which_metric(
    question: Sequence[Sequence[form.Part]],
    metrics: Sequence[Metric],
    language: Language,
    *,
    is_choice: bool,
) -> QuestionBack:
    """The metrics that may be meant, behind the words of the newest message that are no part."""
    names = tuple(metric.name for metric in metrics)
    which = "metric" if names else "no metric"
    text = _format_reply_sentence(which, language, join_option_names(names))
    left = [one.words for one in (question or [[]])[-1] if isinstance(one, form.LeftoverWords)]
    if left:
        text = f"{_format_reply_sentence('left', language, _starred(left))} {text}"
    return QuestionBack(_harmless(text), names, is_choice and not left)


class _MetricReading:
    """Messages of one question, read one after another for its metric."""

    def __init__(self, metric: Metric, language: Language) -> None:
        self._metric, self._language = metric, language
        self._columns: dict[str, list[str]] = {}
        for column in metric.dimensions:
            for phrase in form.phrases(column, metric):
                self._columns.setdefault(phrase, []).append(column)
        self._parts: dict[Key, Any] = {}
        self._open: dict[Key, QuestionBack] = {}
        """What stands in the way of a query, until a message says that part anew."""

    def hear(self, parts: Sequence[form.Part], *, is_answer: bool) -> None:
        """One more message: of each part the newest counts.

        Args:
            is_answer: what was left over before it was asked about.
        """
        if is_answer:
            self._forget(key for key in self._open if key[0] == "left")
        read = [pair for one in parts for pair in self._read(one)]
        if any(key[0] == "group" for key, _ in read):
            self._forget_groups()
        for key, _ in read:
            self._forget(open_ for open_ in self._open if self._is_about(open_, key))
        heard: set[Key] = set()
        for key, value in read:
            self._take(key, value, is_twice=key in heard)
            heard.add(key)

    def _forget(self, over: Iterable[Key]) -> None:
        for key in list(over):
            del self._open[key]

    def _forget_groups(self) -> None:
        """New groups take the place of all; the chosen one stands beside the others."""
        asked = {key: one for key, one in self._open.items() if key[0] == "group"}
        self._forget(asked)
        if not any(one.is_choice for one in asked.values()):
            self._parts = {key: one for key, one in self._parts.items() if key[0] != "group"}

    def _is_about(self, open_: Key, said: Key) -> bool:
        """Whether a message says what was open; a phrase is open until one of its columns is."""
        same = open_[1] == said[1] or said[1] in self._columns.get(open_[1], ())
        return open_[0] == said[0] != "left" and same

    def _take(self, key: Key, value: object, *, is_twice: bool) -> None:
        if is_twice and key[0] != "left":
            self._parts.pop(key, None)
            self._open[key] = self._asked("twice", self._spoken(key))
        elif isinstance(value, QuestionBack):
            self._parts.pop(key, None)
            self._open[key] = value
        else:
            self._parts[key] = value

    def _read(self, part: form.Part) -> Iterator[tuple[Key, object]]:
        """What a part says of the metric, or what is asked about it, by its key."""
        match part:
            case form.NamedMetrics():
                yield ("metric", ""), self._metric.name
            case form.LeftoverWords(words):
                yield ("left", words), self._asked("left", _starred([words]))
            case form.DayRangePart(days) if END_DAY in self._metric.sql:
                yield ("days", ""), days
            case form.DayRangePart():
                yield ("left", "days"), self._asked("no date", self._metric.name)
            case form.Top(places):
                yield ("top", ""), places
            case form.GroupedBy(step, phrase):
                yield self._group(step, phrase)
            case form.Equals(phrase, value):
                yield self._value(phrase, value)

    def _group(self, step: form.Step | None, phrase: str) -> tuple[Key, object]:
        if not has_aggregate(self._metric.sql):
            return ("left", "by"), self._asked("list", self._metric.name)
        columns = self._columns_of(phrase)
        if step is not None:
            is_day = [column_name(one) for one in columns] == [column_name(self._metric.date)]
            if self._metric.date and (is_day or not columns):
                return ("group", step), Group("", step)
            if not columns:
                return ("left", step), self._asked("no date", self._metric.name)
            if self._metric.date:
                return ("left", step), self._asked("step", phrase)
        if not columns:
            return ("left", phrase), self._asked("no dimension", self._metric.name, phrase)
        if len(columns) > 1:
            by = self._says("by")
            return ("group", phrase), _offered([f"{by} {column_name(one)}" for one in columns])
        return ("group", columns[0]), Group(columns[0])

    def _value(self, phrase: str, value: str) -> tuple[Key, object]:
        columns = self._columns_of(phrase)
        if not columns:
            return ("left", phrase), self._asked("no dimension", self._metric.name, phrase)
        if len(columns) > 1:
            return ("value", phrase), _offered([_equals(one, value) for one in columns])
        return ("value", columns[0]), self._value_of(columns[0], value)

    def _columns_of(self, phrase: str) -> list[str]:
        """The columns that a phrase names; its own name is that of one alone."""
        found = self._columns.get(phrase, [])
        normal = form.normalize_catalogue_phrase
        own = [one for one in found if phrase in (normal(one), normal(column_name(one)))]
        return own if len(own) == 1 else found

    def _value_of(self, column: str, value: str) -> str | QuestionBack:
        """The value as the database has it."""
        known = [(stored, names) for one, stored, names in self._metric.values if one == column]
        options = tuple(_equals(column, stored) for stored, _ in known)
        name = column_name(column)
        if not value.strip():
            return self._asked("no value", name)._replace(options=options)
        if not known or value in (stored for stored, _ in known):
            return value
        meant = [stored for stored, names in known if _matches_value_name(value, (stored, *names))]
        if not meant:
            there = join_option_names([stored for stored, _ in known])
            return QuestionBack(self._says("value", name, _starred([value]), there), options)
        if len(meant) == 1:
            return meant[0]
        return _offered([_equals(column, stored) for stored in meant])

    def understood(self) -> Meant | QuestionBack:
        """What it means; what is open is asked first, and a choice when nothing else is open."""
        asked = [one for one in self._open.values() if not one.is_choice]
        if asked:
            texts = dict.fromkeys((*(one.text for one in asked), self._help()))
            options = asked[0].options if len(asked) == 1 else ()
            return QuestionBack(_harmless(" ".join(texts)), options)
        for one in self._open.values():
            return one._replace(text=_harmless(one.text))
        groups = tuple(one for key, one in self._parts.items() if key[0] == "group")
        top = self._parts.get(("top", ""), 0)
        if top and len(groups) != 1:
            by = self._says("by")
            options = tuple(f"{by} {column_name(one)}" for one in self._metric.dimensions)
            return QuestionBack(_harmless(f"{self._says('top')} {self._help()}"), options)
        return Meant(
            metric=self._metric,
            groups=groups,
            values={key[1]: one for key, one in self._parts.items() if key[0] == "value"},
            days=self._parts.get(("days", ""), EVER),
            top=top,
        )

    def _says(self, what: str, *words: str) -> str:
        return _format_reply_sentence(what, self._language, *words)

    def _asked(self, what: str, *words: str) -> QuestionBack:
        return QuestionBack(self._says(what, *words))

    def _spoken(self, key: Key) -> str:
        kind, name = key
        spoken = {"metric": self._metric.name, "group": f"{self._says('by')} {column_name(name)}"}
        spoken |= {"value": column_name(name), "days": self._says("days")}
        return spoken.get(kind, name or kind)

    def _help(self) -> str:
        """What can be said of the metric."""
        metric, has_days = self._metric, END_DAY in self._metric.sql
        steps = list(form.STEPS)[:5] if self._language == "en" else list(form.STEPS)[5:]
        by = [*map(self._with_values, metric.dimensions), *(steps if metric.date else ())]
        is_grouped = by and has_aggregate(metric.sql)
        there = [f"{self._says('by')} {join_option_names(by)}"] if is_grouped else []
        there += [f"{column_name(metric.dimensions[0])}=..."] if metric.dimensions else []
        there += [self._says("range")] if has_days else []
        there += ["top N"] if is_grouped else []
        return self._says("there is", metric.name, "; ".join(there)) if there else ""

    def _with_values(self, column: str) -> str:
        """A dimension with the first of its values that the catalogue has."""
        values = [value for one, value, _ in self._metric.values if one == column]
        more = ", ..." if len(values) > VALUES_SHOWN else ""
        shown = f" ({', '.join(values[:VALUES_SHOWN])}{more})" if values else ""
        return f"{column_name(column)}{shown}"


def offered_parts(metric: Metric, language: Language) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What can be chosen of a metric: pairs of a title and parts as they are said."""
    if has_aggregate(metric.sql):
        steps = list(form.STEPS)[:5] if metric.date else []
        by = _format_reply_sentence("by", language)
        columns = map(column_name, metric.dimensions)
        yield "By", tuple(f"{by} {one}" for one in dict.fromkeys((*columns, *steps)))
    yield "Only", tuple(_equals(column, value) for column, value, _ in metric.values)
    if END_DAY in metric.sql:
        yield "Days", RANGES[language]


# 3. Words ------------------------------------------------------------------------------------

_HARMLESS: Final = str.maketrans("{}[]`<>", "()()'()")


def column_name(column: str) -> str:
    """How a dimension is called: its column without the table."""
    return column.rpartition(".")[2]


def _format_reply_sentence(what: str, language: Language, *words: str) -> str:
    return _SAYS[language][what].format(*words)


def _offered(options: Sequence[str]) -> QuestionBack:
    return QuestionBack(join_option_names(options), tuple(options), is_choice=True)


def _harmless(text: str) -> str:
    """A question back that is not taken for JSON or a fence, whatever words it quotes."""
    return shortened(text.translate(_HARMLESS), TEXT_MAX)


def join_option_names(names: Sequence[str]) -> str:
    """Those that a question in words names."""
    return ", ".join(names[:NAMED_MAX]) + (", ..." if len(names) > NAMED_MAX else "")


def _starred(words: Sequence[str]) -> str:
    return ", ".join(f"*{one}*" for one in dict.fromkeys(words))


def _matches_value_name(value: str, names: Sequence[str]) -> bool:
    """Whether a value is one of some names, in any case and with any blanks."""
    return caseless(" ".join(value.split())) in (caseless(" ".join(one.split())) for one in names)


def _equals(column: str, value: str) -> str:
    """A part as it can be said, with quotes where the value needs them."""
    plain = form.tokens_of(f"{column_name(column)}={value}")
    is_bare = [one.text for one in plain[1:]] == [value]
    mark = next((one for one in "\"'" if one not in value), "")
    return f"{column_name(column)}={value if is_bare else f'{mark}{value}{mark}'}"


def shown_meaning(meant: Meant, language: Language) -> str:
    """A question as the rules read it, in the closed form; a metric with days says which."""
    by = _format_reply_sentence("by", language)
    parts = [meant.metric.name]
    parts += [f"{by} {one.step or column_name(one.column)}" for one in meant.groups]
    parts += [_equals(column, value) for column, value in meant.values.items()]
    if END_DAY in meant.metric.sql:
        ever = _format_reply_sentence("ever", language)
        parts.append(ever if meant.days == EVER else shown_range(meant.days))
    return " ".join([*parts, *([f"top {meant.top}"] if meant.top else [])])


# 4. The simulator ----------------------------------------------------------------------------

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


def answer_metrics_by_rules(request: CompletionRequested) -> str:
    """What the rules answer to the conversation."""
    return _encode_metrics_reply(_answer_metrics_request(request))


def vary_metrics_answer(draws: Draws, request: CompletionRequested) -> str:
    """An answer around what the rules read."""
    _, language = _parse_metrics_situation(request)
    if draws.chance(0.15):
        return _MORE[language]
    names = [metric.name for metric in _metrics(request)]
    if draws.chance(0.1) and len(names) >= CANDIDATES[0]:
        candidates = draws.sample(names, draws.between(2, 4))
        return _encode_metrics_reply({"type": "ambiguous", "candidates": candidates})
    reply = _answer_metrics_request(request)
    if isinstance(reply, dict) and draws.chance(0.1):
        reply["confidence"] = draws.between(1, 9) / 10  # a property that no contract knows yet
    return reply if isinstance(reply, str) else write_json_reply(draws, reply, _PROSE)


def _encode_metrics_reply(reply: Reply) -> str:
    return reply if isinstance(reply, str) else canonical_json(reply).decode()


def _answer_metrics_request(request: CompletionRequested) -> Reply:
    today, language = _parse_metrics_situation(request)
    return answer_conversation(
        _read_person_messages(request),
        _metrics(request),
        today,
        language,
        dialect="postgres" if _POSTGRES in _system(request).splitlines() else "sqlite",
    )


def _read_person_messages(request: CompletionRequested) -> list[str]:
    """What the person said: without the sentence of a retry."""
    said = [m.content for m in request.messages if m.role == "user"]
    return said[:-1] if request.attempt > 1 and said[-1:] and said[-1].startswith(RETRY) else said


def _system(request: CompletionRequested) -> str:
    return "\n".join(m.content for m in request.messages if m.role == "system")


def _parse_metrics_situation(request: CompletionRequested) -> tuple[date | None, Language]:
    found = _ASKED.search(_system(request))
    if found is None:
        return None, "en"
    try:
        day = date.fromisoformat(found["day"])
    except ValueError:
        day = None
    return day, "de" if found["language"] == "de" else "en"


def _metrics(request: CompletionRequested) -> list[Metric]:
    """Those that the request tells of, in its order: one JSON object a line."""
    found: dict[str, Metric] = {}
    for line in _system(request).splitlines():
        if line.startswith('{"metric":'):
            with suppress(msgspec.DecodeError, UnicodeError):
                said = msgspec.json.decode(line)
                said["name"] = said.pop("metric")
                one = msgspec.convert(said, Metric)
                found.setdefault(one.name, one)
    return list(found.values())


BANK: Bank = {
    "metrics": Route(vary_metrics_answer, ("answer questions about data",), ("sql", "metric"))
}
REFERENCES: References = {"metrics": answer_metrics_by_rules}
