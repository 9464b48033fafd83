"""Groups a metric by its dimensions: as a question says it, and in the metric's SQL.

The SQL is changed as text: what a parser renders changes with its version, and a replay computes
the answers of the rules again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from preflights_es.core.late_pattern import late_pattern
from preflights_es.core.views import Language
from preflights_es.workflows.metrics.values import Metric

_BY: Final = frozenset(("by", "per", "nach", "pro", "je"))
_AND: Final = frozenset(("and", "und"))
DAY: Final[dict[Language, str]] = {"en": "day", "de": "Tag"}
_DAY: Final = ("day", "date", "tag", "datum")
_TOTAL: Final = (" in total ", " overall ", " insgesamt ")
_DOTALL: Final = 16
_PARTS: Final = late_pattern(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|[A-Za-z0-9_.]+|[()]", _DOTALL
)
_AFTER_GROUP: Final = frozenset(("having", "window", "order", "limit", "offset", "fetch"))
_AFTER_ORDER: Final = frozenset(("limit", "offset", "fetch"))
_OF_SEVERAL: Final = frozenset(("union", "intersect", "except", "distinct"))


class Said(NamedTuple):
    """What a text says about groups."""

    columns: tuple[str, ...]
    is_known: bool
    """Whether the metric has all that it names."""


# 1. In a question ----------------------------------------------------------------------------


def said(text: str, metric: Metric) -> Said | None:
    """The columns by which a text groups a metric; None where it says nothing of groups.

    Args:
        text: words in lower case between single spaces.
    """
    words, names = text.split(), list(_names(metric))
    if any(total in text for total in _TOTAL):
        return Said((), is_known=True)
    columns, end = _columns(words, 0, names)
    if columns and end == len(words):  # the answer to the question back
        return Said(columns, is_known=True)
    found: list[str] = []
    for at, word in enumerate(words):
        if word in _BY:
            columns, _ = _columns(words, at + 1, names)
            if not columns:
                return Said((), is_known=False)
            found += columns
    return Said(tuple(dict.fromkeys(found)), is_known=True) if found else None


def _names(metric: Metric) -> Iterator[tuple[list[str], str]]:
    """Pairs of the words and the column of each dimension, and of the day."""
    for column in metric.dimensions:
        yield column.rpartition(".")[2].casefold().replace("_", " ").split(), column
    if metric.date:
        yield from (([word], metric.date) for word in _DAY)


def _columns(
    words: Sequence[str], at: int, names: Sequence[tuple[list[str], str]]
) -> tuple[tuple[str, ...], int]:
    """The columns named from a place on, and where their names end."""
    fits = [(name, column) for name, column in names if words[at : at + len(name)] == name != []]
    if not fits:
        return (), at
    name, column = max(fits, key=lambda one: len(one[0]))
    at += len(name)
    if at < len(words) and words[at] in _AND:
        more, end = _columns(words, at + 1, names)
        if more:
            return (column, *more), end
    return (column,), at


# 2. In SQL -----------------------------------------------------------------------------------


def grouped(sql: str, columns: Sequence[str]) -> str | None:
    """A query with columns in front, grouped and ordered by them; None where it is not plain.

    Plain is one SELECT that names no column by its number.
    """
    words = list(_outer(sql.rstrip("; \n\t")))
    starts = [n for n, (word, _, _) in enumerate(words) if word == "select"]
    if len(starts) != 1 or any(word in _OF_SEVERAL for word, _, _ in words):
        return None
    words = words[starts[0] :]
    by = {a[0]: b[2] for a, b in pairwise(words) if b[0] == "by"}
    first = min(by.values(), default=len(sql))
    limit = min((at for word, at, _ in words if word in _AFTER_ORDER), default=len(sql))
    numbers = (at for word, at, _ in words if word.isdigit() and first <= at < limit)
    if any(sql[:at].rstrip().lower().endswith((",", "by")) for at in numbers):
        return None
    names, end = ", ".join(columns), len(sql.rstrip("; \n\t"))
    behind = min((at for word, at, _ in words if word in _AFTER_GROUP), default=end)
    places = [(words[0][2], f" {names},")]
    for word, place in (("group", behind), ("order", min(limit, end))):
        new = (place, f"\n{word.upper()} BY {names}\n")
        places.append((by[word], f" {names},") if word in by else new)
    text, at = "", 0
    for place, more in places:
        text, at = text + sql[at:place] + more, place
    return (text + sql[at:end]).strip()


def _outer(sql: str) -> Iterator[tuple[str, int, int]]:
    """Words outside of brackets, quotes and comments: in lower case, with start and end."""
    depth = 0
    for found in _PARTS.finditer(sql):
        part = found[0]
        depth += (part == "(") - (part == ")")
        if not depth and (part[0].isalnum() or part[0] == "_"):
            yield part.lower(), found.start(), found.end()
