"""One performer: a call is made once, one that was begun counts, and what it cost is kept."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import (
    LLMEmptyError,
    LLMError,
    LLMRefusedError,
    LLMTimeoutError,
    LLMTruncatedError,
    Refused,
    SessionFaulted,
    StoreUnavailable,
)
from preflights_es.kernel.events import Decision, Event, Input, ResponseIgnored, SessionAbandoned
from preflights_es.kernel.ids import iso
from preflights_es.kernel.ports import AppendBatch, Claim, Head, Provider, Store
from preflights_es.runtime.performer import (
    CALL_MS,
    CLAIM_MAX_MS,
    LOST,
    MARGIN_MS,
    PROGRAM,
    Performed,
    Performer,
    claim_ms,
)
from preflights_es.runtime.runner import Handle, Runner, Step
from preflights_es.store.memory import MemoryStore
from preflights_es.store.sql import SqlStore
from preflights_es.testing import ScriptedProvider
from preflights_es.words.workflow import Workflow
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.runtime.performing import Hands
from tests.toy import altered

SESSION = "00000001-0000-7000-8000-000000000001"
CLAIM_US = (CALL_MS + MARGIN_MS) * 1_000
Sleep = Callable[[float], Awaitable[None]]


def _decide_patiently(state: toy.State, new: Input) -> tuple[Decision, ...]:
    return tuple(
        replace(event, wait_ms=2_000) if isinstance(event, CompletionRequested) else event
        for event in toy.decide(state, new)
    )


PATIENT = altered(toy.WORKFLOW, decide=_decide_patiently)
"""The toy, which waits for two seconds before each call."""


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


class Processes:
    """Processes over one log, as far as the log can tell them apart."""

    def __init__(self, log: Path, hands: Hands) -> None:
        self._log = log
        self._hands = hands
        self._new_id = Ids()
        self._stores: list[Store] = []

    def another(
        self,
        workflow: Workflow[Any] = toy.WORKFLOW,
        *,
        store: type[SqlStore] = SqlStore,
        sleep: Sleep | None = None,
    ) -> Runner:
        made = store(str(self._log), Clock(), salt)
        self._stores.append(made)
        return Runner(made, {"toy": workflow}, self._hands, self._new_id, sleep)

    def two(self) -> tuple[Runner, Runner]:
        """Two, of which the first began a session that waits for an answer."""
        ada, bob = self.another(), self.another()
        begun(ada)
        return ada, bob

    def close(self) -> None:
        for store in self._stores:
            store.close()


@pytest.fixture
def processes(log: Path, hands: Hands) -> Iterator[Processes]:
    made = Processes(log, hands)
    yield made
    made.close()


def begun(run: Runner) -> Handle:
    return run.open(run.workflow("toy"), PROJECT, toy.asked("why?"), SESSION, "first").handle


def settled(run: Runner, provider: Provider, handle: Handle | None = None) -> Step:
    return asyncio.run(run.settle(handle or run.load(SESSION), provider))


def events(run: Runner) -> list[Event]:
    codec = run.codec(run.workflow("toy"))
    return [codec.decode(one) for one in run.store.read(SESSION)]


def failures(run: Runner) -> list[CompletionFailed]:
    return [event for event in events(run) if isinstance(event, CompletionFailed)]


def attempts(provider: ScriptedProvider) -> list[int]:
    return [request.attempt for request in provider.requests]


def is_whole(run: Runner) -> bool:
    """Whether the log replays, and owes no call."""
    head = run.store.head(SESSION)
    assert head is not None
    found = Replayer(run.workflows).replay(run.store.read(SESSION), head.hash)
    return found.status == "identical" and run.store.open_calls(PROJECT) == ()


class Stop(BaseException):
    """What a person does to a program that takes too long."""


class Stopped(ScriptedProvider):
    """A provider that is interrupted after it was asked."""

    async def respond(self, request: CompletionRequested) -> Completion:
        self.requests.append(request)
        raise Stop


# 1. How long a claim lasts -------------------------------------------------------------------


class Timed(ScriptedProvider):
    """A provider that tells how long a call may take."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self.timeout_s = timeout_s


