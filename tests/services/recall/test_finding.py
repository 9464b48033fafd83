"""What a question finds besides the decided value, on both engines."""

from __future__ import annotations

from typing import Any

import pytest


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


@pytest.mark.parametrize(
    "question",
    [
        "Why not Braintree?",
        "SEPA",
        "When do refunds arrive?",
        "disputes",
        "Adyen",
        "card numbers",
    ],
)
def test_its_reasons_options_and_question_find_a_decision(
    log: Any, payments: str, question: str
) -> None:
    assert [one.session_id for one in log.recall(question).results] == [payments]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Why not Braintree?", "not Braintree: no SEPA mandates"),
        ("When do refunds arrive?", "because Refunds arrive the same day"),
        ("disputes", "so Disputes are answered in their dashboard"),
        ("Stripe", ""),
    ],
)
def test_the_sentence_that_matched_is_shown(
    log: Any, payments: str, question: str, line: str
) -> None:
    assert payments
    (found,) = log.recall(question).results
    assert found.line == line


def test_no_word_of_an_erased_decision_stays(log: Any, payments: str) -> None:
    assert log.recall("Braintree").results
    log.request().erasure.erase(payments, "a test")
    assert log.recall("Braintree").results == ()
