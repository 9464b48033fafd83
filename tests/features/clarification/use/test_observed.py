"""Questions that an agent asked its person elsewhere: recorded as they happened, once each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preflights_es.features.clarification.domain.views import ClarificationView
from preflights_es.features.clarification.observed_questions import record_observed_question
from preflights_es.kernel.errors import ErasedSession, LogBusy, Refused
from preflights_es.use import sessions
from preflights_es.use.bootstrap import Opened, opened_process
from preflights_es.use.inbox import inbox
from preflights_es.use.replays import replay
from preflights_es.use.why import trace_origins
from preflights_es.words.questions import ANSWERED, AskOutcome, Observed, asked_elsewhere, call_of
from tests.each import each
from tests.observing import OPTIONS, QUESTION, busy_log, seen


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Opened]:
    """A process in an empty folder."""
    opened = opened_process(tmp_path, database=str(tmp_path / "log.db"))
    yield opened
    opened.process.close()


def recorded(house: Opened, *answers: str, observed: Observed, **more: Any) -> ClarificationView:
    said = {"question": QUESTION, "options": OPTIONS, "topic": "Database", **more}
    found = record_observed_question(house.request(), answers=answers, observed=observed, **said)
    assert isinstance(found, ClarificationView)
    return found


def test_an_answer_is_relayed_and_proposed_and_says_where_it_was_asked(house: Opened) -> None:
    found = recorded(house, "SQLite", observed=seen())
    assert (found.status, found.patch and found.patch.fields) == ("proposed", (("Type", "SQLite"),))
    value = found.provenance[-1]
    assert (value.by, value.relayed_by and value.relayed_by.name) == ("user", "claude-code")
    assert found.acknowledged_by is not None
    assert found.acknowledged_by.kind == "agent"
    assert replay(house.request(), found.session_id).status == "identical"
    (waiting,) = inbox(house.request()).waiting
    assert (waiting.kind, waiting.origin) == (
        "proposal",
        "asked by claude-code 2.1.300, answered there",
    )
    *_, traced = trace_origins(house.request(), found.uid, None)[0].values
    assert traced.observed == found.observed
    assert traced.response is not None
    assert traced.response.model == "claude-code 2.1.300"


@pytest.mark.parametrize("outcome", [one for one in get_args(AskOutcome) if one not in ANSWERED])
def test_silence_leaves_the_question_open(house: Opened, outcome: AskOutcome) -> None:
    found = recorded(house, "SQLite", observed=seen(outcome))
    (waiting,) = inbox(house.request()).waiting
    assert (found.status, found.patch, waiting.kind) == ("needs_answers", None, "question")
    assert waiting.origin == asked_elsewhere(seen(outcome))


def test_an_answer_without_content_is_none(house: Opened) -> None:
    found = recorded(house, " \u200b", observed=seen("typed"))
    assert found.observed is not None
    assert found.observed.outcome == "empty"
    assert found.status == "needs_answers"


def test_several_options_are_one_value(house: Opened) -> None:
    found = recorded(
        house,
        *("Kafka", "NATS"),
        observed=seen("several"),
        options=("Kafka", "NATS", "SQS"),
        topic="Queue",
    )
    assert found.patch is not None
    assert found.patch.fields == (("Queue", "Kafka, NATS"),)
    assert found.provenance[-1].source == "chosen"


@pytest.mark.parametrize("word", ["recommended", "Empfohlen"])
def test_a_recommendation_is_no_part_of_an_option(house: Opened, word: str) -> None:
    options = (f"Kafka ({word.title()})", "NATS")
    more: dict[str, Any] = {"options": options, "topic": "Queue"}
    found = recorded(house, f"Kafka ({word})", observed=seen(), **more)
    assert found.patch is not None
    assert found.patch.fields == (("Queue", "Kafka"),)
    assert found.provenance[-1].source == "chosen"


def test_the_same_question_is_one_session(house: Opened) -> None:
    first = recorded(house, "SQLite", observed=seen())
    for again in (seen(), seen("timed_out")):
        found = recorded(house, "PostgreSQL", observed=again)
        assert found.is_recalled
        assert found.version == first.version
    later = recorded(house, "PostgreSQL", observed=seen(call=call_of("call-1", 1)))
    assert later.session_id != first.session_id
    other = recorded(house, "PostgreSQL", observed=seen(conversation="c-2"))
    assert other.session_id != first.session_id


@pytest.mark.parametrize("busy_at", range(1, 7))
def test_a_try_that_met_a_busy_log_goes_on_where_it_stopped(tmp_path: Path, busy_at: int) -> None:
    house = opened_process(tmp_path, database=str(tmp_path / "log.db"))
    log = busy_log(house, busy_at)
    try:
        recorded(house, "SQLite", observed=seen())
    except LogBusy:
        pass
    else:
        assert log.left >= 0, "a busy log is told, also where something is recorded"
    found = recorded(house, "SQLite", observed=seen())
    assert (found.status, found.patch and found.patch.fields) == ("proposed", (("Type", "SQLite"),))
    (waiting,) = inbox(house.request()).waiting
    assert (waiting.kind, waiting.session_id) == ("proposal", found.session_id)
    assert replay(house.request(), found.session_id).status == "identical"
    house.process.close()


def test_silence_and_a_refused_answer_stay_so_whatever_is_told_later(house: Opened) -> None:
    told: dict[AskOutcome, tuple[str, ...]] = {"timed_out": (), "answered": ("n/a",)}
    for n, (outcome, answers) in enumerate(told.items()):
        call = call_of("call-1", n)
        first = recorded(house, *answers, observed=seen(outcome, call=call))
        found = recorded(house, "SQLite", observed=seen(call=call))
        assert (found.session_id, found.status) == (first.session_id, "needs_answers")


def test_what_was_erased_is_not_recorded_again(house: Opened) -> None:
    first = recorded(house, "SQLite", observed=seen())
    house.request().erasure.erase(first.session_id, "asked to")
    with pytest.raises(ErasedSession):
        recorded(house, "SQLite", observed=seen())


def test_what_a_written_question_refuses_is_cut(house: Opened) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 10
    found = recorded(
        house,
        "l" * 90,
        observed=seen(agent="a\x1b[31m"),
        question=f"Use the key {key}? " + "word " * 300,
        options=("Other", "TBD", *"abcdefg", "l" * 90),
        topic="x" * 200,
    )
    assert found.status == "proposed"
    assert found.patch is not None
    assert found.patch.fields[0][1].startswith("llll")
    log = house.process.store.read(found.session_id)
    told = b"".join(one.data or b"" for one in log)
    assert key.encode() not in told
    assert b"\\u001b" not in told


@each("question", ["?", "", "tbd", "\u200b"])
def test_what_cannot_be_asked_leaves_no_session(house: Opened, question: str) -> None:
    with pytest.raises(Refused):
        recorded(house, "SQLite", observed=seen(), question=question)
    assert not house.process.store.heads(None)


TEXT = st.text(max_size=30) | st.sampled_from(("Other", "n/a", "SELECT 1;", "\ud800", "a" * 3000))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, st.lists(TEXT, max_size=9), st.lists(TEXT, max_size=3), st.sampled_from(ANSWERED))
def test_any_question_is_recorded_or_refused(
    house: Opened, question: str, options: list[str], answers: list[str], outcome: AskOutcome
) -> None:
    observed = seen(outcome, call="", conversation=question)
    try:
        found = record_observed_question(
            house.request(), question, options, answers, observed, topic=question
        )
    except Refused:
        return
    assert sessions.show(house.request(), found.session_id).status == found.status
    assert found.status in ("needs_answers", "proposed")
