"""Strict replay: what was recorded, what today's code decides, and where the two differ."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.history.child import ABSENT_TEXT, Fault
from preflights_es.history.replayer import Replay, Replayer
from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import LogDamaged, LogFromFuture, SessionFaulted, UnreadableEvent
from preflights_es.kernel.events import ERASED_TAG, Event, InputQuarantined, SessionAbandoned
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.runner import Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.store.stored_events import Codec
from preflights_es.words.workflow import Workflow
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.store.given import resealed
from tests.toy import altered

SESSION = "00000001-0000-7000-8000-000000000001"
CODEC = Codec(toy.WORKFLOW.decider)


class Echo:
    """A provider that says what it is asked."""

    async def respond(self, request: CompletionRequested) -> Completion:
        return Completion(request.messages[0].content)


def recorded(*texts: str, workflow: Workflow[Any] = toy.WORKFLOW) -> list[Stored]:
    """A session in which Ada says one text after the other; the last may fault."""
    store = MemoryStore(Clock(), salt)
    runner = Runner(store, {"toy": workflow}, Clock(), Ids())
    step = runner.open(workflow, PROJECT, toy.said(texts[0]), SESSION, "input-0")
    for n, text in enumerate(texts[1:], 1):
        try:
            step = runner.submit(step.handle, toy.said(text), f"input-{n}")
        except SessionFaulted:
            assert n == len(texts) - 1
    return list(store.read(SESSION))


def replay(events: list[Stored], workflow: Workflow[Any] = toy.WORKFLOW) -> Replay:
    return Replayer({"toy": workflow}).replay(events, events[-1].hash)


def decided(event: Event) -> Stored:
    """A Decision without a place, to be sealed into a log."""
    draft = CODEC.draft(event)
    template = recorded("x")[1]
    return replace(template, type=draft.type, data=draft.data)


def with_data(events: list[Stored], version: int, old: bytes, new: bytes) -> list[Stored]:
    """The log in which an event's payload says something else, sealed so that it verifies."""
    event = events[version - 1]
    assert event.data is not None
    assert old in event.data
    changed = replace(event, data=event.data.replace(old, new))
    return resealed([*events[: version - 1], changed, *events[version:]])


# 1. Identical --------------------------------------------------------------------------------


def test_what_was_recorded_is_decided_again_in_any_order_of_keys() -> None:
    events = recorded("a", "b", "c")
    found = replay(events)
    assert (found.session_id, found.workflow, found.events) == (SESSION, "toy", 6)
    assert (found.status, found.divergences, found.fault) == ("identical", (), None)
    assert not found.undecided
    assert replay(events) == found
    turned = with_data(events, 2, b'{"text":"a","count":1}', b'{"count":1,"text":"a"}')
    assert replay(turned).status == "identical"


def test_a_replay_asks_no_provider_and_writes_nothing() -> None:
    store = MemoryStore(Clock(), salt)
    runner = Runner(store, {"toy": toy.WORKFLOW}, Clock(), Ids())
    step = runner.open(toy.WORKFLOW, PROJECT, toy.asked("why?"), SESSION, "first")
    asyncio.run(runner.settle(step.handle, Echo()))
    before = store.read(SESSION)
    assert replay(list(before)).status == "identical"
    assert store.read(SESSION) == before


def test_the_trace_is_that_of_types_and_payloads_alone() -> None:
    events = recorded("a", "b")
    expected = sha256()
    for event in events:
        assert event.data is not None
        tag = event.type.encode()
        expected.update(b"%d:%b%d:%b" % (len(tag), tag, len(event.data), event.data))
    assert replay(events).trace == expected.hexdigest()
    elsewhere = resealed([replace(e, recorded_at=7, decider="toy/9") for e in events])
    assert replay(elsewhere).trace == expected.hexdigest()
    assert replay(recorded("a", "c")).trace != expected.hexdigest()


# 2. Divergences ------------------------------------------------------------------------------


def test_every_value_that_differs_is_named_with_its_place() -> None:
    events = recorded("a", "b", "c", "d")
    events = with_data(events, 2, b'"text":"a","count":1', b'"text":"A","count":9')
    found = replay(with_data(events, 6, b'"count":3', b'"count":33'))
    assert (found.status, found.fault) == ("diverged", None)
    assert [(d.version, d.type, d.pointer, d.recorded, d.computed) for d in found.divergences] == [
        (2, "toy.heard.v1", "/text", "A", "a"),
        (2, "toy.heard.v1", "/count", 9, 1),
        (6, "toy.heard.v1", "/count", 33, 3),
    ]
    found = replay(recorded("a", "b"), toy.workflow(heard="I heard "))
    assert [(d.version, d.recorded, d.computed) for d in found.divergences] == [
        (2, "a", "I heard a"),
        (4, "b", "I heard b"),
    ]


