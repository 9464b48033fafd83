"""Golden sessions of a workflow: recorded, replayed, and told where they differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.kernel.errors import LLMTimeoutError, SessionFaulted
from preflights_es.kernel.events import Input
from preflights_es.testing import PlayedSession, ScriptedProvider, check_golden, record_golden
from preflights_es.testing.laws import golden_sessions
from tests import toy
from tests.toy import Answered, asked, said


def test_a_golden_is_the_same_bytes_each_time_and_replays(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        record_golden(toy.WORKFLOW, (said("Hi"), said("Ho")), tmp_path / "toy" / name)
    one, two = ((tmp_path / "toy" / name).read_bytes() for name in ("one.jsonl", "two.jsonl"))
    assert one == two
    check_golden(toy.WORKFLOW, tmp_path / "toy" / "one.jsonl")


def test_rules_that_changed_are_named_with_the_event_and_both_values(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    record_golden(toy.WORKFLOW, [said("Hi")], path)
    with pytest.raises(AssertionError) as caught:
        check_golden(toy.workflow(heard="other "), path)
    assert f"{path}: session " in str(caught.value)
    assert "is diverged: Divergence(version=2, type='toy.heard.v1', pointer='/text', " in str(
        caught.value
    )
    assert "recorded='Hi', computed='other Hi'" in str(caught.value)
    with pytest.raises(AssertionError, match="is faulted: Fault\\(version=1, error='Broken'"):
        check_golden(toy.workflow("decide", at="Hi"), path)


def test_a_session_that_fails_is_no_golden(tmp_path: Path) -> None:
    with pytest.raises(SessionFaulted):
        record_golden(toy.workflow("decide"), [said("!")], tmp_path / "toy.jsonl")
    assert not list(tmp_path.iterdir())


def test_a_script_answers_what_a_golden_asks(tmp_path: Path) -> None:
    provider = ScriptedProvider(LLMTimeoutError("slow"), {"because": 1})
    path = tmp_path / "toy.jsonl"
    record_golden(toy.WORKFLOW, [asked("Why?")], path, provider)
    check_golden(toy.WORKFLOW, path)
    (events,) = golden_sessions(path)
    assert events[-1].type == Answered.tag
    assert [request.attempt for request in provider.requests] == [1, 2]


def test_what_a_provider_said_is_among_the_inputs() -> None:
    session = PlayedSession(toy.WORKFLOW, ScriptedProvider("yes")).play([asked("Why?")])
    assert session.inputs == [one for one in session.events if isinstance(one, Input)]
    assert len(session.inputs) == 2


def test_a_script_that_is_too_short_says_which_call_it_lacks() -> None:
    session = PlayedSession(toy.WORKFLOW, ScriptedProvider())
    with pytest.raises(AssertionError, match="'completion-1' is number 1: give another reply"):
        session.feed(asked("Why?"))
