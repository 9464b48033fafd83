"""What a note becomes, and what an extraction records (docs/specs/extraction.md).

Values, limits and sentences first, then Inputs, Decisions, and the list of all."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from preflights_es.kernel.completions import COMPLETION_EVENTS, Policy
from preflights_es.kernel.events import Decision, Event, Input, Typed, Value, Whole
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.kernel.text import ANSWER_MAX
from preflights_es.words.questions import (
    AnswerRefusal,
    Answers,
    Language,
    Question,
    Refusal,
    TextAccepted,
)

# 1. What a note becomes ----------------------------------------------------------------------

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
POLICY: Final = Policy(bad_output=1, failed_transport=1, then="person")


class NoteItem(Value, frozen=True, kw_only=True, omit_defaults=True):
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
    """Of an event, YYYY-MM-DD; None where the person did not say it."""
    content: str | None = None
    due: str | None = None
    """A date, YYYY-MM-DD; only a person gives one."""
    energy: Energy | None = None
    """Only a person gives it."""
    decision: str | None = None
    """The uid of the decision that a task led to, once it is accepted."""
    record: Whole | None = None
    """The number of its record, where it has one."""


FIELDS: Final[dict[ItemType, tuple[str, ...]]] = {
    "task": ("duration_min", "duration_max", "importance", "due", "energy"),
    "event": ("start_time", "end_time", "date"),
    "idea": ("content",),
}
"""What an item of each type can have besides its title."""

UNPROCESSED: Final[dict[Language, str]] = {
    "en": "Could not process this. Please create it by hand.",
    "de": "Konnte nicht verarbeiten. Bitte manuell erstellen.",
}
WHICH_DAY: Final[dict[Language, str]] = {"en": "On which day: {}?", "de": "An welchem Tag: {}?"}
QUOTED: Final[dict[Language, str]] = {"en": "“{}”", "de": "„{}“"}


# 2. Inputs -----------------------------------------------------------------------------------


class NoteTaken(Input, frozen=True):
    """The actor writes a note; opens the session and carries all that a replay needs."""

    tag: ClassVar[str] = "extraction.note_taken.v1"
    verb: ClassVar[str] = "took the note of"
    typed: ClassVar = {"note": Typed(NOTE_MAX, "write down what is on your mind")}
    note: str
    project: str
    setup: Setup
    language: Language
    """Of the sentences that a person reads."""
    noted_at: str
    """Local date and time, ISO 8601 with the offset, to the minute."""
    time_zone: str
    """As the surroundings name it: `Europe/Berlin`, or an offset."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class NoteAnswersGiven(Answers, frozen=True):
    """The answer to the question."""

    tag: ClassVar[str] = "extraction.answers_given.v1"
    verb: ClassVar[str] = "answered in"


class ItemAdded(Input, frozen=True):
    """The actor files an item by hand; may open a session of its own."""

    tag: ClassVar[str] = "extraction.item_added.v1"
    verb: ClassVar[str] = "filed an item in"
    typed: ClassVar = {"title": Typed(ANSWER_MAX), "fields": Typed(NOTE_MAX)}
    type: ItemType
    title: str
    fields: tuple[tuple[str, str], ...] = ()
    """Pairs of field and value, as typed."""
    language: Language = "en"
    redacted: tuple[str, ...] = ()


class ItemClosed(Input, frozen=True):
    """A task is done; or an item of any type is cancelled."""

    tag: ClassVar[str] = "extraction.item_closed.v1"
    verb: ClassVar[str] = "closed an item of"
    number: Whole
    status: Literal["done", "cancelled"]


class TaskDecided(Input, frozen=True):
    """A person accepts the decision that a task led to."""

    tag: ClassVar[str] = "extraction.task_decided.v1"
    verb: ClassVar[str] = "decided a task of"
    number: Whole
    uid: str
    """Of the decision."""
    record: Whole | None
    """The number of its record; None where it has none."""
    session_id: str
    """Where it was decided."""


# 3. Decisions --------------------------------------------------------------------------------


class ItemsExtracted(Decision, frozen=True):
    """What the note holds; takes the place of what was extracted from it before."""

    tag: ClassVar[str] = "extraction.items_extracted.v1"
    items: tuple[NoteItem, ...]


class NoteQuestionAsked(Decision, frozen=True):
    """The one question of the session."""

    tag: ClassVar[str] = "extraction.question_asked.v1"
    question: Question
    field: str = ""
    """What the answer is for; empty where the model did not say."""


class NoteAnswerAccepted(TextAccepted, frozen=True):
    """The answer counts, and goes into the conversation."""

    tag: ClassVar[str] = "extraction.answer_accepted.v1"


class NoteAnswerRefused(AnswerRefusal, frozen=True):
    """The answer does not count; the question stays as it was."""

    tag: ClassVar[str] = "extraction.answer_refused.v1"


class ItemFiled(Decision, frozen=True):
    """An item that was filed by hand."""

    tag: ClassVar[str] = "extraction.item_filed.v1"
    item: NoteItem


class ItemChanged(Decision, frozen=True):
    """An item as it is from now on."""

    tag: ClassVar[str] = "extraction.item_changed.v1"
    item: NoteItem


class NoteChangeRefused(Refusal, frozen=True):
    """An item cannot be filed or closed as asked, or the Input does not fit the session."""

    tag: ClassVar[str] = "extraction.change_refused.v1"
    reason: Literal[
        "unknown_item",
        "not_a_task",
        "closed",
        "unknown_field",
        "invalid_value",
        "missing_value",
        "too_many",
        "not_expected",
    ]
    field: str = ""
    """The one that is wrong, where one is."""


# 4. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    NoteTaken,
    NoteAnswersGiven,
    ItemAdded,
    ItemClosed,
    TaskDecided,
    ItemsExtracted,
    NoteQuestionAsked,
    NoteAnswerAccepted,
    NoteAnswerRefused,
    ItemFiled,
    ItemChanged,
    NoteChangeRefused,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)
