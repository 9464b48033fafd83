"""A session that is played over a store in memory; it can be cut and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final, Self

from preflights_es.history.replayer import Replay, Replayer
from preflights_es.kernel import session as kernel
from preflights_es.kernel.events import Event, Input
from preflights_es.kernel.ports import AppendBatch, Provider, Stored
from preflights_es.kernel.session import Session
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.testing.counted import NOON, memory_runner
from preflights_es.words.workflow import Workflow

SessionMove = Input | Callable[[Session[Any]], Input]
"""What comes next: an Input, or what makes one from the session as it stands."""

PROJECT: Final = "house"


class PlayedSession:
    """One session of a workflow, and the Inputs that went in."""

    def __init__(
        self,
        workflow: Workflow[Any],
        provider: Provider | None = None,
        *,
        began: int = NOON,
        ids_from: int = 0,
    ) -> None:
        """Args:
        provider: answers each call as it is opened; without one, calls stay open.
        began: microseconds since 1970 UTC.
        """
        self.workflow = workflow
        self.provider = provider
        self._workflows = {workflow.name: workflow}
        self.runner = memory_runner(self._workflows, began, ids_from)
        self.inputs: list[Input] = []
        """All that came in, also the one at which the workflow failed."""
        begun = kernel.begin(workflow.decider)
        self.handle = Handle(self.runner.new_id(), PROJECT, workflow, begun)

    def play(self, moves: Iterable[SessionMove]) -> Self:
        """Each move, and what follows from it.

        Raises:
            SessionFaulted: deciding an Input failed.
        """
        for move in moves:
            self.feed(move if isinstance(move, Input) else move(self.handle.session))
        return self

    def feed(self, new: Input) -> None:
        """Record an Input and what follows from it.

        Raises:
            SessionFaulted: deciding it failed.
        """
        self.inputs.append(new)
        self.handle = self.runner.submit(self.handle, new, self.runner.new_id()).handle
        if self.provider is not None:
            self.settle(self.provider)

    def settle(self, provider: Provider) -> None:
        """Answer every open call.

        Raises:
            RoundsExhausted: the session asks again whatever comes back.
        """
        before = self.handle.version
        self.handle = asyncio.run(self.runner.settle(self.handle, provider)).handle
        self.inputs += [one for one in self.events[before:] if isinstance(one, Input)]

    def crash_after(self, new: Input) -> None:
        """Record an Input, and end the process before it is decided."""
        self.inputs.append(new)
        before = self.handle
        draft = self.runner.codec(self.workflow).draft(new, self.runner.new_id())
        batch = AppendBatch(
            session_id=before.session_id,
            project=before.project,
            workflow=self.workflow.name,
            expected_version=before.version,
            expected_hash=before.hash,
            events=(draft,),
        )
        self.runner.store.append([batch])
        self.restart()

    def restart(self) -> None:
        """Another process takes over: nothing but the store is left."""
        old = self.runner
        self.runner = Runner(old.store, self._workflows, old.now, old.new_id)
        self.handle = self.runner.load(self.handle.session_id)

    def resume(self) -> None:
        """Decide the Input that is undecided."""
        self.handle = self.runner.resume(self.handle).handle

    @property
    def stored(self) -> tuple[Stored, ...]:
        return self.runner.store.read(self.handle.session_id)

    @property
    def events(self) -> list[Event]:
        return [self.runner.codec(self.workflow).decode(one) for one in self.stored]

    def replay(self) -> Replay:
        """The session replayed strictly.

        Raises:
            LogDamaged: nothing is recorded.
        """
        head = self.runner.store.head(self.handle.session_id)
        return Replayer(self._workflows).replay(self.stored, head.hash if head else None)

    def steps(self) -> list[tuple[Input, Session[Any]]]:
        """Pairs of an Input and the session after what followed from it."""
        found: list[tuple[Input, Session[Any]]] = []
        session = kernel.begin(self.workflow.decider)
        for event in self.events:
            session = kernel.evolve(self.workflow.decider, session, event)
            if isinstance(event, Input):
                found.append((event, session))
            else:
                found[-1] = (found[-1][0], session)
        return found
