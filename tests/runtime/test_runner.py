"""The loop: record, decide, append, perform; whatever a workflow, a provider or a store does."""

from __future__ import annotations

import asyncio
import base64
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import (
    CommitUnknown,
    Conflict,
    DuplicateInput,
    LLMAPIError,
    LLMError,
    LLMRateLimitError,
    LLMTimeoutError,
    LogDamaged,
    Refused,
    RoundsExhausted,
    SessionFaulted,
    StoreUnavailable,
    UnknownSession,
    UnwritableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.events import (
    Actor,
    Input,
    InputIgnored,
    InputQuarantined,
    ResponseIgnored,
    SessionAbandoned,
    SessionClosed,
)
from preflights_es.kernel.ports import AppendBatch, Claim, Draft, Head, Numbered, Store, Stored
from preflights_es.runtime.performer import CALL_MS, MARGIN_MS, open_completion
from preflights_es.runtime.runner import (
    CONFLICTS_MAX,
    ROUNDS_MAX,
    Handle,
    ProposedInput,
    Runner,
    Step,
)
from preflights_es.store.memory import MemoryStore
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import Codec, sealed, verified
from preflights_es.testing import ScriptedProvider
from preflights_es.words.workflow import Workflow, compute_session_status
from tests import toy
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.runtime.performing import Hands
from tests.toy import altered

SESSION = "00000001-0000-7000-8000-000000000001"
OTHER = "00000002-0000-7000-8000-000000000002"
BOT = Actor("agent", "bot")
CLAIM_US = (CALL_MS + MARGIN_MS) * 1_000


def runner(
    store: Store, workflow: Workflow[Any] = toy.WORKFLOW, clock: Callable[[], int] | None = None
) -> Runner:
    return Runner(store, {workflow.name: workflow}, clock or Clock(), Ids())


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(Clock(), salt)


def begun(runner: Runner, new: Input, session_id: str = SESSION, input_id: str = "first") -> Step:
    return runner.open(runner.workflow("toy"), PROJECT, new, session_id, input_id)


def tags(store: Store, session_id: str = SESSION) -> list[str]:
    return [event.type for event in store.read(session_id)]


def replayed(store: Store, workflow: Workflow[Any] = toy.WORKFLOW) -> str:
    head = store.head(SESSION)
    assert head is not None
    return Replayer({"toy": workflow}).replay(store.read(SESSION), head.hash).status


class Counting(MemoryStore):
    """Another hold on the events of a store, which counts what it appends."""

    def __init__(self, inner: MemoryStore) -> None:
        vars(self).update(vars(inner))
        self.appends: list[tuple[AppendBatch, ...]] = []

    def append(self, batches: Sequence[AppendBatch]) -> tuple[Head, ...]:
        self.appends.append(tuple(batches))
        return super().append(batches)


class LosesTheAnswer(Counting):
    """A store whose connection breaks while it commits: before the commit, or after it."""

    def __init__(self, inner: MemoryStore, *, committed: bool) -> None:
        super().__init__(inner)
        self.breaks = True
        self._committed = committed

    def append(self, batches: Sequence[AppendBatch]) -> tuple[Head, ...]:
        if not self.breaks:
            return super().append(batches)
        self.breaks = False
        if self._committed:
            super().append(batches)
        raise CommitUnknown("the connection broke")


class StaysLost(LosesTheAnswer):
    """The same, and afterwards it can be asked nothing."""

    def session_of_input(self, input_id: str) -> str | None:
        raise StoreUnavailable("no route to the host")


class AlwaysMoving(Counting):
    """A store in which another process is always faster."""

    def append(self, batches: Sequence[AppendBatch]) -> tuple[Head, ...]:
        self.appends.append(tuple(batches))
        raise Conflict(batches[0].session_id, batches[0].expected_version)


# 1. One transaction --------------------------------------------------------------------------


def test_an_input_and_its_decisions_are_one_append(store: MemoryStore) -> None:
    counting = Counting(store)
    run = runner(counting)
    step = begun(run, toy.Said(at=1, actor=Actor("agent", "Robo"), text="hello"))
    assert step.decisions == (toy.Heard(text="hello", count=1),)
    ((batch,),) = counting.appends
    assert [draft.type for draft in batch.events] == ["toy.said.v1", "toy.heard.v1"]
    assert [draft.input_id for draft in batch.events] == ["first", None]
    assert [draft.actor_kind for draft in batch.events] == ["agent", None]
    assert b"Robo" in batch.events[0].data
    run.submit(step.handle, toy.said("more"), "second")
    assert len(counting.appends) == 2
    assert tags(store) == ["toy.said.v1", "toy.heard.v1"] * 2
    assert {event.decider for event in store.read(SESSION)} == {"toy/1"}


def test_a_stale_handle_is_read_again_and_decided_again(store: MemoryStore) -> None:
    run = runner(store)
    stale = begun(run, toy.said("a")).handle
    assert run.refreshed(stale) is stale
    moved = run.submit(stale, toy.said("b"), "second").handle
    assert run.refreshed(stale) == moved
    step = run.submit(stale, toy.said("c"), "third")
    assert step.decisions == (toy.Heard(text="c", count=3),)
    assert replayed(store) == "identical"


def test_an_input_after_the_end_is_recorded_and_ignored_or_refused(store: MemoryStore) -> None:
    run = runner(store)
    stale = begun(run, toy.said("a")).handle
    closed = run.submit(stale, SessionAbandoned(at=2, actor=toy.ADA), "second")
    assert closed.decisions == (SessionClosed(status="abandoned"),)
    with pytest.raises(Refused, match="abandoned meanwhile: nothing was recorded"):
        run.submit(stale, toy.said("late"), "third")
    assert store.session_of_input("third") is None
    step = run.submit(closed.handle, toy.said("late"), "third")
    assert step.decisions == (InputIgnored(reason="closed"),)
    assert step.handle.session.state.said == ("a",)
    assert replayed(store) == "identical"


class GrowsWhileRead(Counting):
    """A store to which another process appends between the two reads of a session."""

    def __init__(self, inner: MemoryStore, other: Runner) -> None:
        super().__init__(inner)
        self._other = other

    def stream(self, session_id: str) -> tuple[Head, tuple[Stored, ...]] | None:
        head = self.head(session_id)
        self._other.submit(self._other.load(session_id), toy.said("quick"), "quick")
        return None if head is None else (head, self.read(session_id))


def test_a_session_that_grows_while_it_is_read_is_read_as_it_grew(store: MemoryStore) -> None:
    begun(runner(store), toy.said("a"))
    growing = GrowsWhileRead(store, runner(store))
    run = runner(growing)
    handle = run.load(SESSION)
    assert handle.session.state.said == ("a", "quick")
    step = run.submit(handle, toy.said("b"), "second")
    assert step.decisions == (toy.Heard(text="b", count=3),)
    assert len(growing.appends) == 1


def test_a_log_that_is_always_busy_is_unavailable_in_the_end(store: MemoryStore) -> None:
    handle = begun(runner(store), toy.said("a")).handle
    busy = AlwaysMoving(store)
    with pytest.raises(StoreUnavailable, match="busy"):
        runner(busy).submit(handle, toy.said("b"), "second")
    assert len(busy.appends) == CONFLICTS_MAX


def test_an_unknown_session_and_an_unknown_workflow_are_named(store: MemoryStore) -> None:
    run = runner(store)
    with pytest.raises(UnknownSession):
        run.load(SESSION)
    begun(run, toy.said("a"))
    stranger = Runner(store, {}, Clock(), Ids())
    with pytest.raises(WorkflowMissing, match="'toy' is not known here: upgrade preflights"):
        stranger.load(SESSION)


def test_a_new_session_stands_behind_those_of_its_project(store: MemoryStore) -> None:
    late = "7fffffff-0000-7000-8000-000000000001"  # by a clock that was wrong
    run = runner(store)
    assert late > run.new_session_id(PROJECT) > SESSION
    begun(run, toy.said("a"), late)
    assert run.new_session_id(PROJECT) > late
    assert run.new_session_id("another") < late


# 2. One Input once ---------------------------------------------------------------------------


def test_an_input_that_comes_twice_is_recorded_once_in_one_session(store: MemoryStore) -> None:
    run = runner(store)
    handle = begun(run, toy.said("a")).handle
    first = run.submit(handle, toy.said("b"), "second")
    run.submit(first.handle, toy.said("c"), "third")
    again = run.submit(handle, toy.said("b"), "second")
    assert again.decisions == first.decisions == (toy.Heard(text="b", count=2),)
    assert again.handle == run.load(SESSION)
    assert len(store.read(SESSION)) == 6
    begun(run, toy.said("a"))
    other = begun(run, toy.said("b"), OTHER, "other").handle
    with pytest.raises(DuplicateInput):
        run.submit(other, toy.said("c"), "first")
    assert len(store.read(OTHER)) == 2


def test_the_first_result_counts_even_where_deciding_again_would_raise(store: MemoryStore) -> None:
    healthy = runner(store)
    handle = begun(healthy, toy.said("!")).handle
    broken = runner(store, toy.workflow("decide"))
    again = broken.submit(handle, toy.said("!"), "first")
    assert again.decisions == (toy.Heard(text="!", count=1),)
    assert len(store.read(SESSION)) == 2


def test_sessions_that_are_opened_twice_with_one_input_are_the_first(store: MemoryStore) -> None:
    first = begun(runner(store), toy.said("a"))
    assert begun(runner(store), toy.said("a")).decisions == first.decisions
    assert begun(runner(store), toy.said("a"), OTHER) == first
    assert len(store.read(SESSION)) == 2
    assert store.read(OTHER) == ()


# 3. A commit of which nothing is known -------------------------------------------------------


def test_an_input_whose_commit_is_unknown_is_looked_up_and_found(store: MemoryStore) -> None:
    breaking = LosesTheAnswer(store, committed=True)
    step = begun(runner(breaking), toy.said("a"))
    assert step.decisions == (toy.Heard(text="a", count=1),)
    assert step.handle == runner(store).load(SESSION)
    assert len(breaking.appends) == 1
    runner(store).submit(step.handle, toy.said("b"), "second")
    breaking.breaks = True
    with pytest.raises(SessionFaulted):
        begun(runner(breaking, toy.workflow("decide")), toy.said("!"), OTHER, "other")
    assert tags(store, OTHER) == ["toy.said.v1"], "a fault is one though its commit is unknown"


def test_an_input_whose_commit_is_unknown_and_not_there_is_named(store: MemoryStore) -> None:
    breaking = LosesTheAnswer(store, committed=False)
    with pytest.raises(CommitUnknown):
        begun(runner(breaking), toy.said("a"))
    assert store.heads(None) == ()
    begun(runner(breaking), toy.said("a"))
    assert len(store.read(SESSION)) == 2
    both = "the connection broke; and then: no route to the host"
    with pytest.raises(CommitUnknown, match=both):
        begun(runner(StaysLost(store, committed=True)), toy.said("b"), OTHER, "other")


def test_several_sessions_whose_commit_is_unknown_are_found_together(store: MemoryStore) -> None:
    run = runner(store)
    handles = [begun(run, toy.said("a")).handle, begun(run, toy.said("b"), OTHER, "other").handle]
    breaking = LosesTheAnswer(store, committed=True)
    steps = runner(breaking).submit_all(
        [ProposedInput(handle, toy.said("x"), f"x-{n}") for n, handle in enumerate(handles)]
    )
    assert [step.handle for step in steps] == [run.load(SESSION), run.load(OTHER)]


# 4. Several sessions, one transaction --------------------------------------------------------


def test_inputs_of_several_sessions_are_one_append(store: MemoryStore) -> None:
    run = runner(store)
    one = begun(run, toy.said("a")).handle
    two = begun(run, toy.said("b"), OTHER, "other").handle
    counting = Counting(store)
    steps = runner(counting).submit_all(
        [ProposedInput(two, toy.said("x"), "x", number=7), ProposedInput(one, toy.said("y"), "y")]
    )
    assert [step.handle.session_id for step in steps] == [OTHER, SESSION]
    assert [step.decisions for step in steps] == [
        (toy.Heard(text="x", count=2),),
        (toy.Heard(text="y", count=2),),
    ]
    assert [len(batches) for batches in counting.appends] == [2]
    assert store.numbers(PROJECT) == {Numbered("", 7): OTHER}


def test_a_conflict_or_duplicate_in_one_session_keeps_all_as_they_were(store: MemoryStore) -> None:
    run = runner(store)
    one = begun(run, toy.said("a")).handle
    two = begun(run, toy.said("b"), OTHER, "other").handle
    with pytest.raises(DuplicateInput):
        run.submit_all(
            [ProposedInput(one, toy.said("x"), "x"), ProposedInput(two, toy.said("y"), "first")]
        )
    assert (run.load(SESSION), run.load(OTHER)) == (one, two)
    run.submit(two, toy.said("c"), "third")
    with pytest.raises(Conflict) as caught:
        run.submit_all(
            [ProposedInput(one, toy.said("x"), "x"), ProposedInput(two, toy.said("y"), "y")]
        )
    assert caught.value.session_id == OTHER
    assert (run.load(SESSION), store.session_of_input("x")) == (one, None)


def test_a_fault_in_one_session_records_that_input_alone(store: MemoryStore) -> None:
    broken = runner(store, toy.workflow("decide"))
    one = begun(broken, toy.said("a")).handle
    two = begun(broken, toy.said("b"), OTHER, "other").handle
    with pytest.raises(SessionFaulted) as caught:
        broken.submit_all(
            [ProposedInput(one, toy.said("x"), "x"), ProposedInput(two, toy.said("!"), "y")]
        )
    assert (caught.value.session_id, caught.value.version) == (OTHER, 3)
    assert (len(store.read(SESSION)), tags(store, OTHER)[2:]) == (2, ["toy.said.v1"])


# 5. Faults -----------------------------------------------------------------------------------

BUGS: dict[toy.Bug, str] = {
    "decide": "Broken",
    "evolve": "Broken",
    "empty": "WorkflowBug",
    "surrogate": "UnwritableEvent",
    "unreadable": "UnwritableEvent",
}


def faulted(store: Store, bug: toy.Bug) -> Runner:
    """A session whose second Input cannot be decided."""
    run = runner(store, toy.workflow(bug))
    handle = begun(run, toy.said("a")).handle
    with pytest.raises(SessionFaulted) as caught:
        run.submit(handle, toy.said("!"), "second")
    fault = caught.value
    assert (fault.session_id, fault.version) == (SESSION, 3)
    assert type(fault.error).__name__.startswith(BUGS[bug])
    assert fault.__cause__ is fault.error
    return run


@pytest.mark.parametrize("bug", BUGS)
def test_an_undecidable_input_is_recorded_and_seen_alone(store: MemoryStore, bug: toy.Bug) -> None:
    handle = faulted(store, bug).load(SESSION)
    assert tags(store) == ["toy.said.v1", "toy.heard.v1", "toy.said.v1"]
    assert store.session_of_input("second") == SESSION
    verified(store.read(SESSION))
    assert handle.session.undecided == toy.said("!")
    assert handle.session.state.said == ("a",)
    assert compute_session_status(handle.workflow, handle.session) == "faulted"


def test_an_input_that_cannot_be_read_back_is_not_recorded(store: MemoryStore) -> None:
    run = runner(store)
    handle = begun(run, toy.said("a")).handle
    bad = toy.Said(at=2, actor=toy.ADA, text=7)  # type: ignore[arg-type]  # no class checks it
    with pytest.raises(UnwritableEvent, match=r"toy\.said\.v1 cannot be read back: Expected `str`"):
        run.submit(handle, bad, "second")
    assert store.session_of_input("second") is None
    assert len(store.read(SESSION)) == 2


@pytest.mark.parametrize("bug", BUGS)
def test_a_faulted_session_raises_until_the_bug_is_gone(store: MemoryStore, bug: toy.Bug) -> None:
    run = faulted(store, bug)
    for _ in range(2):
        with pytest.raises(SessionFaulted) as caught:
            run.resume(run.load(SESSION))
        assert caught.value.version == 3
        assert type(caught.value.error).__name__.startswith(BUGS[bug])
    with pytest.raises(SessionFaulted):
        run.submit(run.load(SESSION), toy.said("b"), "third")
    assert len(store.read(SESSION)) == 3
    fixed = runner(store)
    step = fixed.resume(fixed.load(SESSION))
    assert step.decisions == (toy.Heard(text="!", count=2),)
    assert step.handle == fixed.load(SESSION)
    assert tags(store) == ["toy.said.v1", "toy.heard.v1"] * 2
    assert replayed(store) == "identical"


def test_the_next_input_after_the_fix_resumes_the_session_first(store: MemoryStore) -> None:
    faulted(store, "decide")
    fixed = runner(store)
    step = fixed.submit(fixed.load(SESSION), toy.said("b"), "third")
    assert step.decisions == (toy.Heard(text="b", count=3),)
    assert step.handle.session.state.said == ("a", "!", "b")
    assert replayed(store) == "identical"


def test_a_stale_handle_of_a_faulted_session_meets_the_fault(store: MemoryStore) -> None:
    run = runner(store, toy.workflow("decide"))
    stale = begun(run, toy.said("a")).handle
    with pytest.raises(SessionFaulted):
        run.submit(stale, toy.said("!"), "second")
    for text, input_id in (("b", "third"), ("!", "second"), ("!", "fourth")):
        with pytest.raises(SessionFaulted) as caught:
            run.submit(stale, toy.said(text), input_id)
        assert caught.value.version == 3
    assert len(store.read(SESSION)) == 3


def test_a_session_may_fault_at_its_first_input_or_as_it_is_folded(store: MemoryStore) -> None:
    broken = runner(store, toy.workflow("decide"))
    with pytest.raises(SessionFaulted) as caught:
        begun(broken, toy.said("!"))
    assert caught.value.version == 1
    fixed = runner(store)
    assert fixed.resume(fixed.load(SESSION)).decisions == (toy.Heard(text="!", count=1),)
    assert replayed(store) == "identical"
    with pytest.raises(SessionFaulted) as caught:
        runner(store, toy.workflow("evolve")).load(SESSION)
    assert caught.value.version == 2


@pytest.mark.parametrize("bug", BUGS)
def test_an_undecided_input_is_set_aside_undecided(store: MemoryStore, bug: toy.Bug) -> None:
    run = faulted(store, bug)
    handle = run.load(SESSION)
    aside = InputQuarantined(at=9, actor=toy.ADA, version=3, error="Broken: cannot")
    step = run.submit(handle, aside, "third")
    assert step.decisions == (SessionClosed(status="abandoned"),)
    assert tags(store)[2:] == ["toy.said.v1", "session.input_quarantined.v1", "session.closed.v1"]
    loaded = run.load(SESSION)
    assert loaded == step.handle
    assert (loaded.session.undecided, loaded.session.closed) == (None, "abandoned")
    assert loaded.session.state.said == ("a",)
    late = run.submit(loaded, toy.said("!"), "fourth")
    assert late.decisions == (InputIgnored(reason="closed"),)


def test_a_bug_that_is_no_exception_of_ours_is_not_swallowed(store: MemoryStore) -> None:
    class Stop(BaseException):
        pass

    def interrupt(state: toy.State, new: Input) -> tuple[()]:
        raise Stop

    stopping = altered(toy.WORKFLOW, decide=interrupt)
    with pytest.raises(Stop):
        begun(runner(store, stopping), toy.said("a"))
    assert store.heads(None) == ()


# 6. Logs that follow no grammar --------------------------------------------------------------


def _log(store: MemoryStore, *drafts: Draft) -> None:
    batch = AppendBatch(
        session_id=SESSION,
        project=PROJECT,
        workflow="toy",
        expected_version=0,
        expected_hash=b"",
        events=drafts,
    )
    store.insert(sealed(batch, 1, salt))


CODEC = Codec(toy.WORKFLOW.decider)
SAID = CODEC.draft(toy.said("a"), "first")
HEARD = CODEC.draft(toy.Heard(text="a", count=1))
ANONYMOUS = CODEC.draft(toy.said("b"))
NAMED_DECISION = CODEC.draft(toy.Heard(text="a", count=1), "second")


@pytest.mark.parametrize(
    ("drafts", "version", "found"),
    [
        ((HEARD,), 1, "a Decision that follows from no Input"),
        ((HEARD, SAID, HEARD), 1, "a Decision that follows from no Input"),
        ((ANONYMOUS, HEARD), 1, "an Input without an id"),
        ((SAID, HEARD, ANONYMOUS, HEARD), 3, "an Input without an id"),
        ((SAID, NAMED_DECISION), 2, "a Decision with the id of an Input"),
        ((SAID, CODEC.draft(toy.said("b"), "second"), HEARD), 2, "an Input after one"),
        (
            (Draft(SAID.type, SAID.data, "toy/1", "first", "agent"), HEARD),
            1,
            "its envelope names another actor",
        ),
        (
            (Draft(SAID.type, SAID.data, "toy/1", "first", None), HEARD),
            1,
            "its envelope names another actor",
        ),
        ((Draft(SAID.type, SAID.data, "toy/1", "a\0b", "user"), HEARD), 1, "envelope holds NUL"),
        ((Draft(SAID.type, SAID.data, "toy/1\0", "a", "user"), HEARD), 1, "envelope holds NUL"),
    ],
)
def test_a_log_without_grammar_is_damaged_though_its_chain_verifies(
    store: MemoryStore, drafts: tuple[Draft, ...], version: int, found: str
) -> None:
    _log(store, *drafts)
    verified(store.read(SESSION))
    with pytest.raises(LogDamaged, match=found) as caught:
        runner(store).load(SESSION)
    assert caught.value.version == version


def test_events_without_a_head_of_theirs_are_damaged(tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "log.db"), Clock(), salt)) as store:
        begun(runner(store), toy.said("a"))
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.execute("DROP TRIGGER events_are_kept")
            other.execute("DELETE FROM events")
        with pytest.raises(LogDamaged):
            runner(store).load(SESSION)


