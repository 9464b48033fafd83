"""What a person files, closes and changes, and what is refused."""

from __future__ import annotations

import pytest

from preflights_es.features.extraction.domain import WORKFLOW
from preflights_es.features.extraction.domain.events import (
    ItemAdded,
    ItemFiled,
    ItemType,
    NoteChangeRefused,
    NoteItem,
    NoteTaken,
)
from preflights_es.features.extraction.domain.state import ExtractionState
from preflights_es.kernel import session as kernel
from tests.each import each
from tests.features.extraction.cases import EMAIL, Note, event, items, task
from tests.filed_cases import filed_cases
from tests.fixed import NOON
from tests.scripted_session import ADA

FILED = filed_cases(__file__)

TWO = items(task("Email", duration_min=10), event("Meeting", start_time="14:00", date="2026-11-24"))


def refusal(note: Note) -> tuple[str, str]:
    (refused,) = note.last
    assert isinstance(refused, NoteChangeRefused), refused
    return refused.reason, refused.field


# 1. Filing -----------------------------------------------------------------------------------


@each(
    ("type_", "fields", "item"),
    [
        ("task", {}, NoteItem(number=2, type="task", title="A title", source="added")),
        (
            "task",
            {"duration_min": "10", "duration_max": "20", "importance": "low", "energy": "admin"},
            NoteItem(
                number=2,
                type="task",
                title="A title",
                source="added",
                duration_min=10,
                duration_max=20,
                importance="low",
                energy="admin",
            ),
        ),
        (
            "event",
            {"start_time": "9:30", "end_time": "10:00", "date": "2026-12-01"},
            NoteItem(
                number=2,
                type="event",
                title="A title",
                source="added",
                start_time="09:30",
                end_time="10:00",
                date="2026-12-01",
            ),
        ),
        (
            "idea",
            {"content": "two\nlines"},
            NoteItem(number=2, type="idea", title="A title", source="added", content="two\nlines"),
        ),
    ],
)
def test_an_item_is_filed_as_typed(type_: ItemType, fields: dict[str, str], item: NoteItem) -> None:
    note = Note(EMAIL).add(type_, " A \n title ", **fields)
    assert note.last == (ItemFiled(item=item),)
    assert note.items[1] == item
    assert note.status == "done"
    assert note.replayed() == "identical"


@each(
    ("type_", "title", "fields", "reason", "field"),
    [
        *FILED["a_value_that_is_none_is_refused_by_its_name"],
        ("task", "x" * 201, {}, "invalid_value", "title"),
        ("task", "x", {"duration_min": "9" * 5_000}, "invalid_value", "duration_min"),
        ("idea", "x", {"content": "x" * 20_001}, "invalid_value", "content"),
    ],
)
def test_a_value_that_is_none_is_refused_by_its_name(
    type_: ItemType, title: str, fields: dict[str, str], reason: str, field: str
) -> None:
    note = Note(EMAIL).add(type_, title, **fields)
    assert refusal(note) == (reason, field)
    assert note.titles == [(1, "Email an Chef")]
    assert note.replayed() == "identical"


def test_an_item_may_begin_a_session_of_its_own() -> None:
    new = ItemAdded(at=NOON, actor=ADA, type="idea", title="Podcast", language="de")
    session = kernel.begin(WORKFLOW.decider)
    for one in (new, *kernel.decide(WORKFLOW.decider, session, new)):
        session = kernel.evolve(WORKFLOW.decider, session, one)
    state: ExtractionState = session.state
    view = WORKFLOW.shown.view(state)
    assert [item.title for item in state.items] == ["Podcast"]
    assert (view.status, view.intention, state.language) == ("done", "Podcast", "de")


def test_a_note_has_an_end() -> None:
    note = Note(items(*[task(f"thing {n}") for n in range(50)]))
    for n in range(50):
        note.add("task", f"more {n}")
    assert len(note.items) == 100
    assert refusal(note.add("task", "too many")) == ("too_many", "")


# 2. Closing ----------------------------------------------------------------------------------


def test_a_task_is_done_or_cancelled_once() -> None:
    note = Note(TWO).done(1)
    assert note.items[0].status == "done"
    assert refusal(note.done(1)) == ("closed", "")
    assert refusal(note.cancelled(1)) == ("closed", "")
    assert note.replayed() == "identical"
    assert Note(TWO).cancelled(1).items[0].status == "cancelled"


@each("number", [-1, 0, 3, 2**62])
def test_what_is_not_there_cannot_be_closed(number: int) -> None:
    assert refusal(Note(TWO).done(number)) == ("unknown_item", "")


def test_only_a_task_is_done_and_anything_is_cancelled() -> None:
    note = Note(TWO).done(2)
    assert refusal(note) == ("not_a_task", "")
    assert note.cancelled(2).items[1].status == "cancelled"
    assert refusal(note.cancelled(2)) == ("closed", "")


# 3. What does not fit ------------------------------------------------------------------------


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    note = Note(EMAIL)
    before = note.state
    assert refusal(note.retry()) == ("not_expected", "")
    (first,) = note.events(NoteTaken)
    assert refusal(note.submit(first)) == ("not_expected", "")
    assert note.state.items == before.items


@pytest.mark.parametrize("strict", [False, True])
def test_what_is_done_by_hand_counts_while_a_model_is_asked_again(strict: bool) -> None:
    note = Note("no", "no", TWO, strict=strict).add("task", "By hand")
    if strict:
        note.retry()
        assert note.titles == [(1, "By hand"), (2, "Email"), (3, "Meeting")]
    assert note.view.note_status == "processed"
