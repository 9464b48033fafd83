"""The reference finds the right decision, and what each part of a score does."""

from __future__ import annotations

from msgspec.structs import replace

from preflights_es.features.recall.decision_search import read_small_stems
from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.events import (
    QUERIES_MAX,
    RESULTS_MAX,
    WORDS_MAX,
    MemoryMatch,
)
from preflights_es.features.recall.word_variants import (
    english_stem,
    find_word_forms,
    guesses,
    synonyms,
)
from preflights_es.kernel.ports import TERMS_MAX
from preflights_es.words.decisions import AttributedReason, DecidedPatch, Rationale
from preflights_es.words.language import (
    also_called,
    canonical,
    read_product_names,
    read_small_words,
)
from tests.each import each
from tests.features.recall.crowded import CROWDED, QUESTIONS
from tests.features.recall.held import Held, held
from tests.features.recall.recalls import DECISIONS, PLAIN, RECALLS, Case

FIRST: int = 3


def decided(number: int, case: Case) -> tuple[DecidedPatch, str, tuple[str, ...]]:
    """A decision as the tables say it: no reasons, one field."""
    made = DecidedPatch(
        version=3,
        uid=f"{number:012d}",
        title=f"Use {case.value}",
        category=case.category,
        fields=((case.field, case.value),),
        origins=(),
        standing="accepted",
        kind="adr",
        number=None,
        proposed_at=0,
    )
    return made, case.intention, ()


def of(*cases: Case) -> Held:
    return held(decided(number, case) for number, case in enumerate(cases))


ALL = of(*DECISIONS)


def value_of(match: MemoryMatch) -> str:
    return DECISIONS[int(match.uid)].value


@each(("asked", "at_least"), [(RECALLS, 34), (PLAIN, 98)])
def test_the_right_one_is_among_three(asked: tuple[tuple[str, str], ...], at_least: int) -> None:
    assert (len(RECALLS), len(DECISIONS)) == (40, 200)
    missed = [
        (question, value)
        for question, value in asked
        if value not in map(value_of, ALL.recalled(question)[:FIRST])
    ]
    assert len(asked) - len(missed) >= at_least, missed


def test_the_words_of_a_question_choose_between_decisions_of_one_topic() -> None:
    crowd = of(*CROWDED)
    ranks = []
    for question, values in QUESTIONS:
        found = [CROWDED[int(one.uid)].value for one in crowd.recalled(question)]
        ranks.append(min((found.index(one) for one in values if one in found), default=RESULTS_MAX))
    assert len(ranks) == 80
    assert sum(rank < FIRST for rank in ranks) >= 56


@each("question", [question for question, _ in RECALLS])
def test_a_question_becomes_one_query_of_few_words(question: str) -> None:
    queries = rules.rewritten(question)
    assert 1 <= len(queries) <= QUERIES_MAX
    assert all(1 <= len(query.split()) <= WORDS_MAX for query in queries)
    assert len(rules.search_words(queries)) <= TERMS_MAX


def test_a_word_counts_by_its_place() -> None:
    places = [
        Case("Alpha", "Alpha", "falcon", "alpha"),
        Case("falcon", "Alpha", "alpha", "alpha"),
        Case("Alpha", "Alpha", "alpha", "falcon"),
        Case("Alpha", "falcon", "alpha", "alpha"),
    ]
    every = of(*places).recalled("falcon", lambda _: True)
    assert [one.uid[-1] for one in every] == ["0", "1", "3", "2"]


@each(
    ("question", "value"),
    [
        ("broker", "RabbitMQ"),
        ("which library for dates?", "date-fns"),
        ("who repairs the gate?", None),
    ],
)
def test_a_topic_and_a_scope_say_what_a_decision_is_about(question: str, value: str | None) -> None:
    cases = [
        Case("Background Jobs", "Queue", "Celery", "Put mails into a queue"),
        Case("Messaging", "Broker", "RabbitMQ", "Tell the warehouse"),
        Case("Other", "Description", "date-fns", "Replace moment in the till"),
        Case("Other", "Description", "WeasyPrint", "A library for delivery notes"),
        Case("Other", "Description", "Token bucket at the gateway", "Stop scrapers"),
    ]
    made = [decided(number, case) for number, case in enumerate(cases)]
    made[2] = (replace(made[2][0], scope="dates"), *made[2][1:])
    because = Rationale(because=AttributedReason("It repairs broken pages", "user"))
    made[3] = (replace(made[3][0], rationale=because), *made[3][1:])
    found = [cases[int(one.uid)].value for one in held(made).recalled(question)]
    assert found[:1] == ([value] if value else [])