# 7. Performing -------------------------------------------------------------------------------


def settled(run: Runner, provider: ScriptedProvider, handle: Handle | None = None) -> Step:
    return asyncio.run(run.settle(handle or run.load(SESSION), provider))


def last(store: Store, cls: type[Any]) -> Any:
    found = [event for event in store.read(SESSION) if event.type == cls.tag]
    return CODEC.decode(found[-1])


def test_a_request_is_durable_before_the_provider_is_asked(store: MemoryStore) -> None:
    seen: list[list[str]] = []

    class Looking(ScriptedProvider):
        async def respond(self, request: CompletionRequested) -> Completion:
            seen.append(tags(store))
            return await super().respond(request)

    run = runner(store)
    step = begun(run, toy.asked("why?"))
    assert compute_session_status(step.handle.workflow, step.handle.session) == "waiting"
    provider = Looking("because")
    done = settled(run, provider, step.handle)
    assert seen == [["toy.asked.v1", "completion.requested.v1"]]
    assert provider.requests == list(step.handle.session.calls)
    assert done.handle.session.state.answers == ("because",)
    assert done.handle.session.calls == ()
    assert tags(store)[2:] == ["completion.received.v1", "toy.answered.v1"]
    assert replayed(store) == "identical"


def test_a_session_that_waits_for_nothing_is_left_as_it_is(store: MemoryStore) -> None:
    run = runner(store)
    handle = begun(run, toy.said("a")).handle
    provider = ScriptedProvider()
    assert run.resume(handle) == settled(run, provider) == Step(handle, ())
    assert provider.requests == []
    assert len(store.read(SESSION)) == 2


