"""What an intention states, names, and is about (docs/specs/clarification.md, 11 and 12)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preflights_es.features.clarification.domain.topics import find
from preflights_es.features.clarification.domain.values import Named
from tests.each import each


def said(text: str) -> tuple[str, str, str, str]:
    """The stated value, what it replaces, its scope and its reason."""
    found = find(text)
    values = [one.value for one in (*found.stated, *found.replaced)]
    value, replaced = (*values, "", "")[:2]
    return value, replaced, found.scope, found.because


@each(
    ("text", "expected"),
    [
        ("Use PostgreSQL", ("PostgreSQL", "", "", "")),
        ("use postgres for the orders.", ("PostgreSQL", "", "orders", "")),
        ("We decided on Keycloak because LDAP is there", ("Keycloak", "", "", "LDAP is there")),
        ("We chose NebulaGraph for fraud rings", ("NebulaGraph", "", "fraud rings", "")),
        ("Use MySQL instead of PostgreSQL", ("MySQL", "PostgreSQL", "", "")),
        ("RabbitMQ for domain events", ("RabbitMQ", "", "domain events", "")),
        ("Replace Jenkins with GitHub Actions", ("GitHub Actions", "Jenkins", "", "")),
        ("Move the orders from MySQL to pg", ("PostgreSQL", "MySQL", "orders", "")),
        ("Switch from npm to Pnpm for the shop", ("pnpm", "npm", "shop", "")),
        ("Use Solr 9 for the parts", ("Apache Solr 9", "", "parts", "")),
        ("Kafka f\u00fcr Bestellungen verwenden", ("Kafka", "", "Bestellungen", "")),
        ("Wir haben uns f\u00fcr Vue entschieden", ("Vue", "", "", "")),
        (
            "Wir nehmen PostGIS f\u00fcr die Karten, weil es da ist",
            ("PostGIS", "", "Karten", "es da ist"),
        ),
        ("MySQL durch PostgreSQL ersetzen", ("PostgreSQL", "MySQL", "", "")),
        ("Die Rechnungen von Mongo auf pg umstellen", ("PostgreSQL", "MongoDB", "Rechnungen", "")),
        ("Kafka statt RabbitMQ", ("Kafka", "RabbitMQ", "", "")),
    ],
)
def test_a_form_that_covers_the_text_states_a_value(
    text: str, expected: tuple[str, str, str, str]
) -> None:
    found = find(text)
    assert (found.kind, said(text)) == ("stated", expected)


@each(
    "text",
    [
        "We do not want to use Kafka any more",
        "We regret GraphQL",
        "Stop storing sessions in Redis",
        "Never again MongoDB for orders",
        "Remplacer MySQL par PostgreSQL",
        "Replace the home-grown cart in Redis with something that joins orders",
        "Replace UserDao with UserRepository",
        "Use Solr never again",
        "Use Redis for sessions?",
        "Use Kafka for everything and regret it",
        "We use Jenkins for years",
        "We use far too many Lambdas",
        "Wir nehmen Urlaub von Jira",
        "Wir nehmen Redis f\u00fcr Sitzungen nicht mehr",
        "Use Redis for sessions but not for carts",
        "Use a queue",
        "Use It",
        "WE USE SOLR WRONG",
        "Switch from Java 17 to Java 21",
        "Replace Python 3.9 with Python 3.12",
        "Move helpers from utils.py to tools.py",
        "Use src/api for handlers",
        "Use Redis. It is fast.",
        "PostgreSQL",
        "DSGVO",
        "Tests f\u00fcr den Rabatt nachziehen",
        "Import the rows of the old MySQL database once",
    ],
)
def test_whatever_else_is_said_states_nothing(text: str) -> None:
    found = find(text)
    assert (found.stated, found.replaced, found.scope, found.because) == ((), (), "", "")


def test_a_named_value_is_mentioned_with_its_topic() -> None:
    found = find("We do not want to use Kafka any more")
    assert (found.kind, found.topics) == ("choice", ("queue",))
    assert found.mentioned == (Named("queue", "Kafka"),)


def test_a_scope_that_names_the_topic_alone_is_none() -> None:
    found = find("Use Redis for caching")
    assert (found.stated, found.scope) == ((Named("caching", "Redis"),), "")
    assert find("Use Redis for the cache of prices").scope == "cache of prices"


def test_a_topic_is_found_by_its_own_words() -> None:
    assert find("Add full text search").topics == ("search",)
    assert find("Welche Suche nehmen wir?").language == "de"
    assert find("Make it nicer").kind == "open"
    assert find("how should errors of the api look, and which error format?").topics == (
        "error_handling",
        "backend_api",
    )


def test_one_word_names_no_topic_in_a_long_text() -> None:
    text = "Each morning the clerk copies what the cache of yesterday has into a sheet and mails it"
    assert find(f"{text} to us").kind == "open"


@pytest.mark.parametrize(
    "text",
    [
        "Fix the login bug",
        "Bump the Kafka client to 3.7",
        "Postgres 13 to 16",
        "Spring Boot aktualisieren",
        "Add `--quiet` to sync",
    ],
)
def test_a_task_decides_nothing(text: str) -> None:
    assert find(text).kind == "none"


def test_an_everyday_word_is_a_value_where_it_is_written_as_one() -> None:
    assert find("please express the rest in words").mentioned == ()
    assert [one.value for one in find("should we keep Express").mentioned] == ["Express"]


@given(st.text(max_size=300))
@example(".")
@example("Use .")
@example("... instead of ...")
def test_any_text_is_read(text: str) -> None:
    found = find(text)
    assert len(found.stated) <= 1
    assert (found.kind == "stated") == bool(found.stated)