@each(
    ("provider", "wait_ms", "expected"),
    [
        (ScriptedProvider(), 0, 60_000 + 15_000),  # docs/decisions/0005
        (ScriptedProvider(), 30_000, CALL_MS + MARGIN_MS + 30_000),
        (Timed(0.5), 0, MARGIN_MS + 500),
        (Timed(120.0), 1_000, MARGIN_MS + 121_000),
        (Timed(540.0), 30_000, MARGIN_MS + 570_000),
        (Timed(100_000.0), 0, 600_000),  # docs/decisions/0005
    ],
)
def test_a_claim_lasts_as_long_as_its_call(provider: Provider, wait_ms: int, expected: int) -> None:
    request = CompletionRequested(
        call="c-1", provider="echo", model="echo-1", messages=(), wait_ms=wait_ms
    )
    assert claim_ms(request, provider) == expected <= CLAIM_MAX_MS


def test_a_claim_ends_soon_after_the_providers_timeout(processes: Processes, hands: Hands) -> None:
    ada, bob = processes.two()
    call = (SESSION, "completion-1")
    seen: list[Claim] = []

    class Looking(Timed):
        async def respond(self, request: CompletionRequested) -> Completion:
            end = hands() + 5_000_000 + MARGIN_MS * 1_000
            seen.append(bob.store.claim(*call, bob.owner, end - 1, end))
            seen.append(bob.store.claim(*call, bob.owner, end, end + 1))
            return Completion("because")

    settled(ada, Looking(5.0))
    assert seen == ["held", "overdue"]


# 2. The process that made a call never reported back -----------------------------------------


def dead(run: Runner, hands: Hands, call: str = "completion-1") -> None:
    """A process claims the call and is never heard of again."""
    claimed = run.store.claim(SESSION, call, "dead", hands(), hands() + CLAIM_US)
    assert claimed == "taken"


def test_a_call_whose_process_died_is_a_failure_and_is_made_again_as_the_second(
    processes: Processes, hands: Hands
) -> None:
    bob = processes.another()
    begun(bob)
    dead(bob, hands)
    provider = ScriptedProvider("because")
    until = f"and holds the call until {iso(hands.at + CLAIM_US)[11:19]} UTC"
    with pytest.raises(Refused, match=f"another process is asking the provider .* {until}"):
        settled(bob, provider)
    assert (provider.requests, failures(bob)) == ([], [])
    hands.at += CLAIM_US
    step = settled(bob, provider)
    assert step.handle.session.state.answers == ("because",)
    assert attempts(provider) == [2]
    (failed,) = failures(bob)
    assert (failed.call, failed.kind, failed.message) == ("completion-1", "lost", LOST)
    assert (failed.latency_ms, failed.retry_after_ms, failed.input_tokens) == (None, None, None)
    assert is_whole(bob)


def test_the_limit_of_calls_holds_across_crashes(processes: Processes, hands: Hands) -> None:
    bob = processes.another()
    begun(bob)
    dead(bob, hands)
    hands.at += CLAIM_US
    with pytest.raises(Stop):
        settled(bob, Stopped())
    provider = ScriptedProvider()
    step = settled(processes.another(), provider)
    assert step.decisions == (toy.GaveUp(kind="lost"),)
    assert provider.requests == []
    assert [failed.call for failed in failures(bob)] == ["completion-1", "completion-2"]
    assert is_whole(bob)


