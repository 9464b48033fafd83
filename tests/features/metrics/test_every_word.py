"""A question is answered where each of its words is used, or the word that is not is named."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.metrics.catalogue import BUILT_IN, check_for, metrics_of
from preflights_es.features.metrics.domain.events import Matched, Metric, Saved, Table
from preflights_es.features.metrics.domain.question_words import COURTESY
from preflights_es.features.metrics.domain.reference import Reply, answer
from preflights_es.features.metrics.domain.sql_check import findings
from preflights_es.features.metrics.log_views import tables
from tests.each import each
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

TODAY = date(2026, 11, 26)
RANGE = "day >= :first_day AND day < :end_day"
OF_ORDERS: dict[str, Any] = {
    "dimensions": ("market", "channel", "status"),
    "date": "day",
    "words": (("market", ("country", "Land", "Länder", "Märkte")), ("channel", ("Kanal",))),
    "values": (
        ("market", "DK", ("Denmark", "Dänemark")),
        ("market", "SE", ("Sweden", "Schweden")),
        ("market", "NO", ("Norway", "Norwegen")),
        ("channel", "web", ("online",)),
        ("channel", "store", ("Laden",)),
        ("status", "returned", ("retourniert",)),
    ),
    "numbers": (("amount", ("euro", "EUR", "€")),),
}
METRICS = (
    Metric(
        name="revenue",
        aliases=("umsatz",),
        sql=f"SELECT sum(amount) AS revenue FROM orders WHERE {RANGE}",
        unit=("euro", "EUR", "€"),
        **OF_ORDERS,
    ),
    Metric(
        name="orders",
        aliases=("bestellungen",),
        sql=f"SELECT count(*) AS orders FROM orders WHERE {RANGE}",
        **OF_ORDERS,
    ),
    Metric(
        name="average order value",
        aliases=("durchschnittlicher bestellwert",),
        sql=f"SELECT avg(amount) AS order_value FROM orders WHERE {RANGE}",
        **OF_ORDERS,
    ),
    Metric(
        name="list of orders",
        aliases=("which orders", "welche bestellungen"),
        sql=f"SELECT id, day, amount FROM orders WHERE {RANGE} ORDER BY day",
        **OF_ORDERS,
    ),
)


@pytest.fixture(scope="module")
def orders() -> Iterator[sqlite3.Connection]:
    chance = random.Random(3)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE orders (id, day, market, channel, amount, status)")
    for n in range(2_000):
        day = (date(2025, 1, 1) + timedelta(days=chance.randrange(690))).isoformat()
        market = chance.choice(["DK", "SE", "NO", None])
        row = (chance.choice(["web", "store"]), round(chance.random() * 900, 2))
        status = chance.choice(["paid", "returned"])
        connection.execute(
            "INSERT INTO orders VALUES (?,?,?,?,?,?)", (n, day, market, *row, status)
        )
    yield connection
    connection.close()


def asked(*said: str) -> Reply:
    return answer(said, METRICS, TODAY, "en")


def left(*said: str) -> list[str]:
    """The words that are named."""
    reply = asked(*said)
    assert isinstance(reply, str), reply
    return [one.strip("*,.") for one in reply.split(" For ")[0].split("know ")[1].split(", *")]


@each(("said", "expected"), FILED["rows_are_those_that_the_words_say"])
def test_rows_are_those_that_the_words_say(
    orders: sqlite3.Connection, said: str, expected: str
) -> None:
    what, _, where = expected.partition(":")
    column = "sum(amount)" if what == "SUM" else "count(*)"
    gold = orders.execute(f"SELECT {column} FROM orders WHERE {where}").fetchall()
    assert rows(orders, said) == gold


def rows(orders: sqlite3.Connection, *said: str) -> list[tuple[Any, ...]]:
    reply = asked(*said)
    assert isinstance(reply, dict), reply
    assert not findings(reply["sql"], "sqlite", (Table("orders"),))
    return orders.execute(reply["sql"]).fetchall()


@each(("said", "gold"), FILED["groups_are_those_that_the_words_say"])
def test_groups_are_those_that_the_words_say(
    orders: sqlite3.Connection, said: str, gold: str
) -> None:
    expected = orders.execute(gold).fetchall()
    found = rows(orders, said)
    assert expected
    assert [tuple(map(rounded, row)) for row in found] == [
        tuple(map(rounded, row)) for row in expected
    ]


def rounded(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value


@each(
    ("said", "words"),
    [
        ("revenue in Denmark during the trade fair of 2026", ["trade fair"]),
        ("revenue from new customers", ["new customers"]),
        ("revenue growth", ["growth"]),
        ("no revenue trend in Denmark", ["no", "trend"]),
        ("orders on Mondays", ["Mondays"]),
        ("revenue in Finland", ["Finland"]),
        ("revenue in us", []),
        ("orders in Denmark or via web", ["or"]),
        ("orders from Denmark to Sweden", ["Sweden"]),
        ("most orders", ["most"]),
        ("total average order value", ["total"]),
        ("how many markets had more than 100 orders?", ["markets", "more than", "100"]),
        ("average orders per channel in the top 2 markets", ["top", "2", "markets"]),
        ("orders above 500", ["above", "500"]),
        ("revenue in October 2026 and September 2026", ["October 2026", "September 2026"]),
        ("orders that were not only returned", ["not"]),
        ("revenue by market compared with Denmark", ["compared with"]),
    ],
)
def test_a_word_that_nothing_uses_is_named(said: str, words: list[str]) -> None:
    if words:
        assert left(said) == words
    else:
        assert isinstance(asked(said), dict)


@each(
    ("said", "where"),
    [
        (("orders in October 2026", "and in November?"), "day LIKE '2026-11%'"),
        (("orders in Denmark in 2026", "the same for Sweden"), "market='SE' AND day LIKE '2026%'"),
        (("orders in 2026", "without Denmark"), "day LIKE '2026%' AND market IS NOT 'DK'"),
        (("orders by market in 2026", "in total"), "day LIKE '2026%'"),
        (("orders in Denmark", "in all markets"), "1"),
        (("orders during the fair", "only Denmark"), "market='DK'"),
        (("revenue in Denmark", "orders instead"), "market='DK'"),
    ],
)
def test_the_newest_word_of_each_kind_counts(
    orders: sqlite3.Connection, said: tuple[str, ...], where: str
) -> None:
    gold = orders.execute(f"SELECT count(*) FROM orders WHERE {where}").fetchall()
    assert rows(orders, *said) == gold


def test_what_counts_from_days_that_were_named_before_is_asked_about() -> None:
    assert isinstance(asked("revenue in the previous month"), dict)
    assert left("revenue in September 2026", "and the previous month?") == ["previous", "month"]
    said = "revenue in October 2026 compared with the previous month"
    assert "previous month" in left(said)


def test_a_word_of_before_is_not_lost_with_another_metric() -> None:
    plain = Metric(name="visits", sql=f"SELECT count(*) AS visits FROM v WHERE {RANGE}", date="day")
    reply = answer(("revenue in Denmark", "visits"), (*METRICS, plain), TODAY, "en")
    assert isinstance(reply, str)
    assert "*Denmark*" in reply


def test_a_value_of_several_dimensions_is_asked_about_unless_one_is_named() -> None:
    two = msgspec.structs.replace(
        METRICS[1], dimensions=("asked_by", "decided_by"), words=(), values=()
    )
    ada = (Matched("asked_by", "Ada"), Matched("decided_by", "Ada"))
    reply = answer(("orders of Ada",), (two,), TODAY, "en", matched=ada)
    assert reply == (
        "What is *Ada* here: asked by or decided by? Say it in front, such as: asked by Ada."
    )
    for said in (("orders decided by Ada",), ("orders of Ada", "decided by Ada")):
        found = answer(said, (two,), TODAY, "en", matched=ada)
        assert isinstance(found, dict)
        assert "AND decided_by = 'Ada'" in found["sql"]


def test_a_saved_question_is_answered_by_its_name_alone() -> None:
    saved = (Saved(name="by-month", question="orders by month", sql="SELECT 1"),)
    found = answer(("by-month",), METRICS, TODAY, "en", saved=saved)
    assert found == {"type": "sql", "sql": "SELECT 1"}
    assert isinstance(answer(("by-month please",), METRICS, TODAY, "en", saved=saved), str)


@each(
    "said",
    [
        *FILED["what_could_be_meant_in_two_ways_is_asked_about"],
        f"top {'9' * 320} markets by orders",
    ],
)
def test_what_could_be_meant_in_two_ways_is_asked_about(said: str) -> None:
    assert isinstance(asked(said), str)


@each(
    "said",
    [
        ("orders in Denmark", "and overall?"),
        ("orders in Denmark", "how many orders in total?"),
        ("orders in Denmark", "and for all?"),
        ("orders in Denmark", "all orders"),
        ("orders in October 2026", "in how many countries?"),
        ("revenue by market and channel", "without channel"),
    ],
)
def test_a_follow_up_that_could_take_more_away_is_asked_about(said: tuple[str, ...]) -> None:
    assert isinstance(asked(*said), str)


def test_a_person_who_is_called_like_a_month_is_asked_about() -> None:
    people = (Matched("channel", "Jan"), Matched("channel", "Ada"))
    for said in ("orders by Ada and Jan", "orders in Jan"):
        assert isinstance(answer((said,), METRICS, TODAY, "en", matched=people), str)


@each(("said", "where"), FILED["rows_are_those_of_the_whole_conversation"])
def test_rows_are_those_of_the_whole_conversation(
    orders: sqlite3.Connection, said: tuple[str, ...], where: str
) -> None:
    gold = orders.execute(f"SELECT count(*) FROM orders WHERE {where}").fetchall()
    assert rows(orders, *said) == gold


def test_a_group_is_more_than_a_value_of_its_name(orders: sqlite3.Connection) -> None:
    named = (Matched("channel", "Month"), Matched("channel", "Country"), Matched("market", "IN"))
    for said in ("orders by month", "orders by country", "In October 2026, how many orders?"):
        found = answer((said,), METRICS, TODAY, "en", matched=named)
        assert found == asked(said)
    found = answer(("orders in IN",), METRICS, TODAY, "en", matched=named)
    assert isinstance(found, dict)
    assert "market = 'IN'" in found["sql"]


def test_a_day_is_a_group_as_any_other(orders: sqlite3.Connection) -> None:
    (row,) = rows(orders, "which day of October 2026 had the most orders?")[:1]
    assert len(row) == 2
    assert sum(one[2] for one in rows(orders, "share of orders by day")) == pytest.approx(100)


def test_in_total_takes_away_groups_and_not_what_is_asked_with_it() -> None:
    before = "revenue by market"
    assert asked(before, "in total") == asked("revenue")
    assert asked(before, "share of Denmark in total revenue") == _said_no(before)


def _said_no(before: str) -> Reply:
    """A share by groups of before is not clear."""
    return asked(before, "share of Denmark in revenue")


def test_a_share_stays_where_a_value_is_left_out(orders: sqlite3.Connection) -> None:
    gold = "SELECT 100.0 * sum(market = 'DK') / count(*) FROM orders WHERE market IS NOT 'NO'"
    expected = orders.execute(gold.replace("count(*)", "(count(*))")).fetchall()[0][0]
    (found,) = rows(orders, "share of Denmark in orders", "without Norway")
    assert found[0] == pytest.approx(expected)


def test_words_that_look_alike_are_told_apart(orders: sqlite3.Connection) -> None:
    least = rows(orders, "Länder mit mindestens 500 Bestellungen")
    assert least
    assert all(count >= 500 for _, count in least)
    assert isinstance(asked("Länder mit wenigstens 600 Bestellungen"), str)
    assert asked("top 2 markets by revenue", "all markets") == asked("revenue by market")


def test_an_average_is_not_carried_over_to_another_question() -> None:
    before = "average revenue per month"
    assert asked(before, "revenue by channel") == asked("revenue by channel")


# Words of others ------------------------------------------------------------------------------


@given(st.sampled_from(METRICS[:2]), st.lists(st.sampled_from(sorted(COURTESY)), max_size=6))
def test_courtesy_changes_nothing(metric: Metric, words: list[str]) -> None:
    plain = [one for one in words if one not in ("was", "in", "all", "alle", "allen", "an")]
    text = " ".join((*plain, metric.name))
    reply = answer((text,), METRICS, TODAY, "en")
    assert reply == answer((metric.name,), METRICS, TODAY, "en")


@given(st.text(st.characters(categories=["Ll", "Lu"]), min_size=5, max_size=12))
def test_a_made_up_word_is_named(word: str) -> None:
    reply = answer((f"revenue zz{word} in Denmark",), METRICS, TODAY, "en")
    assert isinstance(reply, str)
    assert reply.startswith(f"I do not know *zz{word}*")


OF_THE_LOG = metrics_of(BUILT_IN, check_for("sqlite", tables()))
SETS = sorted((Path(__file__).parent / "unseen").glob("*.json"))


def cases() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for path in SETS:
        held = json.loads(path.read_text("utf-8"))
        for one in held["questions"]:
            yield held, one


@each(("held", "one"), list(cases()))
def test_questions_whose_authors_had_not_seen_the_rules(
    held: dict[str, Any], one: dict[str, Any]
) -> None:
    """Each query was compared with the author's own by its rows; `reads` says where they differ."""
    said = held["catalogues"].get(one["db"])
    known = OF_THE_LOG if said is None else msgspec.convert(said, tuple[Metric, ...])
    values = [Matched(*pair) for pair in one.get("matched", ())]
    reply = answer(one["turns"], known, TODAY, one["language"], matched=values)
    if isinstance(reply, dict) and reply["type"] == "sql":
        assert " ".join(reply["sql"].split()) == one.get("sql")
    else:
        assert "sql" not in one, reply
