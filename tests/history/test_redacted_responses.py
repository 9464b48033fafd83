"""Responses without secrets: decided on as recorded, and old recordings run again unchanged."""

from __future__ import annotations

import asyncio

import pytest

from preflights_es.history.recording import Code, recording
from preflights_es.history.replayer import Replayer, drift
from preflights_es.history.whatif import simulate
from preflights_es.kernel.completions import Completion, CompletionFailed, CompletionReceived
from preflights_es.kernel.errors import LLMAPIError
from preflights_es.redaction.patterns import SECRETS
from preflights_es.runtime.performer import PROGRAM
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.store.memory import MemoryStore
from preflights_es.testing import ScriptedProvider
from tests import toy
from tests.fixed import NOON, PROJECT, Clock, Ids, salt

RAW = '{"answer": "Ask ada\\u0040example.com, pay 1234"}'
SAFE = '{"answer": "Ask [redacted:email], pay 1234"}'
WORKFLOWS = {"toy": toy.WORKFLOW}


@pytest.fixture
def run() -> Runner:
    sanitizer = Sanitizer((*SECRETS, "email"))
    store = MemoryStore(Clock(), salt)
    return Runner(store, WORKFLOWS, Clock(), Ids(), sanitizer=sanitizer)


def begun(run: Runner) -> Handle:
    return run.open(toy.WORKFLOW, PROJECT, toy.asked("why?"), "session-1", "first").handle


def echo(*answers: str) -> Code:
    """A provider that is code of ours."""
    return Code(lambda _name, _workflow: "echo-1", lambda _lead: ScriptedProvider(*answers))


@pytest.mark.parametrize("response", [RAW, Completion(RAW)])
def test_a_workflow_decides_on_what_is_recorded(run: Runner, response: str | Completion) -> None:
    handle = asyncio.run(run.settle(begun(run), ScriptedProvider(response))).handle
    assert handle.session.state.answers == (SAFE,)
    stored = run.store.read(handle.session_id)
    assert b"example.com" not in b"".join(one.data or b"" for one in stored)
    assert Replayer(WORKFLOWS).replay(stored).status == "identical"


@pytest.mark.parametrize("text", [RAW, SAFE])
def test_code_of_ours_is_asked_again_and_says_what_is_recorded(run: Runner, text: str) -> None:
    handle, call = begun(run), "completion-1"
    received = CompletionReceived(at=NOON, actor=PROGRAM, call=call, text=text, latency_ms=1)
    handle = run.submit(handle, received, "second").handle
    stored = run.store.read(handle.session_id)
    replay = Replayer(WORKFLOWS, echo(RAW)).replay(stored)
    assert (replay.status, replay.reasked) == ("identical", 1)


def test_a_recording_that_is_older_than_the_redaction_runs_again_to_the_same(run: Runner) -> None:
    handle = begun(run)
    failed = CompletionFailed(
        at=NOON,
        actor=PROGRAM,
        call="completion-1",
        kind="api_error",
        message="call ada@example.com",
    )
    handle = run.submit(handle, failed, "second").handle
    received = CompletionReceived(at=NOON, actor=PROGRAM, call="completion-2", text=RAW)
    handle = run.submit(handle, received, "third").handle
    found = recording(WORKFLOWS, run.store.read(handle.session_id))
    assert asyncio.run(drift(found))[0].status == "identical"
    again = ScriptedProvider(LLMAPIError("call ada@example.com"), RAW)
    code = Code(lambda _name, _workflow: "echo-1", lambda _lead: again)
    _, child = asyncio.run(simulate(found, code, lambda lead: lead))
    assert child.handle.session.state.answers == (RAW,)
