"""What people do with notes, besides what they do with any session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from preflights_es.features.extraction.domain import WORKFLOW, rules
from preflights_es.features.extraction.domain.values import ItemType
from preflights_es.features.extraction.use.notes import Fields, Listed, Notes, notes_of
from preflights_es.features.extraction.use.results import ItemRow, Note, NoteRow
from preflights_es.kernel.errors import PreflightsError, Refused
from preflights_es.kernel.items import place_named, place_of, waiting
from preflights_es.runtime.runner import Handle
from preflights_es.system import clock_ids
from preflights_es.use.answers import Given, filed, pairs
from preflights_es.use.request import Request
from preflights_es.use.results import Session, session_of

NONE: Final = "none"
"""What a person says for no task, besides nothing."""

# 1. Taking and filing ------------------------------------------------------------------------


def start(request: Request, text: str, given: Given = (), *, strict: bool = False) -> Session:
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
) -> Session:
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
        code, words = Note.refusal(wrong)  # a session that would hold nothing is not opened
        raise Refused(words, code=code)
    step = own.add(type_, title, fields, request.process.settings.language, to)
    return session_of(step, request.notices)


def close(request: Request, task: str, status: Literal["done", "cancelled"]) -> Session:
    """A task is done, or will not be.

    Args:
        task: the end of a session's id, a dot, and the number of the item.
    """
    own, listed = _found(request, task)
    return session_of(own.closed(listed, status), request.notices)


def edit(request: Request, item: str, fields: Fields) -> Session:
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
    if typed.strip().lower() in ("", NONE):
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


# 2. Looking ----------------------------------------------------------------------------------


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


def items(request: Request, type_: ItemType, *, everything: bool = True) -> Iterator[ItemRow]:
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
            yield ItemRow.kept({**row, "after": after})
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
