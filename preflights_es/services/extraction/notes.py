"""What people do with notes, besides what they do with any session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.core import ids
from preflights_es.core.errors import Refused
from preflights_es.core.events import Input
from preflights_es.core.lead import Setup
from preflights_es.core.text import ANSWER_MAX, NAME_MAX, one_line, problem, visible
from preflights_es.core.views import Language
from preflights_es.runtime.idempotency import Wanted, answering
from preflights_es.runtime.runner import Handle, Step
from preflights_es.runtime.sanitizing import cleaned
from preflights_es.runtime.sessions import Sessions
from preflights_es.services.extraction.results import item_id
from preflights_es.services.request import Request
from preflights_es.workflows import extraction
from preflights_es.workflows.extraction.events import (
    ChangeRefused,
    ItemAdded,
    NoteTaken,
    TaskClosed,
    TaskEdited,
)
from preflights_es.workflows.extraction.state import State
from preflights_es.workflows.extraction.values import Item, ItemType

NOTE_MAX: Final = 20_000  # characters; what is longer is a document
NUMBER_MAX: Final = 6  # digits of an item's number

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
        text, redacted = cleaned("the note", note.strip(), NOTE_MAX)
        if not visible(text):
            raise Refused("the note is empty: write down what is on your mind", code="empty_text")

        def is_said(before: NoteTaken) -> bool:
            said = (before.note, before.language, answering(before.setup.lead))
            return said == (text, language, answering(setup.lead))

        first = NoteTaken(
            at=self._runner.now(),
            actor=self._actor,
            note=text,
            project=self._project,
            setup=setup,
            language=language,
            noted_at=noted_at,
            time_zone=_zone(time_zone),
            redacted=redacted,
        )
        return self._opened(first, Wanted((NoteTaken,), self._actor, "", is_said))

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
        text, kinds = cleaned("the title", title, ANSWER_MAX)
        given, more = _cleaned(fields)
        new = ItemAdded(
            at=self._runner.now(),
            actor=self._actor,
            type=type_,
            title=text,
            fields=given,
            language=language,
            redacted=(*kinds, *more),
        )
        if to is not None:
            return self._submitted(to, new)
        wanted = Wanted((ItemAdded,), self._actor, "", lambda before: _is_same(before, new))
        return self._opened(new, wanted)

    def unfit(self, type_: ItemType, title: str, fields: Fields) -> ChangeRefused | None:
        """Why an item cannot begin a session; None where it can.

        Raises:
            Refused: it cannot be recorded.
        """
        text, _ = cleaned("the title", title, ANSWER_MAX)
        given, _ = _cleaned(fields)
        new = ItemAdded(at=0, actor=self._actor, type=type_, title=text, fields=given)
        verdict = extraction.WORKFLOW.decide(extraction.WORKFLOW.initial, new)[0]
        return verdict if isinstance(verdict, ChangeRefused) else None

    def _opened(self, first: Input, wanted: Wanted) -> Step:
        workflow = extraction.WORKFLOW
        session_id = self._runner.new_session_id(self._project)

        def record(input_id: str) -> Step:
            return self._runner.open(workflow, self._project, first, session_id, input_id)

        return self._recorded(wanted, record)

    # 2. Changing -----------------------------------------------------------------------------

    def closed(self, listed: Listed, status: Literal["done", "cancelled"]) -> Step:
        """A task is done, or will not be."""
        now, number = self._runner.now(), listed.item.number
        return self._submitted(
            listed.handle, TaskClosed(at=now, actor=self._actor, number=number, status=status)
        )

    def edited(self, listed: Listed, fields: Fields) -> Step:
        """Change what a task says; an empty value takes a field away."""
        given, redacted = _cleaned(fields)
        new = TaskEdited(
            at=self._runner.now(),
            actor=self._actor,
            number=listed.item.number,
            fields=given,
            redacted=redacted,
        )
        return self._submitted(listed.handle, new)

    def _submitted(self, handle: Handle, new: Input) -> Step:
        def record(input_id: str) -> Step:
            self.refuse_other(handle, extraction.WORKFLOW, "this command is for notes")
            self.refuse_elsewhere(handle)
            self._refuse_ended(handle)
            return self._runner.submit(self._runner.resume(handle).handle, new, input_id)

        kinds, id_ = (type(new),), handle.session_id
        wanted = Wanted(kinds, self._actor, id_, lambda before: _is_same(before, new))
        return self._once.recorded(wanted, record)

    # 3. Finding ------------------------------------------------------------------------------

    def found(self, typed: str) -> Listed:
        """An item by what was typed: a session, a dot, and the item's number.

        Raises:
            UnknownSession, AmbiguousSession: no session, or several match.
            Refused: it is no note, or has no such item.
        """
        session, dot, digits = typed.strip().rpartition(".")
        if not (dot and digits.isascii() and digits.isdecimal() and len(digits) <= NUMBER_MAX):
            message = f"found {typed!r}, expected an item such as 3f9a12c4.1"
            raise Refused(message, code="no_item_id", typed=typed)
        handle = self.load(session)
        self.refuse_other(handle, extraction.WORKFLOW, "this command is for notes")
        state: State = handle.session.state
        for item in state.items:
            if item.number == int(digits):
                return Listed(handle, item)
        held = ", ".join(item_id(handle, item) for item in state.items) or "none"
        message = f"session {ids.short(handle.session_id)} has no item {digits}: it has {held}"
        raise Refused(message, code="no_such_item", typed=typed)


def _is_same(before: Input, new: Input) -> bool:
    """Whether two Inputs say the same, be it at another time."""
    return replace(before, at=new.at) == new


def _zone(name: str) -> str:
    """The name, or empty if it is invalid: a bad variable must not make a note fail."""
    return "" if problem(name, NAME_MAX) or name != one_line(name) else name


def _cleaned(fields: Fields) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    given: list[tuple[str, str]] = []
    kinds: list[str] = []
    for name, value in fields:
        text, found = cleaned(f"the {name}", value, NOTE_MAX)
        given.append((name, text))
        kinds += found
    return tuple(given), tuple(kinds)
