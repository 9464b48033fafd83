"""Drift and simulation: a session runs again, on what was recorded or on code of ours."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.history.recording import driven, recording
from preflights_es.history.replayer import Rerun, drift
from preflights_es.history.whatif import simulate
from preflights_es.kernel.completions import CompletionFailed, CompletionRequested, Message
from preflights_es.kernel.errors import (
    ErasedSession,
    LLMAPIError,
    LLMEmptyError,
    LLMError,
    LLMLostError,
    LLMRateLimitError,
    LLMRefusedError,
    LLMTimeoutError,
    LogDamaged,
    LogFromFuture,
    SessionFaulted,
)
from preflights_es.kernel.events import ERASED_TAG, Actor, SessionAbandoned
from preflights_es.kernel.lead import LeadChanged, StepRetried
from preflights_es.kernel.ports import Stored
from preflights_es.providers.base import RecordedProvider, Unrecorded, error_of_failed_call
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.testing import PlayedSession
from preflights_es.use import leads as own_providers
from preflights_es.use import replays
from preflights_es.use import replays as reruns
from preflights_es.words.workflow import Workflow
from tests import strategies, toy
from tests.each import each
from tests.features.clarification.cases import declared
from tests.fixed import NOON
from tests.history.sessions import Led, asking, real, requests, sim
from tests.history.test_led import FAULTS
from tests.history.test_replayer import recorded
from tests.store.given import resealed
from tests.strategies import EVERY
from tests.toy import altered

INTENTIONS = st.sampled_from(("Add login", "Order things", "Keep orders in postgres"))


def drifted(stored: Any, workflow: Workflow[Any] = WORKFLOW) -> Rerun:
    workflows = {**EVERY, workflow.name: workflow}
    return asyncio.run(drift(recording(workflows, stored)))[0]


def resimulated(stored: list[Stored], seed: int | None = None, faults: str | None = None) -> Rerun:
    found = recording(WORKFLOWS, stored)
    return asyncio.run(simulate(found, replays.own_code(), reruns.simulating(seed, faults)))[0]


def is_the_same(found: Rerun) -> bool:
    nothing = (found.left, found.changes, found.matches, found.stopped, found.fault)
    return (found.status, found.divergences, nothing) == ("identical", (), ((), (), (), "", None))


# 1. Drift ------------------------------------------------------------------------------------


@given(st.integers(0, 2**63 - 1), FAULTS, INTENTIONS)
def test_the_drift_of_an_unchanged_session_is_exact_and_identical(
    seed: int, faults: str, intention: str
) -> None:
    led = Led(
        replace(real(), strict=seed % 2 == 1), intention, own_providers.simulated(sim(seed, faults))
    )
    led.answer()
    found = drifted(led.stored)
    assert is_the_same(found)
    assert found.exact == len(requests(led.events))


@pytest.mark.parametrize("name", EVERY)
@given(st.data())
def test_any_session_of_any_workflow_runs_again_to_the_same(name: str, data: st.DataObject) -> None:
    run = PlayedSession(EVERY[name]).play(data.draw(strategies.wild_sessions(name)))
    found = drifted(run.stored)
    assert (found.status, found.divergences) == ("identical", ())
    assert found.child_events == found.events


def test_a_request_that_changed_has_the_response_of_its_call_and_is_listed() -> None:
    led = Led(real()).answer()
    found = drifted(led.stored, asking(model="claude-opus-6"))
    assert found.exact == 0
    assert [(m.call, m.recorded, m.causes) for m in found.matches] == [
        ("clarify-1.1", "clarify-1.1", ("model changed",)),
        ("decide-2.1", "decide-2.1", ("model changed",)),
    ]
    assert (found.status, found.changes) == ("different", ()), "what it comes to is the same"


def test_only_the_request_that_changed_is_listed() -> None:
    def decide(state: Any, new: Any) -> Any:
        return tuple(
            replace(d, messages=(*d.messages, Message("user", "once more")))
            if isinstance(d, CompletionRequested) and d.call.startswith("decide")
            else d
            for d in WORKFLOW.decider.decide(state, new)
        )

    found = drifted(Led(real()).answer().stored, altered(WORKFLOW, decide=decide))
    assert found.exact == 1
    assert [(m.call, m.causes) for m in found.matches] == [("decide-2.1", ("message 6 is new",))]


def test_a_miss_ends_the_child_and_no_provider_is_asked() -> None:
    found = drifted(Led(real()).stored, asking(model="x", call="clarify-9.1"))
    assert found.status == "stopped"
    assert found.stopped == "the call 'clarify-9.1': no response is recorded for it"
    assert (found.exact, found.matches, found.child_events) == (0, (), 2)


def test_the_same_request_again_has_the_next_response() -> None:
    led = Led(sim(4, "timeout=0.5"))
    asked = requests(led.events)
    assert [request.messages for request in asked] == [asked[0].messages] * 2, "a retry"
    provider = RecordedProvider(led.events)
    with pytest.raises(LLMTimeoutError):
        driven(provider.respond(replace(asked[1], call="other-7.1")))
    assert driven(provider.respond(asked[0])).text
    with pytest.raises(Unrecorded, match="no response is recorded"):
        driven(provider.respond(asked[0]))


def test_no_response_serves_twice_and_a_match_by_call_number_can_be_left_out() -> None:
    led = Led(real())
    (asked,) = requests(led.events)
    provider = RecordedProvider(led.events)
    driven(provider.respond(replace(asked, model="x")))
    with pytest.raises(Unrecorded):
        driven(provider.respond(asked))
    assert [match.exact for match in provider.matches] == [False]
    provider = RecordedProvider(led.events, by_call=False)
    with pytest.raises(Unrecorded):
        driven(provider.respond(replace(asked, model="x")))


@each(
    ("kind", "cls"),
    [
        ("timeout", LLMTimeoutError),
        ("rate_limit", LLMRateLimitError),
        ("api_error", LLMAPIError),
        ("lost", LLMLostError),
        ("refused", LLMRefusedError),
        ("a_kind_of_tomorrow", LLMError),
    ],
)
def test_a_recorded_failure_is_the_same_error_again(kind: str, cls: type[LLMError]) -> None:
    failed = CompletionFailed(
        at=1,
        actor=Actor("script"),
        call="c",
        kind=kind,
        message="no",
        retry_after_ms=90_000,
        received="some",
    )
    error = error_of_failed_call(failed)
    assert type(error) is cls
    assert (error.kind, str(error), error.retry_after_ms) == (kind, "no", 90_000)
    assert getattr(error, "received", "some") == "some"


def test_a_recorded_response_without_a_text_keeps_what_was_paid() -> None:
    failed = CompletionFailed(
        at=1, actor=Actor("script"), call="c", kind="api_error", message="no", model="m"
    )
    error = error_of_failed_call(replace(failed, output_tokens=345))
    assert isinstance(error, LLMEmptyError)
    assert (error.model, error.output_tokens) == ("m", 345)


def test_new_rules_and_bugs_are_run_to_their_end_and_an_undecided_input_stays_out() -> None:
    found = drifted(recorded("a", "b"), toy.workflow(heard="I heard "))
    assert [(d.version, d.pointer, d.computed) for d in found.divergences] == [
        (2, "/text", "I heard a"),
        (4, "/text", "I heard b"),
    ]
    found = drifted(recorded("a", "!"), toy.workflow("decide"))
    assert found.fault is not None
    assert (found.status, found.fault.version, found.fault.error) == ("faulted", 3, "Broken")
    found = drifted(recorded("a", "!", workflow=toy.workflow("decide")))
    assert [(left.version, left.reason) for left in found.left] == [
        (3, "it is undecided: a strict replay says why")
    ]


def test_what_cannot_be_read_is_not_run() -> None:
    stored = Led(None).stored
    gone = replace(stored[0], type=ERASED_TAG, input_id="erased", data=b"{}")
    with pytest.raises(ErasedSession):
        drifted(resealed([replace(stored[0], data=None, salt=None), *stored[1:], gone]))
    for damaged in ([], stored[1:], [replace(stored[0], data=b"{}"), *stored[1:]]):
        with pytest.raises(LogDamaged):
            drifted(damaged)
    with pytest.raises(LogFromFuture):
        asyncio.run(drift(recording({}, stored)))
    with pytest.raises(SessionFaulted):
        drifted(recorded("!"), toy.workflow("evolve"))


# 2. Simulation -------------------------------------------------------------------------------


@given(st.integers(-(2**63), 2**63 - 1), FAULTS, INTENTIONS, st.booleans(), st.booleans())
def test_what_the_simulator_led_comes_out_the_same_with_its_seed_and_faults(
    seed: int, faults: str, intention: str, strict: bool, named: bool
) -> None:
    led = Led(sim(seed, faults, strict=strict), intention).answer()
    found = resimulated(led.stored, *((seed, faults) if named else ()))
    assert is_the_same(found)
    assert found.otherwise == ()


def test_a_strict_session_that_was_retried_comes_out_the_same() -> None:
    led = Led(sim(1, "rate_limit=1", strict=True))
    again = StepRetried(at=NOON, actor=Actor("user"))
    led.handle = led.runner.submit(led.handle, again, led.ids()).handle
    assert is_the_same(resimulated(led.settle().stored))


def test_a_change_of_lead_comes_out_the_same() -> None:
    led = Led(sim(3))
    tried = (("clarify.v1", "Ask, please."),)
    new = LeadChanged(at=NOON, actor=Actor("user"), lead=sim(8), candidates=tried)
    led.handle = led.runner.submit(led.handle, new, led.ids()).handle
    led.provider = own_providers.simulated(sim(8))
    assert is_the_same(resimulated(led.answer("Cloud").stored))


def test_another_seed_or_generation_or_a_model_is_said() -> None:
    found = resimulated(Led(sim(3)).answer("Cloud").stored, seed=4)
    assert found.otherwise == ("led by sim simllm/1 (seed=4, faults=none)",)
    assert found.status == "different"
    assert {change.pointer for change in found.changes} >= {"/questions/0", "/view/patch"}
    found = resimulated(Led(real()).stored)
    assert found.otherwise == ("led by sim simllm/1 (seed=0, faults=none)",)
    assert found.divergences[0].pointer == "/setup/provider"
    found = resimulated(Led(replace(sim(3), model="simllm/0")).stored)
    assert found.otherwise == ("led by sim simllm/1 (seed=3, faults=none)",)


def test_what_the_rules_led_they_lead_again_unless_a_seed_is_given() -> None:
    stored = Led(None, "Add login").answer("OAuth").stored
    assert is_the_same(resimulated(stored))
    assert resimulated(stored, seed=5).otherwise == ("led by sim simllm/1 (seed=5, faults=none)",)


def test_two_simulations_are_the_same_to_the_last_id() -> None:
    recorded = recording(WORKFLOWS, Led(real()).answer().stored)
    runs = [
        asyncio.run(simulate(recorded, replays.own_code(), reruns.simulating(7)))[1]
        for _ in range(2)
    ]
    assert runs[0].stored == runs[1].stored


def test_a_call_that_was_lost_is_lost_again() -> None:
    led = Led(sim(3), provider=_Losing())
    assert [e.kind for e in led.events if isinstance(e, CompletionFailed)] == ["lost"]
    assert is_the_same(resimulated(led.stored))


class _Losing:
    """The simulator, with a process that dies in its first call."""

    def __init__(self) -> None:
        self.calls = 0

    async def respond(self, request: CompletionRequested) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise LLMLostError("the process that made this call never reported back")
        return await own_providers.simulated(sim(3)).respond(request)


def test_an_abandoned_session_is_not_asked_for_what_it_never_heard() -> None:
    led = Led(None)
    first = declared("Keep orders safe")
    first = replace(first, setup=replace(first.setup, lead=sim(3)))
    step = led.runner.open(WORKFLOW, "house", first, "00000001-0000-7000-8000-000000000001", "i-1")
    gone = SessionAbandoned(at=NOON, actor=Actor("user"))
    led.handle = led.runner.submit(step.handle, gone, "i-2").handle
    assert is_the_same(resimulated(led.stored))
    assert is_the_same(drifted(led.stored))
