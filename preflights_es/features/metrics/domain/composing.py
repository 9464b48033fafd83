"""Writes the query that a meaning asks for, around the SQL of its metric.

The SQL is read and changed as text: what a parser renders changes with its version, and a replay
computes the answers of the rules again. The check of every query reads the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from preflights_es.features.metrics.domain.events import END_DAY, FIRST_DAY, Dialect, Metric
from preflights_es.features.metrics.domain.question import Step
from preflights_es.features.metrics.domain.ranges import Range
from preflights_es.kernel.text import late_pattern

# 1. What a question asks of a metric ---------------------------------------------------------


class Comparison(NamedTuple):
    """A number that a column, or the metric, is compared with."""

    column: str
    """Empty for the metric itself."""
    sign: str
    number: str
    """As SQL writes it."""


class Group(NamedTuple):
    """What rows are grouped by: a column, or a step of time."""

    column: str
    """Empty for a step."""
    step: Step | None = None


class Top(NamedTuple):
    """The first groups by the metric."""

    places: int
    is_most: bool


class Meant(msgspec.Struct, frozen=True, kw_only=True):
    """What a text asks of a metric."""

    include: Mapping[str, tuple[str, ...]] = {}
    """By column: one of these values."""
    exclude: Mapping[str, tuple[str, ...]] = {}
    compared: tuple[Comparison, ...] = ()
    """Of single rows."""
    over: tuple[Comparison, ...] = ()
    """Of groups."""
    groups: tuple[Group, ...] = ()
    lacking: tuple[str, ...] = ()
    """Columns without a value."""
    top: Top | None = None
    newest: Top | None = None
    """Of a list, the rows of the newest days; or of the oldest."""
    share: Mapping[str, tuple[str, ...]] | None = None
    """The part of a whole; without a column: of each group."""
    is_average: bool = False
    """Of the groups."""
    days: tuple[Range, ...] = ()
    """Several are compared."""
    is_total: bool = False
    """Whether groups of before are taken away."""
    freed: tuple[str, ...] = ()
    """Columns of which every value is meant, said as `all markets`."""
    left: tuple[str, ...] = ()
    """Words that are not used, those that stand together in one text."""
    asks_days: bool = False
    """Whether words of time are among them."""
    names_metric: bool = False
    is_empty: bool = False
    """Whether nothing but courtesy was said."""
    says_all: bool = False
    """Whether it is `all orders`: without what was left out before, or not."""
    doubtful: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Values that several columns have, each with those columns."""


# 2. The query of a meaning -------------------------------------------------------------------

_WEEKS: Final[dict[Dialect, str]] = {
    "sqlite": "date({}, 'weekday 0', '-6 days')",
    "postgres": "to_char(date_trunc('week', CAST({} AS DATE)), 'YYYY-MM-DD')",
}
_STEPS: Final[dict[Step, str]] = {
    "month": "substr(CAST({} AS TEXT), 1, 7)",
    "quarter": "substr(CAST({0} AS TEXT), 1, 4) || '-Q' || "
    "CAST((CAST(substr(CAST({0} AS TEXT), 6, 2) AS INTEGER) + 2) / 3 AS TEXT)",
    "year": "substr(CAST({} AS TEXT), 1, 4)",
}
"""What a day is cut to; a week is its Monday."""


def composed(metric: Metric, meant: Meant, dialect: Dialect) -> str | None:
    """The query of a meaning; None where the metric's SQL is not plain enough for it."""
    if not _fits_together(metric, meant):
        return None
    if len(meant.days) > 1:
        return _of_periods(metric, meant, dialect)
    days = meant.days[0] if meant.days else None
    if meant.share:
        part = _rows(metric, {**meant.include, **meant.share}, meant, (), days, dialect)
        whole = _rows(metric, meant.include, meant, (), days, dialect)
        return _share(metric, part, whole)
    rows = _rows(metric, meant.include, meant, meant.groups, days, dialect)
    if rows is None:
        return None
    if meant.share is not None:
        whole = _rows(metric, meant.include, meant, (), days, dialect)
        return _share(metric, rows, whole, meant.groups)
    return _newest(metric, rows, meant.newest) if meant.newest else _around(metric, rows, meant)


def _newest(metric: Metric, rows: str, newest: Top) -> str:
    """The rows of a list on the newest days, or the oldest."""
    day = metric.date.rpartition(".")[2]
    placed = _placed(rows, day, newest, f"r.{day} IS NOT NULL")
    return f"SELECT q.* FROM {placed} ORDER BY q.place"  # noqa: S608


