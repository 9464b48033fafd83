"""The columns of a query: each is one that its source gives."""

from __future__ import annotations

import pytest

from preflights_es.features.metrics.domain.sql_check import findings, unproven
from preflights_es.features.metrics.domain.values import Dialect, Table
from tests.each import each

KNOWN = (Table("orders", ("id", "market", "day")), Table("shop.items", ("id", "price")))
UNKNOWN = (Table("orders"), Table("shop.items"))

NO_COLUMNS = (
    "SELECT orders.bump FROM orders",
    "SELECT o.bump FROM orders AS o",
    "SELECT bump FROM orders",
    "SELECT orders FROM orders",
    "SELECT o FROM orders AS o",
    "SELECT o AS o FROM orders AS o",
    "SELECT 1 AS o FROM orders AS o WHERE lower(o) = '1'",
    "SELECT 1 AS o FROM orders AS o ORDER BY lower(o)",
    "SELECT count(o) FROM orders AS o",
    "SELECT lower(orders.*) FROM orders",
    "SELECT coalesce(o.*, o.*) FROM orders AS o",
    "SELECT x.pg_typeof FROM (SELECT 1 AS a) AS x",
    "SELECT x.to_json FROM (SELECT * FROM orders) AS x",
    "SELECT x.count FROM (SELECT count(*) FROM orders) AS x",
    "SELECT c.bump FROM (VALUES (1)) AS c",
    "WITH c AS (SELECT id FROM orders) SELECT c.market FROM c",
    "WITH c(n) AS (SELECT id FROM orders) SELECT c.id FROM c",
    "SELECT id FROM orders ORDER BY orders.bump",
    "SELECT id FROM orders GROUP BY id HAVING orders.bump > 1",
    "SELECT a.id FROM orders AS a JOIN orders AS b ON a.id = b.bump",
    "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM shop.items WHERE items.id = orders.bump)",
    "SELECT shop.items.bump FROM shop.items",
    "SELECT (SELECT bump FROM shop.items AS i) AS v FROM orders",
    "SELECT l.bump FROM orders AS o CROSS JOIN LATERAL (SELECT o.id AS n) AS l",
    "SELECT l.n FROM orders AS o CROSS JOIN LATERAL (SELECT o.bump AS n) AS l",
    "SELECT id FROM orders UNION SELECT orders.bump FROM orders",
    "SELECT sum(id) OVER (ORDER BY orders.bump) AS v FROM orders",
    "SELECT other.id FROM orders",
    "SELECT o.id FROM orders AS o(bump, b, c)",
    "SELECT items.id FROM orders AS items, shop.items AS o WHERE shop.items.bump = 1",
)
COLUMNS = (
    "SELECT orders.id, o.id FROM orders, shop.items AS o",
    "SELECT o.*, count(*) AS n FROM orders AS o",
    "SELECT market AS m, count(*) AS n FROM orders GROUP BY m ORDER BY n DESC",
    "SELECT x.n FROM (SELECT count(*) AS n FROM orders) AS x",
    "SELECT x.market FROM (SELECT * FROM orders) AS x",
    "WITH c(n) AS (SELECT id FROM orders) SELECT c.n, n FROM c",
    "SELECT shop.items.price, items.price FROM shop.items",
    "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM shop.items AS i WHERE i.id = orders.id)",
    "SELECT a.id FROM orders AS a JOIN orders AS b USING (id)",
    "SELECT a.id FROM (orders AS a JOIN orders AS b ON a.id = b.id)",
    "SELECT s.id FROM orders AS s UNION SELECT s.price FROM shop.items AS s ORDER BY id",
    "(SELECT id FROM orders) UNION ALL (SELECT id FROM orders LIMIT 1) ORDER BY 1",
    "SELECT count(o.*) AS n FROM orders AS o",
    "SELECT l.n FROM orders AS o CROSS JOIN LATERAL (SELECT o.id AS n) AS l",
    "SELECT rank() OVER w AS r FROM orders WINDOW w AS (ORDER BY day)",
    "SELECT id AS user FROM orders",
    "SELECT count(*) AS orders FROM orders ORDER BY orders",
    "SELECT market AS o, count(*) AS n FROM orders AS o GROUP BY o ORDER BY o DESC",
)


@each("sql", NO_COLUMNS)
def test_what_is_no_column_is_refused_or_left_to_the_database(sql: str) -> None:
    for dialect in ("sqlite", "postgres"):
        assert findings(sql, dialect, KNOWN), sql
    passed = not findings(sql, "postgres", UNKNOWN)
    assert not passed or unproven(sql, "postgres", UNKNOWN) or sql.endswith(UNQUALIFIED), sql


UNQUALIFIED = ("SELECT bump FROM orders", "(SELECT bump FROM shop.items AS i) AS v FROM orders")
"""PostgreSQL calls no function of a name without a table in front."""


@each("sql", COLUMNS)
def test_columns_of_tables_subqueries_and_definitions_pass(sql: str) -> None:
    for dialect in ("sqlite", "postgres"):
        assert findings(sql, dialect, KNOWN) == (), sql
        assert findings(sql, dialect, UNKNOWN) == (), sql


def test_only_the_database_can_prove_a_column_that_the_catalogue_does_not_say() -> None:
    sql = "SELECT o.bump, x.a FROM orders AS o, (SELECT 1 AS a) AS x"
    assert unproven(sql, "postgres", UNKNOWN) == ((frozenset({"orders"}), "bump"),)
    assert unproven(sql, "sqlite", UNKNOWN) == ()
    assert findings(sql, "postgres", KNOWN) == ("the column “o.bump” is not known",)


VALUES = ("user", "USER", "current_user", "session_user", "current_role", "current_catalog")
MORE = ("current_schema", "current_time", "localtime", "localtimestamp", "system_user")


@pytest.mark.parametrize("name", [*VALUES, *MORE])
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
    assert findings("SELECT user", "sqlite", known) == ("the column “user” is not known",)
