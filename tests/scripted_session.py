"""A session over a store in memory whose provider says what it was told to."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.events import Actor, Event, Input
from preflights_es.kernel.lead import Lead, LeadChanged, StepRetried
from preflights_es.kernel.ports import Provider
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.testing import Reply, ScriptedProvider
from preflights_es.words.workflow import Workflow, compute_session_status
from tests.fixed import PROJECT, memory_runner

ADA: Final = Actor("user", "Ada Lovelace")
ROBOT: Final = Actor("script")
S = TypeVar("S")


class ScriptedSession(Generic[S]):
    """Everything that is done to it is settled at once."""

    workflow: ClassVar[Workflow[Any]]

    def __init__(self, *replies: Reply, provider: Provider | None = None) -> None:
        self.script = ScriptedProvider(*replies)
        self._asked: Provider = provider or self.script
        self.waits: list[float] = []
        plain = memory_runner()

        async def waited(seconds: float) -> None:
            self.waits.append(seconds)

        self.runner = Runner(plain.store, WORKFLOWS, plain.now, plain.new_id, waited)

    def open(self, first: Input) -> None:
        new_id = self.runner.new_id
        opened = self.runner.open(self.workflow, PROJECT, first, new_id(), new_id())
        self.handle: Handle = opened.handle
        self.last: tuple[Event, ...] = opened.decisions
        self._settle()

    def submit(self, new: Input) -> Self:
        step = self.runner.submit(self.handle, new, self.runner.new_id())
        self.handle, self.last = step.handle, step.decisions
        self._settle()
        return self

    def retry(self) -> Self:
        return self.submit(StepRetried(at=self.runner.now(), actor=ADA))

    def led_by(self, lead: Lead | None) -> Self:
        return self.submit(LeadChanged(at=self.runner.now(), actor=ADA, lead=lead))

    def _settle(self) -> None:
        self.handle = asyncio.run(self.runner.settle(self.handle, self._asked)).handle

    @property
    def state(self) -> S:
        state: S = self.handle.session.state
        return state

    @property
    def status(self) -> str:
        return compute_session_status(self.workflow, self.handle.session)

    @property
    def sent(self) -> list[tuple[str, str]]:
        """The last request, without its system message."""
        return [(m.role, m.content) for m in self.script.requests[-1].messages[1:]]

    @property
    def log(self) -> list[Event]:
        codec = self.runner.codec(self.workflow)
        return [codec.decode(one) for one in self.runner.store.read(self.handle.session_id)]

    def events(self, of: type[Any]) -> list[Any]:
        return [one for one in self.log if isinstance(one, of)]

    def replayed(self) -> str:
        stored = self.runner.store.read(self.handle.session_id)
        return Replayer(WORKFLOWS).replay(stored).status
