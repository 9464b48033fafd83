"""A model that reads a note: what counts of its answers, and what happens where none does."""

from __future__ import annotations

import json
from typing import Any, Final

from preflights_es.features.extraction.domain.decide import PACKAGE
from preflights_es.features.extraction.domain.events import (
    ItemChanged,
    ItemsExtracted,
    NoteAnswerRefused,
    NoteQuestionAsked,
)
from preflights_es.kernel.completions import CompletionReceived, CompletionRequested, prompt
from preflights_es.kernel.errors import LLMAPIError
from preflights_es.kernel.lead import (
    MISMATCH,
    FellBack,
    Lead,
    ResponseAccepted,
    ResponseRejected,
    StepStalled,
)
from preflights_es.providers.faults import FaultConfig
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.testing import Reply
from preflights_es.use.leads import bank
from preflights_es.words.questions import Language
from tests.each import each
from tests.features.extraction.cases import ASKED, EMAIL, READ_AGAIN, Note, event, items, task

DOWN = LLMAPIError("down")

# 1. A usable answer --------------------------------------------------------------------------


def test_a_models_items_get_numbers_and_its_words() -> None:
    note = Note(
        items(
            task("Email", duration_min=10, importance="high"),
            event("M", start_time="14:00", date="2026-12-01"),
        )
    )
    first, second = note.items
    assert (first.number, first.type, first.title, first.source) == (
        1,
        "task",
        "Email",
        "extracted",
    )
    assert (first.duration_min, first.duration_max, first.importance) == (10, None, "high")
    assert (second.number, second.start_time, second.end_time) == (2, "14:00", None)
    assert (note.status, note.view.note_status, note.view.progress) == ("done", "processed", 1.0)
    assert note.replayed() == "identical"


def test_the_whole_request_stands_in_the_log() -> None:
    note = Note(EMAIL, note="Email an Chef\n14 Uhr", language="de")
    (request,) = note.script.requests
    system, said = request.messages
    assert system.content == prompt(PACKAGE, "extract.v1").text
    assert said.content == (
        "Noted at: 2026-11-22T09:30+01:00 (Europe/Berlin)\nLanguage: de\n\n"
        "Note:\nEmail an Chef\n14 Uhr"
    )
    assert (request.contract, request.attempt) == ("extraction.v1", 1)
    assert note.events(CompletionRequested) == [request]


@each("before", ["Here:", "<think>an {item}</think>", "an {item</think>"])
def test_prose_reasoning_and_unknown_properties_are_dropped_and_logged(before: str) -> None:
    reply = f"{before} {json.dumps(items({**task('Email'), 'mood': 'calm'}))}"
    note = Note(reply)
    (accepted,) = note.events(ResponseAccepted)
    assert (accepted.prose, accepted.dropped) == (before, ("/items/0/mood",))
    (received,) = note.events(CompletionReceived)
    assert received.text == reply
    assert note.titles == [(1, "Email")]


def test_a_note_in_which_nothing_was_found_waits_for_a_person() -> None:
    note = Note(items(), note="hm")
    assert (note.status, note.items, note.view.note) == ("stopped", (), "hm")
    assert note.view.to_do
    assert "no items were found" in note.view.warnings[-1]


# 2. An answer that cannot be used ------------------------------------------------------------


@each(
    ("reply", "place"),
    [
        (items(event("Arzt")), "/items/0/start_time"),
        (items(task("x", duration_min=9, duration_max=8)), "/items/0/duration_max"),
        (items(task("x", importance=None)), "/items/0/importance"),
        ({"tasks": []}, "/items"),
    ],
)
def test_a_broken_rule_is_named_in_the_retry(reply: dict[str, Any], place: str) -> None:
    note = Note(reply, EMAIL)
    sentence = note.script.requests[1].messages[-1].content
    before, after = MISMATCH.split("{}")
    assert sentence.startswith(before + place)
    assert sentence.endswith(after)
    (rejected,) = note.events(ResponseRejected)
    assert (rejected.kind, note.view.calls) == ("schema_violation", 2)
    assert note.status == "done"


