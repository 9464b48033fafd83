"""Queries around a metric's SQL, for what a question asks of it."""

from __future__ import annotations

from datetime import date

from preflights_es.features.metrics.domain.composing import filtered, grouped, measure, source
from preflights_es.features.metrics.domain.events import Metric, Table
from preflights_es.features.metrics.domain.reference import answer
from preflights_es.features.metrics.domain.sql_check import findings
from tests.each import each

DAU = Metric(
    name="DAU",
    aliases=("users by market", "app name"),
    sql="SELECT count(u) AS dau FROM visits",
    dimensions=("market", "v.app_name"),
    date="d",
)
SIZES = Metric(name="planets by size", sql="SELECT count(u) AS size FROM visits")
OTHER = Metric(name="sign-ups", sql="SELECT count(u) FROM visits")
TABLES = (Table("t"), Table("s"))


def select(*said: str) -> str:
    """The columns of the query that answers, or the words."""
    reply = answer(said, (DAU, OTHER, SIZES), None, "en")
    if isinstance(reply, str):
        return reply.partition(". For ")[0]
    return str(reply["sql"]).partition("SELECT ")[2].partition(" FROM")[0]


@each(
    ("said", "columns"),
    [
        (("DAU by market",), "market, count(u) AS dau"),
        (("DAU nach Market?",), "market, count(u) AS dau"),
        (("DAU per app name",), "v.app_name, count(u) AS dau"),
        (("DAU by market and app_name",), "market, v.app_name, count(u) AS dau"),
        (("DAU je Market, pro Tag",), "market, d, count(u) AS dau"),
        (("DAU", "by day"), "d, count(u) AS dau"),
        (("DAU by market", "per day"), "d, count(u) AS dau"),
        (("DAU by market", "in total"), "count(u) AS dau"),
        (("DAU by planet", "market"), "market, count(u) AS dau"),
        (("users by market",), "market, count(u) AS dau"),
        (("planets by size",), "count(u) AS size"),
        (("DAU by planet",), "I do not know *by*, *planet*"),
        (("sign-ups by market",), "I do not know *by*, *market*"),
        (("DAU by market", "sign-ups"), "I do not know *by*, *market*"),
        (("DAU by market", "sign-ups", "sign-ups"), "count(u)"),
    ],
)
def test_the_newest_groups_of_a_metric_count(said: tuple[str, ...], columns: str) -> None:
    assert select(*said) == columns


def test_a_question_names_every_metric_of_a_catalogue_of_twenty() -> None:
    metrics = [Metric(name=f"m{n}", sql="SELECT 1") for n in range(30)]
    assert str(answer(("what?",), metrics, date(2026, 11, 23), "en")).endswith(", m19.")


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
        (
            "SELECT b, sum(a) FROM t GROUP BY b LIMIT 5",
            "SELECT k, b, sum(a) FROM t GROUP BY k, b ORDER BY k LIMIT 5",
        ),
        ("", None),
    ],
)
def test_columns_come_in_front_grouped_and_ordered(sql: str, expected: str | None) -> None:
    found = grouped(sql, [("k", "")])
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


def test_a_plain_query_has_one_measure_and_a_source() -> None:
    joined = "SELECT round(sum(a), 2) AS x FROM t JOIN s ON s.i = t.i WHERE b GROUP BY c"
    assert (measure(joined), source(joined)) == ("x", "t JOIN s ON s.i = t.i")
    assert measure("SELECT a, sum(b) AS x FROM t") is None
    assert measure("SELECT a AS x FROM t") is None
    assert source("SELECT 1") is None
