"""Notes over a runner and a store in memory: who reads them, and what is done by hand."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.extraction.domain import WORKFLOW
from preflights_es.features.extraction.domain.events import (
    ItemAdded,
    ItemClosed,
    ItemType,
    NoteAnswersGiven,
    NoteItem,
    NoteTaken,
)
from preflights_es.features.extraction.domain.state import ExtractionState, NoteView
from preflights_es.kernel.lead import Lead, Setup
from preflights_es.kernel.ports import Provider
from preflights_es.testing import Reply
from preflights_es.words.questions import GivenAnswer, Language
from tests.fixed import PROJECT
from tests.scripted_session import ADA, ScriptedSession


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
READ_AGAIN: Final = items(task("Email"), event("Arzt", start_time="14:00", date="2026-11-24"))


class Note(ScriptedSession[ExtractionState]):
    """A session of one note."""

    workflow = WORKFLOW

    def __init__(
        self,
        *replies: Reply,
        note: str = "Email an Chef",
        language: Language = "en",
        strict: bool = False,
        rules: bool = False,
        provider: Provider | None = None,
    ) -> None:
        super().__init__(*replies, provider=provider)
        lead = None if rules else Lead("script", "m-1", strict=strict)
        first = NoteTaken(
            at=self.runner.now(),
            actor=ADA,
            note=note,
            project=PROJECT,
            setup=Setup("0", WORKFLOW.decider.version, "script", lead=lead),
            language=language,
            noted_at="2026-11-22T09:30+01:00",
            time_zone="Europe/Berlin",
        )
        self.open(first)

    def answer(self, *values: str, key: str = "start_time") -> Note:
        given = (GivenAnswer(key, values),)
        return self.submit(NoteAnswersGiven(at=self.runner.now(), actor=ADA, answers=given))

    def add(self, type_: ItemType, title: str, **fields: str) -> Note:
        pairs = tuple(fields.items())
        now = self.runner.now()
        return self.submit(ItemAdded(at=now, actor=ADA, type=type_, title=title, fields=pairs))

    def done(self, number: int) -> Note:
        now = self.runner.now()
        return self.submit(ItemClosed(at=now, actor=ADA, number=number, status="done"))

    def cancelled(self, number: int) -> Note:
        now = self.runner.now()
        return self.submit(ItemClosed(at=now, actor=ADA, number=number, status="cancelled"))

    # What came of it -------------------------------------------------------------------------

    @property
    def view(self) -> NoteView:
        view = WORKFLOW.shown.view(self.state)
        assert isinstance(view, NoteView)
        return view

    @property
    def items(self) -> tuple[NoteItem, ...]:
        return self.state.items

    @property
    def titles(self) -> list[tuple[int, str]]:
        return [(item.number, item.title) for item in self.state.items]


def by_rules(note: str, language: Language = "en") -> Note:
    """A note that no model reads."""
    return Note(note=note, language=language, rules=True)