def test_two_who_find_a_call_overdue_count_it_once(processes: Processes, hands: Hands) -> None:
    ada, bob = processes.two()
    dead(ada, hands)
    hands.at += CLAIM_US
    stale = bob.load(SESSION)
    hers, his = ScriptedProvider("hers"), ScriptedProvider("his")
    settled(ada, hers)
    step = settled(bob, his, stale)
    assert step.handle.session.state.answers == ("hers",)
    assert (attempts(hers), attempts(his)) == ([2], [])
    assert len(failures(ada)) == 1
    assert is_whole(ada)


# 3. Interrupted ------------------------------------------------------------------------------


@pytest.mark.parametrize("is_own", [False, True])
def test_an_interrupted_call_counts_as_unclaimed(processes: Processes, *, is_own: bool) -> None:
    ada = processes.another()
    bob = ada if is_own else processes.another()
    begun(ada)
    with pytest.raises(Stop):
        settled(ada, Stopped())
    assert failures(ada) == []
    provider = ScriptedProvider("because")
    assert settled(bob, provider).handle.session.state.answers == ("because",)
    assert attempts(provider) == [2]
    assert [failed.kind for failed in failures(bob)] == ["lost"]
    assert is_whole(bob)


def test_a_cancelled_task_counts_its_call(processes: Processes) -> None:
    ada, bob = processes.another(), processes.another()
    handle = begun(ada)

    class Never(ScriptedProvider):
        async def respond(self, request: CompletionRequested) -> Completion:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    asked = asyncio.Event()

    async def cancelled() -> None:
        task = asyncio.create_task(ada.settle(handle, Never()))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    provider = ScriptedProvider("because")
    settled(bob, provider)
    assert attempts(provider) == [2]


def test_an_interruption_before_the_provider_is_asked_leaves_no_trace(processes: Processes) -> None:
    waited: list[float] = []

    async def interrupted(seconds: float) -> None:
        waited.append(seconds)
        raise Stop

    ada, bob = processes.another(PATIENT, sleep=interrupted), processes.another(PATIENT)
    begun(ada)
    unasked, provider = ScriptedProvider(), ScriptedProvider("because")
    with pytest.raises(Stop):
        settled(ada, unasked)
    settled(bob, provider)
    assert (waited, unasked.requests, attempts(provider)) == ([2.0], [], [1])
    assert failures(bob) == []
    assert is_whole(bob)


class Failing(SqlStore):
    """A log that fails once a call is claimed."""

    claims = 0

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> Claim:
        self.claims += 1
        if self.claims > 1:
            raise StoreUnavailable("the disk is gone")
        return super().claim(session_id, call, owner, now, until)

    def give_back(self, session_id: str, call: str, owner: str) -> None:
        raise StoreUnavailable("the disk is gone")


@pytest.mark.parametrize("workflow", [toy.WORKFLOW, PATIENT])
def test_an_interrupt_is_seen_as_a_log_fails(processes: Processes, workflow: Workflow[Any]) -> None:
    async def interrupted(seconds: float) -> None:
        raise Stop

    ada = processes.another(workflow, store=Failing, sleep=interrupted)
    begun(ada)
    with pytest.raises(Stop):
        settled(ada, Stopped())


def test_a_process_that_waits_keeps_others_away(processes: Processes) -> None:
    his = ScriptedProvider("his")

    async def meanwhile(seconds: float) -> None:
        with pytest.raises(Refused, match="another process is asking"):
            await bob.settle(bob.load(SESSION), his)

    ada, bob = processes.another(PATIENT, sleep=meanwhile), processes.another(PATIENT)
    begun(ada)
    assert settled(ada, ScriptedProvider("hers")).handle.session.state.answers == ("hers",)
    assert his.requests == []


def test_a_machine_that_slept_asks_nothing_twice(processes: Processes, hands: Hands) -> None:
    his, hers = ScriptedProvider("his"), ScriptedProvider()

    async def asleep(seconds: float) -> None:
        hands.at += CLAIM_US + 2_000_000
        await bob.settle(bob.load(SESSION), his)

    ada, bob = processes.another(PATIENT, sleep=asleep), processes.another(PATIENT)
    begun(ada)
    step = settled(ada, hers)
    assert step.handle.session.state.answers == ("his",)
    assert (hers.requests, attempts(his)) == ([], [2])
    assert is_whole(ada)


