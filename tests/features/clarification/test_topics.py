"""What a pack says, what an intention is about, and the value that it states."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Final
from unicodedata import normalize

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.features.clarification import domain as clarification
from preflights_es.features.clarification.domain import choices, rules, topics
from preflights_es.features.clarification.domain import state as states
from preflights_es.features.clarification.domain.events import (
    ClarificationAnswerAccepted,
    ClarificationQuestionAsked,
    IntentionDeclared,
    PatchProposed,
    TopicsFound,
)
from preflights_es.features.clarification.domain.pack import (
    NO_TABLES,
    STANDARD,
    load_pack,
    merge_session_tables,
)
from preflights_es.features.clarification.domain.state import title_of, with_article
from preflights_es.features.clarification.domain.topics import find
from preflights_es.features.clarification.domain.values import (
    Category,
    DecisionPatch,
    Field,
    HeuristicsConfig,
    TopicValue,
)
from preflights_es.features.clarification.domain.views import view
from preflights_es.kernel.events import Input
from preflights_es.words import language
from preflights_es.words.decisions import AttributedReason
from tests.each import each
from tests.features.clarification.cases import (
    after,
    answered,
    check,
    declared,
    log,
    reasoned,
    revised,
)
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)


def said(text: str) -> tuple[str, str, str, str]:
    """The stated value, what it replaces, its scope and its reason."""
    found = find(text)
    values = [one.value for one in (*found.stated, *found.replaced)]
    value, replaced = (*values, "", "")[:2]
    return value, replaced, found.scope, found.because


@each(("text", "expected"), FILED["a_form_that_covers_the_text_states_a_value"])
def test_a_form_that_covers_states_a_value(text: str, expected: tuple[str, str, str, str]) -> None:
    found = find(text)
    assert (found.kind, said(text)) == ("stated", expected)


@each("text", FILED["whatever_else_is_said_states_nothing"])
def test_whatever_else_is_said_states_nothing(text: str) -> None:
    found = find(text)
    assert (found.stated, found.scope, found.because) == ((), "", "")


@each(
    "text",
    [
        *(text for text, _ in FILED["a_form_that_covers_the_text_states_a_value"]),
        *FILED["whatever_else_is_said_states_nothing"],
        "Wähle eine Datenbank für die Aufträge",
        "Use Café2 for Zürich's bakeries because Müsli is sold there",
    ],
)
def test_accents_say_the_same_however_they_were_typed(text: str) -> None:
    assert find(normalize("NFD", text)) == find(normalize("NFC", text))
    words = rules.keyword_tokens(normalize("NFC", text))
    assert rules.keyword_tokens(normalize("NFD", text)) == words


@each(("text", "expected"), FILED["a_choice_that_is_asked_for_has_a_menu"])
def test_a_choice_that_is_asked_for_has_a_menu(text: str, expected: tuple[str, str]) -> None:
    found = find(text)
    assert (found.topics, found.scope) == ((expected[0],), expected[1])


@each("text", FILED["whatever_else_is_said_has_no_menu"])
def test_whatever_else_is_said_has_no_menu(text: str) -> None:
    assert find(text).topics == ()


def test_a_text_that_a_form_covers_has_the_words_without_which_none_is_compiled() -> None:
    asking = (text for text, _ in FILED["a_choice_that_is_asked_for_has_a_menu"])
    stating = [text for text, _ in FILED["a_form_that_covers_the_text_states_a_value"]]
    parts = [part for text in (*asking, *stating) for part in choices.clauses(text)]
    covered = set[str]()
    for form in (*(one.pattern for one in choices.FORMS), *choices._REPLACES, choices._REPLACEMENT):
        for part in parts:
            if choices._pattern(form).search(part.folded):
                covered.add(form)
                for words in choices._needed_words(form):
                    assert any(word in part.folded for word in words), (form, part.text)
    assert len(covered) > 20
    for word, statement in (*language.ENGLISH, *language.GERMAN):
        assert all(word in text.casefold() for text in stating if statement.fullmatch(text)), word


@each(("text", "expected"), FILED["what_a_text_rules_out_is_no_option"])
def test_what_a_text_rules_out_is_no_option(text: str, expected: tuple[str, ...]) -> None:
    state = after(by_pack(text))
    assert state.turns.question is not None
    assert view(state).instead_of == tuple(expected)
    assert not {*expected}.intersection(state.turns.question.options)


def test_what_was_passed_or_taken_does_not_stand_under_instead_of() -> None:
    text = "Find a message broker, but please not Kafka"
    assert view(after(by_pack(text), answered(message_broker="Kafka"))).instead_of == ()
    assert view(after(by_pack(text), reasoned(Kafka="too big"))).instead_of == ()
    assert view(after(by_pack("Use NATS instead of Kafka"))).instead_of == ()


def test_a_scope_that_names_the_topic_alone_is_none() -> None:
    found = find("Use Redis for caching")
    assert (found.stated, found.scope) == ((TopicValue("caching", "Redis"),), "")
    for text in ("Use Zustand for state", "Use Luxon for dates", "Use Playwright for e2e tests"):
        assert (find(text).scope, view(after(by_pack(text))).title) == ("", text)
    assert find("Use Redis for the cache of prices").scope == "cache of prices"
    assert find("Use Fastify for the API").scope == "API"


@each(
    "text",
    [
        "Fix the typo",
        "Bump the Kafka client to 3.7",
        "Postgres 13 to 16",
        "Spring Boot aktualisieren",
        "Add `--quiet` to sync",
    ],
)
def test_no_text_is_taken_for_a_task(text: str) -> None:
    state = after(by_pack(text))
    assert state.found.topics is not None
    assert (state.found.topics.stated, state.offer.stopped) == ((), "")


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


POSTGRES = DecisionPatch("Database", (("Type", "PostgreSQL"),))


def by_pack(intention: str, tables: HeuristicsConfig = NO_TABLES) -> IntentionDeclared:
    return declared(intention, heuristics=tables, pack=STANDARD)


def test_a_stated_value_is_the_answer() -> None:
    stated = (TopicValue("database", "PostgreSQL"),)
    check(
        when=by_pack("Migrate from MySQL to PostgreSQL"),
        then=(
            TopicsFound(
                kind="stated",
                language="en",
                stated=stated,
                replaced=(TopicValue("database", "MySQL"),),
            ),
            ClarificationAnswerAccepted(
                key="db_type",
                answer="PostgreSQL",
                field="Type",
                value="PostgreSQL",
                source="stated",
            ),
            PatchProposed(patch=POSTGRES, hint="adr"),
        ),
    )


def test_a_stated_value_can_be_answered_otherwise_or_revised() -> None:
    state = after(by_pack("Use PostgreSQL for orders"), answered(db_type="MySQL"))
    assert state.offer.patch == DecisionPatch("Database", (("Type", "MySQL"),))
    again = log(by_pack("Use PostgreSQL"), answered(db_type="MySQL"), answered(db_type="MongoDB"))
    assert "already_answered" in repr(again)
    state = after(by_pack("Use PostgreSQL for orders"), revised(db_type="MongoDB"))
    assert state.offer.patch == DecisionPatch("Database", (("Type", "MongoDB"),))


def test_what_no_topic_covers_gets_one_open_question() -> None:
    state = after(by_pack("Performance verbessern"))
    assert state.turns.question is not None
    assert (state.turns.question.id, state.turns.question.type) == ("description", "free_text")
    assert state.turns.question.question == "Was soll entschieden werden?"
    assert view(state).provenance == ()
    done = after(by_pack("Performance verbessern"), answered(description="Indexe pflegen"))
    assert done.offer.patch == DecisionPatch("Other", (("Description", "Indexe pflegen"),))


def test_what_a_text_names_is_offered_first_and_never_taken() -> None:
    state = after(by_pack("Pick a message broker, maybe NATS"))
    assert state.turns.question is not None
    assert state.turns.question.options[:2] == ("NATS", "RabbitMQ")
    state = after(by_pack("cron or Celery beat for the nightly import?"))
    assert state.turns.question is not None
    assert state.turns.question.options == ("cron", "Celery Beat", "Other (specify)")
    state = after(by_pack("Suchmaschine f\u00fcr die Akten ausw\u00e4hlen"))
    assert state.turns.question is not None
    assert state.turns.question.question == "Welche Suche?"
    assert state.turns.question.options[0] == "PostgreSQL-Volltextsuche"
    for text in ("no more Jenkins please", "We do not want to use Jenkins any more"):
        state = after(by_pack(text))
        assert (state.offer.patch, state.turns.question is None) == (None, False)


def test_the_scope_and_the_reason_of_a_statement_are_the_decisions() -> None:
    state = after(by_pack("Use Kafka for the domain events, because replay matters"))
    assert (state.offer.scope, title_of(state)) == (
        "domain events",
        "Use Kafka for the domain events",
    )
    assert state.offer.rationale.because == AttributedReason("replay matters", "user")
    (proposed,) = [
        one for one in log(by_pack("Use Kafka for orders")) if type(one) is PatchProposed
    ]
    assert proposed.scope == "orders"
    state = after(by_pack("Use NebulaGraph for the fraud rings"))
    assert state.offer.patch == DecisionPatch("Other", (("Description", "NebulaGraph"),))
    assert title_of(state) == "Use NebulaGraph for the fraud rings"


@each(
    ("scope", "intention", "said"),
    [
        ("sync", "The sync tool retries", "the sync"),
        ("Suche", "Die Suche braucht einen Index", "die Suche"),
        ("orders", "Keep orders", "orders"),
    ],
)
def test_a_title_takes_the_article_of_a_scope_as_inside_a_sentence(
    scope: str, intention: str, said: str
) -> None:
    assert with_article(scope, intention) == said


def own_words(text: str) -> Input:
    """The answer where no topic is."""
    return answered(description=text)


@each(
    ("intention", "answer", "value", "turned_down"),
    [
        ("Stop using Moment.js", "moment.js", "Stop using Moment.js", ["moment.js"]),
        ("jQuery nicht mehr verwenden", "jQuery", "jQuery nicht mehr verwenden", ["jQuery"]),
        ("Never commit generated code", "generated code", "Never commit generated code", []),
        ("Drop Node 16", "Node 20 is the oldest", "Node 20 is the oldest", []),
        ("Introduce Kafka", "Kafka", "Introduce Kafka", []),
        ("We will no longer use MySQL here", "MySQL", "We will no longer use MySQL here", []),
        (
            "jOOQ for the reports instead of Hibernate",
            "jOOQ instead of Hibernate",
            "jOOQ",
            ["Hibernate"],
        ),
        ("Kafka or the table?", "the table", "the table", []),
        (f"Kafka{' is slow' * 10}", "Kafka", "Kafka", []),
    ],
)
def test_an_answer_that_repeats_a_part_of_the_intention_is_the_intention(
    intention: str, answer: str, value: str, turned_down: list[str]
) -> None:
    state = after(by_pack(intention), own_words(answer))
    assert state.offer.patch is not None
    assert [said for _, said in state.offer.patch.fields] == [value]
    assert [one.name for one in state.offer.rationale.alternatives] == turned_down


@each(
    ("given", "title"),
    [
        ((by_pack("Use Kafka for our mails"),), "Use Kafka for our mails"),
        ((by_pack("Move the orders from MySQL to PostgreSQL"),), "Use PostgreSQL for the orders"),
        (
            (by_pack("Wir nehmen Kafka für die Bestellungen"),),
            "Kafka für die Bestellungen verwenden",
        ),
        (
            (by_pack("Make the shop calmer"), own_words("Two colours")),
            "Make the shop calmer: Two colours",
        ),
        (
            (replace(by_pack("Calm down"), scope="shop"), own_words("Two fonts in the shop")),
            "Two fonts in the shop",
        ),
        (
            (replace(by_pack("Calm down"), scope="shop"), own_words("Two fonts")),
            "Calm down: Two fonts",
        ),
        ((by_pack("Where do scans go?"), own_words("In files")), "Where do scans go? In files"),
        ((by_pack("Make the shop calmer"), own_words("A calmer font")), "A calmer font"),
        ((by_pack("Name the branch main."), own_words("main")), "Name the branch main"),
        ((by_pack("Stop using Moment.js"), own_words("Moment.js")), "Stop using Moment.js"),
        ((by_pack("No Moment.js, please"), own_words("moment.js")), "No Moment.js, please"),
        ((by_pack("Move the parser off C"), own_words("C++")), "Use C++"),
        (
            (by_pack("Between trunk and main, one"), own_words("main")),
            "Between trunk and main, one: main",
        ),
        ((by_pack("API versioning"), own_words("in the URL")), "API versioning: in the URL"),
        (
            (
                by_pack("Which cache for the carts?"),
                answered(caching="One file a day, packed, on the store below"),
            ),
            "Caching for the carts: One file a day, packed, on the store below",
        ),
        (
            (
                by_pack("Readings of the sensors"),
                own_words("We write the readings into one file a day."),
            ),
            "We write the readings into one file a day",
        ),
    ],
)
def test_a_title_keeps_the_words_of_the_person(given: tuple[Input, ...], title: str) -> None:
    assert title_of(after(*given)) == title


def test_an_answer_names_its_category_and_one_can_be_named_before_the_decision() -> None:
    for intention in ("Fix the typo", "Make it faster", "Add a search engine", "Use Kafka"):
        state = after(by_pack(intention), answered(db_type="MySQL"))
        assert state.offer.patch == DecisionPatch("Database", (("Type", "MySQL"),))
    refused = after(by_pack("Add a search engine"), answered(db_type="TBD"))
    assert refused.turns.question is not None
    assert refused.turns.question.id == "search_engine"
    state = after(by_pack("Fix the typo"), answered(change_category="Caching"))
    assert state.turns.question is not None
    assert state.turns.question.id == "caching"


def test_a_keyword_of_the_team_decides_before_a_topic() -> None:
    oven = Category("Oven", ("oven",), Field("Kind", "oven", "Which oven?", ("Gas", "Electric")))
    tables = HeuristicsConfig(categories=(oven,), menu=())
    state = after(by_pack("Add caching to the oven", tables))
    assert state.turns.question is not None
    assert state.turns.question.id == "oven"
    assert state.found.heuristics.named("Caching") is not None


def test_without_a_pack_nothing_is_found() -> None:
    found = [type(event) for event in log(declared("Use PostgreSQL"))]
    assert (found.count(TopicsFound), found.count(ClarificationQuestionAsked)) == (0, 1)


PACKS: Final = Path(clarification.__file__).parents[1] / "data" / "packs"
LINES_MAX: Final = 1_150
BYTES_MAX: Final = 100_000


def test_the_shipped_pack_is_frozen() -> None:
    """A change is a new version: sessions hold the digest."""
    (path,) = PACKS.glob("*")
    assert path.name == f"{STANDARD.name}.v{STANDARD.version}.json"
    assert sha256(path.read_bytes()).hexdigest() == STANDARD.sha256


def _section(module: ModuleType, first: str, behind: str) -> str:
    """The lines of a module from one that begins so up to another; all must be there."""
    text = Path(str(module.__file__)).read_text("utf-8")
    return text[text.index(first) : text.index(f"\n{behind}")]


def test_what_finds_meaning_stays_small() -> None:
    """A rule that needs more words is one that guesses (docs/decisions/0037)."""
    parts = (
        Path(str(choices.__file__)).read_text("utf-8"),
        _section(language, "# The forms", "# Values that name nothing"),
        _section(topics, "", "# What the repository has"),
        _section(states, "def stated_by_key", "# Its title"),
    )
    assert sum(part.count("\n") for part in parts) <= LINES_MAX
    words = Path(str(language.__file__))
    data = (*PACKS.glob("*"), words.with_name("names.txt"), words.with_name("small_words.json"))
    assert sum(path.stat().st_size for path in data) <= BYTES_MAX


def test_the_seeds_categories_keep_their_questions() -> None:
    config = merge_session_tables("", "en", NO_TABLES)
    for category in HeuristicsConfig().categories:
        found = config.named(category.name)
        assert found is not None
        assert found.primary == category.primary
        assert (found.secondary, found.filing) == (category.secondary, category.filing)


def test_every_key_answers_one_question_and_a_word_is_of_one_topic() -> None:
    for spoken in ("en", "de"):
        config = merge_session_tables("", spoken, NO_TABLES)
        keys = [field.id for category in config.categories for field in category.fields()]
        assert len(set(keys)) == len(keys) == 84
        assert len({category.name for category in config.categories}) == 79
    words = [word for topic in load_pack().topics for word in (*topic.words, *topic.matters)]
    assert len(set(words)) == len(words)
    assert load_pack("{not json") is load_pack()


def test_every_topic_is_whole_in_both_languages() -> None:
    for topic in load_pack().topics:
        assert topic.nouns or topic.own_titles, topic.id
        assert "{value}" in topic.titles.en, topic.id
        assert "{value}" in topic.titles.de, topic.id
        assert topic.question.en.endswith("?"), topic.id
        assert topic.question.de.endswith("?"), topic.id
        assert len(topic.options_de) in (0, len(topic.options)), topic.id
        assert 2 <= len(topic.options) <= 6, topic.id
        assert topic.words or topic.matters, topic.id
        assert set(topic.spellings) <= set(topic.options), topic.id


def test_a_title_is_the_decision() -> None:
    topics = {topic.id: topic for topic in load_pack().topics}
    assert topics["caching"].title("Redis", "en") == "Use Redis for caching"
    assert topics["caching"].title("Redis", "de") == "Redis f\u00fcr das Caching verwenden"
