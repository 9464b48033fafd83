"""Queries around a metric's SQL, for what a question asks of it."""

from __future__ import annotations

from preflights_es.features.metrics.domain.composing import (
    filtered,
    group_query_by_columns,
    measure,
)
from preflights_es.features.metrics.domain.events import Table
from preflights_es.features.metrics.domain.sql_check import findings
from tests.each import each

TABLES = (Table("t"), Table("s"))


@each(
    ("sql", "expected"),
    [
        ("SELECT sum(a) FROM t", "SELECT k, sum(a) FROM t GROUP BY k ORDER BY k"),
        (
            "SELECT b, sum(a) FROM t WHERE x = 'by' GROUP BY b HAVING sum(a) > 1;",
            "SELECT k, b, sum(a) FROM t WHERE x = 'by' GROUP BY k, b HAVING sum(a) > 1 ORDER BY k",
        ),
        (
            "WITH w AS (SELECT a, k FROM s) SELECT sum(a) FROM w ORDER BY a",
            "WITH w AS (SELECT a, k FROM s) SELECT k, sum(a) FROM w GROUP BY k ORDER BY k, a",
        ),
        ("SELECT a FROM t UNION SELECT a FROM s", None),
        ("SELECT DISTINCT a FROM t", None),
        ("SELECT b, sum(a) FROM t GROUP BY 1", None),
        ("SELECT b, sum(a) FROM t GROUP BY b ORDER BY b, 2 DESC", None),
        ("SELECT b, sum(a) FROM t GROUP BY b LIMIT 5", None),
        ("SELECT sum(a) OVER () FROM t", None),
        ("", None),
    ],
)
def test_columns_come_in_front_grouped_and_ordered(sql: str, expected: str | None) -> None:
    found = group_query_by_columns(sql, [("k", "")])
    assert (found and " ".join(found.split())) == expected
    assert found is None or not findings(found, "sqlite", TABLES)


@each(
    ("sql", "expected"),
    [
        ("SELECT sum(a) FROM t", "SELECT sum(a) FROM t WHERE k = 1"),
        (
            "SELECT sum(a) FROM t WHERE a OR b -- why\nORDER BY a",
            "SELECT sum(a) FROM t WHERE (a OR b -- why ) AND k = 1 ORDER BY a",
        ),
        (
            "SELECT sum(a) FROM t WHERE a IN (SELECT a FROM s WHERE b) GROUP BY a;",
            "SELECT sum(a) FROM t WHERE (a IN (SELECT a FROM s WHERE b) ) AND k = 1 GROUP BY a",
        ),
        ("SELECT a FROM t EXCEPT SELECT a FROM s", None),
    ],
)
def test_conditions_hold_beside_those_of_the_metric(sql: str, expected: str | None) -> None:
    found = filtered(sql, ["k = 1"])
    assert (found and " ".join(found.split())) == expected
    assert found is None or not findings(found, "sqlite", TABLES)


@each(
    ("sql", "name"),
    [
        ("SELECT round(sum(a), 2) AS x FROM t JOIN s ON s.i = t.i WHERE b GROUP BY c", "x"),
        ("SELECT sum(a) / (SELECT count(*) AS n FROM s) AS Share FROM t", "Share"),
        ("SELECT max(a) AS x FROM t -- AS y FROM", "x"),
        ("SELECT a, sum(b) AS x FROM t", None),
        ("SELECT sum(b) AS x, a FROM t", None),
        ("SELECT sum(b) FROM t", None),
        ("SELECT a AS x FROM t", None),
        ("SELECT max(a, b) AS x FROM t", None),
        ("SELECT a AS x FROM t -- sum(b)", None),
        ("SELECT 'sum(' AS x FROM t", None),
        ("SELECT (SELECT sum(a) FROM s) AS x FROM t", None),
        ("SELECT a AS x FROM t WHERE a > (SELECT avg(a) FROM t)", None),
    ],
)
def test_a_query_with_one_number_has_a_measure(sql: str, name: str | None) -> None:
    assert measure(sql) == name