@each(
    ("replies", "reason"),
    [
        (("no", "no"), "invalid_json"),
        ((items(event("x")), items(event("x"))), "schema_violation"),
        ((DOWN, DOWN), "api_error: down"),
        (("no", DOWN), "api_error: down"),
        ((DOWN, "no"), "invalid_json"),
    ],
)
@each(
    ("language", "sentence"),
    [
        ("en", "Could not process this. Please create it by hand."),
        ("de", "Konnte nicht verarbeiten. Bitte manuell erstellen."),
    ],
)
def test_after_the_second_failure_the_note_is_left_to_the_person(
    replies: tuple[Reply, ...], reason: str, language: Language, sentence: str
) -> None:
    note = Note(*replies, note="Email\n\n  an Chef", language=language)
    assert (note.status, note.view.note_status) == ("stopped", "unprocessed")
    assert (note.view.note, note.items) == ("Email\n\n  an Chef", ())
    assert note.view.warnings == (f"{sentence} ({reason.replace('_', ' ')})",)
    assert note.view.to_do
    (fell,) = note.events(FellBack)
    assert (fell.contract, fell.reason) == ("extraction.v1", reason.partition(":")[0])
    assert len(note.script.requests) == 2
    assert note.replayed() == "identical"


def test_what_is_filed_by_hand_ends_the_waiting() -> None:
    note = Note("no", "no").add("task", "Email an Chef")
    assert (note.status, note.view.note_status) == ("done", "processed")
    assert not note.view.to_do
    assert note.view.warnings == ("no usable answer from the model (invalid json): filed by hand",)


def test_a_strict_note_waits_until_it_is_asked_for_again() -> None:
    note = Note("no", "no", EMAIL, strict=True)
    (stalled,) = note.events(StepStalled)
    assert (stalled.reason, note.status, note.view.note_status) == (
        "invalid_json",
        "waiting",
        "pending",
    )
    assert "resume asks it again" in note.view.warnings[0]
    note.retry()
    assert (note.status, note.titles) == ("done", [(1, "Email an Chef")])
    assert note.view.warnings == ()
    assert [request.call for request in note.script.requests] == [
        "extract-1.1",
        "extract-1.2",
        "extract-2.1",
    ]
    assert note.replayed() == "identical"


def test_a_new_lead_is_asked_for_what_was_left_alone() -> None:
    note = Note("no", "no", EMAIL)
    note.led_by(Lead("script", "m-2"))
    assert note.script.requests[2].model == "m-2"
    assert len(note.script.requests[2].messages) == 2
    assert (note.status, note.titles) == ("done", [(1, "Email an Chef")])
    assert note.view.warnings == ()
    assert note.replayed() == "identical"
    note = Note(EMAIL).led_by(Lead("script", "m-2"))
    assert (note.status, len(note.script.requests)) == ("done", 1)


def test_a_new_lead_goes_on_where_the_second_reading_failed() -> None:
    note = Note(ASKED, "no", "no", READ_AGAIN)
    note.answer("14 Uhr")
    assert (note.view.note_status, note.titles) == ("unprocessed", [(1, "Email"), (2, "Arzt")])
    note.led_by(Lead("script", "m-2"))
    assert [m.content for m in note.script.requests[-1].messages[2:]] == [
        json.dumps(ASKED),
        "14 Uhr",
    ]
    assert note.items[1].start_time == "14:00"


def test_the_rules_read_what_no_model_could_but_a_wrong_line() -> None:
    note = Note("no", "no").led_by(None)
    assert (note.status, note.titles) == ("done", [(1, "Email an Chef")])
    assert note.replayed() == "identical"
    note = Note("no", "no", note="Email due:someday").led_by(None)
    assert note.view.note_status == "unprocessed"
    assert note.view.warnings[0].endswith("(bad line)")


# 3. The question -----------------------------------------------------------------------------


