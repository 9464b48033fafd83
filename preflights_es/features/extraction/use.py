"""What people do with notes, besides what they do with any session.

`items/1` is described in docs/api.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from preflights_es.features.extraction.domain import WORKFLOW, rules
from preflights_es.features.extraction.domain.events import (
    ItemAdded,
    ItemClosed,
    ItemType,
    NoteChangeRefused,
    NoteItem,
    NoteTaken,
)
from preflights_es.features.extraction.domain.state import ExtractionState, ShownItem
from preflights_es.kernel import ids
from preflights_es.kernel.errors import ErasedSession, Refused
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.text import NAME_MAX, one_line, problem, shortened
from preflights_es.runtime.runner import Handle, Step
from preflights_es.runtime.sessions import Sessions
from preflights_es.system import clock_ids
from preflights_es.use.answers import finish_due_documents, normalize_answer_pairs
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, answer_refused, session_of
from preflights_es.use.use_cases import NewSession
from preflights_es.words.items import item_id, item_named
from preflights_es.words.questions import AnswerRefusal, Language
from preflights_es.words.workflow import View

# 1. Results ----------------------------------------------------------------------------------

_REFUSED: Final = {
    "unknown_question": "is no question of this note",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which says nothing",
    "several_values": "takes one value: put quotes around words that belong together",
    "not_an_option": f"takes a day such as {rules.DAYS}",
}
_CHANGES: Final = {
    "unknown_item": "the note has no item of this number",
    "not_a_task": "it is no task",
    "closed": "it is done or cancelled already",
    "unknown_field": "an item of this type has no {}",
    "invalid_value": "the {} is not valid: expected {}",
    "missing_value": "the {} is missing: give {}",
    "too_many": "the note is full",
    "not_expected": NOT_EXPECTED,
}
_EXPECTED: Final = {
    "title": "1 to 200 characters on one line",
    "duration_min": "1 to 480 minutes",
    "duration_max": "1 to 480 minutes, and at least the shortest",
    "importance": "low, normal or high",
    "due": f"a day such as {rules.DAYS}",
    "energy": "deep_work, admin or creative",
    "start_time": "a time such as 14:30",
    "end_time": "a time such as 14:30",
    "date": f"a day such as {rules.DAYS}",
    "content": "at most 20,000 characters",
}
_LABELS: Final = {
    "due": "due date",
    "date": "day",
    "duration_min": "duration",
    "duration_max": "duration",
}


def note_refusal(decision: Decision) -> tuple[str, str]:
    """Why a note takes something not, as a code and in words."""
    if isinstance(decision, NoteChangeRefused):
        field = _LABELS.get(decision.field, decision.field.replace("_", " "))
        expected = _EXPECTED.get(decision.field, "")
        return decision.reason, _CHANGES[decision.reason].format(field, expected)
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    return decision.reason, answer_refused(decision, _REFUSED[decision.reason])


# 2. Taking and filing ------------------------------------------------------------------------


def start_note(request: Request, new: NewSession) -> View:
    """Take a note.

    Raises:
        Refused: it cannot be recorded.
    """
    own, answers = notes_of(request), normalize_answer_pairs(new.answers)
    own.check(answers)
    when, zone = clock_ids.local(clock_ids.now())
    setup = request.setup(WORKFLOW, strict=new.strict)
    language = request.process.settings.language
    step = own.take(new.text, setup, language, noted_at=when, time_zone=zone)
    if answers:
        step = own.answer(step.handle, answers)
    return finish_due_documents(request, step)


def add(
    request: Request, type_: ItemType, title: str, fields: Fields = (), note: str | None = None
) -> View:
    """File an item by hand.

    Args:
        fields: pairs of name and value, as typed.
        note: the session that it belongs to; None begins one of its own.

    Raises:
        Refused: it cannot be recorded.
    """
    own = notes_of(request)
    to = own.note(note) if note else None
    fields = _dated(fields)
    if to is None and (wrong := own.unfit(type_, title, fields)):
        code, words = note_refusal(wrong)  # a session that would hold nothing is not opened
        raise Refused(words, code=code)
    step = own.add(type_, title, fields, language=request.process.settings.language, to=to)
    return session_of(step, request.notices)


def _dated(fields: Fields) -> list[tuple[str, str]]:
    """The fields with dates in place of words for a day."""
    today = clock_ids.local(clock_ids.now())[0][:10]
    return [
        (name, rules.day_said(typed, today) or typed if name in ("due", "date") else typed)
        for name, typed in fields
    ]


def close(request: Request, item: str, status: Literal["done", "cancelled"]) -> View:
    """A task is done, or an item is cancelled.

    Args:
        item: the end of a session's id, a dot, and the number of the item.
    """
    own = notes_of(request)
    return session_of(own.closed(own.found(item), status), request.notices)


# 3. Looking ----------------------------------------------------------------------------------


def items(request: Request, *, everything: bool = False) -> Iterator[ShownItem]:
    """The items that notes of the project hold, the oldest note's first.

    Args:
        everything: also what is done or cancelled.
    """
    request.finish_pending()
    process = request.process
    for row in process.projector.rows("items", process.project):
        if everything or row["status"] == "open":
            yield ShownItem.kept(row)
    if behind := process.projector.behind:
        request.notice(behind.code, behind.text)


# 4. The notes of a project: each thing that people do with one is one Input ------------------

Fields = Iterable[tuple[str, str]]
LINE_SHOWN: Final = 60  # characters of a line that is refused


class ListedItem(msgspec.Struct, frozen=True):
    """An item, and where it stands."""

    handle: Handle
    item: NoteItem


def notes_of(request: Request) -> Notes:
    """The notes of the project that a request is about."""
    return Notes(request.inputs)


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
            Refused: it cannot be recorded; or, where no model leads, a line of it is wrong.
        """
        # A bad variable must not make a note fail.
        is_bad = problem(time_zone, NAME_MAX) or time_zone != one_line(time_zone)
        when = {"noted_at": noted_at, "time_zone": "" if is_bad else time_zone}
        said = {"note": note, "language": language}
        return self.opened(
            WORKFLOW, NoteTaken, said, setup, beside=lambda: when, check=_refuse_bad_line
        )

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
            return self.opened(WORKFLOW, ItemAdded, said)
        return self._changed(to, ItemAdded, said)

    def unfit(self, type_: ItemType, title: str, fields: Fields) -> NoteChangeRefused | None:
        """Why an item cannot begin a session; None where it can.

        Raises:
            Refused: it cannot be recorded.
        """
        typed = {"type": type_, "title": title, "fields": tuple(fields)}
        said = self.sanitizer.cleaned_fields(ItemAdded, typed)
        new = ItemAdded(at=0, actor=self._actor, **said)
        verdict = WORKFLOW.decider.decide(WORKFLOW.decider.initial, new)[0]
        return verdict if isinstance(verdict, NoteChangeRefused) else None

    # 2. Closing ------------------------------------------------------------------------------

    def closed(self, listed: ListedItem, status: Literal["done", "cancelled"]) -> Step:
        """A task is done, or an item is cancelled."""
        said = {"number": listed.item.number, "status": status}
        return self._changed(listed.handle, ItemClosed, said)

    def _changed(self, handle: Handle, new: type[Input], said: Mapping[str, Any]) -> Step:
        self.refuse_other(handle, WORKFLOW, "this command is for notes")
        self.refuse_elsewhere(handle)
        return self.submitted(handle, new, said)

    # 3. Finding ------------------------------------------------------------------------------

    def note(self, typed: str) -> Handle:
        """The session that was typed; `last` is the newest note.

        Raises:
            UnknownSession, AmbiguousSession: no session, or several match.
        """
        return self._runner.load(self.resolved(typed, WORKFLOW.name))

    def found(self, typed: str) -> ListedItem:
        """An item by what was typed: a session, a dot, and the item's number.

        Raises:
            UnknownSession, AmbiguousSession: no session, or several match.
            ErasedSession: nothing is left of it.
            Refused: it is no note, or has no such item.
        """
        session, number = item_named(typed)
        handle = self.note(session)
        self.refuse_other(handle, WORKFLOW, "this command is for notes")
        if handle.session.closed == "erased":
            raise ErasedSession(handle.session_id)
        state: ExtractionState = handle.session.state
        for item in state.items:
            if item.number == number:
                return ListedItem(handle, item)
        held = ", ".join(item_id(handle.session_id, item.number) for item in state.items) or "none"
        id_ = ids.short_session(handle.session_id)
        message = f"session {id_} has no item {number}: it has {held}"
        raise Refused(message, code="no_such_item", typed=typed)


def _refuse_bad_line(new: Input) -> Input:
    """The same Input.

    Raises:
        Refused: no model leads, and a line of the note is wrong.
    """
    assert isinstance(new, NoteTaken), "a note begins with it"
    if new.setup.lead is not None:
        return new
    found = rules.read_note(new.note, new.noted_at[:10])
    if isinstance(found, rules.BadLine):
        line = shortened(found.line, LINE_SHOWN)
        message = f"line {found.number}, {line!r}: found {found.found}, expected {found.expected}"
        raise Refused(message, code="bad_line", line=found.number)
    return new
