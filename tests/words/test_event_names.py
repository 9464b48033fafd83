"""What people read of an event."""

from __future__ import annotations

from preflights_es.runtime.features import WORKFLOWS
from preflights_es.words.event_names import event_in_words, pointer_in_words, value_of_pointer
from tests.each import each


@each(
    ("tag", "words"),
    [
        ("completion.requested.v1", "model asked"),
        ("led.fell_back.v1", "rules took over"),
        ("clarification.answer_refused.v1", "answer refused"),
        ("clarification.stopped.v1", "clarification stopped"),
        ("session.erased.v1", "session erased"),
        ("\x1b", "\x1b"),
    ],
)
def test_an_event_has_a_plain_name(tag: object, words: str) -> None:
    assert event_in_words(tag) == words


@each(
    ("provider", "words"),
    [("sim", "model answered"), ("mock", "rules answered"), ("agent", "agent answered")],
)
def test_an_answer_that_no_model_wrote_is_not_named_as_one(provider: str, words: str) -> None:
    assert event_in_words("completion.received.v1", provider) == words


def test_no_two_events_of_a_workflow_share_a_name() -> None:
    for workflow in WORKFLOWS.values():
        names = [event_in_words(event.tag) for event in workflow.decider.events]
        assert len(names) == len({*names})
        assert not any("." in name or "_" in name for name in names)


@each(
    ("pointer", "values", "words"),
    [
        ("/view/patch/fields/1/library", [], "view, patch, field 2, library"),
        ("/categories/0/2", [], "category 1, item 3"),
        ("/a~1b/answered_at", [], "a/b, answered at"),
        ("/0", [], "item 1"),
        ("/hashes/0", [], "hash 1"),
        ("/calls/1", [{"calls": {"1": "refund"}}], "call 1"),
        ("", [], "the whole event"),
        ("/question/question", [], "question"),
        (
            "/lead/parameters/0/1",
            [{"lead": {"parameters": [["seed", "1"]]}}],
            "lead, parameter seed",
        ),
        (
            "/parameters/1",
            [{"parameters": [1, ["seed", "1"]]}, {"parameters": [1]}],
            "parameter seed",
        ),
        ("/fields/0/0", [{"fields": [["a", "1"]]}, {"fields": [["b", "1"]]}], "field 1, name"),
        ("/fields/0/1", [{"fields": [["a", "1"]]}, {"fields": [["b", "2"]]}], "field 1, value"),
        (
            "/answers/0/values/1",
            [{"answers": [{"key": "auth", "values": []}]}],
            "answer auth, value 2",
        ),
        (
            "/offered/1/against",
            [{"offered": [0, {"label": "Redis\n2"}]}],
            "offered, Redis 2, against",
        ),
        ("/alternatives/0/name", [[], {"alternatives": [{"name": 3}]}], "alternative 1, name"),
        ("/fields/0", [{"fields": [["x" * 99, 1]]}], f"field {'x' * 59}…"),
    ],
)
def test_a_value_s_place_is_said_in_words(pointer: str, values: list[object], words: str) -> None:
    assert pointer_in_words(pointer, *values) == words


@each(
    ("pointer", "value", "words"),
    [
        ("/view/status", "needs_answers", "needs answers"),
        ("/status", "Any_other", "Any_other"),
        ("/made_at", 1_791_450_420_000_000, "2026-10-08 09:07:00 UTC"),
        (
            "/plans/0",
            {"sha256": "ab" * 32, "kind": ["not_used"]},
            {"sha256": "abababab…", "kind": ["not used"]},
        ),
        ("/made_at", None, None),
        ("/calls", 2, 2),
    ],
)
def test_a_value_is_shown_as_people_read_it(pointer: str, value: object, words: object) -> None:
    assert value_of_pointer(pointer, value) == words
