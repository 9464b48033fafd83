"""How a patch stands to decisions in force, before a person accepts it, on both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import preflights_es
from preflights_es.features.recall.decision_comparison import MOVED_MAX, findings
from preflights_es.kernel.events import SourceSession
from preflights_es.words.decisions import OlderDecision


def decided(log: Any, intention: str, **answers: str) -> str:
    """A decision in force."""
    session = log.start(intention, answers=answers)
    return str(log.accept(session.session_id, by="Ada").session_id)


def found(log: Any, intention: str, **answers: str) -> tuple[OlderDecision, ...]:
    """What a new decision is shown against."""
    session = log.start(intention, answers=answers)
    assert session.status == "ready"
    request = log.request()
    return findings(request, request.sessions.load(session.session_id))


@pytest.mark.parametrize("is_folded", [False, True])
def test_decisions_of_its_category_or_named_are_compared(log: Any, is_folded: bool) -> None:
    login = decided(log, "Add login", auth_strategy="OAuth")
    store = decided(log, "Keep orders in a database", db_type="PostgreSQL")
    if is_folded:
        assert len(log.decisions().decisions) == 2
    (same,) = found(log, "Add login", auth_strategy="OAuth")
    assert (same.evolution, same.needs_choice) == ("same", False)
    (other,) = found(log, "Add login", auth_strategy="SAML")
    assert (other.evolution, other.needs_choice) == ("contradict", True)
    assert (other.related.session_id, other.related.number) == (login, 1)
    assert (other.category, other.fields) == ("Authentication", (("Strategy", "OAuth"),))
    head = log.process.store.head(login)
    assert other.source == (SourceSession(login, head.version, head.hash.hex()))
    (other,) = found(log, "Replace the login", auth_strategy="SAML")
    assert other.evolution == "update"
    (other,) = found(log, "Deploy beside PostgreSQL", hosting="Kubernetes")
    assert (other.evolution, other.related.session_id) == ("derive", store)
    (other,) = found(log, f"Deploy it, see ADR-0002 and {store}", hosting="Kubernetes")
    assert other.related.session_id == store
    assert found(log, "Deploy it, see ADR-0007", hosting="Kubernetes") == ()


def test_only_decisions_in_force_are_compared(log: Any) -> None:
    session = log.start("Add login", answers={"auth_strategy": "OAuth"})
    assert found(log, "Add login", auth_strategy="SAML") == (), "it is not accepted yet"
    log.accept(session.session_id, by="Ada")
    assert len(found(log, "Add login", auth_strategy="SAML")) == 1
    log.decisions()
    log.request().erasure.erase(session.session_id, "a test")
    assert found(log, "Add login", auth_strategy="SAML") == ()


def test_what_has_no_category_is_not_compared_by_its_description(log: Any) -> None:
    decided(log, "Choose a licence", change_category="Other", description="MIT")
    assert found(log, "Name the mascot", change_category="Other", description="Otter") == ()


@pytest.mark.slow("sizes")
def test_its_own_field_is_compared_however_many_others_have_the_same_category(log: Any) -> None:
    def asked(topic: str, value: str) -> str:
        question = {"question": "Which one?", "options": ["Kafka", "NATS"], "topic": topic}
        session = log.start("Settle a matter of the team", **question)
        return str(log.answer(session.session_id, {session.questions[0].id: value}).session_id)

    first = asked("Message bus", "Kafka")
    log.accept(first, by="Ada")
    for n in range(MOVED_MAX + 2):
        log.accept(asked(f"Matter {n}", "Kafka"), by="Ada")
    request = log.request()
    (other,) = findings(request, request.sessions.load(asked("Message bus", "NATS")))
    assert (other.evolution, other.related.session_id) == ("contradict", first)


@pytest.mark.slow("sizes")
def test_many_sessions_that_moved_are_folded_for_good(log: Any) -> None:
    first = decided(log, "Add login", auth_strategy="OAuth")
    for _ in range(MOVED_MAX + 2):
        log.start("Add login")
    (other,) = found(log, "Add login", auth_strategy="SAML")
    assert other.related.session_id == first
    assert log.process.following.counts()["waiting"] <= 2


def test_one_that_moved_is_compared_where_the_own_session_did_not(log: Any) -> None:
    first, second = (
        log.start("Add login", answers={"auth_strategy": one}).session_id
        for one in ("OAuth", "SAML")
    )
    assert log.decisions().decisions == (), "both are folded"
    log.accept(first, by="Ada")
    request = log.request()
    (other,) = findings(request, request.sessions.load(second))
    assert other.related.session_id == first


def test_a_long_decision_is_compared_by_its_category(log: Any) -> None:
    long = " ".join(f"w{n}" for n in range(300))
    first = decided(log, "Keep orders in a database", db_type=long)
    log.decisions()
    (other,) = found(log, "Store orders in a database", db_type="MySQL")
    assert other.related.session_id == first


def test_files_the_log_lacks_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFLIGHTS_PROJECT", "shop")
    with preflights_es.open(tmp_path, database=str(tmp_path / "a.db")) as theirs:
        session = decided(theirs, "Add login", auth_strategy="OAuth")
    with preflights_es.open(tmp_path, database=str(tmp_path / "b.db")) as ours:
        (other,) = found(ours, "Add login", auth_strategy="SAML")
        assert other.related.session_id == session
