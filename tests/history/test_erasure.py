"""Erasing: no state of a session and no bug stands in its way, and nothing comes after it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.history.erasure import Doomed, Erasure
from preflights_es.history.verification import walked
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import (
    Conflict,
    ErasedSession,
    LogDamaged,
    Refused,
    SessionFaulted,
    UnknownSession,
)
from preflights_es.kernel.events import (
    Actor,
    ArtifactWritten,
    Input,
    InputIgnored,
    SessionAbandoned,
    SessionClosed,
    SessionErased,
)
from preflights_es.kernel.ports import AppendBatch, Head
from preflights_es.runtime.inputs import Inputs
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.words.workflow import Workflow, compute_session_status
from tests import toy
from tests.fixed import NOON, PROJECT, Clock, Ids, salt
from tests.toy import altered

GRACE = Actor("user", "Grace Hopper")


class Room:
    """A log in memory, and who erases in it."""

    def __init__(self, tmp_path: Path, workflow: Workflow[Any] = toy.WORKFLOW) -> None:
        self.clock = Clock()
        self.store = MemoryStore(self.clock, salt)
        self.workflows: Mapping[str, Workflow[Any]] = {workflow.name: workflow}
        self.runner = Runner(self.store, self.workflows, self.clock, Ids())
        self.erasure = Erasure(Inputs(self.runner, PROJECT, lambda: GRACE), self.store, tmp_path)

    def opened(self, text: str = "hello", new: Input | None = None) -> Handle:
        first = new or toy.Said(at=NOON, actor=toy.ADA, text=text)
        workflow = next(iter(self.workflows.values()))
        ids = self.runner.new_id(), self.runner.new_id()
        return self.runner.open(workflow, PROJECT, first, *ids).handle

    def holds(self, word: str) -> bool:
        events = (e for head in self.store.heads(None) for e in self.store.read(head.session_id))
        return any(word.encode() in (event.data or b"") for event in events)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_what_a_session_held_is_gone_and_it_folds_to_who_erased_it_and_why(room: Room) -> None:
    handle = room.opened("a secret")
    assert room.holds("a secret")
    room.erasure.erase(handle.session_id, "asked for")
    assert not room.holds("a secret")
    found = walked(room.store, room.store.heads(None))
    assert (found.broken, found.erased, found.events) == ((), 1, 4)
    codec = room.runner.codec(handle.workflow)
    erased, closed = map(codec.decode, room.store.read(handle.session_id)[2:])
    assert isinstance(erased, SessionErased)
    assert (erased.actor, erased.reason) == (GRACE, "asked for")
    assert closed == SessionClosed(status="erased")
    session = room.runner.load(handle.session_id).session
    assert (session.state, session.calls) == (toy.WORKFLOW.decider.initial, ())
    assert (session.version, session.closed) == (4, "erased")
    assert compute_session_status(toy.WORKFLOW, session) == "erased"


def test_the_fold_is_the_same_whether_payloads_are_gone_already_or_not(room: Room) -> None:
    handle = room.opened(new=toy.Asked(at=NOON, actor=toy.ADA, text="hello"))
    assert handle.session.calls
    stored = room.store.read(handle.session_id)
    room.erasure.erase(handle.session_id)
    after = room.store.read(handle.session_id)
    whole = (*stored, *after[len(stored) :])
    assert room.runner.folded(toy.WORKFLOW, whole) == room.runner.folded(toy.WORKFLOW, after)
    codec = room.runner.codec(toy.WORKFLOW)
    folded = kernel.fold(toy.WORKFLOW.decider, map(codec.decode, whole))
    assert folded == room.runner.folded(toy.WORKFLOW, after)


def test_it_is_erased_once_and_in_its_project(room: Room, tmp_path: Path) -> None:
    handle = room.opened()
    elsewhere = Erasure(Inputs(room.runner, "garden", lambda: GRACE), room.store, tmp_path)
    with pytest.raises(Refused, match="belongs to the project 'house'"):
        elsewhere.erase(handle.session_id)
    room.erasure.erase(handle.session_id)
    for again in (room.erasure.doomed, room.erasure.erase):
        with pytest.raises(ErasedSession):
            again(handle.session_id)
    with pytest.raises(UnknownSession):
        room.erasure.doomed("no such session")


def test_nothing_is_recorded_behind_it(room: Room) -> None:
    handle = room.opened()
    room.erasure.erase(handle.session_id)
    now = room.runner.load(handle.session_id)
    more = toy.Said(at=NOON, actor=toy.ADA, text="more")
    for stale in (handle, now):
        with pytest.raises(Refused, match="was erased"):
            room.runner.submit(stale, more, room.runner.new_id())
    with pytest.raises(ErasedSession):
        room.erasure.resume(now)
    with pytest.raises(Refused, match="was erased"):
        room.erasure.abandon(now)
    assert room.runner.load(handle.session_id).version == 4
    for new in (more, SessionAbandoned(at=NOON, actor=toy.ADA)):
        decided = kernel.decide(toy.WORKFLOW.decider, now.session, new)
        assert decided == (InputIgnored(reason="closed"),)


class Slow:
    """Answers after the session was erased."""

    def __init__(self, room: Room, session_id: str) -> None:
        self._room, self._session_id = room, session_id

    async def respond(self, request: CompletionRequested) -> Completion:
        self._room.erasure.erase(self._session_id)
        return Completion("late words", "model-1")


def test_a_response_that_comes_after_it_is_not_recorded(room: Room) -> None:
    handle = room.opened(new=toy.Asked(at=NOON, actor=toy.ADA, text="hello"))
    with pytest.raises(ErasedSession):
        asyncio.run(room.runner.settle(handle, Slow(room, handle.session_id)))
    assert not room.holds("late words")
    assert room.store.open_calls(PROJECT) == ()
    assert walked(room.store, room.store.heads(None)).broken == ()


def _raising(_state: object, new: Input) -> Any:
    raise ZeroDivisionError(repr(new))


def test_a_faulted_session_is_erased_without_being_decided(tmp_path: Path) -> None:
    room = Room(tmp_path, altered(toy.WORKFLOW, decide=_raising))
    with pytest.raises(SessionFaulted):
        room.opened("a secret")
    (head,) = room.store.heads(None)
    assert room.erasure.doomed(head.session_id).status == "faulted"
    room.erasure.erase(head.session_id)
    assert not room.holds("a secret")
    assert room.runner.load(head.session_id).session.closed == "erased"


def test_a_session_that_cannot_be_folded_is_erased(tmp_path: Path) -> None:
    sound = Room(tmp_path)
    handle = sound.opened("a secret")
    broken = altered(toy.WORKFLOW, evolve=_raising)
    runner = Runner(sound.store, {broken.name: broken}, sound.clock, Ids())
    with pytest.raises(SessionFaulted):
        runner.load(handle.session_id)
    erasure = Erasure(Inputs(runner, PROJECT, lambda: GRACE), sound.store, tmp_path)
    assert erasure.doomed(handle.session_id).status == "faulted"
    erasure.erase(handle.session_id)
    assert runner.load(handle.session_id).session.closed == "erased"


class Moving(MemoryStore):
    """Another process appends right before the erasure, once."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, salt)
        self.meanwhile: list[AppendBatch] = []

    def erase(self, batch: AppendBatch, clear: Any = ()) -> Head:
        while self.meanwhile:
            self.append([self.meanwhile.pop()])
        return super().erase(batch, clear)


