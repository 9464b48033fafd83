"""A plan contradicts a decision where it names another option, and the decided value nowhere."""

from __future__ import annotations

import pytest

from preflights_es.core.verdict import VIOLATIONS_MAX
from preflights_es.workflows.compiler.checks import contradictions
from preflights_es.workflows.compiler.values import DecidedField
from tests.workflows.compiler.passes_read import decided

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

CONTRADICTING = [
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


@pytest.mark.parametrize(("field", "text"), CONTRADICTING)
def test_a_text_that_names_another_option_contradicts(field: DecidedField, text: str) -> None:
    (found,) = contradictions([("/steps/0", text)], [decided(field)])
    assert found.pointer == "/steps/0"
    assert "auth-7" in found.message


@pytest.mark.parametrize(("field", "text"), INNOCENT)
def test_a_text_that_names_no_other_option_or_the_value_too_does_not(
    field: DecidedField, text: str
) -> None:
    assert contradictions([("/steps/0", text)], [decided(field)]) == ()


def test_there_are_enough_of_both() -> None:
    assert len(CONTRADICTING) >= 25
    assert len(INNOCENT) >= 25


def test_the_decided_value_may_stand_in_any_text() -> None:
    texts = [("/a", "Reads from MySQL."), ("/b", "Writes to PostgreSQL.")]
    assert contradictions(texts, [decided(DB)]) == ()


def test_each_option_is_found_where_it_is_named_first() -> None:
    texts = [("/a", "MongoDB"), ("/b", "MySQL, then MongoDB")]
    found = contradictions(texts, [decided(DB), decided(API)])
    assert [one.pointer for one in found] == ["/a", "/b"]


def test_each_decision_is_named() -> None:
    rules = [decided(DB, uid="db-1"), decided(AUTH, API, uid="api-2")]
    found = contradictions([("/a", "MySQL and gRPC")], rules)
    assert [one.message.split("decision ")[1].split()[0] for one in found] == ["db-1", "api-2"]


def test_no_more_is_named_than_a_person_can_use() -> None:
    rules = [decided(DB, uid=f"db-{n}") for n in range(2 * VIOLATIONS_MAX)]
    assert len(contradictions([("/a", "MySQL")], rules)) == VIOLATIONS_MAX


def test_a_decision_without_other_options_is_contradicted_by_nothing() -> None:
    field = DecidedField("Name", "Orders")
    assert contradictions([("/a", "Anything")], [decided(field)]) == ()
