"""What the check refuses and what it lets pass, in both dialects."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from preflights_es.features.metrics import catalogue
from preflights_es.features.metrics.domain.events import SQL_MAX, Dialect, Table
from preflights_es.features.metrics.domain.sql_check import (
    bound,
    findings,
    odd_parameter,
    render_checked_query,
    tables_of,
)
from preflights_es.features.metrics.domain.sql_tree import COLUMN
from tests.each import each
from tests.features.metrics.statements import HOSTILE, INNOCENT, Statement
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

TABLES = catalogue.queryable_log_tables()


@each("statements", [HOSTILE, INNOCENT])
@each("dialect", ["sqlite", "postgres"])
def test_a_list_has_sixty_statements(dialect: str, statements: tuple[Statement, ...]) -> None:
    assert len({sql for found, sql in statements if found == dialect}) == 60


@each(("dialect", "sql"), HOSTILE)
def test_a_hostile_statement_is_refused(dialect: Dialect, sql: str) -> None:
    assert findings(sql, dialect, TABLES)


@each(("dialect", "sql"), INNOCENT)
def test_an_innocent_statement_passes(dialect: Dialect, sql: str) -> None:
    assert findings(sql, dialect, TABLES) == ()
    again = render_checked_query(sql, dialect)
    assert findings(again, dialect, TABLES) == ()
    assert "--" not in again.replace("'DROP TABLE events; --'", "")


def test_findings_are_in_our_words_and_in_an_order_of_our_own() -> None:
    for sql, found in (
        ("SELECT 1; SELECT 2", "expected one statement, found several"),
        ("SELECT * FROM events", "the table “events” is not in the catalogue"),
        ("SELECT readfile('x')", "one of its functions is not allowed: readfile"),
        ("SELECT current_user", "one of its functions is not allowed"),
        ("SELECT 'x'::regclass", "one of its types is not allowed"),
        ("SELECT * INTO x FROM sessions", "one of its parts is not allowed in a query"),
        ("SELEC 1", "this is not readable as SQL"),
        ("SELECT (", "this is not readable as SQL"),
        ("SELECT 1" + " " * SQL_MAX, "it is longer than 20,000 characters"),
    ):
        assert findings(sql, "sqlite", TABLES)[0] == found, sql
    one = findings("SELECT pg_sleep(1), lo_get(2) FROM b JOIN a ON true", "postgres", TABLES)
    two = findings("SELECT pg_sleep(1), lo_get(2) FROM a JOIN b ON true", "postgres", TABLES)
    assert one == two
    assert one == (
        "one of its functions is not allowed: pg_sleep, lo_get",
        "the table “a” is not in the catalogue",
        "the table “b” is not in the catalogue",
    )


def test_definitions_stand_in_front_of_a_query_and_of_its_own() -> None:
    views = "sessions AS (SELECT 1 AS a)"
    plain = bound("SELECT a FROM sessions", views)
    assert plain == f"WITH {views} SELECT a FROM sessions"
    own = bound("WITH x AS (SELECT a FROM sessions) SELECT a FROM x", views)
    assert own == f"WITH {views}, x AS (SELECT a FROM sessions) SELECT a FROM x"


def test_the_tables_of_a_query_are_those_that_it_does_not_define() -> None:
    sql = "WITH x AS (SELECT 1 AS a FROM Orders) SELECT * FROM x JOIN shop.items USING (a)"
    assert set(tables_of(sql, "sqlite")) == {"orders", "shop.items"}


def test_a_name_that_only_looks_the_same_is_another_table() -> None:
    kelvin = "WITH \u212ax AS (SELECT 1 AS a) SELECT * FROM kx"
    assert findings(kelvin, "sqlite", TABLES)


def chained(text: str, parts: int) -> str:
    """A query whose WITH has parts, each of the one before it."""
    rest = (f", c{n} AS (SELECT {text} AS c FROM c{n - 1})" for n in range(1, parts))
    return (
        f"WITH c0 AS (SELECT status AS c FROM sessions){''.join(rest)} SELECT c FROM c{parts - 1}"
    )


def nested(text: str, levels: int) -> str:
    """A query with subqueries in FROM, each in the next."""
    sql = "SELECT status AS c FROM sessions"
    for n in range(levels):
        sql = f"SELECT {text} AS c FROM ({sql}) AS s{n}"
    return sql


@each("dialect", ["sqlite", "postgres"])
@each(
    ("sql", "found"),
    [
        (nested("CASE WHEN c = 'x' THEN c ELSE c END", 3), ""),
        (nested("CASE WHEN c = 'x' THEN c ELSE c END", 8), "its subqueries in FROM are too large"),
        (nested("c" + " || c" * 99, 3), "its subqueries in FROM are too large"),
        ("SELECT " + "NOT " * 4_900 + "1", "this is not readable as SQL"),
        ("SELECT 1" + " + 1" * 4_000, "it has more than 200 levels"),
        ("SELECT status" + "[1]" * 6_000 + " FROM sessions", "it nests brackets deeper than 40"),
    ],
)
def test_what_multiplies_or_nests_ends_in_time(dialect: Dialect, sql: str, found: str) -> None:
    assert " ".join(findings(sql, dialect, TABLES))[: len(found) or None] == found


def test_each_definition_of_a_query_is_computed_once() -> None:
    sql = chained("c || c", 40)
    assert findings(sql, "postgres", TABLES) == ()
    assert render_checked_query(sql, "postgres").count("AS MATERIALIZED (") == 40


INJECTED = "year from now()), (select token from secret), extract(year"
RAW_TEXTS = (
    *(f'extract("{INJECTED}" FROM day)', f'date_part("{INJECTED}", day)'),
    *(
        f"date_trunc('month', day) + interval '1' \"{INJECTED}\"",
        f'timestamp_trunc(day, "{INJECTED}")',
    ),
    *(f"ts_or_ds_add(day, 1, '{INJECTED}')", f'date_add(day, 1, "{INJECTED}")'),
    *('a::varchar("1)), (select token from secret), cast(a as varchar(1")',),
    *('cast(a AS decimal("1)), (select token from secret), cast(a as decimal(1"))',),
    *("cast(a AS varchar(max))", "cast(a AS varchar(10 char))", "cast(a AS decimal(a, b))"),
    "a COLLATE token",
    *('"lower"(a) OVER ("w" x)', "a -> '$.\"x''\"'"),
)


@each("dialect", ["sqlite", "postgres"])
@each("text", RAW_TEXTS)
def test_what_would_be_written_out_as_raw_sql_is_refused(dialect: Dialect, text: str) -> None:
    sql = f"SELECT {text} AS v FROM orders"
    assert findings(sql, dialect, (Table("orders", ("a", "day")),))
    shown = "" if findings(sql, dialect, (Table("orders"),)) else render_checked_query(sql, dialect)
    assert "secret" not in re.sub(r'"[^"]*"', "", shown)


def test_a_text_that_the_renderer_itself_uses_is_refused() -> None:
    sql = "SELECT '__SQLGLOT__LB__' AS v"
    assert findings(sql, "sqlite", ()) == (
        "it would be written out as another query: use plainer SQL",
    )


@pytest.mark.slow("sizes")
def test_a_query_close_to_every_limit_is_still_rendered_as_itself() -> None:
    wide = "SELECT " + ", ".join(f"began_on AS b{n}" for n in range(1_000)) + " FROM sessions"
    deep = "SELECT " + "abs(" * 39 + "turns" + ")" * 39 + " AS a FROM sessions"
    for dialect in ("sqlite", "postgres"):
        for sql in (wide, deep):
            assert len(render_checked_query(sql, dialect)) > len(sql)
            assert findings(sql, dialect, TABLES) == ()


def test_what_is_too_deep_does_not_depend_on_the_caller() -> None:
    sql = "SELECT " + "abs(" * 39 + "turns" + ")" * 39 + " AS a FROM sessions"

    def below(levels: int) -> tuple[str, ...]:
        return below(levels - 1) if levels else findings(sql, "sqlite", TABLES)

    assert below(0) == below(300) == below(600) == ()


KNOWN = (
    Table("orders", ("id", "market", "day", "data")),
    Table("shop.items", ("id", "price")),
    Table("leaky", ("id", "leak")),
)
UNKNOWN = tuple(Table(one.name) for one in KNOWN)


@each("sql", [*FILED["NO_COLUMNS"], *FILED["NO_COLUMNS_OF_POSTGRES"]])
def test_a_name_that_is_no_column_is_refused(sql: str) -> None:
    assert findings(sql, "postgres", KNOWN), sql
    assert findings(sql, "sqlite", KNOWN) or sql in FILED["NO_COLUMNS_OF_POSTGRES"], sql


@each("sql", [*FILED["COLUMNS"], *FILED["COLUMNS_OF_POSTGRES"]])
def test_columns_of_tables_subqueries_and_definitions_pass(sql: str) -> None:
    for tables in (KNOWN, UNKNOWN):
        assert findings(sql, "postgres", tables) == (), sql
        assert findings(sql, "sqlite", tables) == () or sql in FILED["COLUMNS_OF_POSTGRES"], sql


def test_a_finding_names_the_columns_that_nothing_gives() -> None:
    sql = "SELECT o.bump, o.id AS n FROM orders AS o GROUP BY n ORDER BY n"
    assert findings(sql, "postgres", KNOWN) == (f"{COLUMN}: “bump”",)
    assert findings(sql, "postgres", UNKNOWN) == ()  # only the database can say


def test_no_name_is_taken_for_one_that_sqlglot_gives() -> None:
    for name in ("_col_0", "\0000", "\u212aid", "lower(x)"):
        sql = f'SELECT x."{name}" FROM (SELECT lower(market), id AS kid FROM orders) AS x'
        assert findings(sql, "postgres", KNOWN), sql
    assert findings("SELECT o.\u212aid FROM orders AS o", "postgres", (Table("orders", ("kid",)),))
    assert findings('SELECT id FROM "shop.items"', "postgres", KNOWN)


VALUES = ("user", "USER", "current_user", "session_user", "current_role", "current_catalog")
MORE = ("current_schema", "current_time", "localtime", "localtimestamp", "system_user")


@each("name", [*VALUES, *MORE])
def test_what_postgresql_computes_without_brackets_is_no_column(name: str) -> None:
    for sql in (f"SELECT {name}", f"SELECT id FROM orders WHERE market = {name}"):
        assert findings(sql, "postgres", UNKNOWN), sql
    assert findings(f'WITH "{name}" AS (SELECT 1 AS a) SELECT * FROM {name}', "postgres", UNKNOWN)


def test_a_column_that_is_called_user_is_one_where_the_dialect_has_it_so() -> None:
    known = (Table("orders", ("user",)),)
    dialects: tuple[Dialect, ...] = ("sqlite", "postgres")
    for dialect in dialects:
        assert findings('SELECT o.user, "user" AS a FROM orders AS o', dialect, known) == ()
    assert findings("SELECT user FROM orders", "sqlite", known) == ()
    assert findings("SELECT user", "sqlite", known) == (COLUMN,)


@each(
    ("where", "found"),
    [
        ("d >= :first_day AND d < :end_day", ""),
        (":first_day <= d AND :end_day > d", ""),
        ("d >= date(:first_day) AND d < CAST(:end_day AS DATE)", ""),
        ("began < :end_day AND (ended IS NULL OR ended >= :end_day)", ""),
        ("d BETWEEN :first_day AND date(:end_day, '-1 day')", ""),
        ("d >= :first_day AND d <= :end_day", "found :end_day with <="),
        ("d >= :first_day AND :end_day >= d", "found :end_day with <="),
        ("d >= :first_day AND d <= (date(:end_day))", "found :end_day with <="),
        ("d >= :first_day AND d <= CAST(:end_day AS DATE)", "found :end_day with <="),
        ("d >= :first_day AND NOT d > :end_day", "found :end_day with >"),
        ("d BETWEEN :first_day AND :end_day", "found :end_day with BETWEEN"),
        ("d NOT BETWEEN :first_day AND :end_day", "found :end_day with BETWEEN"),
        ("d IN (:first_day, :end_day)", "found :first_day with IN"),
        ("d >= :first_day AND d = :end_day", "found :end_day with ="),
        ("d > :first_day AND d < :end_day", "found :first_day with >"),
        ("d >= :first_day", ":first_day stands without :end_day"),
        ("d -- >= :first_day AND d < :end_day", "found :first_day in a comment"),
    ],
)
def test_a_metric_takes_the_days_of_a_range_and_not_the_day_after(where: str, found: str) -> None:
    for dialect in get_args(Dialect):
        told = odd_parameter(f"SELECT count(*) AS n FROM t WHERE {where}", dialect)
        assert told.startswith(found), dialect
        assert bool(told) == bool(found), dialect