def _placed(rows: str, column: str, top: Top, kept: str) -> str:
    """Rows with their place by a column, the first of them."""
    order = "DESC" if top.is_most else "ASC"
    placed = (
        f"SELECT r.*, RANK() OVER (ORDER BY r.{column} {order}) AS place "  # noqa: S608
        f"FROM (\n{rows}\n) AS r WHERE {kept}"
    )
    return f"(\n{placed}\n) AS q WHERE q.place <= {top.places}"


def _fits_together(metric: Metric, meant: Meant) -> bool:
    """Whether there is a query for all that is asked at once."""
    asks_of_groups = bool(meant.over or meant.top or meant.is_average)
    names = [_called(one, metric) for one in meant.groups]
    if len(names) != len(set(names)) or (meant.is_average and meant.top):
        return False
    if meant.share is None:
        return has_aggregate(metric.sql) or not (meant.groups or asks_of_groups)
    if asks_of_groups or meant.compared or meant.lacking or not has_aggregate(metric.sql):
        return False
    if meant.share:
        return not meant.groups  # a part of each group could be meant, or of all
    return len(meant.groups) == 1 and meant.groups[0].column not in meant.include


def _of_periods(metric: Metric, meant: Meant, dialect: Dialect) -> str | None:
    """Several ranges of days, one after another, each with its days in front."""
    value = measure(metric.sql)
    if value is None or meant.share is not None or meant.top or meant.over or meant.is_average:
        return None
    parts = []
    for first, end in meant.days:
        rows = _rows(metric, meant.include, meant, meant.groups, (first, end), dialect)
        if rows is None:
            return None
        columns = ", ".join(
            f"q.{one}" for one in (*(_called(one, metric) for one in meant.groups), value)
        )
        period = literal(_period(first, end))
        parts.append(f"SELECT {period} AS period, {columns} FROM (\n{rows}\n) AS q")  # noqa: S608  checked as any other
    return "\nUNION ALL\n".join(parts)


def _period(first: date, end: date) -> str:
    """How days are called: a month, a year, a day, or from one to another."""
    last = end - timedelta(days=1) if end != date.max else end
    if first == last:
        return first.isoformat()
    if (first.day, first.month, last.day, last.month) == (1, 1, 31, 12) and first.year == last.year:
        return str(first.year)
    if first.day == 1 and end.day == 1 and (last.year, last.month) == (first.year, first.month):
        return f"{first:%Y-%m}"
    return f"{first} to {last}"


def _share(
    metric: Metric, part: str | None, whole: str | None, groups: Sequence[Group] = ()
) -> str | None:
    """The share of a part in the whole, or of each group."""
    value = measure(metric.sql)
    if part is None or whole is None or value is None:
        return None
    names = [f"a.{_called(one, metric)}" for one in groups]
    shown = [*names, f"a.{value}"] if names else []
    columns = ", ".join([*shown, f"100.0 * a.{value} / NULLIF(b.{value}, 0) AS share_percent"])
    order = f" ORDER BY {', '.join(names)}" if names else ""
    return f"SELECT {columns} FROM (\n{part}\n) AS a CROSS JOIN (\n{whole}\n) AS b{order}"  # noqa: S608


def _around(metric: Metric, rows: str, meant: Meant) -> str | None:
    """What is asked of groups: those over a number, the first of them, their average."""
    if not (meant.over or meant.top or meant.is_average):
        return rows
    value = measure(metric.sql)
    if value is None or not meant.groups:
        return None
    names = ", ".join(f"q.{_called(one, metric)}" for one in meant.groups)
    where = " AND ".join(f"q.{value} {one.sign} {one.number}" for one in meant.over)
    if meant.is_average:
        kept = f" WHERE {where}" if where else ""
        return f"SELECT AVG(q.{value}) AS average FROM (\n{rows}\n) AS q{kept}"  # noqa: S608
    if not meant.top:
        return f"SELECT {names}, q.{value} FROM (\n{rows}\n) AS q WHERE {where} ORDER BY {names}"  # noqa: S608
    order = "DESC" if meant.top.is_most else "ASC"
    kept = " AND ".join(f"r.{value} {one.sign} {one.number}" for one in meant.over)
    placed = _placed(rows, value, meant.top, kept or f"r.{value} IS NOT NULL")
    return f"SELECT {names}, q.{value} FROM {placed} ORDER BY q.{value} {order}, {names}"  # noqa: S608


