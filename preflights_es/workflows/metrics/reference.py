"""What the rules answer: names and aliases of metrics, with a range of days."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, Final

from preflights_es.core.views import Language
from preflights_es.workflows.metrics import ranges
from preflights_es.workflows.metrics.values import CANDIDATES, END_DAY, FIRST_DAY, Metric

EVER: Final = ("0001-01-01", "9999-12-31")
_ASK: Final[dict[Language, str]] = {
    "en": "Which metric do you mean? There are: {}.",
    "de": "Welche Kennzahl ist gemeint? Es gibt: {}.",
}
_NONE: Final[dict[Language, str]] = {
    "en": "The catalogue has no metric. What do you want to know?",
    "de": "Der Katalog hat keine Kennzahl. Was soll beantwortet werden?",
}

Reply = dict[str, Any] | str
"""A JSON object, or words."""


def answer(
    said: Sequence[str], metrics: Sequence[Metric], today: date | None, language: Language
) -> Reply:
    """What answers a conversation.

    Args:
        said: what the person said, oldest first; the newest that names a metric or a range counts.
    """
    found = next(filter(None, (named(text, metrics) for text in reversed(said))), [])
    if not found:
        return _asked(metrics, language)
    if len(found) > 1:
        names = [metric.name for metric in found[: CANDIDATES[1]]]
        return {"type": "ambiguous", "candidates": names}
    days = (ranges.said(text, today) for text in reversed(said)) if today else ()
    return {"type": "sql", "sql": query(found[0], next(filter(None, days), None))}


def query(metric: Metric, days: ranges.Range | None) -> str:
    """The metric's SQL for a range of days; without one, of all days."""
    first, end = (day.isoformat() for day in days) if days else EVER
    return metric.sql.replace(FIRST_DAY, f"'{first}'").replace(END_DAY, f"'{end}'")


def named(text: str, metrics: Iterable[Metric]) -> list[Metric]:
    """The metrics that a text names; a name inside of a longer one that stands there is none."""
    words = _words(text)
    hits = [
        (phrase, metric)
        for metric in metrics
        for phrase in map(_words, (metric.name, *metric.aliases))
        if phrase.strip() and phrase in words
    ]
    longest = [
        metric
        for phrase, metric in hits
        if not any(phrase in other and phrase != other for other, _ in hits)
    ]
    return list({metric.name: metric for metric in longest}.values())


def _words(text: str) -> str:
    """Words in lower case between single spaces, also at both ends."""
    bare = "".join(c if c.isalnum() else " " for c in text.casefold())
    return f" {' '.join(bare.split())} "


def _asked(metrics: Sequence[Metric], language: Language) -> str:
    names = ", ".join(metric.name for metric in metrics[: CANDIDATES[1]])
    return _ASK[language].format(names) if names else _NONE[language]
