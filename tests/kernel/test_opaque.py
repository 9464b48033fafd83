"""Sessions of a workflow whose code is not here."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from preflights_es.kernel import session as kernel
from preflights_es.kernel.errors import WorkflowMissing
from preflights_es.kernel.events import Actor, Input, InputQuarantined, SessionAbandoned
from preflights_es.kernel.opaque import (
    OpaqueDecision,
    OpaqueInput,
    known,
    opaque_event,
    opaque_workflow,
)
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from tests import toy
from tests.fixed import PROJECT, Clock, Ids, salt

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
