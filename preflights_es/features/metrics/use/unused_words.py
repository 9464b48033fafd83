"""The words of a question that a model's query leaves out: a person sees them above the rows.

Imports sqlglot, and so is imported only where a query is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from sqlglot import exp

from preflights_es.features.metrics.domain.metric_sql import EVER, query
from preflights_es.features.metrics.domain.question import (
    Chunk,
    Token,
    chunks,
    content,
    is_courtesy,
    lexicon_of,
    plain,
    stems,
    times,
    tokens,
)
from preflights_es.features.metrics.domain.question_words import ALL
from preflights_es.features.metrics.domain.ranges import OddRange, Range
from preflights_es.features.metrics.domain.values import Catalogue, Dialect, Matched, Metric
from preflights_es.features.metrics.use.sentence import AGGREGATES, day_of, parsed


class _Evidence(NamedTuple):
    """What a query holds that words may stand for."""

    stems: frozenset[str]
    """Of its literals, columns, tables and names, and of what the catalogue calls these."""
    days: frozenset[str]
    has: frozenset[str]
    """Operations."""


def unused(
    said: Sequence[str],
    sql: str,
    catalogue: Catalogue,
    matched: Iterable[Matched] = (),
    today: date | None = None,
) -> tuple[str, ...]:
    """The words of a conversation without a counterpart in a query, in their order.

    Of an earlier message, what a newer one replaces is not looked for.

    Args:
        said: what the person said, oldest first.
    """
    tree = parsed(sql, catalogue.dialect)
    if tree is None:
        return ()
    evidence = _evidence(tree, catalogue)
    lexicon = _lexicon(catalogue, matched)
    found: list[str] = []
    newer: set[str] = set()
    for text in reversed([plain(one) for one in said]):
        words = tokens(text)
        try:
            ranges = times(text, words, lexicon, today)
        except OddRange:
            ranges = []
        parts = chunks(words, lexicon, ranges)
        kinds = {key for one in parts for key in _replaces(one)}
        lacking = [
            " ".join(word.raw for word in words[one.first : one.last + 1])
            for one in parts
            if newer.isdisjoint(_replaces(one))
            and not (
                one.kind in ("dimension", "word") and one.first and words[one.first - 1].text in ALL
            )
            and not _has_counterpart(one, words[one.first : one.last + 1], evidence)
        ]
        found = [*lacking, *found]
        newer |= kinds
    return tuple(dict.fromkeys(found))


def _lexicon(
    catalogue: Catalogue, matched: Iterable[Matched]
) -> dict[tuple[str, ...], list[tuple[str, object]]]:
    values = tuple(matched)
    merged: dict[tuple[str, ...], list[tuple[str, object]]] = {}
    for metric in catalogue.metrics:
        for phrase, meanings in lexicon_of(metric, values).items():
            kept = merged.setdefault(phrase, [])
            kept += [one for one in meanings if one not in kept]
    return merged


def _replaces(chunk: Chunk) -> tuple[str, ...]:
    """What a newer message takes the place of."""
    match chunk.kind:
        case "time":
            return ("time",)
        case "value":
            return tuple(f"value {column}" for column, _ in chunk.what)
        case "metric":
            return ("metric",)
        case "operation" | "dimension" | "step" | "each":
            return ("groups",)
        case _:
            return ()


def _has_counterpart(chunk: Chunk, words: Sequence[Token], evidence: _Evidence) -> bool:
    is_there = all(one.stem in evidence.stems or is_courtesy(one.text) for one in words)
    match chunk.kind:
        case "":
            return True
        case "time":
            return _days_of(chunk.what) <= evidence.days
        case "value":
            return is_there or any(set(stems(value)) <= evidence.stems for _, value in chunk.what)
        case "number":
            return str(chunk.what) in evidence.stems
        case "operation":
            return is_there or any(_is_done(name, evidence) for name in chunk.what)
        case "step" | "each":
            return is_there or "by" in evidence.has
        case _:
            return is_there


def _days_of(days: Range) -> set[str]:
    """The literals that a range needs: its first day, and the day behind its last or that last."""
    first, end = days
    needed = set()
    if first != date.min:
        needed.add(f"from {first}")
    if end != date.max:
        needed.add(f"to {end}")
    return needed


def _is_done(operation: str, evidence: _Evidence) -> bool:
    needs = {
        "by": "by",
        "not": "not",
        "top": "order",
        "most": "order",
        "least": "order",
        "share": "division",
        "average": "average",
        "compare": "several",
        "between": "comparison",
        ">": "comparison",
        ">=": "comparison",
        "<": "comparison",
        "<=": "comparison",
        "=": "comparison",
        ">= behind": "comparison",
        "<= behind": "comparison",
    }.get(operation)
    return needs is None or needs in evidence.has


def _evidence(tree: exp.Expr, catalogue: Catalogue) -> _Evidence:
    names = {one.name for one in tree.find_all(exp.Identifier)}
    literals = [one.name for one in tree.find_all(exp.Literal)]
    there = {word for name in (*names, *literals) for word in _words(name)}
    for metric in catalogue.metrics:
        there |= set(_said_of(metric, tree, names, literals, catalogue.dialect))
    return _Evidence(
        frozenset(there | set(literals)),
        frozenset(_literal_days(tree)),
        frozenset(_operations(tree)),
    )


def _words(name: str) -> Iterator[str]:
    yield from stems(name.replace("_", " "))


def _said_of(
    metric: Metric, tree: exp.Expr, names: set[str], literals: Sequence[str], dialect: Dialect
) -> Iterator[str]:
    """Stems of what the catalogue calls what the query holds."""
    own = parsed(query(metric.sql, None), dialect)
    needed = {one.name for one in own.find_all(exp.Literal)} - set(EVER) if own else {""}
    tables = {one.name for one in own.find_all(exp.Table)} if own else set()
    measured = _measured(own)
    if own and tables <= names and needed <= set(literals) and measured <= _measured(tree):
        yield from (word for one in (metric.name, *metric.aliases) for word in content(one))
    others = dict(metric.words)
    for column in metric.dimensions:
        if column.rpartition(".")[2] in names:
            yield from (word for one in others.get(column, ()) for word in stems(one))
    for column, value, called in metric.values:
        if value in literals and column.rpartition(".")[2] in names:
            yield from (word for one in called for word in stems(one))
    for column, units in (*metric.numbers, ("", metric.unit)):
        if not column or column.rpartition(".")[2] in names:
            yield from (word for one in units for word in stems(one))


def _measured(tree: exp.Expr | None) -> set[str]:
    """The aggregates of a query, each with its column."""
    found = set()
    for kind, name in AGGREGATES if tree is not None else ():
        for one in tree.find_all(kind) if tree is not None else ():
            column = one.find(exp.Column)
            found.add(f"{name} {column.name if column is not None else '*'}")
    return found


def _literal_days(tree: exp.Expr) -> Iterator[str]:
    for one in tree.find_all(exp.GTE, exp.GT, exp.LT, exp.LTE, exp.EQ, exp.Between):
        days = [day for lit in one.find_all(exp.Literal) if (day := day_of(lit.name))]
        if isinstance(one, exp.Between) and len(days) == 2:
            yield from (f"from {days[0]}", f"to {days[1] + timedelta(days=1)}")
        elif len(days) == 1 and isinstance(one, exp.GTE):
            yield f"from {days[0]}"
        elif len(days) == 1 and isinstance(one, exp.GT):
            yield f"from {days[0] + timedelta(days=1)}"
        elif len(days) == 1 and isinstance(one, exp.LT):
            yield f"to {days[0]}"
        elif len(days) == 1 and isinstance(one, exp.LTE):
            yield f"to {days[0] + timedelta(days=1)}"
        elif len(days) == 1:
            yield from (f"from {days[0]}", f"to {days[0] + timedelta(days=1)}")


def _operations(tree: exp.Expr) -> Iterator[str]:
    for name, kinds in (
        ("by", (exp.Group, exp.Window)),
        ("not", (exp.Not, exp.NEQ)),
        ("order", (exp.Order, exp.Max, exp.Min)),
        ("division", (exp.Div,)),
        ("average", (exp.Avg,)),
        ("several", (exp.Union, exp.Group, exp.Case)),
        ("comparison", (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.Between, exp.Having)),
    ):
        if tree.find(*kinds) is not None:
            yield name