def _rows(
    metric: Metric,
    include: Mapping[str, Sequence[str]],
    meant: Meant,
    groups: Sequence[Group],
    days: Range | None,
    dialect: Dialect,
) -> str | None:
    """The metric's own query, of some rows, by groups."""
    conditions = [_is_one_of(column, values) for column, values in include.items()]
    # Rows without a value stay: they are not of those that were left out.
    conditions += [
        f"({column} IS NULL OR {column} NOT IN ({', '.join(map(literal, values))}))"
        for column, values in meant.exclude.items()
    ]
    conditions += [f"({one} IS NULL OR CAST({one} AS TEXT) = '')" for one in meant.lacking]
    conditions += [f"{one.column} {one.sign} {one.number}" for one in meant.compared]
    sql: str | None = metric.sql.strip().rstrip(";").rstrip()
    if conditions:
        sql = filtered(metric.sql, conditions)
    if sql is not None and groups:
        sql = grouped(sql, [_column(one, metric, dialect) for one in groups])
    return None if sql is None else query(sql, days)


def _is_one_of(column: str, values: Sequence[str]) -> str:
    literals = ", ".join(map(literal, values))
    return f"{column} = {literals}" if len(values) == 1 else f"{column} IN ({literals})"


def literal(text: str) -> str:
    """A text as SQL writes it."""
    quoted = text.replace("\0", "").replace("'", "''")
    return f"'{quoted}'"


def _column(group: Group, metric: Metric, dialect: Dialect) -> tuple[str, str]:
    """The expression of a group, and its name where it needs one."""
    if group.step is None:
        return group.column, ""
    if group.step == "day":
        return metric.date, ""
    cut = _WEEKS[dialect] if group.step == "week" else _STEPS[group.step]
    return cut.format(metric.date), group.step


def _called(group: Group, metric: Metric) -> str:
    """What a group's column is called in a query around the metric's."""
    if group.step == "day":
        return metric.date.rpartition(".")[2]
    return group.step or group.column.rpartition(".")[2]


# 3. The SQL of a metric ----------------------------------------------------------------------

EVER: Final = ("0001-01-01", "9999-12-31")
_DOTALL: Final = 16
_PARTS: Final = late_pattern(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|[A-Za-z0-9_.]+|[()]", _DOTALL
)
_AFTER_WHERE: Final = frozenset(("group", "having", "window", "order", "limit", "offset", "fetch"))
_AFTER_GROUP: Final = frozenset(("having", "window", "order", "limit", "offset", "fetch"))
_AFTER_ORDER: Final = frozenset(("limit", "offset", "fetch"))
_OF_SEVERAL: Final = frozenset(("union", "intersect", "except", "distinct"))
_AGGREGATE: Final = late_pattern(
    r"\bselect\s+(?:round\s*\(\s*|coalesce\s*\(\s*)*(?P<name>sum|count|avg|min|max|total)\s*\(", 2
)
_ANY_AGGREGATE: Final = late_pattern(
    r"\b(?:sum|count|avg|min|max|total|group_concat|string_agg)\s*\(", 2
)
_SUBQUERY: Final = late_pattern(r"\(\s*select\b", 2)
_MEASURE: Final = late_pattern(r"\bas\s+(?P<name>[A-Za-z_]\w*)\s+from\b", 2)


def query(sql: str, days: Range | None) -> str:
    """A metric's SQL for a range of days; without one, of all days."""
    first, end = (day.isoformat() for day in days) if days else EVER
    return sql.replace(FIRST_DAY, f"'{first}'").replace(END_DAY, f"'{end}'")


def aggregate(sql: str) -> str:
    """The first aggregate function of a query, such as `sum`; empty where it has none in front."""
    found = _AGGREGATE.search(sql)
    return found["name"].lower() if found else ""


def has_aggregate(sql: str) -> bool:
    """Whether a query counts or adds up, and does not list."""
    return _ANY_AGGREGATE.search(_without_subqueries(sql)) is not None


def _without_subqueries(sql: str) -> str:
    """A query without the queries in its brackets."""
    while found := _SUBQUERY.search(sql):
        depth, end = 0, len(sql)
        for at in range(found.start(), len(sql)):
            depth += (sql[at] == "(") - (sql[at] == ")")
            if depth == 0:
                end = at + 1
                break
        sql = sql[: found.start()] + sql[end:]
    return sql


