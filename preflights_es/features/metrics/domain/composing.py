"""Writes the query that a meaning asks for, around the SQL of its metric.

The SQL is changed as text: what a parser renders changes with its version, and a replay computes
the answers of the rules again. The check of every query reads the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from preflights_es.features.metrics.domain.meant import Comparison, Group, Meant, Top
from preflights_es.features.metrics.domain.metric_sql import (
    filtered,
    grouped,
    has_aggregate,
    measure,
    query,
)
from preflights_es.features.metrics.domain.question import Step
from preflights_es.features.metrics.domain.ranges import Range
from preflights_es.features.metrics.domain.values import Dialect, Metric

_STEPS: Final[dict[Dialect, dict[Step, str]]] = {
    "sqlite": {
        "week": "date({}, 'weekday 0', '-6 days')",
        "month": "substr(CAST({} AS TEXT), 1, 7)",
        "quarter": "substr(CAST({0} AS TEXT), 1, 4) || '-Q' || "
        "CAST((CAST(substr(CAST({0} AS TEXT), 6, 2) AS INTEGER) + 2) / 3 AS TEXT)",
        "year": "substr(CAST({} AS TEXT), 1, 4)",
    },
    "postgres": {
        "week": "to_char(date_trunc('week', CAST({} AS DATE)), 'YYYY-MM-DD')",
        "month": "substr(CAST({} AS TEXT), 1, 7)",
        "quarter": "substr(CAST({0} AS TEXT), 1, 4) || '-Q' || "
        "CAST((CAST(substr(CAST({0} AS TEXT), 6, 2) AS INTEGER) + 2) / 3 AS TEXT)",
        "year": "substr(CAST({} AS TEXT), 1, 4)",
    },
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
        return _shares(metric, rows, whole, meant.groups)
    return _newest(metric, rows, meant.newest) if meant.newest else _around(metric, rows, meant)


def _newest(metric: Metric, rows: str, newest: Top) -> str:
    """The rows of a list on the newest days, or the oldest."""
    day = metric.date.rpartition(".")[2]
    order = "DESC" if newest.is_most else "ASC"
    placed = (
        f"SELECT r.*, RANK() OVER (ORDER BY r.{day} {order}) AS place "  # noqa: S608
        f"FROM (\n{rows}\n) AS r WHERE r.{day} IS NOT NULL"
    )
    first = f"q.place <= {newest.places} ORDER BY q.place"
    return f"SELECT q.* FROM (\n{placed}\n) AS q WHERE {first}"  # noqa: S608


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


def _share(metric: Metric, part: str | None, whole: str | None) -> str | None:
    value = measure(metric.sql)
    if part is None or whole is None or value is None:
        return None
    percent = f"100.0 * a.{value} / NULLIF(b.{value}, 0) AS share_percent"
    return f"SELECT {percent} FROM (\n{part}\n) AS a CROSS JOIN (\n{whole}\n) AS b"  # noqa: S608


def _shares(metric: Metric, rows: str, whole: str | None, groups: Sequence[Group]) -> str | None:
    """The share of each group in the whole."""
    value = measure(metric.sql)
    if whole is None or value is None:
        return None
    names = ", ".join(f"a.{_called(one, metric)}" for one in groups)
    percent = f"100.0 * a.{value} / NULLIF(b.{value}, 0) AS share_percent"
    return (
        f"SELECT {names}, a.{value}, {percent} FROM (\n{rows}\n) AS a "  # noqa: S608
        f"CROSS JOIN (\n{whole}\n) AS b ORDER BY {names}"
    )


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
    placed = (
        f"SELECT r.*, RANK() OVER (ORDER BY r.{value} {order}) AS place "  # noqa: S608
        f"FROM (\n{rows}\n) AS r WHERE {kept or f'r.{value} IS NOT NULL'}"
    )
    where = f"q.place <= {meant.top.places}"
    return (
        f"SELECT {names}, q.{value} FROM (\n{placed}\n) AS q WHERE {where} "  # noqa: S608
        f"ORDER BY q.{value} {order}, {names}"
    )


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
    conditions += [_is_none_of(column, values) for column, values in meant.exclude.items()]
    conditions += [f"({one} IS NULL OR CAST({one} AS TEXT) = '')" for one in meant.lacking]
    conditions += [f"{_compared(one)}" for one in meant.compared]
    sql: str | None = metric.sql.strip().rstrip(";").rstrip()
    if conditions:
        sql = filtered(metric.sql, conditions)
    if sql is not None and groups:
        sql = grouped(sql, [_column(one, metric, dialect) for one in groups])
    return None if sql is None else query(sql, days)


def _is_one_of(column: str, values: Sequence[str]) -> str:
    literals = ", ".join(map(literal, values))
    return f"{column} = {literals}" if len(values) == 1 else f"{column} IN ({literals})"


def _is_none_of(column: str, values: Sequence[str]) -> str:
    """Rows without a value stay: they are not of those that were left out."""
    return f"({column} IS NULL OR {column} NOT IN ({', '.join(map(literal, values))}))"


def _compared(one: Comparison) -> str:
    return f"{one.column} {one.sign} {one.number}"


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
    return _STEPS[dialect][group.step].format(metric.date), group.step


def _called(group: Group, metric: Metric) -> str:
    """What a group's column is called in a query around the metric's."""
    if group.step == "day":
        return metric.date.rpartition(".")[2]
    return group.step or group.column.rpartition(".")[2]