def test_a_response_is_recorded_verbatim_with_what_it_cost(store: MemoryStore) -> None:
    ticks = iter(range(0, 10**9, 2_500_000))
    run = runner(store, clock=lambda: next(ticks))
    begun(run, toy.asked("why?"))
    text = ' ```json\n{"a": 1.0}\n```\r\n\x00\x1b[2J \u202e '
    whole = Completion(text, None, "echo-1-0613", "end_turn", "req-7", 12, 345)
    settled(run, ScriptedProvider(whole))
    received = last(store, CompletionReceived)
    assert (received.text, received.text_base64) == (text, None)
    assert (received.model, received.stop_reason) == ("echo-1-0613", "end_turn")
    assert (received.request_id, received.input_tokens, received.output_tokens) == (
        "req-7",
        12,
        345,
    )
    assert received.call == "completion-1"
    assert received.latency_ms is not None
    assert received.latency_ms > 0
    assert received.latency_ms % 2_500 == 0


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udcff\udcfe", "🛫\ud83d", None])
def test_a_response_that_is_no_text_is_kept_in_base64(store: MemoryStore, text: str | None) -> None:
    run = runner(store)
    begun(run, toy.asked("why?"))
    raw = base64.b64encode(b"\xff\xfe" if text is None else text.encode("utf-8", "surrogatepass"))
    given = Completion(None, raw.decode()) if text is None else text
    settled(run, ScriptedProvider(given))
    received = last(store, CompletionReceived)
    assert (received.text, received.text_base64) == (None, raw.decode())
    assert replayed(store) == "identical"


