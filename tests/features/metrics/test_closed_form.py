"""The closed form of a question: what it means, word for word, and what is asked back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.metrics.domain.composing import Meant
from preflights_es.features.metrics.domain.events import Metric, Table
from preflights_es.features.metrics.domain.reference import (
    QuestionBack,
    answer_conversation,
    shown_meaning,
    understood,
)
from preflights_es.features.metrics.domain.sql_check import findings
from preflights_es.words.questions import Language
from tests.each import each
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)
TODAY: Final = date(2026, 11, 23)
DAYS: Final = "day >= :first_day AND day < :end_day"
METRICS: Final = (
    Metric(
        name="revenue",
        aliases=("Umsatz", "länderumsatz", "straßenumsatz"),
        sql=f"SELECT sum(amount) AS revenue FROM sales WHERE {DAYS}",
        dimensions=("country", "channel", "path"),
        date="day",
        words=(
            ("country", ("market", "Land")),
            ("channel", ("sales channel", "way")),
            ("path", ("way",)),
        ),
        values=(
            ("country", "DE", ("Germany",)),
            ("country", "AT", ("Austria",)),
            ("country", "CH", ()),
        ),
    ),
    Metric(
        name="orders",
        sql=f"SELECT count(*) AS orders FROM sales WHERE {DAYS}",
        dimensions=("open",),
        date="day",
    ),
    Metric(
        name="open orders",
        sql="SELECT count(*) AS orders FROM sales WHERE open",
        dimensions=("channel",),
        words=(("channel", ("sales channel",)),),
    ),
    Metric(name="names", sql="SELECT name FROM sales", dimensions=("open",)),
    Metric(name="Ads Gross Rev", aliases=("rev",), sql=f"SELECT sum(a) FROM sales WHERE {DAYS}"),
    Metric(name="Net Ads Rev", aliases=("rev",), sql=f"SELECT sum(n) FROM sales WHERE {DAYS}"),
)
TABLES: Final = (Table("sales"),)


def read(*said: str, language: Language = "en") -> str:
    """The closed form of what a conversation means, or what is asked back."""
    meant = understood(said, METRICS, TODAY, language)
    return shown_meaning(meant, language) if isinstance(meant, Meant) else meant.text


# 1. Forms ------------------------------------------------------------------------------------


@each(("text", "expected"), FILED["understood"])
def test_parts_are_read_in_any_order_and_case(text: str, expected: str) -> None:
    assert read(text) == expected
    assert read(expected) == expected, "what is shown can be said"


@each(("text", "words"), FILED["asked_back"])
def test_anything_else_is_asked_back_with_what_there_is(text: str, words: str) -> None:
    meant = understood((text,), METRICS, TODAY, "en")
    assert isinstance(meant, QuestionBack), meant
    assert words in meant.text
    assert "you can say: " in meant.text or "Which metric do you mean? There are: " in meant.text


@each(("text", "expected"), FILED["ranges"])
def test_a_range_is_said_in_two_languages(text: str, expected: str) -> None:
    assert read(f"revenue {text}") == f"revenue {expected}"
    assert read(f"{text} revenue") == f"revenue {expected}"


@each("text", FILED["no_range"])
def test_what_may_be_several_ranges_or_none_is_asked_about(text: str) -> None:
    assert read(f"revenue {text}").startswith("I do not know *")


def test_an_alias_of_two_metrics_and_a_word_of_two_dimensions_are_a_choice() -> None:
    for text, candidates in (
        ("rev?", ["Ads Gross Rev", "Net Ads Rev"]),
        ("revenue by way", ["by channel", "by path"]),
        ("revenue way='web shop'", ['channel="web shop"', 'path="web shop"']),
    ):
        found = answer_conversation((text,), METRICS, TODAY, "en")
        assert found == {"type": "ambiguous", "candidates": candidates}


def test_a_name_that_is_a_word_of_the_language_needs_quotes() -> None:
    metric = Metric(name="today", sql=f"SELECT count(*) AS n FROM sales WHERE {DAYS}", date="day")
    both = (metric, METRICS[1])
    for text in ("today", "orders today"):
        assert isinstance(understood((text,), both, TODAY, "en"), QuestionBack)
    found = understood(('"today" yesterday',), both, TODAY, "en")
    assert isinstance(found, Meant)
    assert (found.metric.name, found.days) == ("today", (date(2026, 11, 22), TODAY))


def test_a_step_that_is_a_dimension_as_well_is_asked_about() -> None:
    sql = f"SELECT count(*) AS n FROM sales WHERE {DAYS}"
    metrics = (
        Metric(name="a", sql=sql, dimensions=("day", "month"), date="day"),
        Metric(name="b", sql=sql, dimensions=("month",)),
        METRICS[1],
    )
    for text, expected in (
        ("a by day", "SELECT substr(CAST(day AS TEXT), 1, 10) AS day, count"),
        ('a by "month"', "SELECT month, count"),
        ("b by month", "SELECT month, count"),
        ("orders by month", "SELECT substr(substr(CAST(day AS TEXT), 1, 10), 1, 7) AS month"),
    ):
        found = answer_conversation((text,), metrics, TODAY, "en")
        assert isinstance(found, dict)
        assert found["sql"].startswith(expected), text
    assert "month is a step of time and a dimension" in str(
        answer_conversation(("a by month",), metrics, TODAY, "en")
    )


def test_german_sessions_are_asked_in_german() -> None:
    assert read("Wie geht es?", language="de").startswith("*Wie geht es* kenne ich nicht. Welche")
    assert read("Umsatz nach Land", language="de") == "revenue nach country alle Tage"


# 2. Conversations ----------------------------------------------------------------------------


@each(("said", "expected"), FILED["conversations"])
def test_a_message_changes_the_parts_that_it_names(said: list[str], expected: str) -> None:
    assert read(*said) == expected


@each(("said", "words"), FILED["still_asked"])
def test_a_part_that_was_asked_about_is_never_dropped(said: list[str], words: str) -> None:
    assert words in read(*said)


# 3. Rows -------------------------------------------------------------------------------------

ROWS: Final = [
    ("2026-11-20 09:15:00", "DE", "web", 10, 1),
    ("2026-11-20 23:59:59", "DE", "phone", 5, 2),
    ("2026-11-21 00:00:00", "AT", "web", 7, 1),
    ("2026-11-22", "CH", None, 7, 2),
]


@each(
    ("text", "expected"),
    [
        ("revenue by day", [("2026-11-20", 15), ("2026-11-21", 7), ("2026-11-22", 7)]),
        ("revenue by week", [("2026-11-16", 29)]),
        ("revenue by month", [("2026-11", 29)]),
        ("revenue by quarter", [("2026-Q4", 29)]),
        ("revenue by year", [("2026", 29)]),
        ("revenue 2026-11-20", [(15,)]),
        ("revenue 2026-11-20..2026-11-21", [(22,)]),
        ("revenue by country top 1", [("DE", 15)]),
        ("revenue by country top 2", [("DE", 15), ("AT", 7), ("CH", 7)]),
        ("revenue by day top 1", [("2026-11-20", 15)]),
        ("revenue path=1", [(17,)]),
        ("revenue channel=web country=AT", [(7,)]),
        ("revenue channel=Web", [(None,)]),
    ],
)
def test_a_query_brings_the_rows_that_were_asked_for(text: str, expected: list[object]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE sales (day, country, channel, amount, path)")
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?, ?)", ROWS)
        found = answer_conversation((text,), METRICS, TODAY, "en")
        assert isinstance(found, dict), found
        assert connection.execute(found["sql"]).fetchall() == expected


PIECES: Final = ("revenue", "by", "country", "=", "DE", "..", "top", "2", "2026-11", "today", ",")


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join))
def test_any_text_is_a_query_that_passes_the_check_or_words(text: str) -> None:
    found = answer_conversation((text,), METRICS, TODAY, "en")
    if isinstance(found, dict) and found["type"] == "sql":
        assert not findings(found["sql"], "sqlite", TABLES)
        meant = understood((text,), METRICS, TODAY, "en")
        assert isinstance(meant, Meant)
        assert understood((shown_meaning(meant, "en"),), METRICS, TODAY, "en") == meant


@given(st.text(st.characters(categories=["Ll", "Lu"]), min_size=5, max_size=12))
def test_a_made_up_word_is_named(word: str) -> None:
    assert read(f"revenue zz{word}").startswith(f"I do not know *zz{word}*.")
