"""A session that is played on a store in memory, a clock and ids that count, and a provider that
gives what a test wrote.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from json import dumps
from typing import Any, Final, Self

from preflights_es.history.replayer import Replay, Replayer
from preflights_es.kernel import ids
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import LLMError
from preflights_es.kernel.events import Event, Input
from preflights_es.kernel.ports import AppendBatch, Provider, Stored
from preflights_es.kernel.session import Session
from preflights_es.providers.base import LLMProvider
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.words.workflow import Workflow

NOON: Final = 1_790_000_000_000_000  # microseconds since 1970 UTC: a day of September 2026
SECOND: Final = 1_000_000  # microseconds


class Clock:
    """Moves by a second at every look."""

    def __init__(self, at: int = NOON) -> None:
        self.at = at

    def __call__(self) -> int:
        """Microseconds since 1970 UTC."""
        self.at += SECOND
        return self.at


class Ids:
    """UUIDv7s that count."""

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def __call__(self) -> str:
        """The next one."""
        self.count += 1
        return ids.uuid7(NOON // 1_000 + self.count, self.count.to_bytes(10, "big"))


def salt() -> bytes:
    """Sixteen bytes that hide nothing."""
    return bytes(16)


def memory_runner(
    workflows: Mapping[str, Workflow[Any]], began: int = NOON, ids_from: int = 0
) -> Runner:
    """Workflows over an empty store in memory; no retry waits."""
    clock = Clock(began)
    return Runner(MemoryStore(clock, salt), workflows, clock, Ids(ids_from))


Reply = str | dict[str, Any] | Completion | LLMError
"""A text, an object that is sent as JSON, a whole completion, or a failure."""


class ScriptedProvider(LLMProvider):
    """Gives its replies in turn, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[CompletionRequested] = []

    async def respond(self, request: CompletionRequested) -> Completion:
        """The next reply.

        Raises:
            LLMError: the reply is one.
            AssertionError: there is none left.
        """
        self.requests.append(request)
        if not self._replies:
            count = len(self.requests)
            raise AssertionError(f"call {request.call!r} is number {count}: give another reply")
        match self._replies.pop(0):
            case LLMError() as error:
                raise error
            case Completion() as whole:
                return whole
            case str(text):
                return Completion(text)
            case payload:
                return Completion(dumps(payload))


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
