"""A note as services return it: `note/1`, `notes/1` and `items/1` (docs/api.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

from msgspec.structs import asdict

from preflights_es.features.extraction.domain.events import ChangeRefused
from preflights_es.features.extraction.domain.values import (
    Energy,
    Importance,
    Item,
    ItemStatus,
    ItemType,
    NoteStatus,
)
from preflights_es.features.extraction.domain.views import NoteView
from preflights_es.kernel.events import Decision
from preflights_es.kernel.items import item_id, place_named
from preflights_es.kernel.questions import AnswerRefusal, Language
from preflights_es.runtime.runner import Handle
from preflights_es.use.results import NOT_EXPECTED, Result, Session, answer_refused

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


class ItemRow(Result, frozen=True, kw_only=True, omit_defaults=True):
    """An item with the id that people type; what the note does not say is absent."""

    id: str
    status: ItemStatus
    type: ItemType
    title: str
    source: str
    confidence: float | None = None
    duration_min: int | None = None
    duration_max: int | None = None
    importance: Importance | None = None
    start_time: str | None = None
    end_time: str | None = None
    date: str | None = None
    content: str | None = None
    due: str | None = None
    energy: Energy | None = None
    after: str | None = None
    """As people type it."""
    decision: str | None = None
    record: int | None = None

    @classmethod
    def of(cls, handle: Handle, item: Item) -> Self:
        """As the note has it."""
        told = asdict(item) | {"after": _typed(item.after)}
        del told["number"]
        return cls(id=item_id(handle.session_id, item.number), **told)

    @classmethod
    def kept(cls, row: Mapping[str, Any]) -> Self:
        """As the projection `items` keeps it."""
        told = {name: row[name] for name in cls.__struct_fields__ if name in row}
        told["after"] = _typed(row["after"])
        return cls(id=item_id(row["session_id"], row["number"]), **told)


def _typed(place: str | None) -> str | None:
    """What people type for a task that an item names by its session and number."""
    return None if place is None else place_named(place)


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


class Note(Session, frozen=True, kw_only=True):
    """`note/1`."""

    FORMAT = "note/1"

    note: str
    note_status: NoteStatus
    items: tuple[ItemRow, ...]
    question: str | None
    calls: int
    language: Language

    @classmethod
    def more(cls, handle: Handle) -> dict[str, Any]:
        view = view_of(handle)
        asks = view.questions and not handle.session.closed
        return {
            "items": tuple(ItemRow.of(handle, item) for item in view.items),
            "question": view.questions[0].question if asks else None,
        }

    @classmethod
    def refusal(cls, decision: Decision) -> tuple[str, str]:
        if isinstance(decision, ChangeRefused):
            field = _LABELS.get(decision.field, decision.field.replace("_", " "))
            expected = _EXPECTED.get(decision.field, "")
            return decision.reason, _CHANGES[decision.reason].format(field, expected)
        assert isinstance(decision, AnswerRefusal), "the only other refusal"
        return decision.reason, answer_refused(decision, _REFUSED[decision.reason])


SESSION: Final = Note