def test_a_question_is_asked_under_a_key_and_its_answer_read_with_the_note() -> None:
    note = Note(ASKED, READ_AGAIN)
    assert (note.status, note.view.note_status, note.view.progress) == (
        "needs_answers",
        "pending",
        0.5,
    )
    (asked,) = note.events(NoteQuestionAsked)
    assert (asked.question.id, asked.question.question) == ("start_time", "Wann?")
    note.answer(" um 14 Uhr ")
    first, second = note.script.requests
    assert second.messages[:2] == first.messages
    assert [(m.role, m.content) for m in second.messages[2:]] == [
        ("assistant", json.dumps(ASKED)),
        ("user", "um 14 Uhr"),
    ]
    assert [item.start_time for item in note.items] == [None, "14:00"]
    assert note.status == "done"
    assert note.replayed() == "identical"
    note = Note(items(question={"question": "Which Bob?"}), EMAIL)
    assert note.view.questions[0].id == "answer"
    assert note.answer("Bob B.", key="answer").status == "done"


def test_a_second_question_breaks_the_contract_and_two_more_leave_the_note() -> None:
    note = Note(ASKED, ASKED, READ_AGAIN).answer("14 Uhr")
    (rejected,) = note.events(ResponseRejected)
    assert [v.pointer for v in rejected.violations] == ["/question"]
    assert "expected none: one was asked already" in note.script.requests[2].messages[-1].content
    assert (note.status, note.items[1].start_time) == ("done", "14:00")
    note = Note(ASKED, ASKED, ASKED).answer("14 Uhr")
    assert (note.status, note.view.note_status) == ("stopped", "unprocessed")
    assert note.titles == [(1, "Email"), (2, "Arzt")]


@each(
    ("key", "values", "reason", "expected"),
    [
        ("when", ("14 Uhr",), "unknown_question", ("start_time",)),
        ("", ("14 Uhr",), "unknown_question", ("start_time",)),
        ("start_time", ("14 Uhr", "15 Uhr"), "several_values", ()),
        ("start_time", (" \t",), "blank", ()),
        ("start_time", (), "blank", ()),
    ],
)
def test_an_answer_that_is_none_leaves_the_question_open(
    key: str, values: tuple[str, ...], reason: str, expected: tuple[str, ...]
) -> None:
    note = Note(ASKED, READ_AGAIN).answer(*values, key=key)
    (refused,) = note.last
    assert isinstance(refused, NoteAnswerRefused)
    assert (refused.key, refused.reason, refused.expected) == (key, reason, expected)
    assert note.status == "needs_answers"
    assert len(note.script.requests) == 1


def test_an_answer_is_given_once_and_to_a_question() -> None:
    answered = Note(ASKED, READ_AGAIN).answer("14 Uhr")
    for note, reason in ((answered, "already_answered"), (Note(EMAIL), "unknown_question")):
        (refused,) = note.answer("15 Uhr").last
        assert isinstance(refused, NoteAnswerRefused)
        assert refused.reason == reason


# 4. The second reading -----------------------------------------------------------------------


def test_what_is_read_again_keeps_its_number_and_none_is_given_twice() -> None:
    again = items(event("arzt", start_time="14:00"), task("Blumen"))
    note = Note(ASKED, again).answer("14 Uhr")
    assert note.titles == [(2, "arzt"), (3, "Blumen")]
    note = Note(ASKED, items(), EMAIL).answer("never")
    assert note.items == ()
    assert note.add("task", "new").titles == [(3, "new")]


def test_the_second_reading_takes_nothing_that_a_person_touched_and_files_nothing_again() -> None:
    note = Note(ASKED, items(task("Email", importance="high"), event("Arzt", start_time="14:00")))
    note.done(1).add("idea", "Podcast").answer("14 Uhr")
    assert note.titles == [(1, "Email"), (2, "Arzt"), (3, "Podcast")]
    assert (note.items[0].status, note.items[0].importance) == ("done", None)
    note = Note(ASKED, items(task("Blumen"), event("Arzt", start_time="14:00")))
    note.add("task", "blumen").answer("14 Uhr")
    assert note.titles == [(2, "Arzt"), (3, "blumen")]


