"""60 hostile and 60 innocent statements in each dialect, about the tables of the log."""

from __future__ import annotations

from typing import Final, Literal

from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

Dialect = Literal["sqlite", "postgres"]
Statement = tuple[Dialect, str]

_BOTH_HOSTILE: Final = (
    "",
    ";",
    "-- only a comment",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE events",
    "INSERT INTO sessions VALUES (1)",
    "UPDATE sessions SET status = 'x'",
    "DELETE FROM sessions",
    "DROP TABLE events",
    "CREATE TABLE x AS SELECT 1 AS a",
    "ALTER TABLE events ADD COLUMN x TEXT",
    "BEGIN",
    "COMMIT",
    "VACUUM",
    "EXPLAIN SELECT 1",
    "SELECT * FROM events",
    "SELECT (SELECT count(*) FROM events) AS n",
    "SELECT * FROM (WITH events AS (SELECT 1 AS a) SELECT * FROM events) AS x, events",
    "WITH a AS (SELECT * FROM events), events AS (SELECT 1 AS a) SELECT * FROM a",
    "WITH sessions AS (SELECT 1 AS a) SELECT * FROM sessions",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "SELECT :first_day AS a",
    "SELECT " + "(" * 60 + "1" + ")" * 60 + " AS a",
    "SELECT unknown_function(1) AS a",
)
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
