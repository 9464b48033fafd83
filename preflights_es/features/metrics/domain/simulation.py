"""What the simulator and the reference answer in place of a model that is asked about data.

The simulator varies around the reference by seed: prose around the object, a fence, a question too
many, several meanings.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from typing import Final

import msgspec

from preflights_es.features.metrics.domain import reference
from preflights_es.features.metrics.domain.values import CANDIDATES, Dialect, Matched, Metric, Saved
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import RETRY
from preflights_es.kernel.questions import Language
from preflights_es.kernel.simulation import Bank, Draws, References, Route
from preflights_es.kernel.text import late_pattern

_ASKED: Final = late_pattern(
    r"^Asked at: (?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})[^\n]*\nLanguage: (?P<language>[a-z]+)\Z",
    2 | 8,  # re.IGNORECASE | re.MULTILINE
)
_MORE: Final[dict[Language, str]] = {
    "en": "Which range of days do you mean?",
    "de": "Welcher Zeitraum ist gemeint?",
}

_PROSE: Final = ("Here is the query:\n", "Hier ist die Abfrage:\n")


def metrics(request: CompletionRequested) -> str:
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


def _text(reply: reference.Reply) -> str:
    return reply if isinstance(reply, str) else encoded(reply).decode()


def _read(request: CompletionRequested) -> reference.Reply:
    today, language = _situation(request)
    return reference.answer(
        _said(request),
        _metrics(request),
        today,
        language,
        dialect=_dialect(request),
        matched=_matched(request),
        saved=_saved(request),
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


class _Line(msgspec.Struct):
    """A metric as the system message has it."""

    metric: str
    sql: str
    aliases: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    date: str = ""
    unit: tuple[str, ...] = ()
    words: tuple[tuple[str, tuple[str, ...]], ...] = ()
    values: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    numbers: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def read(self) -> Metric:
        return Metric(
            name=self.metric,
            aliases=self.aliases,
            sql=self.sql,
            dimensions=self.dimensions,
            date=self.date,
            unit=self.unit,
            words=self.words,
            values=self.values,
            numbers=self.numbers,
        )


def _metrics(request: CompletionRequested) -> list[Metric]:
    """Those that the request tells of, in its order."""
    found: dict[str, Metric] = {}
    for line in _system(request).splitlines():
        if line.startswith('{"metric":'):
            one = _line(line)
            if one is not None:
                found.setdefault(one.metric, one.read())
    return list(found.values())


def _dialect(request: CompletionRequested) -> Dialect:
    return "postgres" if "SQL dialect: postgres" in _system(request).splitlines() else "sqlite"


def _matched(request: CompletionRequested) -> list[Matched]:
    """Values of the database that the request tells of."""
    found = []
    for line in _system(request).splitlines():
        if line.startswith('{"value":'):
            with suppress(msgspec.DecodeError, UnicodeError):
                found.append(msgspec.json.decode(line, type=Matched))
    return found


class _SavedLine(msgspec.Struct):
    """A saved question as the system message has it."""

    saved: str
    question: str
    sql: str


def _saved(request: CompletionRequested) -> list[Saved]:
    found = []
    for line in _system(request).splitlines():
        if line.startswith('{"saved":'):
            with suppress(msgspec.DecodeError, UnicodeError):
                one = msgspec.json.decode(line, type=_SavedLine)
                found.append(Saved(name=one.saved, question=one.question, sql=one.sql))
    return found


def _line(text: str) -> _Line | None:
    try:
        return msgspec.json.decode(text, type=_Line)
    except (msgspec.DecodeError, UnicodeError):
        return None


BANK: Bank = {"metrics": Route(varied, ("answer questions about data",), ("sql", "metric"))}
REFERENCES: References = {"metrics": metrics}
