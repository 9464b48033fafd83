"""Writes the query that a meaning asks for, around the SQL of its metric.

The SQL is read and changed as text: what a parser renders changes with its version, and a replay
computes the answers of the rules again. The check of every query reads the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from preflights_es.features.metrics.domain.closed_form import EVER, Range, Step
from preflights_es.features.metrics.domain.events import END_DAY, FIRST_DAY, Dialect, Metric
from preflights_es.kernel.text import late_pattern

# 1. What a question asks of a metric ---------------------------------------------------------


class Group(NamedTuple):
    """What rows are grouped by: a column, or a step of time."""

    column: str
    """Empty for a step."""
    step: Step | None = None


class Meant(msgspec.Struct, frozen=True, kw_only=True):
    """What a question asks of a metric."""

    metric: Metric
    groups: tuple[Group, ...] = ()
    values: Mapping[str, str] = {}
    """By column: the value that it must have."""
    days: Range = EVER
    top: int = 0
    """The first so many groups by the metric; 0 for all."""


# 2. The query of a meaning -------------------------------------------------------------------

_DAY: Final[dict[Dialect, str]] = {
    "sqlite": "substr(CAST({} AS TEXT), 1, 10)",
    "postgres": "CAST({} AS DATE)",
}
"""The day of a date or a time stamp; PostgreSQL takes the time zone of the session."""
_STEPS: Final[dict[Dialect, dict[Step, str]]] = {
    "sqlite": {
        "day": "{}",
        "week": "date({}, 'weekday 0', '-6 days')",
        "month": "substr({}, 1, 7)",
        "quarter": "substr({0}, 1, 4) || '-Q' || "
        "CAST((CAST(substr({0}, 6, 2) AS INTEGER) + 2) / 3 AS TEXT)",
        "year": "substr({}, 1, 4)",
    },
    "postgres": {
        "day": "to_char({}, 'YYYY-MM-DD')",
        "week": "to_char(date_trunc('week', {}), 'YYYY-MM-DD')",
        "month": "to_char({}, 'YYYY-MM')",
        "quarter": "to_char({0}, 'YYYY') || '-Q' || to_char({0}, 'Q')",
        "year": "to_char({}, 'YYYY')",
    },
}
"""What a day is cut to; a week is its Monday."""


def composed(meant: Meant, dialect: Dialect) -> str | None:
    """The query of a meaning; None where the metric's SQL is not plain enough for it."""
    names = [_group_alias(one) for one in meant.groups]
    if len(names) != len(set(names)) or (meant.groups and not has_aggregate(meant.metric.sql)):
        return None
    sql: str | None = meant.metric.sql.strip().rstrip(";").rstrip()
    if meant.values:
        sql = filtered(meant.metric.sql, [_is(*one, dialect) for one in meant.values.items()])
    if sql is not None and meant.groups:
        columns = [_column(one, meant.metric, dialect) for one in meant.groups]
        sql = group_query_by_columns(sql, columns)
    if sql is None:
        return None
    rows = query(sql, meant.days)
    return _first_groups(rows, meant) if meant.top else rows


def _first_groups(rows: str, meant: Meant) -> str | None:
    """The groups with the largest numbers, and all that tie with the last of them."""
    value = measure(meant.metric.sql)
    if value is None or not meant.groups:
        return None
    names = ", ".join(f"q.{_group_alias(one)}" for one in meant.groups)
    placed = (
        f"SELECT r.*, RANK() OVER (ORDER BY r.{value} DESC) AS place "  # noqa: S608  checked as any other
        f"FROM (\n{rows}\n) AS r WHERE r.{value} IS NOT NULL"
    )
    return (
        f"SELECT {names}, q.{value} FROM (\n{placed}\n) AS q "  # noqa: S608
        f"WHERE q.place <= {meant.top} ORDER BY q.{value} DESC, {names}"
    )


def _is(column: str, value: str, dialect: Dialect) -> str:
    """A condition; SQLite compares a number of a column without a type with numbers alone."""
    is_number = dialect == "sqlite" and _NUMBER.fullmatch(value) is not None
    same = f"{column} = {literal(value)}"
    return f"({same} OR {column} = {value})" if is_number else same


def literal(text: str) -> str:
    """A text as SQL writes it."""
    quoted = text.replace("\0", "").replace("'", "''")
    return f"'{quoted}'"


