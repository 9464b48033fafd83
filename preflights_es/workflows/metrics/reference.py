"""What the rules answer: names and aliases of metrics, a range of days, and dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import reduce
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.core.views import Language
from preflights_es.workflows.metrics import grouping, ranges
from preflights_es.workflows.metrics.values import CANDIDATES, END_DAY, FIRST_DAY, Metric

EVER: Final = ("0001-01-01", "9999-12-31")
_ASK: Final[dict[Language, str]] = {
    "en": "Which metric do you mean? There are: {}.",
    "de": "Welche Kennzahl ist gemeint? Es gibt: {}.",
}
NAMED_MAX: Final = 20  # metrics that one question names
_NONE: Final[dict[Language, str]] = {
    "en": "The catalogue has no metric. What do you want to know?",
    "de": "Der Katalog hat keine Kennzahl. Was soll beantwortet werden?",
}
_BY_WHAT: Final[dict[Language, str]] = {
    "en": "By what? I can group {} by: {}.",
    "de": "Wonach? Ich kann {} gruppieren nach: {}.",
}
_NO_GROUPS: Final[dict[Language, str]] = {
    "en": "I cannot group {} so. Do you want it in total?",
    "de": "Ich kann {} so nicht gruppieren. Soll es insgesamt sein?",
}
_WHICH_DAYS: Final[dict[Language, str]] = {
    "en": "Which days do you mean? For example: last week, since 2026-11-20, November 2026.",
    "de": "Welche Tage sind gemeint? Zum Beispiel: letzte Woche, seit 20.11.2026, November 2026.",
}

Reply = dict[str, Any] | str
"""A JSON object, or words."""


def answer(
    said: Sequence[str],
    metrics: Sequence[Metric],
    today: date | None,
    language: Language,
    rules: ranges.Rules = ranges.RULES,
) -> Reply:
    """What answers a conversation.

    Args:
        said: what the person said, oldest first; the newest that names a metric or a range counts.
    """
    found = next(filter(None, (named(text, metrics) for text in reversed(said))), [])
    if not found:
        return _asked(metrics[: CANDIDATES[1] if rules == 1 else NAMED_MAX], language)
    if len(found) > 1:
        names = [metric.name for metric in found[: CANDIDATES[1]]]
        return {"type": "ambiguous", "candidates": names}
    metric = found[0]
    groups = _groups(said, metric)
    sql = grouping.grouped(metric.sql, groups.columns) if groups.columns else metric.sql
    if not groups.is_known or sql is None:
        return _by_what(metric, language)
    try:
        found_days = _days(said, metric, today, rules) if today else None
    except ranges.OddRange:
        return _WHICH_DAYS[language]
    return {"type": "sql", "sql": query(replace(metric, sql=sql), found_days)}


def _days(
    said: Sequence[str], metric: Metric, today: date, rules: ranges.Rules
) -> ranges.Range | None:
    """The newest range; since the second rules, words of the metric's names say nothing of it."""
    for text in reversed(said):
        rest = text if rules == 1 else _without_names(text, metric)
        if found := ranges.said(rest, today, rules):
            return found
    return None


def _without_names(text: str, metric: Metric) -> str:
    names = sorted((metric.name, *metric.aliases), key=len, reverse=True)
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)"
    return re.sub(pattern, " ", text, flags=re.IGNORECASE)


def _groups(said: Sequence[str], metric: Metric) -> grouping.Said:
    """The newest groups; what is unknown counts from the newest message about the metric on."""
    is_older = False
    for text in reversed(said):
        words = _words(text)
        found = grouping.said(words, metric)
        if found is not None and not found.is_known:  # or else “by” is part of the metric's name
            names = sorted(map(_words, (metric.name, *metric.aliases)), key=len, reverse=True)
            found = grouping.said(
                reduce(lambda rest, one: rest.replace(one, " "), names, words), metric
            )
        if found is not None and (found.is_known or not is_older):
            return found
        is_older = is_older or bool(named(text, (metric,)))
    return grouping.Said((), is_known=True)


def query(metric: Metric, days: ranges.Range | None) -> str:
    """The metric's SQL for a range of days; without one, of all days."""
    first, end = (day.isoformat() for day in days) if days else EVER
    return metric.sql.replace(FIRST_DAY, f"'{first}'").replace(END_DAY, f"'{end}'")


def named(text: str, metrics: Iterable[Metric]) -> list[Metric]:
    """The metrics that a text names; words of a longer name that is there belong to it alone."""
    rest = _words(text)
    hits = [
        (phrase, metric)
        for metric in metrics
        for phrase in map(_words, (metric.name, *metric.aliases))
        if phrase.strip() and phrase in rest
    ]
    taken: set[str] = set()
    for phrase in sorted({phrase for phrase, _ in hits}, key=lambda one: (-len(one), one)):
        if phrase in rest:
            taken.add(phrase)
            rest = rest.replace(phrase, " | ")
    return list({metric.name: metric for phrase, metric in hits if phrase in taken}.values())


def _words(text: str) -> str:
    """Words in lower case between single spaces, also at both ends."""
    bare = "".join(c if c.isalnum() else " " for c in text.casefold())
    return f" {' '.join(bare.split())} "


def _asked(metrics: Sequence[Metric], language: Language) -> str:
    names = ", ".join(metric.name for metric in metrics)
    return _ASK[language].format(names) if names else _NONE[language]


def _by_what(metric: Metric, language: Language) -> str:
    names = (*metric.dimensions, *((grouping.DAY[language],) if metric.date else ()))
    asked = _BY_WHAT if names else _NO_GROUPS
    return asked[language].format(metric.name, ", ".join(names))
