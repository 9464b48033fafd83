"""What people do with notes, besides what they do with any session.

`notes/1` and `items/1` are described in docs/api.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, Self

import msgspec

from preflights_es.features.extraction.domain import WORKFLOW, rules
from preflights_es.features.extraction.domain.events import (
    ChangeRefused,
    Item,
    ItemAdded,
    ItemEdited,
    ItemType,
    NoteStatus,
    NoteTaken,
    TaskClosed,
)
from preflights_es.features.extraction.domain.state import NoteView, ShownItem, State
from preflights_es.kernel import ids
from preflights_es.kernel.errors import ErasedSession, PreflightsError, Refused
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.items import item_id, item_named, place_named, place_of, waiting
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.questions import AnswerRefusal, Language
from preflights_es.kernel.text import NAME_MAX, one_line, problem
from preflights_es.kernel.views import View
from preflights_es.runtime.runner import Handle, Step
from preflights_es.runtime.sessions import Sessions
from preflights_es.system import clock_ids
from preflights_es.use.answers import Given, filed, pairs
from preflights_es.use.request import Request
from preflights_es.use.results import NOT_EXPECTED, Result, answer_refused, session_of

# 1. Results ----------------------------------------------------------------------------------

_REFUSED: Final = {
    "unknown_question": "is no question of this note",
    "already_answered": "is answered already",
    "blank": "was given no value",
    "placeholder": "was given a placeholder, which says nothing",
    "several_values": "takes one value: put quotes around words that belong together",
}
_CHANGES: Final = {
    "unknown_item": "the note has no item of this number",
    "not_a_task": "it is no task",
    "closed": "the task is done or cancelled already",
    "unknown_field": "an item of this type has no {}",
    "invalid_value": "the {} is not valid: expected {}",
    "nothing_changed": "nothing changes: it says so already",
    "too_many": "the note is full",
    "not_expected": NOT_EXPECTED,
}
_EXPECTED: Final = {
    "title": "1 to 200 characters on one line",
    "duration_min": "1 to 480 minutes",
    "duration_max": "1 to 480 minutes, and at least the shortest",
    "importance": "low, normal or high",
    "due": "a date such as 2027-01-31",
    "energy": "deep_work, admin or creative",
    "start_time": "a time such as 14:30",
    "end_time": "a time such as 14:30",
    "date": "a date such as 2027-01-31",
    "after": "a task such as 3f9a12c4.1",
    "content": "at most 20,000 characters",
}
_LABELS: Final = {"due": "due date", "duration_min": "duration", "duration_max": "duration"}


def view_of(handle: Handle) -> NoteView:
    """What can be shown of a note."""
    view = handle.view
    assert isinstance(view, NoteView), "the caller checked the workflow"
    return view


class NoteRow(Result, frozen=True):
    """One note of a list."""

    session_id: str
    status: str
    note_status: NoteStatus
    note: str
    items: int
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, handle: Handle) -> Self:
        """As it stands."""
        view = view_of(handle)
        return cls(
            session_id=handle.session_id,
            status=handle.status,
            note_status=view.note_status,
            note=view.note,
            items=len(view.items),
            warnings=view.warnings,
        )


def refusal(decision: Decision) -> tuple[str, str]:
    """Why a note takes something not, as a code and in words."""
    if isinstance(decision, ChangeRefused):
        field = _LABELS.get(decision.field, decision.field.replace("_", " "))
        expected = _EXPECTED.get(decision.field, "")
        return decision.reason, _CHANGES[decision.reason].format(field, expected)
    assert isinstance(decision, AnswerRefusal), "the only other refusal"
    return decision.reason, answer_refused(decision, _REFUSED[decision.reason])


# 2. Taking and filing ------------------------------------------------------------------------


def start(request: Request, text: str, given: Given = (), *, strict: bool = False) -> View:
    """Take a note.

    Args:
        given: answers to what it will ask.
        strict: whether it waits where the model fails.

    Raises:
        Refused: it cannot be recorded.
    """
    own, answers = notes_of(request), pairs(given)
    own.check(answers)
    when, zone = clock_ids.local(clock_ids.now())
    setup = request.setup(WORKFLOW, strict=strict)
    step = own.take(text, setup, request.process.settings.language, when, zone)
    if answers:
        step = own.answer(step.handle, answers)
    return filed(request, step)


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
    if to is None and (wrong := own.unfit(type_, title, fields)):
        code, words = refusal(wrong)  # a session that would hold nothing is not opened
        raise Refused(words, code=code)
    step = own.add(type_, title, fields, request.process.settings.language, to)
    return session_of(step, request.notices)


def close(request: Request, task: str, status: Literal["done", "cancelled"]) -> View:
    """A task is done, or will not be.

    Args:
        task: the end of a session's id, a dot, and the number of the item.
    """
    own, listed = _found(request, task)
    return session_of(own.closed(listed, status), request.notices)


def edit(request: Request, item: str, fields: Fields) -> View:
    """Change what an item says; an empty value takes a field away.

    Args:
        fields: pairs of name and value, as typed; `after` takes the id of another task, or none.

    Raises:
        Refused: it would come after a task that is over, or that waits for it.
    """
    own, listed = _found(request, item)
    said = dict(fields)
    if "after" in said:
        said["after"] = _before(request, own, listed, said["after"])
    return session_of(own.edited(listed, said.items()), request.notices)


def _before(request: Request, own: Notes, listed: Listed, typed: str) -> str:
    """The place of the task that is to go before another; empty without one.

    Raises:
        Refused: it is another type of item, it is over, or it waits for the other.
    """
    if typed.strip().lower() in ("", "none"):
        return ""
    other = own.found(typed)
    if other.item.type != "task":
        raise Refused(f"{typed} is no task", code="not_a_task")
    if other.item.status != "open":
        raise Refused(f"{typed} is {other.item.status}: nothing waits for it", code="closed")
    process = request.process
    rows = list(process.projector.rows("items", process.project))
    places = (place_of(one.handle.session_id, one.item.number) for one in (listed, other))
    if found := rules.circle(waiting(rows), *places):
        named = " after ".join(place_named(place) for place in found)
        raise Refused(f"that would be a circle: {named}", code="circle")
    return place_of(other.handle.session_id, other.item.number)


def _found(request: Request, task: str) -> tuple[Notes, Listed]:
    own = notes_of(request)
    return own, own.found(task)


# 3. Looking ----------------------------------------------------------------------------------


def notes(request: Request, *, unprocessed: bool = False) -> Iterator[NoteRow]:
    """The notes of the project, newest first; trouble with one is a notice, and hides no other.

    Args:
        unprocessed: those alone that wait to be filed by hand.
    """
    request.finish_pending()
    for handle in _all(request):
        row = NoteRow.of(handle)
        if row.note and (not unprocessed or row.note_status == "unprocessed"):
            yield row


def items(request: Request, type_: ItemType, *, everything: bool = True) -> Iterator[ShownItem]:
    """The items of a type that notes of the project hold, the oldest note's first.

    Args:
        everything: also tasks that are done or cancelled.
    """
    request.finish_pending()
    process = request.process
    rows = list(process.projector.rows("items", process.project))
    waits = waiting(rows)
    for row in rows:
        if row["type"] == type_ and (everything or row["status"] == "open"):
            # What goes before it says nothing any more once that is over.
            after = waits.get(place_of(row["session_id"], row["number"]))
            yield ShownItem.kept({**row, "after": after})
    if behind := process.projector.behind:
        request.notice(behind.code, behind.text)


def _all(request: Request) -> Iterator[Handle]:
    """The notes that were not given up, newest first, one at a time."""
    process = request.process
    for head in process.store.heads(process.project):
        if head.workflow != WORKFLOW.name:
            continue
        try:
            handle = process.runner.load(head.session_id)
        except PreflightsError as error:
            request.notice(error.code, str(error), **error.fields)
            continue
        if not handle.session.closed:
            yield handle


# 4. The notes of a project: each thing that people do with one is one Input ------------------

Fields = Iterable[tuple[str, str]]


class Listed(msgspec.Struct, frozen=True):
    """An item, and where it stands."""

    handle: Handle
    item: Item


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
            Refused: it cannot be recorded.
        """
        when = {"noted_at": noted_at, "time_zone": _zone(time_zone)}
        said = {"note": note, "language": language}
        return self.opened(WORKFLOW, NoteTaken, said, setup, beside=lambda: when)

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

    def unfit(self, type_: ItemType, title: str, fields: Fields) -> ChangeRefused | None:
        """Why an item cannot begin a session; None where it can.

        Raises:
            Refused: it cannot be recorded.
        """
        typed = {"type": type_, "title": title, "fields": tuple(fields)}
        said = self.sanitizer.cleaned_fields(ItemAdded, typed)
        new = ItemAdded(at=0, actor=self._actor, **said)
        verdict = WORKFLOW.decide(WORKFLOW.initial, new)[0]
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

    def found(self, typed: str) -> Listed:
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