# 4. Late -------------------------------------------------------------------------------------


class Meanwhile(ScriptedProvider):
    """A provider so slow that something happens before it answers."""

    def __init__(self, happens: Callable[[], Awaitable[object]], *answers: Any) -> None:
        super().__init__(*answers)
        self._happens = happens

    async def respond(self, request: CompletionRequested) -> Completion:
        await self._happens()
        return await super().respond(request)


PAID = Completion("hers", None, "echo-1", "end_turn", "req-7", 12, 345)


def test_a_response_after_its_call_was_given_up_is_kept_with_what_it_cost(
    processes: Processes, hands: Hands
) -> None:
    ada, bob = processes.two()
    his = ScriptedProvider("his")

    async def overtaken() -> None:
        hands.at += CLAIM_US
        await bob.settle(bob.load(SESSION), his)

    step = settled(ada, Meanwhile(overtaken, PAID))
    assert step.decisions == (ResponseIgnored(call="completion-1", reason="not_open"),)
    assert step.handle.session.state.answers == ("his",)
    assert [type(event).__name__ for event in events(bob)][2:] == [
        *("CompletionFailed", "CompletionRequested"),
        *("CompletionReceived", "Answered"),
        *("CompletionReceived", "ResponseIgnored"),
    ]
    late = events(bob)[-2]
    assert isinstance(late, CompletionReceived)
    assert (late.call, late.text, late.request_id) == ("completion-1", "hers", "req-7")
    assert (late.input_tokens, late.output_tokens) == (12, 345)
    assert is_whole(bob)


def test_a_response_that_comes_while_the_second_call_is_under_way_is_kept(
    processes: Processes, hands: Hands
) -> None:
    ada, bob = processes.two()

    async def both() -> tuple[Step | BaseException, ...]:
        first, second = asyncio.Event(), asyncio.Event()

        async def overdue() -> None:
            hands.at += CLAIM_US
            first.set()
            await second.wait()

        async def under_way() -> None:
            second.set()
            while "CompletionReceived" not in {type(event).__name__ for event in events(bob)}:
                await asyncio.sleep(0)

        hers = asyncio.create_task(ada.settle(ada.load(SESSION), Meanwhile(overdue, PAID)))
        await first.wait()
        his = asyncio.create_task(bob.settle(bob.load(SESSION), Meanwhile(under_way, "his")))
        return tuple(await asyncio.gather(hers, his, return_exceptions=True))

    refused, step = asyncio.run(both())
    assert isinstance(refused, Refused)  # hers is recorded; the second call is another's to make
    assert isinstance(step, Step)
    assert step.handle.session.state.answers == ("his",)
    texts = [event.text for event in events(bob) if isinstance(event, CompletionReceived)]
    assert texts == ["hers", "his"]
    assert is_whole(bob)


@pytest.mark.parametrize("answer", [PAID, LLMTruncatedError("cut off", output_tokens=345)])
def test_what_comes_after_the_session_was_abandoned_is_kept_with_what_it_cost(
    processes: Processes, answer: Any
) -> None:
    ada, bob = processes.two()

    async def abandoned() -> None:
        bob.submit(bob.load(SESSION), SessionAbandoned(at=1, actor=toy.ADA), "gave-up")

    step = settled(ada, Meanwhile(abandoned, answer))
    assert step.decisions == (ResponseIgnored(call="completion-1", reason="closed"),)
    late = events(bob)[-2]
    assert isinstance(late, (CompletionReceived, CompletionFailed))
    assert late.output_tokens == 345
    assert is_whole(bob)


# 5. What was asked is not asked again --------------------------------------------------------


