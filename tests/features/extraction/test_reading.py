"""What a note says without a model: lines, marks, and what is refused."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import given

from preflights_es.features.extraction.domain.events import TITLE_MAX
from preflights_es.features.extraction.domain.rules import BadLine, read_note
from tests import strategies
from tests.each import each
from tests.features.extraction.cases import by_rules

FRIDAY: Final = "2026-11-27"
MISREAD: Final = """\
Interview with Kim, 30 min, tomorrow at 11
Termin mit Herrn Kurz, Donnerstag, 14.30
Workshop tomorrow 9-11
Mittwoch um 9 Teamtermin
call the bank by Friday 20 min
Steuer bis Montag abgeben, 1,5 h
Buy eggs, milk and bread
Hans, Otto und Eva anrufen
Call the plumber re: sink, bathroom, and tap
pay invoice 4711, 250.00 EUR, by 2026-12-15
call Bob re: 2:30 proposal
Meeting moved from 2pm to 4pm
Meeting 2pm-3pm cancelled
Call Kim at +49 30 1234567
Email jonas.weber@example.com the offer
first Monday of December: rent increase meeting 18:00
Sync w/ Tokyo 2026-12-01T09:00+09:00
Review https://example.com/a,b;c?t=14:30 before the call
Stop!
ask @ada
write the due: date
swim 30m
[x] ticked
"""


def read(note: str) -> list[dict[str, Any]]:
    found = read_note(note, FRIDAY)
    assert not isinstance(found, BadLine), found
    return found


def test_a_line_without_a_mark_is_a_task_word_for_word() -> None:
    found = read(MISREAD)
    assert [item["title"] for item in found] == MISREAD.splitlines()
    assert all({*item} == {"type", "title", "confidence"} for item in found)
    assert {item["type"] for item in found} == {"task"}


@each(
    ("line", "title", "said"),
    [
        ("- milk", "milk", {}),
        ("[ ] milk", "milk", {}),
        ("  - [ ]  milk  and   bread", "milk and bread", {}),
        ("- - milk", "- milk", {}),
        ("pay due:fri", "pay", {"due": "2026-12-04"}),
        ("pay due:sat", "pay", {"due": "2026-11-28"}),
        ("pay due:today", "pay", {"due": "2026-11-27"}),
        ("pay due:tomorrow", "pay", {"due": "2026-11-28"}),
        ("pay due:2026-12-01", "pay", {"due": "2026-12-01"}),
        ("zahlen fällig:morgen", "zahlen", {"due": "2026-11-28"}),
        ("zahlen fa\u0308llig:fr", "zahlen", {"due": "2026-12-04"}),
        ("zahlen Due:MO", "zahlen", {"due": "2026-11-30"}),
        ("tax ~30m", "tax", {"duration_min": 30, "duration_max": 30}),
        ("tax ~1.5h", "tax", {"duration_min": 90, "duration_max": 90}),
        ("tax ~1,5h", "tax", {"duration_min": 90, "duration_max": 90}),
        ("tax !high ~8h", "tax", {"importance": "high", "duration_min": 480, "duration_max": 480}),
        ("tax !low", "tax", {"importance": "low"}),
        ("due:fri is a mark", "due:fri is a mark", {}),
    ],
)
def test_a_mark_at_the_end_of_a_line_says_more(line: str, title: str, said: dict[str, Any]) -> None:
    assert read(line) == [{"type": "task", "title": title, "confidence": 1.0, **said}]


@each(
    ("line", "said"),
    [
        ("@fri-14:00", {"start_time": "14:00", "date": "2026-12-04"}),
        ("@2026-12-01T9:00", {"start_time": "09:00", "date": "2026-12-01"}),
        ("@di-14:00-15:30", {"start_time": "14:00", "end_time": "15:30", "date": "2026-12-01"}),
        ("@fri-23:50 ~30m", {"start_time": "23:50", "end_time": "00:20", "date": "2026-12-04"}),
        ("~1h @14:00", {"start_time": "14:00", "end_time": "15:00"}),
    ],
)
def test_a_time_makes_an_event(line: str, said: dict[str, Any]) -> None:
    assert read(f"Meeting {line}") == [
        {"type": "event", "title": "Meeting", "confidence": 1.0, **said}
    ]


@each(
    ("line", "found"),
    [
        ("x due:someday", "'due:someday'"),
        ("x due:2026-02-30", "'due:2026-02-30'"),
        ("x due:fri due:sat", "'due:fri' beside another"),
        ("x ~0m", "'~0m'"),
        ("x ~9h", "'~9h'"),
        ("x ~0.33h", "'~0.33h'"),
        ("x ~30min", "'~30min'"),
        ("x !urgent", "'!urgent'"),
        ("x !high !low", "'!high' beside another"),
        ("x @25:00", "'@25:00'"),
        ("x @fri", "'@fri'"),
        ("x @14", "'@14'"),
        ("x @14:00-15:00 ~1h", "an end and a duration"),
        ("x @fri-14:00 due:fri", "an event with the mark of a task"),
        ("idea: x due:fri", "an idea with a mark"),
        ("due:fri", "a title of 0 characters"),
        ("idea:", "a title of 0 characters"),
        ("\u200b", "a title of 1 characters"),
        ("x" * 201, "a title of 201 characters"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, found: str) -> None:
    wrong = read_note(f"milk\n\n{line}", FRIDAY)
    assert isinstance(wrong, BadLine)
    assert (wrong.number, wrong.line, wrong.found) == (3, line, found)


def test_a_second_event_without_a_day_and_a_51st_line_are_wrong() -> None:
    wrong = read_note("a @14:00\nb @fri-15:00\nc @16:00", FRIDAY)
    assert isinstance(wrong, BadLine)
    assert (wrong.number, wrong.found) == (3, "a second time without a day")
    assert len(read("\n".join("x" * 50))) == 50
    wrong = read_note("\n".join("x" * 51), FRIDAY)
    assert isinstance(wrong, BadLine)
    assert (wrong.number, wrong.found) == (51, "one line too many")


@given(strategies.NOTES)
def test_any_note_is_read_or_its_line_is_named(note: str) -> None:
    found = read_note(note, FRIDAY)
    if isinstance(found, BadLine):
        assert found.number >= 1
        return
    assert len(found) <= 50
    for item in found:
        assert 1 <= len(item["title"]) <= TITLE_MAX
        assert item["title"] in " ".join(note.split())


# In a session --------------------------------------------------------------------------------


def test_a_note_is_read_without_a_call() -> None:
    note = by_rules("pay ~10m due:fri\nidea: tea")
    assert [(item.title, item.due) for item in note.items] == [("pay", "2026-11-27"), ("tea", None)]
    assert (note.status, note.view.calls, note.replayed()) == ("done", 0, "identical")


def test_the_day_is_asked_for_and_given() -> None:
    note = by_rules("Arzt @14:00\nMilch", "de")
    assert [one.question for one in note.view.questions] == ["An welchem Tag: „Arzt“?"]
    note.answer("morgen", key="date")
    assert (note.status, note.items[0].date, note.view.calls) == ("done", "2026-11-23", 0)
    assert note.replayed() == "identical"