def test_what_a_provider_says_beside_its_text_cannot_lose_the_response(store: MemoryStore) -> None:
    run = runner(store)
    begun(run, toy.asked("why?"))
    settled(run, ScriptedProvider(Completion("yes", None, "mo\ud800del", "st\udfffop", "id\udc00")))
    received = last(store, CompletionReceived)
    assert (received.text, received.model) == ("yes", "mo\\ud800del")
    assert (received.stop_reason, received.request_id) == ("st\\udfffop", "id\\udc00")


@pytest.mark.parametrize(
    ("error", "kind", "retry_after_ms"),
    [
        (LLMTimeoutError("too slow"), "timeout", None),
        (LLMRateLimitError("too many", retry_after_ms=1_500), "rate_limit", 1_500),
        (LLMAPIError("too bad"), "api_error", None),
        (LLMError("too strange"), "error", None),
    ],
)
def test_a_providers_error_is_recorded_and_the_workflow_tries_again(
    store: MemoryStore, error: LLMError, kind: str, retry_after_ms: int | None
) -> None:
    run = runner(store)
    begun(run, toy.asked("why?"))
    provider = ScriptedProvider(error, "because")
    step = settled(run, provider)
    failed = last(store, CompletionFailed)
    assert (failed.kind, failed.message) == (kind, str(error))
    assert (failed.retry_after_ms, failed.call) == (retry_after_ms, "completion-1")
    assert [request.attempt for request in provider.requests] == [1, 2]
    assert step.handle.session.state.answers == ("because",)
    assert replayed(store) == "identical"


