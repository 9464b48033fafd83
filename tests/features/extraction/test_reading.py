"""The reference: what it finds in simple notes, and what it never makes up."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.extraction.domain import reading, times
from preflights_es.features.extraction.domain.contracts import EXTRACTION
from preflights_es.features.extraction.domain.events import ITEMS_MAX, NOTE_MAX, TITLE_MAX
from preflights_es.judging.contract import judge
from preflights_es.kernel.completions import Accepted
from preflights_es.kernel.json import encoded
from preflights_es.kernel.questions import Language
from preflights_es.kernel.text import problem
from tests import strategies
from tests.each import each
from tests.features.extraction import notes
from tests.features.extraction.notes import Row
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)


def told(item: dict[str, Any]) -> str:
    """An item as the corpus writes it."""
    words = [f"{item['type']}: {item['title']}"]
    if "start_time" in item:
        end = f"-{item['end_time']}" if "end_time" in item else ""
        words.append(f"@{item['start_time']}{end}")
    if "duration_min" in item:
        words.append(f"~{item['duration_min']}-{item['duration_max']}")
    if "importance" in item:
        words.append(f"!{item['importance']}")
    return " ".join(words)


def dated(note: str, answer: str = "") -> list[tuple[str, str]]:
    """Title and date of what a note of 2026-11-23, a Monday, holds."""
    found = reading.extracted(note, "en", answer, noted="2026-11-23")["items"]
    return [(item["title"], item.get("date", "")) for item in found]


def read(note: str, answer: str = "", language: Language = "en") -> list[str]:
    return [told(item) for item in reading.extracted(note, language, answer)["items"]]


# 0. Days -----------------------------------------------------------------------------------


@each(
    ("said", "date"),
    FILED["an_appointment_is_on_the_day_that_its_part_says"],
)
def test_an_appointment_is_on_the_day_that_its_part_says(said: str, date: str) -> None:
    assert dated(f"Zahnarzt {said} 9:00-11:00") == [("Zahnarzt", date)]
    assert dated(f"Zahnarzt, {said} 9:00") == [("Zahnarzt", date)]


@each(
    "note",
    [
        "Arzt am Morgen 9 Uhr",
        "jeden Montag 9:00 Jour fixe",
        "every Friday 9am standup",
        "Montagsrunde 9:00",
        "Party 31.2. 20 Uhr",
        "Termin 9.30 Uhr",
        "Python 3.11 Meetup 18:00",
        "Meeting in December 9 am",
        "I sat at 9:00",
        "Kurs 9:00 bis Freitag",
    ],
)
def test_no_day_is_made_up(note: str) -> None:
    assert [date for _, date in dated(note)] == [""]


def test_each_appointment_has_a_day_of_its_own() -> None:
    assert dated("Zahnarzt morgen 9 Uhr, Meeting 14 Uhr, Milch kaufen morgen") == [
        ("Zahnarzt", "2026-11-24"),
        ("Meeting", ""),
        ("Milch kaufen morgen", ""),
    ]
    assert dated("Morgen, Zahnarzt 9 Uhr") == [("Zahnarzt", "2026-11-24")]
    assert dated("Meeting 14 Uhr, morgen, Zahnarzt 9 Uhr") == [
        ("Meeting", "2026-11-24"),
        ("Zahnarzt", ""),
    ]
    assert dated("9 Uhr morgen Zahnarzt") == [("Zahnarzt", "2026-11-24")]
    assert dated("Zahnarzt Sa, 28.11. 9 Uhr") == [("Zahnarzt", "2026-11-28")]


def test_an_answer_says_the_day_too() -> None:
    assert dated("Zahnarzt", "am Freitag, um 9") == [("Zahnarzt", "2026-11-27")]
    assert dated("Zahnarzt am Freitag", "um 9") == [("Zahnarzt", "2026-11-27")]
    assert dated("Zahnarzt am Freitag", "nein, am Samstag um 9:00") == [("Zahnarzt", "2026-11-28")]


@given(strategies.ANY_TEXT | strategies.NOTES)
def test_a_day_lies_within_the_text_and_is_one(text: str) -> None:
    if found := times.day(text, "2026-11-23"):
        assert 0 <= found.at[0] < found.at[1] <= len(text)
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", found.date)
    assert times.day(text, "") is None


# 1. Examples ---------------------------------------------------------------------------------


@each("row", notes.EVERY)
def test_a_simple_note_holds_what_a_sensible_person_finds_in_it(row: Row) -> None:
    assert read(row[0]) == list(row[1:])


def test_an_answer_is_a_range_to_noon() -> None:
    assert read("Arzt", "9am to noon") == ["event: Arzt @09:00-12:00"]


def test_the_corpus_is_large_and_in_both_languages() -> None:
    assert len(notes.EVERY) >= 200
    assert len({row[0] for row in notes.EVERY}) == len(notes.EVERY)


def test_a_whole_day_is_read_line_by_line() -> None:
    note = "Montag:\n- Email an Chef (10 min)\n- 14-15 Uhr Meeting; Milch kaufen!!\n\nIdee: Podcast"
    assert read(note) == [
        "task: Montag",
        "task: Email an Chef ~10-10",
        "event: Meeting @14:00-15:00",
        "task: Milch kaufen !high",
        "idea: Podcast",
    ]


def test_more_parts_than_items_are_kept_in_the_last() -> None:
    lines = [f"thing {n}" for n in range(1, 121)]
    items = reading.extracted("\n".join(lines), "en")["items"]
    assert len(items) == ITEMS_MAX
    assert [item["title"] for item in items[:-1]] == lines[: ITEMS_MAX - 1]
    assert items[-1]["content"].split("\n") == lines[ITEMS_MAX - 1 :]


@each("part", ["x" * 201, "word " * 60, "Meeting 14 Uhr " + "y" * 20_000])
def test_a_part_that_is_no_title_is_kept_whole(part: str) -> None:
    note = part.strip()[:NOTE_MAX]
    (item,) = reading.extracted(note, "en")["items"]
    assert item["type"] == "idea"
    assert item["content"] == note
    assert len(item["title"]) <= TITLE_MAX


# 2. The question and its answer --------------------------------------------------------------


@each(
    ("note", "language", "question"),
    [
        ("Arzt", "de", "Wann findet „Arzt“ statt?"),
        ("Arzt", "en", "When is “Arzt”?"),
        ("Arzt, Meeting", "de", "Wann finden „Arzt“, „Meeting“ statt?"),
        ("dentist; meeting", "en", "When are “dentist”, “meeting”?"),
    ],
)
def test_events_without_a_time_are_asked_for_at_once(
    note: str, language: Language, question: str
) -> None:
    payload = reading.extracted(note, language)
    assert payload["question"] == {"question": question, "field": "start_time"}


def test_a_question_for_many_events_is_shortened() -> None:
    asked = reading.extracted("\n".join(f"Meeting {n}" for n in range(50)), "de")["question"]
    assert len(asked["question"]) <= 200
    assert asked["question"].endswith(" statt?")


@each("note", ["Milch kaufen", "Meeting 14 Uhr", "Idee: Meeting", ""])
def test_nothing_else_is_asked_for(note: str) -> None:
    assert "question" not in reading.extracted(note, "en")


@each(
    ("note", "answer", "items"),
    [
        ("Arzt", "14 Uhr", ["event: Arzt @14:00"]),
        ("Arzt", "14", ["event: Arzt @14:00"]),
        ("Arzt", "um 9", ["event: Arzt @09:00"]),
        ("Arzt", "2:30 pm", ["event: Arzt @14:30"]),
        ("Arzt", "\uff11\uff14", ["event: Arzt @14:00"]),
        ("Arzt", "14-15 Uhr", ["event: Arzt @14:00-15:00"]),
        ("Arzt", "am Montag, um 9:30", ["event: Arzt @09:30"]),
        ("Arzt", "weiß nicht", ["task: Arzt (weiß nicht)"]),
        ("Arzt", "25", ["task: Arzt (25)"]),
        ("Arzt, Meeting", "9 Uhr, 14 Uhr", ["event: Arzt @09:00", "event: Meeting @14:00"]),
        ("Arzt, Meeting", "9 Uhr und 14 Uhr", ["event: Arzt @09:00", "event: Meeting @14:00"]),
        ("Arzt, Meeting", "9 und 14", ["event: Arzt @09:00", "event: Meeting @14:00"]),
        (
            "Arzt, Meeting",
            "Meeting 9 Uhr und Arzt 14 Uhr",
            ["event: Arzt @14:00", "event: Meeting @09:00"],
        ),
        ("Arzt, Meeting", "Meeting um 9 Uhr", ["task: Arzt", "event: Meeting @09:00"]),
        (
            "Arzt, Meeting",
            "Meeting um 9 Uhr, Arzt nächste Woche",
            ["task: Arzt nächste Woche", "event: Meeting @09:00"],
        ),
        ("Arzt, Meeting", "später", ["task: Arzt (später)", "task: Meeting (später)"]),
        ("Milch, Arzt", "9 Uhr", ["task: Milch", "event: Arzt @09:00"]),
        ("Arzt, Meeting", "9", ["task: Arzt (9)", "task: Meeting (9)"]),
    ],
)
def test_an_answer_gives_events_their_times_or_stays_with_them(
    note: str, answer: str, items: list[str]
) -> None:
    assert read(note, answer) == items
    assert "question" not in reading.extracted(note, "en", answer)


# 3. Laws -------------------------------------------------------------------------------------

RECORDED = strategies.NOTES.filter(lambda note: problem(note, NOTE_MAX) is None)
URGENCY = re.compile(
    "wichtig|dringend|eilig|sofort|irgendwann|wenn zeit|urgent|important|asap|rush|priority"
    "|someday|!!",
    re.IGNORECASE,
)


@given(RECORDED, st.sampled_from(("en", "de")), st.just("") | RECORDED)
def test_whatever_is_noted_and_answered_meets_the_contract(
    note: str, language: Language, answer: str
) -> None:
    payload = reading.extracted(note, language, answer)
    verdict = judge(encoded(payload).decode(), EXTRACTION)
    assert isinstance(verdict, Accepted), verdict
    assert verdict.payload == payload


@given(RECORDED)
def test_no_time_and_no_duration_is_made_up(note: str) -> None:
    numbers = {
        int(digits)
        for digits in re.findall(r"\d{1,2}", "".join(str(unicodedata.decimal(c, c)) for c in note))
    }
    named = (
        re.search("noon|m[i\u0131]dn[i\u0131]ght|m[i\u0131]tternacht", note, re.IGNORECASE)
        is not None
    )
    hours = {*numbers, *(n + 12 for n in numbers if n < 12), *(n - 12 for n in numbers if n == 12)}
    for item in reading.extracted(note, "en")["items"]:
        if item["type"] == "event" and "start_time" in item:
            hour, minute = map(int, item["start_time"].split(":"))
            assert hour in hours or named
            assert minute == 0 or minute in numbers
        if "duration_min" in item:
            spoken = re.search("[s\u017f]tunde|hour", note, re.IGNORECASE)
            assert numbers or spoken


@given(RECORDED)
def test_no_importance_is_made_up(note: str) -> None:
    items = reading.extracted(note, "en")["items"]
    if any("importance" in item for item in items):
        assert URGENCY.search(note)


@given(RECORDED)
def test_titles_say_nothing_that_the_note_does_not(note: str) -> None:
    said = set(unicodedata.normalize("NFC", note))
    for item in reading.extracted(note, "en")["items"]:
        assert set(item["title"]) <= said | set(" ,…")


@given(RECORDED)
def test_every_word_of_a_note_is_found_again(note: str) -> None:
    """But for times, durations, urgency and the words around them, which are properties."""
    payload = reading.extracted(note, "en")
    kept = " ".join(f"{item['title']} {item.get('content', '')}" for item in payload["items"])
    for word in ("milk", "Zahnarzt", "call", "Bob"):
        assert note.count(word) == 0 or word in kept


@given(strategies.ANY_TEXT | strategies.NOTES)
def test_a_time_lies_within_the_text_and_is_one(text: str) -> None:
    if when := times.moment(text):
        assert 0 <= when.at[0] < when.at[1] <= len(text)
        for time in filter(None, (when.start, when.end)):
            assert re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", time)
    if takes := times.duration(text):
        assert 0 <= takes.at[0] < takes.at[1] <= len(text)
        assert 1 <= takes.low <= takes.high <= 480
