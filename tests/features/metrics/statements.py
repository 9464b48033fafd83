"""60 hostile and 60 innocent statements in each dialect, about the tables of the log."""

from __future__ import annotations

from typing import Final, Literal

from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

Dialect = Literal["sqlite", "postgres"]
Statement = tuple[Dialect, str]

_BOTH_HOSTILE: Final = (*FILED["_BOTH_HOSTILE"], "SELECT " + "(" * 60 + "1" + ")" * 60 + " AS a")
_SQLITE_HOSTILE: Final = tuple(FILED["_SQLITE_HOSTILE"])
_POSTGRES_HOSTILE: Final = tuple(FILED["_POSTGRES_HOSTILE"])

HOSTILE: Final[tuple[Statement, ...]] = (
    *(("sqlite", sql) for sql in (*_BOTH_HOSTILE, *_SQLITE_HOSTILE)),
    *(("postgres", sql) for sql in (*_BOTH_HOSTILE, *_POSTGRES_HOSTILE)),
)

_BOTH_INNOCENT: Final = tuple(FILED["_BOTH_INNOCENT"])
_SQLITE_INNOCENT: Final = (
    "SELECT strftime('%Y-%W', began_on) AS week, count(*) AS n FROM sessions GROUP BY 1",
    "SELECT date('now', '-7 days') AS d",
    "SELECT julianday(moved_on) - julianday(began_on) AS days FROM sessions",
    "SELECT ifnull(accepted_on, '-') AS d FROM decisions",
    "SELECT iif(attempt > 1, 'retry', 'first') AS k FROM usage",
    "SELECT group_concat(DISTINCT workflow) AS w FROM sessions",
    "SELECT total(attempt) AS n FROM usage",
    "SELECT instr(workflow, 'a') AS at FROM sessions",
    "SELECT rtrim(workflow) AS w FROM sessions",
    "SELECT status FROM sessions WHERE status IS NOT 'x'",
)
_POSTGRES_INNOCENT: Final = (
    "SELECT date_trunc('week', began_on::date) AS week, count(*) AS n FROM sessions GROUP BY 1",
    "SELECT extract(year FROM began_on::date) AS y FROM sessions",
    "SELECT current_date - interval '7 days' AS d",
    "SELECT string_agg(DISTINCT workflow, ', ') AS w FROM sessions",
    "SELECT status FROM sessions WHERE workflow ILIKE 'C%'",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms) AS median FROM usage",
    "SELECT to_char(began_on::date, 'YYYY-MM') AS m FROM sessions",
    "SELECT DISTINCT ON (workflow) workflow, status FROM sessions ORDER BY workflow",
    "SELECT greatest(1, 2) AS a, least(1, 2) AS b",
    "SELECT avg(latency_ms)::numeric(10, 2) AS ms FROM usage",
)

INNOCENT: Final[tuple[Statement, ...]] = (
    *(("sqlite", sql) for sql in (*_BOTH_INNOCENT, *_SQLITE_INNOCENT)),
    *(("postgres", sql) for sql in (*_BOTH_INNOCENT, *_POSTGRES_INNOCENT)),
)