def test_items_of_one_title_are_counted() -> None:
    three = items(task("Call"), task("Call"), task("Call"))
    note = Note({**three, "question": {"question": "Whom?"}}, three)
    note.done(1).answer("Bob", key="answer")
    assert [(item.number, item.status) for item in note.items] == [
        (1, "done"),
        (2, "open"),
        (3, "open"),
    ]


# 5. A day, and a due date --------------------------------------------------------------------

UNDATED: Final = items(task("Email"), event("Arzt", start_time="14:00"))


def test_the_day_of_an_appointment_is_asked_for_and_never_taken_as_today() -> None:
    note = Note(UNDATED, language="de")
    assert [one.question for one in note.view.questions] == ["An welchem Tag: „Arzt“?"]
    (refused,) = note.answer("bald", key="date").last
    assert isinstance(refused, NoteAnswerRefused)
    assert (refused.reason, note.items[1].date) == ("not_an_option", None)
    note.answer("fr", key="date")
    assert (note.items[1].date, note.status, len(note.script.requests)) == ("2026-11-27", "done", 1)
    assert note.replayed() == "identical"


def test_one_answer_gives_each_event_its_day_where_the_model_asked_nothing() -> None:
    both = items(event("Arzt", start_time="14:00"), event("Sport", start_time="18:00"))
    note = Note(both).answer("tomorrow", key="date")
    assert [item.date for item in note.items] == ["2026-11-23", "2026-11-23"]
    assert len(note.events(ItemChanged)) == 2
    note = Note(ASKED, UNDATED).answer("14 Uhr")
    assert (note.status, note.items[1].date, note.view.questions) == ("done", None, ())


def test_a_due_date_is_the_notes_and_never_the_models() -> None:
    listed = items(
        task("Pay the rent"),
        task("write Ada"),
        event("rent", start_time="09:00", date="2026-12-01"),
    )
    note = Note(listed, note="pay rent due:2026-12-01\nwrite to Ada due:fri\nx due:someday")
    assert [item.due for item in note.items] == ["2026-12-01", "2026-11-27", None]
    note = Note(items(task("Email", due="2026-12-01")))
    assert note.items[0].due is None


# 6. The simulator ----------------------------------------------------------------------------

SAID = (
    "Email an Chef\nMeeting @14:00\nPräsentation fertig !high",
    "Arzt @2026-12-01T09:00",
    "dentist @fri-9:00\nbuy milk ~30m",
    "Idee: Podcast\nKeller due:someday",
    "…",
    "x\n" * 60,
)


@each("start", range(0, 100, 25))
def test_any_seed_and_fault_ends_valid_or_resumable_and_replays(start: int) -> None:
    for seed in range(start, start + 25):
        faults = FaultConfig(llm_timeout=0.1, llm_error=0.1, llm_malformed=0.3, llm_rate_limit=0.1)
        provider = SimLLMProvider(seed, faults, bank())
        note = Note(note=SAID[seed % len(SAID)], strict=seed % 5 == 0, provider=provider)
        if note.view.questions:
            note.answer("fr" if seed % 2 else "weiß nicht", key=note.view.questions[0].id)
        assert note.status in ("done", "stopped", "waiting", "needs_answers")
        assert (note.status == "waiting") <= (seed % 5 == 0)
        assert all(request.attempt <= 2 for request in note.events(CompletionRequested))
        assert len(note.events(NoteQuestionAsked)) <= 1
        assert note.view.calls <= 4
        assert len({item.number for item in note.items}) == len(note.items)
        assert bool(note.events(ItemsExtracted)) >= (note.status == "done")
        assert note.replayed() == "identical"


@each("seed", range(20))
def test_a_simulator_without_faults_is_always_understood(seed: int) -> None:
    note = Note(note=SAID[seed % len(SAID)], provider=SimLLMProvider(seed, bank=bank()))
    if note.view.questions:
        note.answer("fr", key=note.view.questions[0].id)
    assert note.status == ("done" if note.view.items else "stopped")
    assert note.events(ResponseRejected) == []