def test_a_session_that_moves_on_meanwhile_is_erased_with_what_came(tmp_path: Path) -> None:
    clock = Clock()
    store = Moving(clock)
    runner = Runner(store, {toy.WORKFLOW.name: toy.WORKFLOW}, clock, Ids())
    first = toy.Said(at=NOON, actor=toy.ADA, text="one")
    handle = runner.open(toy.WORKFLOW, PROJECT, first, runner.new_id(), runner.new_id()).handle
    draft = runner.codec(toy.WORKFLOW).draft(replace(first, text="a secret"), runner.new_id())
    store.meanwhile = [
        AppendBatch(
            session_id=handle.session_id,
            project=PROJECT,
            workflow=toy.WORKFLOW.name,
            expected_version=handle.version,
            expected_hash=handle.hash,
            events=(draft,),
        )
    ]
    Erasure(Inputs(runner, PROJECT, lambda: GRACE), store, tmp_path).erase(handle.session_id)
    assert [e.data is None for e in store.read(handle.session_id)] == [True] * 3 + [False] * 2


def test_a_damaged_session_is_not_erased_for_that_would_hide_the_damage(room: Room) -> None:
    handle = room.opened()
    stream = room.store._streams[handle.session_id]
    stream[0] = replace(stream[0], data=b'{"forged":true}')
    with pytest.raises(LogDamaged, match="event 1: its payload was changed"):
        room.erasure.erase(handle.session_id)


def test_a_path_that_leads_outside_of_the_project_is_no_document_of_ours(tmp_path: Path) -> None:
    room = Room(tmp_path / "project")
    secret = tmp_path / "secret"
    (tmp_path / "project" / "docs").mkdir(parents=True)
    for file in (secret, tmp_path / "project" / "docs" / "x.md"):
        file.write_text("mine")
    handle = room.opened(new=toy.wanted("docs/x.md"))
    for path in ("../secret", str(secret), "docs/../../secret", "docs/x.md"):
        said = ArtifactWritten(at=NOON, actor=toy.ADA, call="artifact-1", path=path, sha256="")
        handle = room.runner.submit(handle, said, room.runner.new_id()).handle
    assert room.erasure.doomed(handle.session_id).documents == ("docs/x.md",)


def test_a_reason_that_repeats_what_goes_is_refused(room: Room) -> None:
    doomed = Doomed("id", "toy", "ready", 2, NOON, "The affair with  Bob", (), ())
    for reason in ("because the AFFAIR with Bob is over", "x" * 3_000, "a\0b"):
        with pytest.raises(Refused):
            room.erasure.reason(reason, [replace(doomed, title="The affair with Bob")])
    assert room.erasure.reason("key AKIAIOSFODNN7EXAMPLE", [doomed]) == "key [redacted:key]"


def test_a_conflict_without_end_is_said(tmp_path: Path) -> None:
    class Busy(MemoryStore):
        def erase(self, batch: AppendBatch, clear: Any = ()) -> Head:
            raise Conflict(batch.session_id, batch.expected_version)

    room = Room(tmp_path)
    handle = room.opened()
    busy = Busy(room.clock, salt)
    busy._streams = room.store._streams
    inputs = Inputs(room.runner, PROJECT, lambda: GRACE)
    with pytest.raises(Exception, match="too busy"):
        Erasure(inputs, busy, tmp_path).erase(handle.session_id)