def _column(group: Group, metric: Metric, dialect: Dialect) -> tuple[str, str]:
    """The expression of a group, and its name where it needs one."""
    if group.step is None:
        return group.column, ""
    day = _DAY[dialect].format(metric.date)
    return _STEPS[dialect][group.step].format(day), group.step


def _group_alias(group: Group) -> str:
    """What a group's column is called in a query around the metric's."""
    return group.step or group.column.rpartition(".")[2]


# 3. The SQL of a metric ----------------------------------------------------------------------

_DOTALL: Final = 16
_NO_CODE: Final = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/"
_TEXTS: Final = late_pattern(_NO_CODE, _DOTALL)
_PARTS: Final = late_pattern(rf"{_NO_CODE}|[A-Za-z0-9_.]+|[(),]", _DOTALL)
_AFTER_WHERE: Final = frozenset(("group", "having", "window", "order", "limit", "offset", "fetch"))
_AFTER_GROUP: Final = frozenset(("having", "window", "order", "limit", "offset", "fetch"))
_LIMITS: Final = frozenset(("limit", "offset", "fetch"))
_OF_SEVERAL: Final = frozenset(("union", "intersect", "except", "distinct", "over"))
_AGGREGATE: Final = late_pattern(
    r"\b(?:sum|count|avg|total|group_concat|string_agg)\s*\("
    r"|\b(?:min|max)\s*\((?:[^(),]|\([^()]*\))*\)",  # of one argument: SQLite has others
    2,
)
_SUBQUERY: Final = late_pattern(r"\(\s*select\b", 2)
_NUMBER: Final = late_pattern(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,5}[1-9])?")
"""A number as SQLite writes it out, so that no other text is the same number."""


def query(sql: str, days: Range = EVER) -> str:
    """A metric's SQL for a range of days."""
    first, end = (day.isoformat() for day in days)
    return sql.replace(FIRST_DAY, f"'{first}'").replace(END_DAY, f"'{end}'")


def has_aggregate(sql: str) -> bool:
    """Whether the one SELECT of a query counts or adds up, and does not list."""
    words = _outer_select_words(sql) or []
    end = next((start for word, start, _ in words if word == "from"), len(sql))
    head = sql[words[0][1] : end] if words else ""
    return _AGGREGATE.search(_without_subqueries(_TEXTS.sub(" ", head))) is not None


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


def measure(sql: str) -> str | None:
    """The name of the one column that a metric's query gives; None where it is not plain."""
    words = _outer_select_words(sql) or []
    end = next((at for at, (word, _, _) in enumerate(words) if word == "from"), 0)
    head = [word for word, _, _ in words[:end]]
    is_one = head[-2:-1] == ["as"] and "," not in head and has_aggregate(sql)
    return sql[words[end - 1][1] : words[end - 1][2]] if is_one else None


def filtered(sql: str, conditions: Sequence[str]) -> str | None:
    """A query of those rows alone that meet conditions; None where it is not plain."""
    words = _outer_select_words(sql)
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


def group_query_by_columns(sql: str, columns: Sequence[tuple[str, str]]) -> str | None:
    """A query with columns in front, grouped and ordered by them; None where it is not plain.

    Plain is one SELECT that names no column by its number, and leaves no row out at its end.

    Args:
        columns: pairs of an expression and its name; without a name it is a column.
    """
    words = _outer_select_words(sql)
    if words is None:
        return None
    if any(word in _LIMITS for word, _, _ in words):
        return None
    by = {a[0]: b[2] for a, b in pairwise(words) if b[0] == "by"}
    first = min(by.values(), default=len(sql))
    numbers = (at for word, at, _ in words if word.isdigit() and first <= at)
    if any(sql[:at].rstrip().lower().endswith((",", "by")) for at in numbers):
        return None
    shown = ", ".join(f"{one} AS {name}" if name else one for one, name in columns)
    names, end = ", ".join(one for one, _ in columns), len(sql.rstrip("; \n\t"))
    behind = min((at for word, at, _ in words if word in _AFTER_GROUP), default=end)
    places = [(words[0][2], f" {shown},")]
    for word, place in (("group", behind), ("order", end)):
        new = (place, f"\n{word.upper()} BY {names}\n")
        places.append((by[word], f" {names},") if word in by else new)
    text, at = "", 0
    for place, more in places:
        text, at = text + sql[at:place] + more, place
    return (text + sql[at:end]).strip()


def _outer_select_words(sql: str) -> list[tuple[str, int, int]] | None:
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
        elif depth == 0 and (text[0].isalnum() or text[0] in "_,"):
            yield text.lower(), found.start(), found.end()
