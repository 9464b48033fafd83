"""Notes over a runner and a store in memory: who reads them, and what is done by hand."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from preflights_es.features.extraction.domain import WORKFLOW
from preflights_es.features.extraction.domain.events import (
    AnswersGiven,
    Item,
    ItemAdded,
    ItemEdited,
    ItemType,
    NoteTaken,
    TaskClosed,
)
from preflights_es.features.extraction.domain.state import NoteView, State
from preflights_es.history.replayer import Replayer
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import CompletionReceived
from preflights_es.kernel.events import Actor, Event, Input
from preflights_es.kernel.lead import Lead, LeadChanged, Setup, StepRetried
from preflights_es.kernel.ports import Provider
from preflights_es.kernel.questions import Given, Language
from preflights_es.providers.recorded import ReferenceProvider
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.use.leads import references
from tests.fixed import PROJECT, memory_runner
from tests.scripted import Reply, Scripted

ADA: Final = Actor("user", "Ada Lovelace")
ROBOT: Final = Actor("script")


def task(title: str, **said: Any) -> dict[str, Any]:
    return {"type": "task", "title": title, "confidence": 0.8, **said}


def event(title: str, **said: Any) -> dict[str, Any]:
    return {"type": "event", "title": title, "confidence": 0.9, **said}


def items(*listed: dict[str, Any], **said: Any) -> dict[str, Any]:
    return {"items": list(listed), **said}


EMAIL: Final = items(task("Email an Chef"))
ASKED: Final = items(
    task("Email"), event("Arzt"), question={"question": "Wann?", "field": "start_time"}
)
READ_AGAIN: Final = items(task("Email"), event("Arzt", start_time="14:00"))


class Note:
    """A session of one note; everything that is done to it is settled at once."""

    def __init__(
        self,
        *replies: Reply,
        note: str = "Email an Chef",
        language: Language = "en",
        strict: bool = False,
        provider: Provider | None = None,
    ) -> None:
        self.script = Scripted(*replies)
        self._asked: Provider = provider or self.script
        self.waits: list[float] = []
        plain = memory_runner()

        async def waited(seconds: float) -> None:
            self.waits.append(seconds)

        self.runner = Runner(plain.store, WORKFLOWS, plain.now, plain.new_id, waited)
        first = NoteTaken(
            at=self.runner.now(),
            actor=ADA,
            note=note,
            project=PROJECT,
            setup=Setup("0", WORKFLOW.decider, "script", lead=Lead("script", "m-1", strict=strict)),
            language=language,
            noted_at="2026-11-22T09:30+01:00",
            time_zone="Europe/Berlin",
        )
        opened = self.runner.open(
            WORKFLOW, PROJECT, first, self.runner.new_id(), self.runner.new_id()
        )
        self.handle: Handle = opened.handle
        self.last: tuple[Event, ...] = opened.decisions
        self._settle()

    # What is done to it ----------------------------------------------------------------------

    def submit(self, new: Input) -> Note:
        step = self.runner.submit(self.handle, new, self.runner.new_id())
        self.handle, self.last = step.handle, step.decisions
        self._settle()
        return self

    def answer(self, *values: str, key: str = "start_time") -> Note:
        given = (Given(key, values),)
        return self.submit(AnswersGiven(at=self.runner.now(), actor=ADA, answers=given))

    def add(self, type_: ItemType, title: str, **fields: str) -> Note:
        pairs = tuple(fields.items())
        now = self.runner.now()
        return self.submit(ItemAdded(at=now, actor=ADA, type=type_, title=title, fields=pairs))

    def done(self, number: int) -> Note:
        now = self.runner.now()
        return self.submit(TaskClosed(at=now, actor=ADA, number=number, status="done"))

    def cancelled(self, number: int) -> Note:
        now = self.runner.now()
        return self.submit(TaskClosed(at=now, actor=ADA, number=number, status="cancelled"))

    def edit(self, number: int, **fields: str) -> Note:
        now, pairs = self.runner.now(), tuple(fields.items())
        return self.submit(ItemEdited(at=now, actor=ADA, number=number, fields=pairs))

    def retry(self) -> Note:
        return self.submit(StepRetried(at=self.runner.now(), actor=ADA))

    def led_by(self, lead: Lead | None) -> Note:
        return self.submit(LeadChanged(at=self.runner.now(), actor=ADA, lead=lead))

    def late(self, call: str, text: str = "{}") -> Note:
        now = self.runner.now()
        return self.submit(CompletionReceived(at=now, actor=ROBOT, call=call, text=text))

    def _settle(self) -> None:
        self.handle = asyncio.run(self.runner.settle(self.handle, self._asked)).handle

    # What came of it -------------------------------------------------------------------------

    @property
    def state(self) -> State:
        state: State = self.handle.session.state
        return state

    @property
    def view(self) -> NoteView:
        view = WORKFLOW.view(self.state)
        assert isinstance(view, NoteView)
        return view

    @property
    def status(self) -> str:
        return kernel.status(WORKFLOW, self.handle.session)

    @property
    def items(self) -> tuple[Item, ...]:
        return self.state.items

    @property
    def titles(self) -> list[tuple[int, str]]:
        return [(item.number, item.title) for item in self.state.items]

    def events(self, of: type[Any]) -> list[Any]:
        codec = self.runner.codec(WORKFLOW)
        stored = self.runner.store.read(self.handle.session_id)
        return [codec.decode(one) for one in stored if one.type == of.tag]

    def replayed(self) -> str:
        stored = self.runner.store.read(self.handle.session_id)
        return Replayer(WORKFLOWS).replay(stored).status


def by_rules(note: str, language: Language = "en") -> Note:
    """A note that the reference reads."""
    return Note(note=note, language=language, provider=ReferenceProvider(references()))