def test_an_error_is_recorded_without_the_key_that_it_echoes(store: MemoryStore) -> None:
    run = runner(store)
    begun(run, toy.asked("why?"))
    key = "-".join(("sk", "ant", "a1B2" * 8))
    settled(run, ScriptedProvider(LLMAPIError(f"401: invalid key {key} \ud800"), "because"))
    message = last(store, CompletionFailed).message
    assert key not in message
    assert message == "401: invalid key [redacted:key] \\ud800"


def test_an_error_that_is_no_providers_leaves_the_call_open(store: MemoryStore) -> None:
    class Buggy(ScriptedProvider):
        async def respond(self, request: CompletionRequested) -> Completion:
            raise ZeroDivisionError

    run = runner(store)
    begun(run, toy.asked("why?"))
    with pytest.raises(ZeroDivisionError):
        settled(run, Buggy())
    assert store.open_calls(PROJECT) == ((SESSION, "completion-1"),)
    again = ScriptedProvider("because")
    assert settled(run, again).handle.session.state.answers == ("because",)
    assert [request.attempt for request in again.requests] == [2]


# 8. One performer ----------------------------------------------------------------------------


@pytest.fixture
def hands() -> Hands:
    return Hands()


def two_runners(store: Store, hands: Hands) -> tuple[Runner, Runner]:
    new_id = Ids()
    ada, bob = (Runner(store, {"toy": toy.WORKFLOW}, hands, new_id) for _ in range(2))
    assert ada.owner != bob.owner
    return ada, bob


