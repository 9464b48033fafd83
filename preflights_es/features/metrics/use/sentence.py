"""What a query says, in one sentence: made from the query and not from the question, so that a
person sees what the rows are of. Imports sqlglot, and so is imported only where a query is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Final

import sqlglot
from sqlglot import exp

from preflights_es.features.metrics.domain.metric_sql import EVER, query
from preflights_es.features.metrics.domain.question import column_name
from preflights_es.features.metrics.domain.values import Catalogue, Dialect, Metric
from preflights_es.kernel.questions import Language

ANY_MAX: Final = 4  # dimensions of which a sentence says that every value counts
_VERBS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "count": "Counts",
        "sum": "Adds up",
        "avg": "Averages",
        "min": "Gives the least of",
        "max": "Gives the most of",
        "": "Lists",
    },
    "de": {
        "count": "Zählt",
        "sum": "Summiert",
        "avg": "Mittelt",
        "min": "Nennt das kleinste von",
        "max": "Nennt das größte von",
        "": "Listet",
    },
}
_GIVES: Final[dict[Language, str]] = {"en": "Gives", "de": "Nennt"}
_WORDS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "rows": "rows of {}",
        "all days": "all days",
        "days": "{} to {}",
        "since": "since {}",
        "until": "until {}",
        "only": "{} {}",
        "without": "without {} {}",
        "any": "every {}",
        "by": "by {}",
        "places": "the first {} of them",
        "last places": "the last {} of them",
        "share": "in percent of the whole",
        "average": "the average of these",
        "compared": "; compared with: ",
        "over": "those with {}",
        "limit": "at most {} rows",
    },
    "de": {
        "rows": "Zeilen von {}",
        "all days": "alle Tage",
        "days": "{} bis {}",
        "since": "seit {}",
        "until": "bis {}",
        "only": "{} {}",
        "without": "ohne {} {}",
        "any": "jedes {}",
        "by": "nach {}",
        "places": "davon die ersten {}",
        "last places": "davon die letzten {}",
        "share": "in Prozent vom Ganzen",
        "average": "davon der Durchschnitt",
        "compared": "; verglichen mit: ",
        "over": "die mit {}",
        "limit": "höchstens {} Zeilen",
    },
}
AGGREGATES: Final[tuple[tuple[type[exp.Expr], str], ...]] = (
    (exp.Count, "count"),
    (exp.Sum, "sum"),
    (exp.Avg, "avg"),
    (exp.Min, "min"),
    (exp.Max, "max"),
)
_SIGNS: Final[tuple[tuple[type[exp.Expr], str], ...]] = (
    (exp.GTE, ">="),
    (exp.GT, ">"),
    (exp.LTE, "<="),
    (exp.LT, "<"),
    (exp.EQ, "="),
)


def sentence(sql: str, catalogue: Catalogue, language: Language) -> str:
    """What a checked query brings, in one sentence."""
    tree = parsed(sql, catalogue.dialect)
    if tree is None:
        return ""
    if isinstance(tree, exp.Union):
        parts = [one for one in (tree.this, tree.expression) if isinstance(one, exp.Query)]
        told = [_of_select(one, catalogue, language) for one in parts]
        return _WORDS[language]["compared"].join(told) + "."
    return _of_select(tree, catalogue, language) + "."


def parsed(sql: str, dialect: Dialect) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(sql, read=dialect)
    except (sqlglot.errors.SqlglotError, RecursionError, ValueError):
        return None


def _of_select(tree: exp.Expr, catalogue: Catalogue, language: Language) -> str:
    """What one SELECT brings; of nested ones the innermost says of what."""
    words = _WORDS[language]
    inner = [one for one in tree.find_all(exp.Select) if _tables(one)]
    if not inner:
        return ", ".join(one.sql(dialect=catalogue.dialect) for one in tree.find_all(exp.Select))
    base = max(inner, key=lambda one: len(list(_conditions(one))))  # the part of a share
    metric = _metric_of(base, catalogue)
    parts = [_what(base, metric, language)]
    parts += _filters(base, metric, catalogue.dialect, words)
    groups = _groups(base)
    if groups:
        parts.append(words["by"].format(", ".join(groups)))
    parts += _around(tree, base, catalogue.dialect, words)
    return ", ".join(filter(None, parts))


def _what(base: exp.Select, metric: Metric | None, language: Language) -> str:
    kind, of = _aggregate(base)
    verb = _VERBS[language][kind]
    if metric is not None:
        return f"{verb if kind in ('count', 'sum') else _GIVES[language]} {metric.name}"
    tables = ", ".join(_tables(base))
    if not kind or kind == "count":
        return f"{verb} {_WORDS[language]['rows'].format(tables)}"
    return f"{verb} {of} ({tables})"


def _aggregate(base: exp.Select) -> tuple[str, str]:
    """The first aggregate of a SELECT, and of what."""
    for one in base.expressions:
        for kind, name in AGGREGATES:
            found = one.find(kind)
            if found is not None:
                column = found.find(exp.Column)
                return name, column_name(column.name) if column is not None else ""
    return "", ""


def _tables(select: exp.Select) -> list[str]:
    """The tables that a SELECT reads itself."""
    sources = [select.args.get("from_"), *(select.args.get("joins") or ())]
    return [one.this.name for one in sources if one is not None and isinstance(one.this, exp.Table)]


def _conditions(select: exp.Select) -> Iterator[exp.Expr]:
    where = select.args.get("where")
    if where is not None:
        yield from _conjuncts(where.this)


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    bare = node.unnest()
    if isinstance(bare, exp.And):
        yield from _conjuncts(bare.this)
        yield from _conjuncts(bare.expression)
    else:
        yield bare


def _metric_of(base: exp.Select, catalogue: Catalogue) -> Metric | None:
    """The metric whose numbers a SELECT gives: the same aggregate, tables and own conditions."""
    have = {one.sql() for one in _conditions(base)}
    fits: list[tuple[int, Metric]] = []
    for metric in catalogue.metrics:
        own = parsed(query(metric.sql, None), catalogue.dialect)
        if not isinstance(own, exp.Select) or _tables(own) != _tables(base):
            continue
        if own.expressions[-1].unalias().sql() not in {e.unalias().sql() for e in base.expressions}:
            continue
        needed = {one.sql() for one in _conditions(own) if not _is_day(one)}
        if needed <= have:
            fits.append((len(needed), metric))
    return max(fits, key=lambda one: one[0])[1] if fits else None


def _is_day(condition: exp.Expr) -> bool:
    """Whether a condition compares with a day."""
    literal = condition.find(exp.Literal)
    return literal is not None and literal.is_string and day_of(literal.name) is not None


def day_of(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if len(text) == len(EVER[0]) else None
    except ValueError:
        return None


def _filters(
    base: exp.Select, metric: Metric | None, dialect: Dialect, words: dict[str, str]
) -> Iterator[str]:
    """Which days and which rows."""
    own: set[str] = set()
    if metric is not None:
        tree = parsed(query(metric.sql, None), dialect)
        assert isinstance(tree, exp.Select), "it was found by its query"
        own = {one.sql() for one in _conditions(tree) if not _is_day(one)}
    conditions = [one for one in _conditions(base) if one.sql() not in own]
    yield _days(
        [one for one in conditions if _is_day(one)], words, has_day=bool(metric and metric.date)
    )
    rest = [one for one in conditions if not _is_day(one)]
    yield from (_filter(one, dialect, words) for one in rest)
    if metric is None:
        return
    named = {column.name for one in rest for column in one.find_all(exp.Column)}
    named |= set(_groups(base)) | {column.name for column in _group_columns(base)}
    free = [column_name(c) for c in metric.dimensions if c.rpartition(".")[2] not in named]
    yield from (words["any"].format(one) for one in free[:ANY_MAX])


def _days(conditions: Sequence[exp.Expr], words: dict[str, str], *, has_day: bool) -> str:
    first = end = None
    for one in conditions:
        literal = one.find(exp.Literal)
        day = day_of(literal.name) if literal is not None else None
        if isinstance(one, exp.GTE | exp.GT) and day is not None:
            first = day if isinstance(one, exp.GTE) else day + timedelta(days=1)
        elif isinstance(one, exp.LT | exp.LTE) and day is not None:
            end = day - timedelta(days=1) if isinstance(one, exp.LT) else day
        elif isinstance(one, exp.EQ):
            first = end = day
    since = first if first is not None and first.isoformat() != EVER[0] else None
    until = end if end is not None and end.isoformat() < "9999-12-30" else None
    if since and until:
        return since.isoformat() if since == until else words["days"].format(since, until)
    if since:
        return words["since"].format(since)
    return (
        words["until"].format(until)
        if until
        else words["all days"]
        if has_day or conditions
        else ""
    )


def _filter(node: exp.Expr, dialect: Dialect, words: dict[str, str]) -> str:
    column = node.find(exp.Column)
    name = column_name(column.name) if column is not None else ""
    literals = ", ".join(one.name for one in node.find_all(exp.Literal))
    if isinstance(node, exp.EQ | exp.In) and literals and not node.find(exp.Subquery):
        return words["only"].format(name, literals)
    if node.find(exp.Null) is not None and not literals.strip(", "):
        return words["without"].format(name, "").strip()
    is_not = isinstance(node, exp.NEQ) or node.find(exp.Not) is not None
    plain_parts = not node.find(exp.Subquery, exp.Like)
    if (
        is_not
        and literals
        and plain_parts
        and len({c.name for c in node.find_all(exp.Column)}) == 1
    ):
        return words["without"].format(name, literals)
    sign = next((sign for kind, sign in _SIGNS if isinstance(node, kind)), "")
    if sign and literals and plain_parts:
        return f"{name or node.this.sql(dialect=dialect)} {sign} {literals}"
    return node.sql(dialect=dialect)


def _group_columns(base: exp.Select) -> Iterator[exp.Column]:
    group = base.args.get("group")
    for one in group.expressions if group is not None else ():
        yield from one.find_all(exp.Column)


def _groups(base: exp.Select) -> list[str]:
    """What a SELECT is grouped by, as its own names say it."""
    group = base.args.get("group")
    named = {one.this.sql(): one.alias for one in base.expressions if isinstance(one, exp.Alias)}
    return [
        column_name(named.get(one.sql(), one.name or one.sql()))
        for one in (group.expressions if group is not None else ())
    ]


def _around(
    tree: exp.Expr, base: exp.Select, dialect: Dialect, words: dict[str, str]
) -> Iterator[str]:
    """What is done with the groups: shares, an average, places, conditions, a limit."""
    outer = [one for one in tree.find_all(exp.Select) if not _tables(one)]
    if any(one.find(exp.Div) for select in outer for one in select.expressions):
        yield words["share"]
    if any(e.find(exp.Avg) for select in outer for e in select.expressions):
        yield words["average"]
    having = base.args.get("having")
    conditions = [c for select in outer for c in _conditions(select)]
    conditions += list(_conjuncts(having.this)) if having is not None else []
    ranks = [
        one for one in tree.find_all(exp.Window) if one.find(exp.Rank, exp.RowNumber, exp.DenseRank)
    ]
    for one in conditions:
        column = one.find(exp.Column)
        number = one.find(exp.Literal)
        if column is not None and column.name == "place" and ranks and number is not None:
            is_most = any(o.args.get("desc") for o in ranks[0].find_all(exp.Ordered))
            yield words["places" if is_most else "last places"].format(number.name)
        elif not isinstance(one, exp.Not) and number is not None:
            yield words["over"].format(_filter(one, dialect, words))
    limit = tree.args.get("limit")
    if limit is not None:
        yield words["limit"].format(limit.expression.sql())
