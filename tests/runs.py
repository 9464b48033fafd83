"""A session that is run by moves, over a store in memory; it can be cut and taken up again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import note

from preflights_es.history.replayer import Replay, Replayer
from preflights_es.kernel import session as kernel
from preflights_es.kernel.events import Event, Input
from preflights_es.kernel.ports import Batch, Stored
from preflights_es.kernel.session import Session
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from tests.fixed import NOON, PROJECT, Clock, Ids, salt
from tests.strategies import EVERY, Move


class Run:
    """A session over a store in memory, and the Inputs that went in."""

    def __init__(self, name: str, began: int = NOON, ids_from: int = 0) -> None:
        self.workflow = EVERY[name]
        clock = Clock(began)
        self.ids = Ids()
        self.ids.count = ids_from
        self.store = MemoryStore(clock, salt)
        self.runner = Runner(self.store, EVERY, clock, self.ids)
        self.inputs: list[Input] = []
        self.handle = self._new()

    def _new(self) -> Handle:
        return Handle(self.ids(), PROJECT, self.workflow, kernel.begin(self.workflow))

    def play(self, moves: Sequence[Move]) -> Run:
        """Each move, and what follows from it."""
        for move in moves:
            self.feed(move(self.handle.session))
        return self

    def feed(self, new: Input) -> None:
        note(repr(new))
        self.inputs.append(new)
        self.handle = self.runner.submit(self.handle, new, self.ids()).handle

    def restart(self) -> None:
        """Another process takes over: nothing but the store is left."""
        self.runner = Runner(self.store, EVERY, self.runner.now, self.ids)
        self.handle = self.runner.load(self.handle.session_id)

    def crash_after(self, new: Input) -> None:
        """An Input becomes durable, and what follows from it does not."""
        before = self.handle
        draft = self.runner.codec(self.workflow).draft(new, self.ids())
        batch = Batch(
            session_id=before.session_id,
            project=before.project,
            workflow=self.workflow.name,
            expected_version=before.version,
            expected_hash=before.hash,
            events=(draft,),
        )
        self.store.append([batch])
        self.restart()

    @property
    def stored(self) -> tuple[Stored, ...]:
        return self.store.read(self.handle.session_id)

    @property
    def events(self) -> list[Event]:
        return [self.runner.codec(self.workflow).decode(one) for one in self.stored]

    def replay(self) -> Replay:
        head = self.store.head(self.handle.session_id)
        assert head is not None, "the session was opened"
        return Replayer(EVERY).replay(self.stored, head.hash)

    def steps(self) -> list[tuple[Input, Session[Any]]]:
        """Each Input with the session after what followed from it."""
        found: list[tuple[Input, Session[Any]]] = []
        session = kernel.begin(self.workflow)
        for event in self.events:
            session = kernel.evolve(self.workflow, session, event)
            if isinstance(event, Input):
                found.append((event, session))
            else:
                found[-1] = (found[-1][0], session)
        return found