def lists_day(metric: Metric) -> bool:
    """Whether a metric lists rows with the column of their day."""
    head = metric.sql[: metric.sql.lower().find(" from")]
    columns = [one.strip() for one in head[len("select") :].split(",")]
    return not has_aggregate(metric.sql) and bool(metric.date) and metric.date in columns


def measure(sql: str) -> str | None:
    """The name of the one column that a metric's query gives; None where it is not plain."""
    found = _MEASURE.findall(sql)
    head = sql[: sql.lower().find(" from")] if " from" in sql.lower() else sql
    is_one = _commas_outside(head) == 0
    return found[0] if len(found) == 1 and is_one and has_aggregate(sql) else None


def _commas_outside(text: str) -> int:
    depth = count = 0
    for mark in text:
        depth += (mark == "(") - (mark == ")")
        count += mark == "," and depth == 0
    return count


def filtered(sql: str, conditions: Sequence[str]) -> str | None:
    """A query of those rows alone that meet conditions; None where it is not plain."""
    words = _plain(sql)
    if words is None:
        return None
    end = len(sql.rstrip("; \n\t"))
    behind = min((at for word, at, _ in words if word in _AFTER_WHERE), default=end)
    said = " AND ".join(conditions)
    where = next((stop for word, at, stop in words if word == "where" and at < behind), None)
    if where is None:
        return f"{sql[:behind].rstrip()}\nWHERE {said}\n{sql[behind:end]}".strip()
    # The line break ends a comment.
    return f"{sql[:where]} ({sql[where:behind].strip()}\n) AND {said}\n{sql[behind:end]}".strip()


def grouped(sql: str, columns: Sequence[tuple[str, str]]) -> str | None:
    """A query with columns in front, grouped and ordered by them; None where it is not plain.

    Plain is one SELECT that names no column by its number.

    Args:
        columns: pairs of an expression and its name; without a name it is a column.
    """
    words = _plain(sql)
    if words is None:
        return None
    by = {a[0]: b[2] for a, b in pairwise(words) if b[0] == "by"}
    first = min(by.values(), default=len(sql))
    limit = min((at for word, at, _ in words if word in _AFTER_ORDER), default=len(sql))
    numbers = (at for word, at, _ in words if word.isdigit() and first <= at < limit)
    if any(sql[:at].rstrip().lower().endswith((",", "by")) for at in numbers):
        return None
    shown = ", ".join(f"{one} AS {name}" if name else one for one, name in columns)
    names, end = ", ".join(one for one, _ in columns), len(sql.rstrip("; \n\t"))
    behind = min((at for word, at, _ in words if word in _AFTER_GROUP), default=end)
    places = [(words[0][2], f" {shown},")]
    for word, place in (("group", behind), ("order", min(limit, end))):
        new = (place, f"\n{word.upper()} BY {names}\n")
        places.append((by[word], f" {names},") if word in by else new)
    text, at = "", 0
    for place, more in places:
        text, at = text + sql[at:place] + more, place
    return (text + sql[at:end]).strip()


def source(sql: str) -> str | None:
    """What a plain query reads: its FROM clause, without conditions."""
    words = _plain(sql)
    if words is None:
        return None
    start = next((stop for word, _, stop in words if word == "from"), None)
    ends = _AFTER_WHERE | {"where"}
    if start is None:
        return None
    behind = min((at for word, at, _ in words if word in ends and at > start), default=None)
    return sql[start : behind if behind is not None else len(sql.rstrip("; \n\t"))].strip()


def _plain(sql: str) -> list[tuple[str, int, int]] | None:
    """The outer words of one SELECT, from it on; None for any other query."""
    words = list(_outer(sql.rstrip("; \n\t")))
    starts = [n for n, (word, _, _) in enumerate(words) if word == "select"]
    if len(starts) != 1 or any(word in _OF_SEVERAL for word, _, _ in words):
        return None
    return words[starts[0] :]


def _outer(sql: str) -> Iterator[tuple[str, int, int]]:
    """Words outside of brackets, quotes and comments: in lower case, with start and end."""
    depth = 0
    for found in _PARTS.finditer(sql):
        text = found[0]
        if text in "()":
            depth += 1 if text == "(" else -1
        elif depth == 0 and (text[0].isalnum() or text[0] == "_"):
            yield text.lower(), found.start(), found.end()
