"""What an intention states and leaves open (specification, sections 11 and 12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.core.views import Language
from preflights_es.workflows.clarification.index import finder_of
from preflights_es.workflows.clarification.pack import STANDARD, STANDARD_1
from preflights_es.workflows.clarification.terms import Terms, is_readable, read, tables_of
from preflights_es.workflows.clarification.topics import Found, find
from preflights_es.workflows.clarification.values import Named


def found(intention: str, language: Language | None = None) -> Found:
    return find(intention, finder_of(STANDARD), language)


@pytest.mark.parametrize(
    ("intention", "stated", "replaced"),
    [
        ("Use PostgreSQL for the orders", ["PostgreSQL"], []),
        ("Migrate from MySQL to PostgreSQL", ["PostgreSQL"], ["MySQL"]),
        ("pnpm instead of npm", ["pnpm"], ["npm"]),
        ("JWT statt Sessions", ["JWT"], ["Sessions"]),
        ("Weg von Oracle, hin zu Postgres", ["PostgreSQL"], ["Oracle"]),
        ("Redux -> Zustand", ["Zustand"], ["Redux"]),
        ("jQuery raus, Vue rein", ["Vue"], ["jQuery"]),
        ("Vuex durch Pinia ersetzen", ["Pinia"], ["Vuex"]),
        ("Can you put Keycloak in front of it?", ["Keycloak"], []),
        ("Use Docker Compose", ["Docker Compose"], []),
        ("zustand instead of redux for the cart", ["Zustand"], ["Redux"]),
        ("use uv for dependency management, poetry goes away", ["uv"], ["Poetry"]),
        ("Pinia löst Vuex ab", ["Pinia"], ["Vuex"]),
        ("styling: CSS modules over styled-components", ["CSS Modules"], ["Styled Components"]),
        ("validate request bodies with zod (today: joi)", ["Zod"], ["Joi"]),
        ("We run MySQL. Use PostgreSQL instead of MySQL", ["PostgreSQL"], ["MySQL"]),
        ("CDN: serve the images from Cloudflare", ["Cloudflare"], []),
        ("Monitoring mit Grafana und Prometheus", ["Grafana, Prometheus"], []),
        ("How do we wire Typesense into the product search?", ["Typesense"], []),
        ("use Redis for rate limiting", ["Redis"], []),
        ("Datenzugriff mit reinem SQL", ["Plain SQL"], []),
        ("Hosting künftig auf eigenen Servern", ["Self-hosted"], []),
        ("caching with Aerospike", ["Aerospike"], []),
        ("Replace Sidekiq with Quirrel", ["Quirrel"], ["Sidekiq"]),
        ("secrets in Doppler, not in SOPS", ["Doppler"], ["Encrypted files (SOPS)"]),
        ("GraphQL for the mobile team next to the existing REST API", ["GraphQL"], []),
        (
            "SSE f\u00fcr den Fortschritt, heute liefert der Endpunkt JSON",
            ["Server-sent events"],
            [],
        ),
    ],
)
def test_a_value_is_taken_unless_a_word_takes_it_away(
    intention: str, stated: list[str], replaced: list[str]
) -> None:
    seen = found(intention)
    assert seen.kind == "stated"
    assert [named.value for named in seen.stated] == stated
    assert [named.value for named in seen.replaced] == replaced


@pytest.mark.parametrize(
    "intention",
    [
        "Upgrade React 17 to 19",
        "Fix the typo in the login page",
        "Rename UserService",
        "Unit-Tests f\u00fcr die Rabattberechnung nachziehen",
        "MySQL 5.7 auf 8.0 aktualisieren",
        "the redis connection isn't closed on shutdown, fix the leak",
        "The Redis client leaks connections under load, see the trace",
        "Celery task sends the mail twice",
        "alembic migration fails on an empty database",
        "docs: explain how to start postgres locally",
    ],
)
def test_work_without_a_decision_gets_no_question(intention: str) -> None:
    assert found(intention).kind == "none"


@pytest.mark.parametrize(
    "intention",
    ["make it faster", "make the app more robust", "Performance verbessern", "new project"],
)
def test_what_is_vague_is_open(intention: str) -> None:
    seen = found(intention)
    assert (seen.kind, seen.topics, seen.stated) == ("open", (), ())


@pytest.mark.parametrize(
    ("intention", "topic"),
    [
        ("Add caching", "caching"),
        ("suche einbauen", "search"),
        ("implement login", "auth"),
        ("bitte kein jenkins mehr. was nehmen wir f\u00fcr die builds?", "ci"),
        ("isn't Kafka overkill for 50 events a day? what else would do", "queue"),
    ],
)
def test_a_topic_is_found_where_a_choice_is_open(intention: str, topic: str) -> None:
    seen = found(intention)
    assert seen.kind == "choice"
    assert seen.topics[0] == topic


@pytest.mark.parametrize(
    ("intention", "topic", "value"),
    [
        ("Write every change to an account into an append-only file", "audit_logging", "file"),
        ("Sicherung der Datenbank per SQL-Dump, jede Nacht", "backup", "Dumps to another site"),
        ("Den Import als asyncio-Task im Hintergrund", "background_jobs", "asyncio-Task"),
        ("Produktseiten serverseitig gerendert, wegen Google", "rendering", "Server-side (SSR)"),
        ("Sensor readings go into GreptimeDB", "database", "GreptimeDB"),
    ],
)
def test_a_way_that_is_described_is_the_value(intention: str, topic: str, value: str) -> None:
    said = {named.topic: named.value for named in found(intention).stated}
    assert value in said[topic]


@pytest.mark.parametrize(
    "intention",
    [
        "The month end run is started by hand by accounting",
        "Die Vereinsseite hosten wir bei Mittwald",
        "Limit logins with the counter of the proxy",
        "Der Browser holt neue Meldungen per Abfrage alle 30 Sekunden, mehr brauchen wir nicht",
    ],
)
def test_a_way_that_names_no_value_gets_no_menu(intention: str) -> None:
    assert found(intention).kind == "open"


@pytest.mark.parametrize(
    ("intention", "topic"),
    [
        ("API keys are in .env files that we pass around on Slack", "secrets"),
        ("Polling from 5000 browsers is killing us, show new bids at once", "realtime"),
        ("Suche \u00fcber alle Dateien eines Projekts", "search"),
        ("Should every change go into an append-only table?", "audit_logging"),
    ],
)
def test_a_way_of_today_or_in_doubt_answers_nothing(intention: str, topic: str) -> None:
    seen = found(intention)
    assert (seen.kind, seen.topics[:1]) == ("choice", (topic,))


def test_two_values_make_the_question_one_between_them() -> None:
    seen = found("REST oder GraphQL f\u00fcr die H\u00e4ndler?")
    assert (seen.kind, seen.topics[0]) == ("choice", "backend_api")
    assert seen.between == ("REST", "GraphQL")


def test_a_value_beside_or_is_one_way_of_several() -> None:
    seen = found("Styling: CSS modules or what else")
    assert (seen.kind, seen.topics, seen.stated) == ("choice", ("styling",), ())


def test_a_value_of_another_topic_serves_the_one_that_is_named() -> None:
    assert found("use Postgres as our job queue").stated == (Named("queue", "PostgreSQL"),)
    assert found("use Postgres for the orders").stated == (Named("database", "PostgreSQL"),)


@pytest.mark.parametrize(
    "intention",
    [
        "profile pictures live on the server's disk and we add a second server, where do they go?",
        "hand-written SQL strings everywhere. What do we put in between?",
        "Add search with PDF support",
    ],
)
def test_an_everyday_word_states_nothing_by_itself(intention: str) -> None:
    assert found(intention).stated == ()


@given(st.text("ab1 .!?;\n_-'(),:/A", max_size=60))
def test_plain_text_is_read_as_any(text: str) -> None:
    other = read(f"{text} \u2192").words  # the arrow takes the way of all texts
    plain = [";" if word == "\n" else word for word in other if word != "\u2192"]
    assert read(text).words == plain


def test_a_pack_without_such_words_keeps_its_rules() -> None:
    first = find("CSS modules over styled-components", finder_of(STANDARD_1))
    assert (first.kind, first.between) == ("choice", ("CSS Modules", "Styled Components"))


def test_a_value_that_leaves_without_a_successor_opens_its_topic() -> None:
    seen = found("weg von Jenkins, nur wohin?")
    assert (seen.kind, seen.topics[0]) == ("choice", "ci")
    assert [named.value for named in seen.replaced] == ["Jenkins"]


def test_two_topics_of_one_score_get_an_open_question_unless_both_are_named() -> None:
    assert found("need to push telemetry of 2000 e-scooters onto a map").kind == "open"
    assert found("Add caching and search").kind == "choice"


def test_one_word_alone_opens_no_topic() -> None:
    assert found("The dashboard is slow for the sales team").kind == "open"


def test_a_menu_needs_more_than_words_for_another_topic_or_one_in_a_long_text() -> None:
    assert found("mypy meckert 14 mal in billing/, bitte sauber machen").kind == "none"
    story = "my colleagues told me at lunch that one of them would like to talk about it some day"
    assert found("How do we cache prices?").kind == "choice"
    assert found(f"How do we cache prices? I ask because {story}").kind == "open"


def test_an_instruction_that_names_code_is_a_small_task() -> None:
    assert found("add --quiet to `sync`").kind == "none"
    assert found("`sync` is a mess, we need something else for it").kind == "open"


def test_a_described_way_is_stated_without_a_product() -> None:
    said = {
        "let's log people in with a link that we mail them, no passwords at all": "Magic Link",
        "Version der API kommt in den Pfad, also /v2/orders neben /v1/orders": "URL path",
        "Trigger auf jeder Tabelle schreiben alten und neuen Wert mit": "Database triggers",
        "Rolle steht am User, geprüft wird in der Middleware": "RBAC",
    }
    for text, value in said.items():
        assert value in {named.value for named in found(text).stated}, text


def test_a_need_is_no_task_where_words_say_more_for_its_topic() -> None:
    text = (
        "Bestellungen müssen ins Lagersystem, ohne dass der Shop steht wenn eins von beiden hängt"
    )
    assert found(text).kind in ("choice", "open")


def test_a_value_of_another_topic_is_stated_beside_the_choice() -> None:
    seen = found("We build it in Vue; how do people sign in?")
    assert (seen.kind, seen.topics[0]) == ("choice", "auth")
    assert [named.value for named in seen.stated] == ["Vue"]


def test_several_topics_are_named() -> None:
    assert set(found("Add caching and search").topics) == {"caching", "search"}


def test_the_language_is_that_of_the_intention_unless_it_is_said() -> None:
    assert found("Suche einbauen").language == "de"
    assert found("Add search").language == "en"
    assert found("Add search", "de").language == "de"


@pytest.mark.parametrize(
    ("term", "is_good"),
    [
        ("cache", True),
        ("cach*", True),
        ("sign in", True),
        ("who .. changed", True),
        ("=REST", True),
        ("^ sort", True),
        ("job*", False),
        ("Cache", False),
        ("", False),
        ("a  b", False),
        ("a *", False),
        (".. a", False),
        ("a ..", False),
        ("=", False),
    ],
)
def test_a_term_that_could_not_be_found_is_seen(term: str, is_good: bool) -> None:
    assert is_readable(term) == is_good


@pytest.mark.parametrize(
    ("term", "text", "spans"),
    [
        ("cache", "A cache. The CACHE", [(2, 3), (5, 6)]),
        ("anmeld*", "Die Anmeldung", [(2, 3)]),
        ("*suche", "Volltextsuche", [(1, 2)]),
        ("who .. changed", "who has ever changed it", [(1, 5)]),
        ("who .. changed", "who is it? changed", []),
        ("=REST", "the rest is REST", [(4, 5)]),
        ("ueber", "\u00dcber", [(1, 2)]),
        ("^ sort", "Sort, then sort", [(0, 2)]),
        ("io $", "fly.io", [(2, 4)]),
        ("sign in", "sign. in", []),
    ],
)
def test_a_term_is_found_in_its_forms(term: str, text: str, spans: list[tuple[int, int]]) -> None:
    assert [hit[:2] for hit in Terms(tables_of([term])).found(read(text))] == spans


@given(st.text(max_size=300))
def test_any_text_is_about_something(text: str) -> None:
    seen = found(text)
    assert bool(seen.topics) >= (seen.kind == "choice")
    assert bool(seen.stated) >= (seen.kind == "stated")
    assert seen == found(text)