def test_two_tasks_of_one_process_make_a_call_once(processes: Processes) -> None:
    ada = processes.another()
    handle = begun(ada)
    other = ScriptedProvider("other")

    async def second() -> None:
        with pytest.raises(Refused, match="another process is asking"):
            await ada.settle(handle, other)

    step = settled(ada, Meanwhile(second, "hers"))
    assert step.handle.session.state.answers == ("hers",)
    assert other.requests == []


class Overlapping(SqlStore):
    """A log that lets another thread act while the outcome of a call is being recorded."""

    appends = 0
    meanwhile: Callable[[], object]

    def append(self, batches: Sequence[AppendBatch]) -> tuple[Head, ...]:
        self.appends += 1
        if self.appends == 2:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(self.meanwhile).result()
        return super().append(batches)


def test_an_outcome_that_one_thread_records_is_recorded_by_no_other(processes: Processes) -> None:
    ada = processes.another(store=Overlapping)
    begun(ada)
    other, said = ScriptedProvider("other"), []

    def second() -> None:
        with pytest.raises(Refused, match="another process is asking") as refused:
            settled(ada, other)
        said.append(refused.value)

    assert isinstance(ada.store, Overlapping)
    ada.store.meanwhile = second
    assert settled(ada, ScriptedProvider("hers")).handle.session.state.answers == ("hers",)
    assert (len(said), other.requests) == (1, [])
    assert settled(ada, other).handle.session.state.answers == ("hers",)
    assert is_whole(ada)


class Full(SqlStore):
    """A log whose disk is full at the second append."""

    appends = 0

    def append(self, batches: Sequence[AppendBatch]) -> tuple[Head, ...]:
        self.appends += 1
        if self.appends == 2:
            raise StoreUnavailable("the disk is full")
        return super().append(batches)


def test_a_response_that_could_not_be_recorded_is_recorded_by_the_next_try(
    processes: Processes,
) -> None:
    ada = processes.another(store=Full)
    begun(ada)
    provider = ScriptedProvider(PAID)
    with pytest.raises(StoreUnavailable):
        settled(ada, provider)
    assert settled(ada, provider).handle.session.state.answers == ("hers",)
    assert attempts(provider) == [1]
    assert is_whole(ada)


def test_a_task_that_asks_as_recording_fails_is_handed_what_was_paid_for(hands: Hands) -> None:
    performer = Performer(MemoryStore(hands, salt), "ada", hands, Ids(), None)
    request = CompletionRequested(call="c-1", provider="echo", model="echo-1", messages=())
    outcome = CompletionReceived(at=1, actor=PROGRAM, call="c-1", text="hers")
    made = Performed(outcome, "first")
    with pytest.raises(StoreUnavailable), performer.recording(SESSION, made):
        raise StoreUnavailable("the disk is full")
    assert asyncio.run(performer.performed(SESSION, request, ScriptedProvider())) is made


def test_a_response_that_could_not_be_recorded_in_time_is_recorded_late(
    processes: Processes, hands: Hands
) -> None:
    ada, bob = processes.another(store=Full), processes.another()
    begun(ada)
    with pytest.raises(StoreUnavailable):
        settled(ada, ScriptedProvider(PAID))
    hands.at += CLAIM_US
    settled(bob, ScriptedProvider("his"))
    step = settled(ada, ScriptedProvider())
    assert step.decisions == (ResponseIgnored(call="completion-1", reason="not_open"),)
    assert step.handle.session.state.answers == ("his",)
    late = events(bob)[-2]
    assert isinstance(late, CompletionReceived)
    assert late.output_tokens == 345
    assert settled(ada, ScriptedProvider()) == Step(step.handle, ())
    assert is_whole(bob)


