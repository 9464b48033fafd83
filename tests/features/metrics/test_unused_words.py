"""Words of a question that a query leaves out, and the sentence that says what a query brings."""

from __future__ import annotations

from datetime import date

from preflights_es.features.metrics.domain.events import Catalogue, Matched, Table
from preflights_es.features.metrics.query_in_words import sentence, unused
from tests.each import each
from tests.features.metrics.test_every_word import METRICS, TODAY
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

CATALOGUE = Catalogue(dialect="sqlite", metrics=METRICS, tables=(Table("orders"),))
OCTOBER = "day >= '2026-10-01' AND day < '2026-11-01'"
SUM = "SELECT sum(amount) AS revenue FROM orders"
COUNT = "SELECT count(*) AS orders FROM orders"


@each(
    ("said", "sql", "words"),
    FILED["a_word_that_a_query_drops_is_named"],
)
def test_a_word_that_a_query_drops_is_named(said: str, sql: str, words: tuple[str, ...]) -> None:
    assert unused([said], sql, CATALOGUE, (), TODAY) == words


@each(("said", "sql"), FILED["a_query_with_all_words_has_none_to_name"])
def test_a_query_with_all_words_has_none_to_name(said: str, sql: str) -> None:
    kiosk = (Matched("channel", "Kiosk"),)
    assert unused([said], sql, CATALOGUE, kiosk, TODAY) == ()


def test_what_a_newer_message_replaces_is_not_looked_for() -> None:
    said = ["revenue in Denmark in October 2026", "Sweden, in November 2026"]
    sql = f"{SUM} WHERE market = 'SE' AND day >= '2026-11-01' AND day < '2026-12-01'"
    assert unused(said, sql, CATALOGUE, (), TODAY) == ()
    assert unused([said[0], "by channel"], f"{SUM} GROUP BY channel", CATALOGUE, (), TODAY) == (
        "Denmark",
        "October 2026",
    )


@each(
    ("sql", "told"),
    [
        (COUNT, "Counts orders, all days, every market, every channel, every status."),
        (
            f"{SUM} WHERE {OCTOBER} AND market = 'DK'",
            "Adds up revenue, 2026-10-01 to 2026-10-31, market DK, every channel, every status.",
        ),
        (
            (
                "SELECT market, count(*) FROM orders "
                "WHERE status <> 'returned' AND day >= '2026-01-01' "
                "GROUP BY market HAVING count(*) > 5 LIMIT 3"
            ),
            (
                "Counts orders, since 2026-01-01, without status returned, every channel, "
                "by market, those with COUNT(*) > 5, at most 3 rows."
            ),
        ),
        ("SELECT max(amount) FROM orders", "Gives the most of amount (orders)."),
    ],
)
def test_the_sentence_is_made_from_the_query(sql: str, told: str) -> None:
    assert sentence(sql, CATALOGUE, "en") == told


def test_the_sentence_is_german_where_the_session_is() -> None:
    assert sentence(f"{COUNT} WHERE {OCTOBER}", CATALOGUE, "de") == (
        "Zählt orders, 2026-10-01 bis 2026-10-31, jedes market, jedes channel, jedes status."
    )


def test_no_query_has_no_sentence() -> None:
    assert sentence("SELECT (", CATALOGUE, "en") == ""
    assert unused(["orders"], "SELECT (", CATALOGUE, (), date(2026, 1, 1)) == ()
