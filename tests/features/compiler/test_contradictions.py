"""A plan contradicts a decision where a form states another value; whatever else it says mentions.

Mentions are told where the decided value stands nowhere, and do not block.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from preflights_es.features.compiler.domain.contradictions import contradictions, mentions
from preflights_es.features.compiler.domain.values import DecidedField, ReadDecision
from tests.each import each
from tests.features.compiler.passes_read import decided

AUTH = DecidedField("Authentication strategy", "OAuth", ("Email/Password", "Magic Link"))
DB = DecidedField("Database", "PostgreSQL", ("MySQL", "MongoDB", "Other (specify)"))
API = DecidedField("API", "GraphQL", ("REST", "gRPC"))
HOSTING = DecidedField("Hosting", "Self-hosted", ("Cloud", "Serverless", "None", "Custom"))
LANGUAGE = DecidedField("Language", "Python", ("Go", "C", "C++", "C#", "Java", "Rust"))
FRAMEWORK = DecidedField("Framework", "Django", (".NET", "Express", "Node.js"))
TENANCY = DecidedField("Tenancy", "Schema per tenant", ("Shared tables with a tenant column",))
STORE = DecidedField("File storage", "Object storage (S3)", ("File system", "Database"))
PIPELINE = DecidedField("Pipeline", "Scheduled scripts", ("Orchestrator (Airflow, Dagster)",))
LONGER = DecidedField("Login", "JWT", ("JWT with refresh", "Session cookie"))
SHORTER = DecidedField("Login", "JWT with refresh", ("JWT", "Session cookie"))
SEVERAL = DecidedField("Stores", "PostgreSQL, Redis", ("MySQL", "Redis", "MongoDB"))
VERSION = DecidedField("Database", "PostgreSQL 15", ("MySQL 8",))
ANSWER = DecidedField("Public", "Yes", ("No", "Not sure"))
NUMBER = DecidedField("Instances", "3", ("5", "A"))
GERMAN = DecidedField("Datenbank", "Größe", ("Straße",))

MENTIONING = [
    (DB, "Stores orders in MySQL."),
    (DB, "stores orders in mysql."),
    (DB, "STORES ORDERS IN MYSQL"),
    (DB, "src/infrastructure/mysql/orders.py"),
    (DB, "src/mysql_orders.py"),
    (DB, "src/orders-mongodb.py"),
    (DB, "MySQL"),
    (DB, "(MongoDB)"),
    (DB, "MongoDB's collections hold the orders"),
    (DB, "A PostgreSQLish dialect of MySQL"),
    (AUTH, "Checks the email/password pair."),
    (AUTH, "Sends a magic link to the customer."),
    (AUTH, "sends a magic-link"),
    (AUTH, "src/auth/magic_link.py"),
    (API, "Offers REST to the shop."),
    (API, "src/api/rest.py"),
    (API, "rest"),
    (API, "Speaks gRPC between services."),
    (HOSTING, "A serverless function takes the order."),
    (LANGUAGE, "Go"),
    (LANGUAGE, "Written in Go, as the rest is."),
    (LANGUAGE, "java"),
    (LANGUAGE, "Orders are counted in C++."),
    (LANGUAGE, "A service in C#"),
    (FRAMEWORK, "Runs on .NET in the shop."),
    (FRAMEWORK, "Runs on node.js."),
    (FRAMEWORK, "Answers with Express in front."),
    (TENANCY, "Uses shared tables with a tenant column."),
    (PIPELINE, "An orchestrator starts the nightly import."),
    (LONGER, "Signs in by JWT with refresh."),
    (SEVERAL, "Keeps the catalogue in MongoDB."),
    (VERSION, "Moves to MySQL 8."),
    (GERMAN, "Liegt in der STRASSE."),
    (GERMAN, "Liegt in der Straße."),
]

INNOCENT = [
    (DB, "Stores orders in PostgreSQL."),
    (DB, "Moves the orders from MySQL to PostgreSQL."),
    (DB, "Stores orders in postgresql, not in MongoDB."),
    (DB, "MySQLi is a word of its own, and so is NotMongoDB."),
    (DB, "Names no store at all."),
    (DB, "Some other way: specify it later."),
    (DB, "Other"),
    (AUTH, "Checks the email, then the password."),
    (AUTH, "A link does no magic: magical links are gone."),
    (AUTH, "OAuth, where others have a magic link."),
    (API, "The rest of the order is delivered later."),
    (API, "Orders rest until they are paid."),
    (API, "Restores the basket after an arrest of its owner."),
    (API, "Rest assured: sentences may begin so."),
    (HOSTING, "None of the orders is lost."),
    (HOSTING, "A custom rule for the cloud of points."),
    (LANGUAGE, "Orders go to the warehouse."),
    (LANGUAGE, "Go on with the next order."),
    (LANGUAGE, "Plan C is another plan."),
    (LANGUAGE, "JavaScript is neither."),
    (LANGUAGE, "Trust in rustic furniture"),
    (FRAMEWORK, "An express delivery is paid for by the customer."),
    (FRAMEWORK, "Works on the internet and on an intra.net"),
    (TENANCY, "Has shared tables. Each has a tenant column."),
    (STORE, "Reads the database and the file system of the shop."),
    (PIPELINE, "Tells an orchestra when to begin"),
    (LONGER, "Signs in by JWT."),
    (SHORTER, "Signs in by JWT."),
    (SEVERAL, "Caches the basket in Redis."),
    (SEVERAL, "Moves MongoDB to Redis."),
    (VERSION, "Moves MySQL 8 to PostgreSQL."),
    (ANSWER, "No order is lost, not sure why."),
    (GERMAN, "Von der Straße zur GRÖSSE."),
    (NUMBER, "At most 5 orders, a line each"),
]


STATING = [
    (DB, "Use MySQL instead of PostgreSQL"),
    (DB, "Use MySQL instead of postgres"),
    (DB, "Use MySQL"),
    (DB, "use mysql for the orders."),
    (DB, "Use MySQL 8 because the team runs it"),
    (DB, "Use Mongo for the orders"),
    (DB, "We decided on MongoDB"),
    (DB, "Replace PostgreSQL with MySQL"),
    (DB, "Replace pg with mongo"),
    (DB, "Replace PostgreSQL with SurrealDB"),
    (DB, "Move the orders from PostgreSQL to MySQL"),
    (DB, "Migrate from PostgreSQL 15 to MySQL 8"),
    (DB, "MySQL for orders"),
    (DB, "Keep the rows in place. Use MySQL for new orders."),
    (DB, "1. Use MySQL for the orders"),
    (DB, "- Use MySQL for the orders"),
    (DB, "MySQL statt PostgreSQL verwenden"),
    (DB, "MySQL einsetzen"),
    (DB, "Wir nehmen MySQL"),
    (DB, "Wir verwenden Mongo für Bestellungen"),
    (DB, "Wir haben uns für MongoDB entschieden"),
    (DB, "PostgreSQL durch MySQL ersetzen"),
    (DB, "Bestellungen von PostgreSQL auf MySQL umziehen"),
    (VERSION, "Use MySQL 5"),
    (API, "Use REST"),
    (FRAMEWORK, "Use Express for the API"),
]

STATING_NOTHING = [
    (DB, "Import the rows of the old MySQL database once"),
    (DB, "Use PostgreSQL instead of MySQL"),
    (DB, "Use postgres for the orders"),
    (DB, "Use pg"),
    (DB, "Use PostgreSQL 16"),
    (DB, "Use PostgreSQL 16 instead of PostgreSQL 15"),
    (DB, "Replace MySQL with PostgreSQL"),
    (DB, "Move the orders from MySQL to PostgreSQL"),
    (DB, "Do not use MySQL"),
    (DB, "Use MySQL never again"),
    (DB, "Use MySQL?"),
    (DB, "Use MySQL and PostgreSQL"),
    (DB, "Use Redis for the cache"),
    (DB, "Test that MySQL is gone"),
    (DB, "Stores orders in MySQL."),
    (DB, "src/mysql_orders.py"),
    (DB, "Die Zeilen der alten MySQL-Datenbank einmal importieren"),
    (DB, "MySQL durch PostgreSQL ersetzen"),
    (DB, "PostgreSQL statt MySQL verwenden"),
    (DB, "Move from PostgreSQL 15 to PostgreSQL 16"),
    (DB, "Upgrade MySQL 5 to MySQL 8 before the import"),
    (DB, "Remplacer PostgreSQL par MySQL"),
    (VERSION, "Use postgres 16"),
    (SEVERAL, "Use Redis"),
    (API, "Use the rest of the list"),
    (ANSWER, "No"),
]


def stated(texts: list[tuple[str, str]], *rules: ReadDecision) -> list[tuple[str, str]]:
    return list(contradictions(texts, rules))


@each(("field", "text"), STATING)
def test_a_text_that_states_another_value_contradicts(field: DecidedField, text: str) -> None:
    ((pointer, message),) = stated([("/steps/0", text)], decided(field))
    assert pointer == "/steps/0"
    assert message.startswith("states ")
    assert "auth-7" in message


@each(("field", "text"), STATING_NOTHING)
def test_whatever_else_a_text_says_contradicts_nothing(field: DecidedField, text: str) -> None:
    assert stated([("/steps/0", text)], decided(field)) == []


def test_the_decided_value_elsewhere_does_not_excuse_a_statement() -> None:
    texts = [("/a", "Use MySQL for the orders"), ("/b", "Import the rows into PostgreSQL")]
    assert [at for at, _ in stated(texts, decided(DB))] == ["/a"]


@pytest.mark.parametrize("value", ["Go", "go", "Java", "Golang"])
def test_a_language_of_the_plan_is_a_value_as_it_stands(value: str) -> None:
    assert len(stated([("/constraints/languages/1", value)], decided(LANGUAGE))) == 1
    assert stated([("/modules/1/name", value)], decided(LANGUAGE)) == []
    assert stated([("/constraints/languages/1", "Python")], decided(LANGUAGE)) == []


def test_each_value_is_found_where_it_is_stated_first() -> None:
    texts = [("/a", "Use MySQL"), ("/b", "Use MySQL for the carts"), ("/c", "Use gRPC")]
    found = stated(texts, decided(DB, uid="db-1"), decided(API, uid="api-2"))
    assert [at for at, _ in found] == ["/a", "/c"]
    assert [what.split("decision ")[1].split()[0] for _, what in found] == ["db-1", "api-2"]


@pytest.mark.parametrize(
    ("text", "contradicts"),
    [
        ("Use MySQL for the orders", True),
        ("Use MySQL for orders", True),
        ("Use MySQL for an order", True),
        ("Use MySQL instead of PostgreSQL", True),
        ("Use MySQL for the carts", False),
        ("Use MySQL instead of PostgreSQL for the carts", False),
        ("Use MySQL", False),
    ],
)
def test_a_decision_holds_for_its_scope(text: str, contradicts: bool) -> None:
    scoped = replace(decided(DB), scope="orders")
    found = stated([("/a", text)], scoped)
    assert bool(found) == contradicts
    assert all('of "orders"' in message for _, message in found)
    said = list(mentions([("/a", text)], [scoped]))
    is_told = not contradicts and "PostgreSQL" not in text
    assert bool(said) == is_told, "nothing is lost: what does not block is told"


# Mentions ------------------------------------------------------------------------------------


@each(("field", "text"), MENTIONING)
def test_a_text_that_names_another_option_mentions_it(field: DecidedField, text: str) -> None:
    ((pointer, message),) = mentions([("/steps/0", text)], [decided(field)])
    assert pointer == "/steps/0"
    assert message.startswith("names ")
    assert "auth-7" in message


@each(("field", "text"), INNOCENT)
def test_a_text_that_names_no_other_option_or_the_value_too_does_not(
    field: DecidedField, text: str
) -> None:
    assert list(mentions([("/steps/0", text)], [decided(field)])) == []


def test_there_are_enough_of_both() -> None:
    assert len(MENTIONING) >= 25
    assert len(INNOCENT) >= 25


def test_the_decided_value_may_stand_in_any_text() -> None:
    texts = [("/a", "Reads from MySQL."), ("/b", "Writes to PostgreSQL.")]
    assert list(mentions(texts, [decided(DB)])) == []


def test_each_option_is_found_where_it_is_named_first() -> None:
    texts = [("/a", "MongoDB"), ("/b", "MySQL, then MongoDB")]
    found = mentions(texts, [decided(DB), decided(API)])
    assert [at for at, _ in found] == ["/a", "/b"]


def test_what_is_stated_is_not_told_as_a_mention_too() -> None:
    assert list(mentions([("/a", "Use MySQL")], [decided(DB)])) == []


def test_a_decision_without_other_options_is_contradicted_only_where_it_is_replaced() -> None:
    field = DecidedField("Name", "Orders")
    assert stated([("/a", "Use Anything")], decided(field)) == []
    assert list(mentions([("/a", "Anything")], [decided(field)])) == []
