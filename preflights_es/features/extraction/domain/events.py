"""What an extraction records: Inputs first, then Decisions, then the list of all."""

from __future__ import annotations

from typing import ClassVar, Literal

from preflights_es.features.extraction.domain.values import NOTE_MAX, Item, ItemType
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.events import Decision, Event, Input, Typed, Whole
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.kernel.questions import (
    AnswerRefusal,
    Answers,
    Language,
    Question,
    Refusal,
    TextAccepted,
)
from preflights_es.kernel.text import ANSWER_MAX

# 1. Inputs -----------------------------------------------------------------------------------


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


class AnswersGiven(Answers, frozen=True):
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


class TaskClosed(Input, frozen=True):
    """A task is done, or will not be."""

    tag: ClassVar[str] = "extraction.task_closed.v1"
    verb: ClassVar[str] = "closed a task of"
    number: Whole
    status: Literal["done", "cancelled"]


class ItemEdited(Input, frozen=True):
    """A person changes what an item says."""

    tag: ClassVar[str] = "extraction.item_edited.v1"
    verb: ClassVar[str] = "edited an item of"
    typed: ClassVar = {"fields": Typed(NOTE_MAX)}
    number: Whole
    fields: tuple[tuple[str, str], ...]
    """Pairs of field and value, as typed; an empty value takes the field away."""
    redacted: tuple[str, ...] = ()


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


# 2. Decisions --------------------------------------------------------------------------------


class ItemsExtracted(Decision, frozen=True):
    """What the note holds; takes the place of what was extracted from it before."""

    tag: ClassVar[str] = "extraction.items_extracted.v1"
    items: tuple[Item, ...]


class QuestionAsked(Decision, frozen=True):
    """The one question of the session."""

    tag: ClassVar[str] = "extraction.question_asked.v1"
    question: Question
    field: str = ""
    """What the answer is for; empty where the model did not say."""


class AnswerAccepted(TextAccepted, frozen=True):
    """The answer counts, and goes into the conversation."""

    tag: ClassVar[str] = "extraction.answer_accepted.v1"


class AnswerRefused(AnswerRefusal, frozen=True):
    """The answer does not count; the question stays as it was."""

    tag: ClassVar[str] = "extraction.answer_refused.v1"


class ItemFiled(Decision, frozen=True):
    """An item that was filed by hand."""

    tag: ClassVar[str] = "extraction.item_filed.v1"
    item: Item


class ItemChanged(Decision, frozen=True):
    """An item as it is from now on."""

    tag: ClassVar[str] = "extraction.item_changed.v1"
    item: Item


class ChangeRefused(Refusal, frozen=True):
    """An item cannot be filed or changed as asked, or the Input does not fit the session."""

    tag: ClassVar[str] = "extraction.change_refused.v1"
    reason: Literal[
        "unknown_item",
        "not_a_task",
        "closed",
        "unknown_field",
        "invalid_value",
        "nothing_changed",
        "too_many",
        "not_expected",
    ]
    field: str = ""
    """The one that is wrong, where one is."""


# 3. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    NoteTaken,
    AnswersGiven,
    ItemAdded,
    TaskClosed,
    ItemEdited,
    TaskDecided,
    ItemsExtracted,
    QuestionAsked,
    AnswerAccepted,
    AnswerRefused,
    ItemFiled,
    ItemChanged,
    ChangeRefused,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)