def test_a_response_that_could_not_be_decided_is_not_asked_for_again(processes: Processes) -> None:
    def decide(state: toy.State, new: Input) -> tuple[Decision, ...]:
        if isinstance(new, CompletionReceived):
            raise toy.Broken
        return toy.decide(state, new)

    broken = processes.another(altered(toy.WORKFLOW, decide=decide))
    begun(broken)
    provider = ScriptedProvider("because")
    for _ in range(3):
        with pytest.raises(SessionFaulted):
            settled(broken, provider)
    fixed = processes.another()
    assert settled(fixed, provider).handle.session.state.answers == ("because",)
    assert attempts(provider) == [1]
    assert is_whole(fixed)


def test_a_call_whose_row_is_lost_is_made_once(processes: Processes, log: Path) -> None:
    ada = processes.another()
    begun(ada)
    with closing(sqlite3.connect(log, isolation_level=None)) as other:
        other.execute("DELETE FROM claims")
    provider = ScriptedProvider("because")
    settled(ada, provider)
    assert attempts(provider) == [1]
    assert is_whole(ada)


# 6. What an unusable response cost -----------------------------------------------------------


@pytest.mark.parametrize("kind", [LLMTruncatedError, LLMRefusedError, LLMEmptyError])
def test_what_was_paid_for_an_unusable_response_is_recorded(
    processes: Processes, kind: type[LLMError]
) -> None:
    ada = processes.another()
    begun(ada)
    key = "-".join(("sk", "ant", "a1B2" * 8))
    error = kind("no use")
    vars(error).update(
        received=f"half \ud800 {key}",
        stop_reason="st\udfffop",
        model="mo\ud800del",
        request_id="req-7",
        input_tokens=12,
        output_tokens=345,
    )
    settled(ada, ScriptedProvider(error, "because"))
    (failed,) = failures(ada)
    assert (failed.kind, failed.message) == (kind.kind, "no use")
    assert failed.received == "half \\ud800 [redacted:key]"
    assert (failed.model, failed.stop_reason) == ("mo\\ud800del", "st\\udfffop")
    assert (failed.request_id, failed.input_tokens, failed.output_tokens) == ("req-7", 12, 345)
    assert is_whole(ada)


def test_no_field_of_a_provider_is_recorded_with_a_secret(processes: Processes, log: Path) -> None:
    ada = processes.another()
    begun(ada)
    token = "ghp_" + "a1" * 18
    named: dict[str, Any] = {
        "model": f"gpt-x {token}",
        "stop_reason": f"for {token}",
        "request_id": token,
    }
    cut = LLMTruncatedError(
        f"cut {token}", received=rf'{{"a": "ada\u0040example.com {token}', **named
    )
    settled(ada, ScriptedProvider(cut, Completion("because", **named)))
    shown = ("gpt-x [redacted:token]", "for [redacted:token]", "[redacted:token]")
    (failed,) = failures(ada)
    assert (failed.model, failed.stop_reason, failed.request_id) == shown
    (received,) = [e for e in events(ada) if isinstance(e, CompletionReceived)]
    assert (received.model, received.stop_reason, received.request_id) == shown
    assert token.encode() not in log.read_bytes()
    assert token.encode() not in b"".join(one.data or b"" for one in ada.store.read(SESSION))


@pytest.mark.parametrize(("moved_us", "latency_ms"), [(1_234_567, 1_234), (-500_000, 0)])
@pytest.mark.parametrize("answer", ["because", LLMTimeoutError("no answer")])
def test_a_call_is_recorded_with_the_milliseconds_it_took(
    answer: str | LLMTimeoutError,
    moved_us: int,
    latency_ms: int,
    processes: Processes,
    hands: Hands,
) -> None:
    class Taking(ScriptedProvider):
        async def respond(self, request: CompletionRequested) -> Completion:
            hands.at += moved_us
            return await super().respond(request)

    ada = processes.another()
    begun(ada)
    settled(ada, Taking(answer, "because"))
    made = [one for one in events(ada) if isinstance(one, CompletionReceived | CompletionFailed)]
    assert made[0].latency_ms == latency_ms