def test_a_session_that_asks_without_an_end_is_stopped(store: MemoryStore) -> None:
    run = runner(store, toy.workflow("endless"))
    handle = begun(run, toy.asked("a")).handle
    provider = ScriptedProvider(*["b"] * (2 * ROUNDS_MAX))
    with pytest.raises(RoundsExhausted, match=f"asked its provider {ROUNDS_MAX} times") as caught:
        asyncio.run(run.settle(handle, provider))
    assert caught.value.fields == {"session": SESSION[-8:], "rounds": ROUNDS_MAX}
    assert tags(store).count("completion.received.v1") == ROUNDS_MAX
    assert open_completion(run.load(SESSION).session) is not None, "it can be resumed"


class TakenByNone(Counting):
    """A store that lost its claims and does not give the call out again."""

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> Claim:
        return "not_open"


def test_a_call_that_stays_taken_is_waited_for_not_without_an_end(store: MemoryStore) -> None:
    run = runner(TakenByNone(store))
    handle = begun(run, toy.asked("a")).handle
    with pytest.raises(RoundsExhausted):
        asyncio.run(run.settle(handle, ScriptedProvider()))


def test_an_error_that_comes_late_is_kept_as_well(store: MemoryStore, hands: Hands) -> None:
    ada, bob = two_runners(store, hands)
    begun(ada, toy.asked("why?"))

    class Late(ScriptedProvider):
        async def respond(self, request: CompletionRequested) -> Completion:
            hands.at += CLAIM_US
            await bob.settle(bob.load(SESSION), ScriptedProvider("his"))
            return await super().respond(request)

    step = settled(ada, Late(LLMTimeoutError("too slow")))
    assert step.decisions == (ResponseIgnored(call="completion-1", reason="not_open"),)
    assert last(store, CompletionFailed).kind == "timeout"