@each(("question", "first"), [("use Kafka", "0"), ("Drop Kafka for the outbox", "0")])
def test_no_body_outweighs_a_title(question: str, first: str) -> None:
    made = [decided(number, Case("Other", "Description", f"v{number}", "x")) for number in range(6)]
    made[0] = (replace(made[0][0], title="Drop Kafka"), *made[0][1:])
    for number in range(1, 6):
        why = Rationale(because=AttributedReason("Kafka, Kafka and Kafka: " * number, "user"))
        made[number] = (replace(made[number][0], rationale=why), *made[number][1:])
    assert held(made).recalled(question)[0].uid[-1] == first


def test_beside_an_answer_the_best_are_told_that_alone_would_be_none() -> None:
    some = of(
        Case("A", "A", "osprey", "falcon"),
        *(Case("A", "A", f"heron{n}", "condor merlin") for n in range(5)),
    )
    assert [one.uid[-1] for one in some.recalled("osprey condor kite harrier")] == ["0", "5", "4"]
    assert some.recalled("condor kite harrier goshawk") == []


def test_the_newer_comes_first_then_the_uid_and_last_what_was_superseded() -> None:
    case = Case("Alpha", "Alpha", "falcon", "alpha")
    some = of(case, case, case)
    assert [one.uid[-1] for one in some.recalled("falcon")] == ["2", "1", "0"]
    for row in some.rows:
        row["accepted_at"] = 7
    assert [one.uid[-1] for one in some.recalled("falcon")] == ["0", "1", "2"]
    for row in some.rows:
        row["superseded_at"] = 9 if row["uid"][-1] == "1" else None
    assert [one.uid[-1] for one in some.recalled("falcon")] == ["0", "2", "1"]


def test_a_rare_word_and_one_among_few_say_more() -> None:
    cases = [Case("A", "A", f"shop {n}", "shop") for n in range(6)]
    some = of(*cases, Case("A", "A", "c", "falcon"))
    assert some.recalled("shop falcon")[0].uid == f"{6:012d}"
    long = " ".join(f"word{n}" for n in range(80))
    some = of(Case("A", "A", "x", f"falcon {long}"), Case("A", "A", "y", "falcon"))
    assert some.recalled("falcon")[0].uid[-1] == "1"


def test_what_nothing_fits_gets_nothing() -> None:
    assert ALL.recalled("who waters the plants?") == []
    assert ALL.recalled("the?") == []
    many = "falcon heron osprey buzzard kestrel merlin harrier condor goshawk"
    some = of(*[Case("A", "A", "x", "falcon")] * 9)
    assert some.recalled(many) == []
    assert some.recalled(many, lambda _: True)


@each(
    ("word", "term"),
    [
        ("migrations", "migration"),
        ("datenbanken", "datenbank"),
        ("authenticated", "authentication"),
        ("zahlungen", "zahlung"),
        ("drosselt", "drosselung"),
        ("postgres", "postgresql"),
        ("k8s", "kubernetes"),
        ("auth", "authentication"),
        ("licence", "licenses"),
        ("organisations", "organization"),
        ("behaviour", "behavior"),
    ],
)
def test_a_word_stands_for_its_forms_and_names(word: str, term: str) -> None:
    assert term in find_word_forms(word, ["unrelated", term])
    assert "unrelated" not in find_word_forms(word, ["unrelated", term])


@each(
    ("word", "term"),
    [
        ("datenbankmigration", "datenbank"),
        ("zahlungsanbieter", "anbieter"),
        ("anbieter", "zahlungsanbieter"),
        ("throtling", "throttling"),
        ("kubernets", "kubernetes"),
    ],
)
def test_parts_and_errors_are_guessed_for_an_unknown_word(word: str, term: str) -> None:
    assert list(guesses(word, ["zebra", term])) == [term]


def test_numbers_and_short_words_are_not_guessed() -> None:
    assert guesses("2024", ["20245", "20240"]) == {}
    assert guesses("go", ["golang"]) == {}


def test_synonyms_widen_what_found_nothing() -> None:
    some = of(Case("A", "A", "x", "Authentication of nurses"))
    assert some.recalled("Anmeldung")
    assert some.recalled("nurses Anmeldung")[0].words == ("nurses", "anmeldung")
    assert some.recalled("patients authentication")[0].words == ("authentication",)
    assert "authentication" in synonyms("anmeldung")
    assert synonyms("zebra") == ()


def test_all_names_of_a_product_are_one_and_no_name_is_two() -> None:
    assert canonical("Postgres") == canonical("pg") == canonical(" PostgreSQL ") == "postgresql"
    assert canonical("object storage") == canonical("S3")
    assert canonical("Zebra 2") == "zebra 2"
    assert set(also_called("pg")) >= {"postgres", "postgresql"}
    called = [name.casefold() for one in read_product_names() for name in (one.name, *one.aliases)]
    assert sorted(called) == sorted(set(called))
    assert all(one.name and "|" not in one.name for one in read_product_names())


@each("kind", ("trade", "loose"))
def test_the_stems_of_small_words_are_those_of_the_file(kind: str) -> None:
    stems = {english_stem(word) for word in read_small_words(kind)}
    assert read_small_stems()[kind] == stems
