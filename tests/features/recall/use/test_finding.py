"""What a question finds, and which decisions a task is near to."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.recall import decision_search as near
from preflights_es.features.recall.domain.rules import have_same_stems
from preflights_es.features.recall.word_variants import stems
from preflights_es.use.decisions import listing
from preflights_es.words.language import cut_word_beginnings
from tests.each import each


@pytest.fixture
def payments(log: Any) -> str:
    """A decision with a reason, an option that was turned down, and a question of an agent."""
    session = log.start(
        "Take money in the shop",
        question="Who keeps the card numbers?",
        options=["Stripe", "Adyen"],
        topic="Payments",
        because="Refunds arrive the same day",
        consequences=["Disputes are answered in their dashboard"],
        alternatives={"Braintree": "no SEPA mandates"},
    )
    session = log.answer(session.session_id, {session.questions[0].id: "Stripe"})
    log.start("Add login", answers={"auth_strategy": "OAuth"})
    return str(log.accept(session.session_id, by="Ada").session_id)


@each(
    ("question", "line"),
    [
        ("Why not Braintree?", "not Braintree: no SEPA mandates"),
        ("SEPA", "not Braintree: no SEPA mandates"),
        ("When do refunds arrive?", "because Refunds arrive the same day"),
        ("disputes", "so Disputes are answered in their dashboard"),
        ("Adyen", None),
        ("card numbers", None),
        ("Stripe", ""),
    ],
)
def test_its_reasons_options_and_question_find_a_decision(
    log: Any, payments: str, question: str, line: str | None
) -> None:
    (found,) = log.recall(question).results
    assert found.session_id == payments
    assert line in (None, found.line)


def test_a_record_of_another_tool_is_found(log: Any, payments: str, tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True, exist_ok=True)
    text = "# 7. Ship parcels with Hermes\n\n## Status\n\nAccepted\n\nCheaper on Sundays.\n"
    (folder / "0007-ship-parcels.md").write_text(text, "utf-8")
    found = log.recall("who brings parcels?")
    assert found.results == ()
    (record,) = found.records
    assert (record.title, record.status) == ("Ship parcels with Hermes", "accepted")
    assert record.words == ("parcels",)
    assert log.recall("Sundays").records[0].path == record.path
    madr = "# Use Redis\n\n## Context and Problem Statement\n\nCarts outlive a visit.\n"
    (folder / "0008-use-redis.md").write_text(madr, "utf-8")
    assert [one.title for one in log.recall("carts").records] == ["Use Redis"]
    assert log.recall("Which statement?").records == (), "a word of the template"
    assert log.recall("Stripe").records == ()
    assert log.recall("Stripe").results[0].session_id == payments


RECORD: Final = "# {0}. {1}\n\n## Status\n\nAccepted\n\n## Context\n\n{2}\n"


@pytest.fixture
def records(log: Any, tmp_path: Path) -> Any:
    """Records of another tool: one about Kafka, and others whose texts mention it."""
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True, exist_ok=True)
    rules = ("cache", "queue", "search", "region", "logs")
    texts = [("drop-kafka", "Drop Kafka", "It costs too much."), ("db", "Use MySQL", "It is here.")]
    texts += [(one, f"Rules for the {one}", "We used Kafka, and Kafka is slow.") for one in rules]
    texts += [("use-valkey", "Store", "It keeps what is asked for often.")]
    for number, (name, title, text) in enumerate(texts, 1):
        (folder / f"000{number}-{name}.md").write_text(RECORD.format(number, title, text), "utf-8")
    return log


@each(
    ("said", "title"),
    [
        ("use Kafka", "Drop Kafka"),
        ("Drop Kafka", "Drop Kafka"),
        ("Rules for the search", "Rules for the search"),
        ("Valkey", "Store"),
        ("Which database?", "Use MySQL"),
    ],
)
def test_a_question_and_a_task_have_one_ranking(records: Any, said: str, title: str) -> None:
    found = [one.title for one in records.recall(said).records]
    brief = records.brief(said)
    assert found[0] == title
    assert [one.title for one in brief.decisions[: len(found)]] == found


def test_a_task_of_many_words_is_near_to_what_it_names(records: Any) -> None:
    brief = records.brief("Publish the events of a shipment to Kafka and its consumers")
    assert brief.decisions[0].title == "Drop Kafka"
    assert records.brief("Paint the shed").near == 0


def test_a_list_is_narrowed_to_what_matches_without_erased_words(log: Any, payments: str) -> None:
    log.accept(log.start("Add login", answers={"auth_strategy": "OAuth"}).session_id, by="Ada")
    request = log.request()
    rows = list(listing(request, query="why not Braintree").rows)
    assert [row.session_id for row in rows] == [payments]
    assert list(listing(request, query="zebra").rows) == []
    assert len(list(listing(request).rows)) == 2
    assert log.recall("Braintree").results
    log.request().erasure.erase(payments, "a test")
    assert log.recall("Braintree").results == ()


WORDS = st.sampled_from(
    [
        "order",
        "orders",
        "ordering",
        "Bestellung",
        "Bestellungen",
        "import2",
        "imports2",
        "2",
        "b",
        "café",
    ]
)
SCOPES = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), unique=True, max_size=8)


ONE_PLACE: Final = (
    ("orders", "the order"),
    ("Bestellung", "Bestellungen"),
    ("a warehouse", "the warehouses"),
    ("Region A", "region a"),
    ("customer's orders", "customers' orders"),
)
TWO_PLACES: Final = (
    ("orders", "background jobs"),
    ("warehouse 1", "warehouse 2"),
    ("Lager 1", "Lager"),
    ("region a", "region b"),
    ("players under 16", "players over 16"),
)


@each(
    ("one", "other", "count"), [(*two, 1) for two in ONE_PLACE] + [(*two, 2) for two in TWO_PLACES]
)
def test_scopes_that_say_the_same_are_one_place(one: str, other: str, count: int) -> None:
    assert len({*near.group_equal_scopes([one, other]).values()}) == count


@given(SCOPES)
def test_a_place_is_a_scope_that_says_the_same_or_leads_to_one(scopes: list[str]) -> None:
    found = near.group_equal_scopes(scopes)
    for scope in scopes:
        place, before = found[scope], scopes[: scopes.index(scope)]
        same = [one for one in before if stems(one) and have_same_stems(stems(one), stems(scope))]
        assert bool(same) == (place != scope)
        assert place in {found[one] for one in same} | {scope}


@pytest.mark.slow("whole runs")
@given(SCOPES)
def test_scopes_that_say_the_same_begin_alike(scopes: list[str]) -> None:
    """So a list needs no stems of those that do not."""
    for one in scopes:
        for other in scopes:
            if have_same_stems(stems(one), stems(other)):
                assert cut_word_beginnings(one) == cut_word_beginnings(other), (one, other)


def test_scopes_are_stemmed_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def counted(text: str) -> tuple[frozenset[str], ...]:
        said.append(text)
        return stems(text)

    monkeypatch.setattr(near, "stems", counted)
    scopes = [f"module of area {'x' * n}" for n in range(40)]
    near.group_equal_scopes(scopes)
    assert said == scopes