def test_a_user_may_answer_while_the_provider_thinks(store: MemoryStore, hands: Hands) -> None:
    ada, bob = two_runners(store, hands)
    begun(ada, toy.asked("why?"))

    class Interrupted(ScriptedProvider):
        async def respond(self, request: CompletionRequested) -> Completion:
            bob.submit(bob.load(SESSION), toy.said("by the way"), "by-the-way")
            return await super().respond(request)

    step = settled(ada, Interrupted("because"))
    assert step.handle.session.state.answers == ("because",)
    assert step.handle.session.state.said == ("by the way",)
    assert replayed(store) == "identical"


@pytest.fixture
def sql(tmp_path: Path) -> Iterator[SqlStore]:
    made = SqlStore(str(tmp_path / "log.db"), Clock(), salt)
    yield made
    made.close()


def test_the_whole_loop_runs_over_a_database(sql: SqlStore, hands: Hands) -> None:
    ada, bob = two_runners(sql, hands)
    begun(ada, toy.asked("why?"))
    step = settled(bob, ScriptedProvider(LLMTimeoutError("slow"), "\ud800"))
    ada.submit_all([ProposedInput(step.handle, toy.said("thanks"), "thanks", number=3)])
    assert ada.load(SESSION) == bob.load(SESSION)
    assert sql.numbers(PROJECT) == {Numbered("", 3): SESSION}
    assert replayed(sql) == "identical"