def test_a_decision_of_another_type_differs_as_a_whole() -> None:
    events = recorded("a", "b")
    events[1] = replace(events[1], type="toy.gave_up.v1", data=b'{"kind":"tired"}')
    found = replay(resealed(events))
    (only,) = found.divergences
    assert (only.version, only.type, only.pointer) == (2, "toy.gave_up.v1", "")
    assert only.recorded == {"type": "toy.gave_up.v1", "data": {"kind": "tired"}}
    assert only.computed == {"type": "toy.heard.v1", "data": {"text": "a", "count": 1}}


def test_a_decision_that_was_not_recorded_is_named_where_it_would_stand() -> None:
    two = recorded("a", "b")
    # The first Input's only Decision becomes that of the second: one is missing there.
    extra = decided(toy.GaveUp(kind="tired"))
    events = resealed([two[0], two[1], extra, *two[2:]])

    def twice(state: toy.State, new: Any) -> Any:
        decisions = toy.decide(state, new)
        return (*decisions, toy.GaveUp(kind="tired")) if state.said else decisions

    chatty = altered(toy.WORKFLOW, decide=twice)
    found = replay(events, chatty)
    surplus, missing = found.divergences
    assert (surplus.version, surplus.type, surplus.pointer) == (3, "toy.gave_up.v1", "")
    assert surplus.recorded == {"type": "toy.gave_up.v1", "data": {"kind": "tired"}}
    assert surplus.computed == ABSENT_TEXT
    assert (missing.version, missing.type, missing.pointer) == (6, "toy.gave_up.v1", "")
    assert missing.recorded == ABSENT_TEXT
    assert missing.computed == {"type": "toy.gave_up.v1", "data": {"kind": "tired"}}


def test_what_was_recorded_is_folded_so_that_one_difference_brings_no_others() -> None:
    def counted(state: toy.State, event: Event) -> toy.State:
        if isinstance(event, toy.Heard):
            return replace(state, said=("x",) * event.count)
        return state

    counts_on = altered(toy.WORKFLOW, evolve=counted)
    other = with_data(recorded("a", "b", "c"), 2, b'"count":1', b'"count":5')
    assert [(d.version, d.recorded, d.computed) for d in replay(other, counts_on).divergences] == [
        (2, 5, 1),
        (4, 2, 6),
    ]


def test_differences_before_an_undecided_input_or_a_fault_are_kept() -> None:
    events = recorded("a", "!", workflow=toy.workflow("decide"))
    found = replay(with_data(events, 2, b'"text":"a"', b'"text":"A"'))
    assert found.status == "diverged"
    assert found.undecided
    assert [d.version for d in found.divergences] == [2]
    events = with_data(recorded("a", "!", "b"), 2, b'"text":"a"', b'"text":"A"')
    found = replay(events, toy.workflow("decide"))
    assert found.status == "faulted"
    assert [d.version for d in found.divergences] == [2]


# 3. Faults -----------------------------------------------------------------------------------


@each(
    ("bug", "error", "message"),
    [
        ("decide", "Broken", "cannot decide !"),
        ("evolve", "Broken", "cannot fold !"),
        ("empty", "WorkflowBug", "toy.decide answered toy.said.v1 with nothing"),
        ("surrogate", "UnwritableEvent", "surrogates not allowed"),
    ],
)
def test_a_recorded_fault_is_raised_again_and_gone_after_the_fix(
    bug: toy.Bug, error: str, message: str
) -> None:
    broken = toy.workflow(bug)
    events = recorded("a", "!", workflow=broken)
    assert len(events) == 3
    found = replay(events, broken)
    assert found.status == "faulted"
    assert found.fault is not None
    assert (found.fault.version, found.fault.recorded) == (3, True)
    assert found.fault.error == error
    assert message in found.fault.message
    assert not found.undecided
    fixed = replay(events)
    assert (fixed.status, fixed.undecided, fixed.fault) == ("identical", True, None)


def test_a_fault_names_the_line_that_raised_and_another_one_is_reported() -> None:
    broken = toy.workflow("decide")
    events = recorded("a", "!", workflow=broken)
    fault = replay(events, broken).fault
    assert isinstance(fault, Fault)
    assert fault.file == toy.__file__
    lines = Path(toy.__file__).read_text("utf-8").splitlines()
    assert "raise Broken" in lines[fault.line - 1]
    other = replay(events, toy.workflow("evolve")).fault
    assert other is not None
    assert (other.message, other.recorded) == ("cannot fold !", True)


@each(
    ("bug", "version", "message"),
    [("decide", 3, "cannot decide !"), ("evolve", 4, "cannot fold !")],
)
def test_todays_code_may_raise_where_the_recorded_one_did_not(
    bug: toy.Bug, version: int, message: str
) -> None:
    found = replay(recorded("a", "!", "b"), toy.workflow(bug))
    assert found.status == "faulted"
    assert found.fault is not None
    assert (found.fault.version, found.fault.message) == (version, message)
    assert not found.fault.recorded


# 4. The end of a session ---------------------------------------------------------------------


