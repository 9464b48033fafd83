"""The fold that every workflow shares, and sessions of a workflow whose code is not here."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import pytest
from msgspec.structs import replace

from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.decisions import Record
from preflights_es.kernel.errors import WorkflowBug, WorkflowMissing
from preflights_es.kernel.events import (
    Actor,
    ArtifactDue,
    ArtifactWritten,
    Decision,
    Event,
    Input,
    InputIgnored,
    InputQuarantined,
    Request,
    ResponseIgnored,
    SessionAbandoned,
    SessionClosed,
    SessionErased,
)
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import (
    OpaqueDecision,
    OpaqueInput,
    Session,
    Workflow,
    known,
    opaque_event,
    opaque_workflow,
)
from preflights_es.kernel.views import View
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt

ADA = Actor("user", "Ada")


class Pressed(Input, frozen=True):
    """A button was pressed; some ask for something."""

    tag: ClassVar[str] = "counter.pressed.v1"
    button: str = "count"


class Counted(Decision, frozen=True):
    """It counts."""

    tag: ClassVar[str] = "counter.counted.v1"
    of: str = "press"


class Count(msgspec.Struct, frozen=True):
    """How many presses and how many Decisions were folded."""

    inputs: int = 0
    counted: int = 0


def _decide(state: Count, new: Input) -> tuple[Decision, ...]:
    match new:
        case Pressed(button="ask"):
            return (Counted(), asked(f"c-{state.inputs + 1}"))
        case Pressed(button="write"):
            return (ArtifactDue(call=f"a-{state.inputs + 1}", template="t.v1", path="p"),)
        case Pressed(button="nothing"):
            return ()
        case Pressed(button="crash"):
            raise ZeroDivisionError("the button is broken")
        case Pressed():
            return (Counted(),)
        case _:
            return (Counted(of="outcome"),)


def _evolve(state: Count, event: Event) -> Count:
    if isinstance(event, Input):
        return Count(state.inputs + 1, state.counted)
    return Count(state.inputs, state.counted + isinstance(event, Counted))


COUNTER: Workflow[Count] = Workflow(
    name="counter",
    decider="counter/1",
    events=(Pressed, Counted),
    initial=Count(),
    decide=_decide,
    evolve=_evolve,
    is_terminal=lambda state: state.counted >= 100,
    view=lambda _: View(status="done", intention=""),
    record=lambda _: Record("", "", "", "", "open"),
)


def pressed(button: str = "count") -> Pressed:
    return Pressed(at=1, actor=ADA, button=button)


def asked(call: str) -> CompletionRequested:
    return CompletionRequested(call=call, provider="mock", model="m", messages=())


def received(call: str) -> CompletionReceived:
    return CompletionReceived(at=2, actor=ADA, call=call, text="{}")


ABANDONED = SessionAbandoned(at=3, actor=ADA, reason="no longer needed")


def run(*inputs: Input) -> Session[Count]:
    """The session after the Inputs and what follows from each."""
    session = kernel.begin(COUNTER)
    for new in inputs:
        for event in (new, *kernel.decide(COUNTER, session, new)):
            session = kernel.evolve(COUNTER, session, event)
    return session


def follows(*inputs: Input) -> tuple[Decision, ...]:
    """What follows from the last Input."""
    return kernel.decide(COUNTER, run(*inputs[:-1]), inputs[-1])


# 1. Inputs and Decisions ---------------------------------------------------------------------


def test_a_session_begins_with_nothing() -> None:
    assert kernel.begin(COUNTER) == Session(Count())
    assert kernel.fold(COUNTER, ()) == Session(Count())


def test_an_input_is_part_of_the_state_with_its_first_decision() -> None:
    waiting = kernel.evolve(COUNTER, kernel.begin(COUNTER), pressed())
    assert waiting == Session(Count(), 1, (), pressed())
    assert kernel.evolve(COUNTER, waiting, Counted()) == Session(Count(1, 1), 2)


def test_an_input_is_folded_once_however_many_decisions_follow() -> None:
    session = kernel.fold(COUNTER, (pressed(), Counted(), Counted(), Counted()))
    assert session == Session(Count(1, 3), 4)


def test_a_fold_is_its_steps() -> None:
    events = (pressed(), Counted(), pressed("ask"), Counted(), asked("c-2"))
    assert kernel.fold(COUNTER, events) == run(pressed(), pressed("ask"))


def test_two_undecided_inputs_are_impossible() -> None:
    with pytest.raises(AssertionError, match="event 2 follows an undecided Input"):
        kernel.fold(COUNTER, (pressed(), pressed()))


def test_a_workflow_that_answers_with_nothing_is_a_bug_with_a_name() -> None:
    with pytest.raises(WorkflowBug, match=r"counter\.decide answered .* with nothing, expected"):
        follows(pressed("nothing"))


def test_a_workflow_that_says_no_more_is_led_by_rules_and_listed_as_any_other() -> None:
    assert (COUNTER.always_led, COUNTER.written, COUNTER.aside) == (False, False, False)
    assert (COUNTER.package, COUNTER.missing) == ("", "")
    assert COUNTER.lead(Count()) is None
    assert COUNTER.number(Count()) is None


# 2. Calls ------------------------------------------------------------------------------------


def test_a_request_is_open_until_its_outcome_is_decided() -> None:
    session = run(pressed("ask"))
    assert session.calls == (asked("c-1"),)
    undecided = kernel.evolve(COUNTER, session, received("c-1"))
    assert undecided.calls == session.calls
    assert run(pressed("ask"), received("c-1")).calls == ()


def test_open_calls_stand_oldest_first_and_each_is_closed_by_its_own_outcome() -> None:
    session = run(pressed("ask"), pressed("write"), pressed("ask"))
    assert [call.call for call in session.calls] == ["c-1", "a-2", "c-3"]
    wrote = ArtifactWritten(at=2, actor=ADA, call="a-2", path="p", sha256="0")
    session = run(pressed("ask"), pressed("write"), pressed("ask"), wrote)
    assert [call.call for call in session.calls] == ["c-1", "c-3"]
    assert isinstance(session.calls[0], Request)


def test_a_failure_closes_its_call_too() -> None:
    failed = CompletionFailed(at=2, actor=ADA, call="c-1", kind="timeout", message="60 s")
    assert follows(pressed("ask"), failed) == (Counted(of="outcome"),)
    assert run(pressed("ask"), failed).calls == ()


@each("given", [(), (pressed(),), (pressed("ask"), received("c-1")), (pressed("write"),)])
def test_an_outcome_without_a_request_is_kept_and_changes_nothing(
    given: tuple[Input, ...],
) -> None:
    assert follows(*given, received("c-1")) == (ResponseIgnored(call="c-1", reason="not_open"),)
    before, now = run(*given), run(*given, received("c-1"))
    assert (now.state, now.calls, now.version) == (before.state, before.calls, before.version + 2)


def test_an_outcome_after_the_end_is_kept_too() -> None:
    late = (pressed("ask"), ABANDONED, received("c-1"))
    assert follows(*late) == (ResponseIgnored(call="c-1", reason="closed"),)
    assert run(*late).closed == "abandoned"


# 3. Abandoning -------------------------------------------------------------------------------


def test_an_abandoned_session_is_closed_and_waits_for_nothing() -> None:
    assert follows(pressed("ask"), ABANDONED) == (SessionClosed(status="abandoned"),)
    session = run(pressed("ask"), ABANDONED)
    assert (session.closed, session.calls, session.undecided) == ("abandoned", (), None)
    assert session.state == Count(1, 1), "abandoning reaches no workflow"


def test_after_the_end_every_input_is_recorded_and_ignored() -> None:
    for button in ("count", "ask", "crash", "nothing"):
        late = (pressed(), ABANDONED, pressed(button))
        assert follows(*late) == (InputIgnored(reason="closed"),)
        assert run(*late).state == Count(1, 1)
        assert run(*late).closed == "abandoned"


def test_an_end_ends_again() -> None:
    assert follows(ABANDONED, ABANDONED) == (SessionClosed(status="abandoned"),)
    assert run(ABANDONED, ABANDONED).closed == "abandoned"


def test_an_erasure_closes_a_session_and_leaves_nothing_of_it() -> None:
    erased = SessionErased(at=3, actor=ADA)
    assert follows(pressed("ask"), erased) == (SessionClosed(status="erased"),)
    assert run(pressed("ask"), erased) == Session(Count(), 5, closed="erased")


# 4. Quarantine -------------------------------------------------------------------------------


def quarantined(version: int) -> InputQuarantined:
    return InputQuarantined(at=4, actor=ADA, version=version, error="ZeroDivisionError")


def test_an_input_that_cannot_be_decided_is_set_aside_without_deciding_it() -> None:
    with pytest.raises(ZeroDivisionError):
        follows(pressed(), pressed("crash"))
    stuck = kernel.evolve(COUNTER, run(pressed()), pressed("crash"))
    assert kernel.status(COUNTER, stuck) == "faulted"
    assert kernel.decide(COUNTER, stuck, quarantined(3)) == (SessionClosed(status="abandoned"),)
    events = (pressed(), Counted(), pressed("crash"), quarantined(3))
    session = kernel.fold(COUNTER, (*events, SessionClosed(status="abandoned")))
    assert (session.closed, session.undecided, session.version) == ("abandoned", None, 5)
    assert session.state == Count(1, 1), "neither Input left a trace"


# 5. Status -----------------------------------------------------------------------------------


def test_the_status_is_the_first_that_holds() -> None:
    assert kernel.status(COUNTER, run(pressed())) == "done"
    assert kernel.status(COUNTER, run(pressed("write"))) == "done", "a file keeps no user waiting"
    assert kernel.status(COUNTER, run(pressed("ask"))) == "waiting"
    stuck = kernel.evolve(COUNTER, run(pressed("ask")), pressed("crash"))
    assert kernel.status(COUNTER, stuck) == "faulted"
    assert kernel.status(COUNTER, run(pressed("ask"), ABANDONED)) == "abandoned"


def test_a_session_is_stalled_that_waits_for_a_model_and_has_asked_none() -> None:
    strict = replace(COUNTER, view=lambda _: View(status="waiting", intention=""))
    assert kernel.is_stalled(strict, run(pressed()))
    assert not kernel.is_stalled(strict, kernel.begin(strict))
    assert not kernel.is_stalled(strict, run(pressed("ask")))
    assert not kernel.is_stalled(strict, run(pressed(), ABANDONED))
    assert not kernel.is_stalled(COUNTER, run(pressed()))


SESSION = "00000001-0000-7000-8000-000000000001"
WHY = "upgrade preflights"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(Clock(), salt)


def begun(store: MemoryStore, *texts: str) -> Handle:
    """A session of the toy, by a program that knows it."""
    run = Runner(store, {"toy": toy.WORKFLOW}, Clock(), Ids())
    handle = run.open(toy.WORKFLOW, PROJECT, toy.said("a"), SESSION, "first").handle
    for text in texts:
        new = toy.asked(text) if text.endswith("?") else toy.said(text)
        handle = run.submit(handle, new, text).handle
    return handle


def stranger(store: MemoryStore) -> Runner:
    """A program that does not."""
    return Runner(store, {}, Clock(), Ids())


# 1. Reading ----------------------------------------------------------------------------------


def test_it_is_loaded_with_its_version_and_says_what_is_missing(store: MemoryStore) -> None:
    there = begun(store, "b", "c")
    here = stranger(store).load(SESSION)
    assert (here.version, here.hash) == (there.version, there.hash) == (6, there.hash)
    view = here.workflow.view(here.session.state)
    assert view.intention == f"the workflow 'toy' is not known here: {WHY}"
    assert kernel.status(here.workflow, here.session) == "unknown"
    assert here.workflow.statuses == ("unknown",)
    assert (view.to_do, view.questions, view.can_accept) == ("", (), False)
    assert not here.workflow.is_terminal(here.session.state), "its code may go on with it"


def test_what_the_kernel_knows_of_it_is_shown(store: MemoryStore) -> None:
    begun(store, "why?")
    here = stranger(store).load(SESSION)
    assert [call.call for call in here.session.calls] == ["completion-1"]
    assert kernel.status(here.workflow, here.session) == "waiting"
    run = Runner(store, {"toy": toy.WORKFLOW}, Clock(), Ids())
    run.submit(run.load(SESSION), SessionAbandoned(at=1, actor=toy.ADA), "end")
    assert stranger(store).load(SESSION).session.closed == "abandoned"


def test_its_events_say_who_and_when(store: MemoryStore) -> None:
    begun(store)
    codec = stranger(store).codec(opaque_workflow("toy", WHY))
    first, second = map(codec.decode, store.read(SESSION))
    assert isinstance(first, OpaqueInput)
    assert first.actor == toy.ADA
    assert first.at == store.read(SESSION)[0].recorded_at
    assert second == OpaqueDecision()


@pytest.mark.parametrize(
    ("data", "kind", "actor"),
    [
        (b'{"actor":{"kind":"agent","name":"Bo"}}', "agent", Actor("agent", "Bo")),
        (b'{"actor":"Bo"}', "user", Actor("user")),
        (b"[" * 100_000, "agent", Actor("agent")),
        (b"\xff", "root", Actor("script")),
        (None, None, Actor("script")),
    ],
)
def test_a_payload_of_any_form_has_an_actor(
    data: bytes | None, kind: str | None, actor: Actor, store: MemoryStore
) -> None:
    begun(store)
    one: Stored = replace(store.read(SESSION)[0], data=data, actor_kind=kind)
    event = opaque_event(one)
    assert isinstance(event, OpaqueInput)
    assert event.actor == actor


# 2. Nothing else -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "new",
    [
        toy.said("b"),
        SessionAbandoned(at=1, actor=toy.ADA),
        InputQuarantined(at=1, actor=toy.ADA, version=1, error=""),
    ],
)
def test_it_takes_no_input(store: MemoryStore, new: Input) -> None:
    begun(store)
    run = stranger(store)
    with pytest.raises(WorkflowMissing, match=f"'toy' is not known here: {WHY}"):
        run.submit(run.load(SESSION), new, "second")
    assert len(store.read(SESSION)) == 2


def test_an_undecided_input_waits_for_its_code(store: MemoryStore) -> None:
    broken = Runner(store, {"toy": toy.workflow("decide", "!")}, Clock(), Ids())
    begun(store)
    with pytest.raises(Exception, match="cannot decide"):
        broken.submit(broken.load(SESSION), toy.said("!"), "second")
    run = stranger(store)
    handle = run.load(SESSION)
    assert kernel.status(handle.workflow, handle.session) == "faulted"
    with pytest.raises(WorkflowMissing):
        run.resume(handle)
    again = Runner(store, {"toy": toy.WORKFLOW}, Clock(), Ids())
    assert again.resume(again.load(SESSION)).decisions == (toy.Heard(text="!", count=2),)


def test_a_mapping_that_has_no_such_workflow_says_so() -> None:
    assert known({"toy": toy.WORKFLOW}, "toy") is toy.WORKFLOW
    with pytest.raises(WorkflowMissing, match=f"'toy' is not known here: {WHY}"):
        known({}, "toy")


class Unloadable(dict[str, Workflow[Any]]):
    """Workflows whose packages do not load."""

    def __missing__(self, name: str) -> Workflow[Any]:
        raise WorkflowMissing(name, "install it again")


def test_a_mapping_that_knows_why_a_workflow_is_missing_is_believed() -> None:
    with pytest.raises(WorkflowMissing, match="'toy' is not known here: install it again"):
        known(Unloadable(), "toy")
