"""The fold that every workflow shares."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any, ClassVar

import msgspec
import pytest

from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
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
    OutsideRequest,
    ResponseIgnored,
    SessionAbandoned,
    SessionClosed,
    SessionErased,
)
from preflights_es.kernel.session import Decider, Session
from preflights_es.words.decisions import Record
from preflights_es.words.workflow import (
    FiledPart,
    ShownPart,
    View,
    Workflow,
    compute_session_status,
    find_known_workflow,
    is_stalled,
)
from tests import toy
from tests.each import each
from tests.toy import altered

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
    decider=Decider(
        name="counter",
        version="counter/1",
        events=(Pressed, Counted),
        initial=Count(),
        decide=_decide,
        evolve=_evolve,
        is_terminal=lambda state: state.counted >= 100,
    ),
    shown=ShownPart(view=lambda _: View(status="done", intention="")),
    filed=FiledPart(record=lambda _: Record("", "", "", "", "open")),
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
    session = kernel.begin(COUNTER.decider)
    for new in inputs:
        for event in (new, *kernel.decide(COUNTER.decider, session, new)):
            session = kernel.evolve(COUNTER.decider, session, event)
    return session


def follows(*inputs: Input) -> tuple[Decision, ...]:
    """What follows from the last Input."""
    return kernel.decide(COUNTER.decider, run(*inputs[:-1]), inputs[-1])


# 1. Inputs and Decisions ---------------------------------------------------------------------


def test_a_session_begins_with_nothing() -> None:
    assert kernel.begin(COUNTER.decider) == Session(Count())
    assert kernel.fold(COUNTER.decider, ()) == Session(Count())


def test_an_input_is_part_of_the_state_with_its_first_decision() -> None:
    waiting = kernel.evolve(COUNTER.decider, kernel.begin(COUNTER.decider), pressed())
    assert waiting == Session(Count(), 1, (), pressed())
    assert kernel.evolve(COUNTER.decider, waiting, Counted()) == Session(Count(1, 1), 2)


def test_an_input_is_folded_once_however_many_decisions_follow() -> None:
    session = kernel.fold(COUNTER.decider, (pressed(), Counted(), Counted(), Counted()))
    assert session == Session(Count(1, 3), 4)


def test_a_fold_is_its_steps() -> None:
    events = (pressed(), Counted(), pressed("ask"), Counted(), asked("c-2"))
    assert kernel.fold(COUNTER.decider, events) == run(pressed(), pressed("ask"))


def test_two_undecided_inputs_are_impossible() -> None:
    with pytest.raises(AssertionError, match="event 2 follows an undecided Input"):
        kernel.fold(COUNTER.decider, (pressed(), pressed()))


def test_a_workflow_that_answers_with_nothing_is_a_bug_with_a_name() -> None:
    with pytest.raises(WorkflowBug, match=r"counter\.decide answered .* with nothing, expected"):
        follows(pressed("nothing"))


def test_a_workflow_that_says_no_more_is_led_by_rules_and_listed_as_any_other() -> None:
    assert (COUNTER.led.always, COUNTER.asked.written, COUNTER.shown.aside) == (False, False, False)
    assert COUNTER.led.package == ""
    assert COUNTER.led.lead(Count()) is None
    assert COUNTER.filed.number(Count()) is None


# 2. Calls ------------------------------------------------------------------------------------


def test_a_request_is_open_until_its_outcome_is_decided() -> None:
    session = run(pressed("ask"))
    assert session.calls == (asked("c-1"),)
    undecided = kernel.evolve(COUNTER.decider, session, received("c-1"))
    assert undecided.calls == session.calls
    assert run(pressed("ask"), received("c-1")).calls == ()


def test_open_calls_stand_oldest_first_and_each_is_closed_by_its_own_outcome() -> None:
    session = run(pressed("ask"), pressed("write"), pressed("ask"))
    assert [call.call for call in session.calls] == ["c-1", "a-2", "c-3"]
    wrote = ArtifactWritten(at=2, actor=ADA, call="a-2", path="p", sha256="0")
    session = run(pressed("ask"), pressed("write"), pressed("ask"), wrote)
    assert [call.call for call in session.calls] == ["c-1", "c-3"]
    assert isinstance(session.calls[0], OutsideRequest)


def test_a_failure_closes_its_call_too() -> None:
    failed = CompletionFailed(at=2, actor=ADA, call="c-1", kind="timeout", message="60 s")
    assert follows(pressed("ask"), failed) == (Counted(of="outcome"),)
    assert run(pressed("ask"), failed).calls == ()


@each("given", [(), (pressed(),), (pressed("ask"), received("c-1")), (pressed("write"),)])
def test_an_outcome_without_a_request_is_kept_and_changes_nothing(given: tuple[Input, ...]) -> None:
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


def test_a_document_that_is_owed_at_the_end_is_still_written() -> None:
    due = ArtifactDue(call="a-9", template="t.v1", path="p")
    owing = altered(COUNTER, abandoned=lambda _state, _new: (due,))
    session = run(pressed("write"), pressed("ask"))
    decisions = kernel.decide(
        owing.decider, kernel.evolve(owing.decider, session, ABANDONED), ABANDONED
    )
    assert decisions == (due, SessionClosed(status="abandoned"))
    ended = reduce(partial(kernel.evolve, owing.decider), (ABANDONED, *decisions), session)
    assert [call.call for call in ended.calls] == ["a-1", "a-9"], "no completion is awaited"
    wrote = ArtifactWritten(at=2, actor=ADA, call="a-9", path="p", sha256="0")
    told = kernel.decide(owing.decider, kernel.evolve(owing.decider, ended, wrote), wrote)
    after = reduce(partial(kernel.evolve, owing.decider), (wrote, *told), ended)
    assert (told, after.closed) == ((Counted(of="outcome"),), "abandoned")
    assert [call.call for call in after.calls] == ["a-1"]


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
    stuck = kernel.evolve(COUNTER.decider, run(pressed()), pressed("crash"))
    assert compute_session_status(COUNTER, stuck) == "faulted"
    assert kernel.decide(COUNTER.decider, stuck, quarantined(3)) == (
        SessionClosed(status="abandoned"),
    )
    events = (pressed(), Counted(), pressed("crash"), quarantined(3))
    session = kernel.fold(COUNTER.decider, (*events, SessionClosed(status="abandoned")))
    assert (session.closed, session.undecided, session.version) == ("abandoned", None, 5)
    assert session.state == Count(1, 1), "neither Input left a trace"


# 5. Status -----------------------------------------------------------------------------------


def test_the_status_is_the_first_that_holds() -> None:
    assert compute_session_status(COUNTER, run(pressed())) == "done"
    assert compute_session_status(COUNTER, run(pressed("write"))) == "done", (
        "a file keeps no user waiting"
    )
    assert compute_session_status(COUNTER, run(pressed("ask"))) == "waiting"
    stuck = kernel.evolve(COUNTER.decider, run(pressed("ask")), pressed("crash"))
    assert compute_session_status(COUNTER, stuck) == "faulted"
    assert compute_session_status(COUNTER, run(pressed("ask"), ABANDONED)) == "abandoned"


def test_a_session_is_stalled_that_waits_for_a_model_and_has_asked_none() -> None:
    strict = altered(COUNTER, view=lambda _: View(status="waiting", intention=""))
    assert is_stalled(strict, run(pressed()))
    assert not is_stalled(strict, kernel.begin(strict.decider))
    assert not is_stalled(strict, run(pressed("ask")))
    assert not is_stalled(strict, run(pressed(), ABANDONED))
    assert not is_stalled(COUNTER, run(pressed()))


WHY = "upgrade preflights"


def test_a_mapping_that_has_no_such_workflow_says_so() -> None:
    assert find_known_workflow({"toy": toy.WORKFLOW}, "toy") is toy.WORKFLOW
    with pytest.raises(WorkflowMissing, match=f"'toy' is not known here: {WHY}"):
        find_known_workflow({}, "toy")


class Unloadable(dict[str, Workflow[Any]]):
    """Workflows whose packages do not load."""

    def __missing__(self, name: str) -> Workflow[Any]:
        raise WorkflowMissing(name, "install it again")


def test_a_mapping_that_knows_why_a_workflow_is_missing_is_believed() -> None:
    with pytest.raises(WorkflowMissing, match="'toy' is not known here: install it again"):
        find_known_workflow(Unloadable(), "toy")
