"""What a note becomes: tasks, events and ideas (docs/specs/extraction.md)."""

from __future__ import annotations

from typing import Final, Literal

from preflights_es.kernel.events import Value, Whole

ItemType = Literal["task", "event", "idea"]
Importance = Literal["low", "normal", "high"]
Energy = Literal["deep_work", "admin", "creative"]
ItemStatus = Literal["open", "done", "cancelled"]
NoteStatus = Literal["pending", "processed", "unprocessed"]

NOTE_MAX: Final = 20_000  # characters; what is longer is a document
TITLE_MAX: Final = 200  # characters (seed 3)
CONTENT_MAX: Final = 20_000  # characters; as long as a note, so that nothing of one is lost
DURATION_MAX: Final = 480  # minutes: a working day
ITEMS_MAX: Final = 50  # of one note
QUESTION_MAX: Final = 200  # characters


class Item(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a note holds; what the note does not say is absent."""

    number: Whole
    """1 and up, within its session; never given to another item."""
    type: ItemType
    title: str
    source: Literal["extracted", "added"]
    """Read out of the note by the lead, or filed by hand."""
    status: ItemStatus = "open"
    confidence: float | None = None
    """0 to 1, as the model says; None for what was filed by hand."""
    duration_min: Whole | None = None
    """Minutes."""
    duration_max: Whole | None = None
    importance: Importance | None = None
    start_time: str | None = None
    """HH:MM, 24 hours."""
    end_time: str | None = None
    date: str | None = None
    """Of an event, YYYY-MM-DD; None is the day of its note."""
    content: str | None = None
    due: str | None = None
    """A date, YYYY-MM-DD; only a person gives one."""
    energy: Energy | None = None
    """Only a person gives it."""
    after: str | None = None
    """The task that goes before it: the id of its session, a dot, and its number; only a person
    says it, and it says nothing once that task is over."""
    decision: str | None = None
    """The uid of the decision that a task led to, once it is accepted."""
    record: Whole | None = None
    """The number of its record, where it has one."""


FIELDS: Final[dict[ItemType, tuple[str, ...]]] = {
    "task": ("duration_min", "duration_max", "importance", "due", "energy", "after"),
    "event": ("start_time", "end_time", "date"),
    "idea": ("content",),
}
"""What an item of each type can have besides its title."""
