"""A query in words: what it brings, in one sentence, and which words of a question it leaves out.

The sentence is made from the query and not from the question, so that a person sees what the rows
are of. Imports sqlglot, and so is imported only where a query is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

import sqlglot
from sqlglot import exp

from preflights_es.features.metrics.domain.composing import EVER, query
from preflights_es.features.metrics.domain.events import Catalogue, Dialect, Matched, Metric
from preflights_es.features.metrics.domain.question import (
    Chunk,
    Token,
    chunks,
    column_name,
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
from preflights_es.kernel.questions import Language

# 1. What a query brings ----------------------------------------------------------------------

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


# 2. The words of a question that a query leaves out ------------------------------------------


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
        **dict.fromkeys((">", ">=", "<", "<=", "=", ">= behind", "<= behind"), "comparison"),
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