def ended(*, quarantined: bool) -> list[Stored]:
    """A session that was given up: after a fault, its Input set aside; or just so."""
    workflow = toy.workflow("decide" if quarantined else "")
    store = MemoryStore(Clock(), salt)
    runner = Runner(store, {"toy": workflow}, Clock(), Ids())
    step = runner.open(workflow, PROJECT, toy.said("a"), SESSION, "first")
    if quarantined:
        with pytest.raises(SessionFaulted):
            runner.submit(step.handle, toy.said("!"), "second")
        aside = InputQuarantined(at=3, actor=toy.ADA, version=3, error="Broken")
        step = runner.submit(runner.load(SESSION), aside, "third")
    else:
        step = runner.submit(step.handle, SessionAbandoned(at=3, actor=toy.ADA), "third")
    runner.submit(step.handle, toy.said("late"), "fourth")
    return list(store.read(SESSION))


def test_an_input_in_quarantine_rests() -> None:
    events = ended(quarantined=True)
    assert [e.type for e in events[2:5]] == [
        "toy.said.v1",
        "session.input_quarantined.v1",
        "session.closed.v1",
    ]
    for workflow in (toy.WORKFLOW, toy.workflow("decide"), toy.workflow("evolve")):
        found = replay(events, workflow)
        assert (found.status, found.undecided) == ("identical", False)


def test_an_abandoned_session_replays_to_its_end_and_an_altered_closing_is_found() -> None:
    events = ended(quarantined=False)
    assert replay(events).status == "identical"
    events[3] = replace(events[3], type="session.input_ignored.v1", data=b'{"reason":"closed"}')
    found = replay(resealed(events))
    assert [(d.version, d.pointer) for d in found.divergences][:1] == [(4, "")]


# 5. Logs that cannot be replayed -------------------------------------------------------------


def test_a_log_that_does_not_verify_is_damaged_and_nothing_is_replayed() -> None:
    def never(state: toy.State, new: Any) -> Any:
        raise AssertionError("nothing is decided in a damaged log")

    events = recorded("a", "b")
    damaged = [*events[:2], replace(events[2], recorded_at=1), events[3]]
    with pytest.raises(LogDamaged) as caught:
        replay(damaged, altered(toy.WORKFLOW, decide=never))
    assert caught.value.version == 3


def test_a_log_that_lacks_its_end_or_all_events_is_damaged() -> None:
    events = recorded("a", "b")
    with pytest.raises(LogDamaged):
        Replayer({"toy": toy.WORKFLOW}).replay(events[:2], events[-1].hash)
    assert Replayer({"toy": toy.WORKFLOW}).replay(events[:2]).status == "identical"
    with pytest.raises(LogDamaged, match="no events"):
        Replayer({"toy": toy.WORKFLOW}).replay([])


SAID = recorded("a")[0]
HEARD = recorded("a")[1]
AGAIN = replace(SAID, input_id="again")


@each(
    ("events", "version", "found"),
    [
        ([HEARD], 1, "a Decision that follows from no Input"),
        ([HEARD, SAID, HEARD], 1, "a Decision that follows from no Input"),
        ([SAID, AGAIN, HEARD], 1, "an Input without a Decision, in the middle of the log"),
        ([SAID, HEARD, AGAIN, replace(SAID, input_id="third"), HEARD], 3, "in the middle"),
        ([SAID, replace(AGAIN, input_id=None), HEARD], 2, "an Input without an id"),
        ([SAID, HEARD, replace(HEARD, input_id="x"), HEARD], 3, "a Decision that follows from no"),
    ],
)
def test_a_log_without_grammar_is_damaged_though_it_verifies(
    events: list[Stored], version: int, found: str
) -> None:
    with pytest.raises(LogDamaged, match=found) as caught:
        replay(resealed(events))
    assert caught.value.version == version


def test_a_payload_that_todays_code_does_not_take_is_named_and_not_compared() -> None:
    with pytest.raises(UnreadableEvent, match=r"event 1 \(toy\.said\.v1: "):
        replay(with_data(recorded("a"), 1, b'"text":"a"', b'"text":7'))
    with pytest.raises(UnreadableEvent, match=r"event 2 \(toy\.heard\.v1: "):
        replay(with_data(recorded("a"), 2, b'"count":1', b'"count":"one"'))


def test_what_is_of_the_future_is_said_to_be_so_and_what_was_erased_is_left() -> None:
    events = recorded("a")
    with pytest.raises(LogFromFuture, match="'toy'"):
        Replayer({}).replay(events)
    for version in (1, 2):
        newer = [replace(e, type="toy.new.v1") if e.version == version else e for e in events]
        with pytest.raises(LogFromFuture, match=rf"event {version}: .*its tag toy\.new\.v1"):
            replay(resealed(newer))
    erased = replace(SAID, type=ERASED_TAG, input_id="erased", data=b"{}")
    log = resealed([replace(events[0], data=None, salt=None), events[1], erased])
    found = replay(log)
    assert (found.status, found.trace, found.divergences) == ("erased", "", ())
