"""What people do with notes, besides what they do with any session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from preflights_es.features.extraction import domain as extraction
from preflights_es.features.extraction.domain.events import (
    ChangeRefused,
    ItemAdded,
    ItemEdited,
    NoteTaken,
    TaskClosed,
)
from preflights_es.features.extraction.domain.state import State
from preflights_es.features.extraction.domain.values import Item, ItemType
from preflights_es.kernel import ids
from preflights_es.kernel.errors import ErasedSession, Refused
from preflights_es.kernel.events import Input
from preflights_es.kernel.items import item_id, item_named
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.questions import Language
from preflights_es.kernel.text import NAME_MAX, one_line, problem
from preflights_es.runtime.runner import Handle, Step
from preflights_es.runtime.sanitizing import cleaned_fields
from preflights_es.runtime.sessions import Sessions
from preflights_es.use.request import Request

Fields = Iterable[tuple[str, str]]


class Listed(msgspec.Struct, frozen=True):
    """An item, and where it stands."""

    handle: Handle
    item: Item


def notes_of(request: Request) -> Notes:
    """The notes of the project that a request is about."""
    return Notes(request.desk)


class Notes(Sessions):
    """The notes of one project, as one actor meets them."""

    # 1. Taking -------------------------------------------------------------------------------

    def take(
        self, note: str, setup: Setup, language: Language, noted_at: str, time_zone: str
    ) -> Step:
        """Record a note, and have it read.

        Args:
            noted_at: the local date and time, ISO 8601.

        Raises:
            Refused: it cannot be recorded.
        """
        when = {"noted_at": noted_at, "time_zone": _zone(time_zone)}
        said = {"note": note, "language": language}
        return self.opened(extraction.WORKFLOW, NoteTaken, said, setup, beside=lambda: when)

    def add(
        self, type_: ItemType, title: str, fields: Fields, language: Language, to: Handle | None
    ) -> Step:
        """File an item by hand.

        Args:
            fields: pairs of name and value, as typed.
            to: the note that it belongs to; None begins a session of its own.

        Raises:
            Refused: it cannot be recorded, or what it is to belong to is no note of this project.
        """
        said = {"type": type_, "title": title, "fields": tuple(fields), "language": language}
        if to is None:
            return self.opened(extraction.WORKFLOW, ItemAdded, said)
        return self._changed(to, ItemAdded, said)

    def unfit(self, type_: ItemType, title: str, fields: Fields) -> ChangeRefused | None:
        """Why an item cannot begin a session; None where it can.

        Raises:
            Refused: it cannot be recorded.
        """
        said = cleaned_fields(ItemAdded, {"type": type_, "title": title, "fields": tuple(fields)})
        new = ItemAdded(at=0, actor=self._actor, **said)
        verdict = extraction.WORKFLOW.decide(extraction.WORKFLOW.initial, new)[0]
        return verdict if isinstance(verdict, ChangeRefused) else None

    # 2. Changing -----------------------------------------------------------------------------

    def closed(self, listed: Listed, status: Literal["done", "cancelled"]) -> Step:
        """A task is done, or will not be."""
        said = {"number": listed.item.number, "status": status}
        return self._changed(listed.handle, TaskClosed, said)

    def edited(self, listed: Listed, fields: Fields) -> Step:
        """Change what an item says; an empty value takes a field away."""
        said = {"number": listed.item.number, "fields": tuple(fields)}
        return self._changed(listed.handle, ItemEdited, said)

    def _changed(self, handle: Handle, new: type[Input], said: Mapping[str, Any]) -> Step:
        self.refuse_other(handle, extraction.WORKFLOW, "this command is for notes")
        self.refuse_elsewhere(handle)
        return self.submitted(handle, new, said)

    # 3. Finding ------------------------------------------------------------------------------

    def note(self, typed: str) -> Handle:
        """The session that was typed; `last` is the newest note.

        Raises:
            UnknownSession, AmbiguousSession: no session, or several match.
        """
        return self._runner.load(self.resolved(typed, extraction.WORKFLOW.name))

    def found(self, typed: str) -> Listed:
        """An item by what was typed: a session, a dot, and the item's number.

        Raises:
            UnknownSession, AmbiguousSession: no session, or several match.
            ErasedSession: nothing is left of it.
            Refused: it is no note, or has no such item.
        """
        session, number = item_named(typed)
        handle = self.note(session)
        self.refuse_other(handle, extraction.WORKFLOW, "this command is for notes")
        if handle.session.closed == "erased":
            raise ErasedSession(handle.session_id)
        state: State = handle.session.state
        for item in state.items:
            if item.number == number:
                return Listed(handle, item)
        held = ", ".join(item_id(handle.session_id, item.number) for item in state.items) or "none"
        message = f"session {ids.short(handle.session_id)} has no item {number}: it has {held}"
        raise Refused(message, code="no_such_item", typed=typed)


def _zone(name: str) -> str:
    """The name, or empty if it is invalid: a bad variable must not make a note fail."""
    return "" if problem(name, NAME_MAX) or name != one_line(name) else name
