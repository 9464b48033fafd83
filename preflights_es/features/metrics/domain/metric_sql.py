"""The SQL of a metric, read and changed as text, so that a replay does not depend on a parser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from preflights_es.features.metrics.domain.ranges import Range
from preflights_es.features.metrics.domain.values import END_DAY, FIRST_DAY, Metric
from preflights_es.kernel.text import late_pattern

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
