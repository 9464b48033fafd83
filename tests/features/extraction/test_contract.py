"""`extraction.v1`: what is an answer, and what is dropped (resolution 3.1)."""

from __future__ import annotations

import json
from typing import Any

from preflights_es.features.extraction.domain.contracts import EXTRACTION
from preflights_es.judging.contract import judge
from preflights_es.kernel.completions import Accepted, Rejected
from tests.each import each
from tests.features.extraction.cases import event, items, task
from tests.judging.schemas import TESTS

QUESTION = {"question": "When?", "field": "start_time"}
IDEA = {"type": "idea", "title": "Podcast", "confidence": 0.3}


def verdict(answer: Any) -> Accepted | Rejected:
    return judge(answer if isinstance(answer, str) else json.dumps(answer), EXTRACTION)


# 1. What meets it ----------------------------------------------------------------------------


@each(
    "answer",
    [
        items(),
        items(task("Email", duration_min=10, duration_max=15, importance="normal")),
        items(task("Email", duration_min=480, duration_max=480)),
        items(task("Email", duration_max=1)),
        items(task("x" * 200)),
        items(event("Meeting", start_time="00:00", end_time="23:59")),
        items(event("Arzt"), question=QUESTION),
        items(event("Arzt"), question={"question": "Wann?"}),
        items(task("Email"), question=QUESTION),
        items(IDEA, {**IDEA, "content": ""}, {**IDEA, "content": "two\nlines"}),
        items({**IDEA, "confidence": 0}, {**IDEA, "confidence": 1}),
        items(*[task(f"thing {n}") for n in range(50)]),
        items(task("\u202eعربى 🎉 数据")),
        items({**IDEA, "content": "def f(): return 1\nSELECT * FROM t;"}),
    ],
)
def test_an_answer_as_the_specification_has_it_is_taken_as_it_is(answer: dict[str, Any]) -> None:
    found = verdict(answer)
    assert isinstance(found, Accepted), found
    assert found.payload == answer
    assert (found.prose, found.dropped) == ("", ())


# 2. What does not ----------------------------------------------------------------------------


@each(
    ("answer", "pointer"),
    [
        ({}, "/items"),
        ({"items": ["Email"]}, "/items/0"),
        (items({"title": "x", "confidence": 1}), "/items/0/type"),
        (items(task("x") | {"type": "note"}), "/items/0/type"),
        (items({"type": "task", "title": "x"}), "/items/0/confidence"),
        (items({"type": "task", "confidence": 1}), "/items/0/title"),
        (items(task("x", confidence=1.01)), "/items/0/confidence"),
        (items(task("x", confidence=-0.1)), "/items/0/confidence"),
        (items(task("x", confidence="0.5")), "/items/0/confidence"),
        (items(task("x", confidence=None)), "/items/0/confidence"),
        (items(task("")), "/items/0/title"),
        (items(task("  \t")), "/items/0/title"),
        (items(task("\u00a0")), "/items/0/title"),
        (items(task("two\nlines")), "/items/0/title"),
        (items(task("\x1b[31mred")), "/items/0/title"),
        (items(task("a\x85b")), "/items/0/title"),
        (items(task("x" * 201)), "/items/0/title"),
        (items(task("x", duration_min=0)), "/items/0/duration_min"),
        (items(task("x", duration_min=481)), "/items/0/duration_min"),
        (items(task("x", duration_min=1.5)), "/items/0/duration_min"),
        (items(task("x", duration_min="10")), "/items/0/duration_min"),
        (items(task("x", duration_min=None)), "/items/0/duration_min"),
        (items(task("x", duration_min=20, duration_max=10)), "/items/0/duration_max"),
        (items(task("x", importance="urgent")), "/items/0/importance"),
        (items(task("x", importance=None)), "/items/0/importance"),
        (items(event("x", start_time=None), question=QUESTION), "/items/0/start_time"),
        (items(event("x", start_time="24:00")), "/items/0/start_time"),
        (items(event("x", start_time="9:00")), "/items/0/start_time"),
        (items(event("x", start_time="14:00\n")), "/items/0/start_time"),
        (items(event("x", start_time="\uff11\uff14:00")), "/items/0/start_time"),
        (items(event("x", start_time="14:00", end_time=None)), "/items/0/end_time"),
        (items(event("x", start_time="14:00", date="28.11.2026")), "/items/0/date"),
        (items(event("x", start_time="14:00", date="2026-02-30")), "/items/0/date"),
        (items(event("x", start_time="14:00", date=None)), "/items/0/date"),
        (items(task("a"), event("x")), "/items/1/start_time"),
        (items({**IDEA, "content": None}), "/items/0/content"),
        (items({**IDEA, "content": "x" * 20_001}), "/items/0/content"),
        (items(*[task("x")] * 51), "/items"),
        (items(question=None), "/question"),
        (items(question={}), "/question/question"),
        (items(question={"question": " "}), "/question/question"),
        (items(question={"question": "x" * 201}), "/question/question"),
        (items(question={"question": "a\nb"}), "/question/question"),
        (items(question={"question": "When?", "field": None}), "/question/field"),
        (items(question={"question": "When?", "field": "Start Time"}), "/question/field"),
        (items(question={"question": "When?", "field": "a=b"}), "/question/field"),
        (items(question=[QUESTION, QUESTION]), "/question"),
    ],
)
def test_an_answer_that_breaks_a_rule_is_refused_at_its_place(answer: Any, pointer: str) -> None:
    found = verdict(answer)
    assert isinstance(found, Rejected), found
    assert found.kind == "schema_violation"
    assert {violation.pointer for violation in found.violations} == {pointer}


def test_neither_two_objects_nor_a_failure_of_the_compiler_are_an_answer() -> None:
    for said, kind in (
        ('{"items": []}\n{"items": []}', "multiple_artifacts"),
        ({"error": "missing_information", "details": "no note"}, "schema_violation"),
    ):
        found = verdict(said)
        assert isinstance(found, Rejected)
        assert found.kind == kind


# 3. What is dropped --------------------------------------------------------------------------


def test_unknown_properties_are_dropped_and_named() -> None:
    answer = items({**task("Email"), "due": "2027-01-31", "content": "x"}, mood="calm")
    answer["question"] = {**QUESTION, "options": ["a"]}
    found = verdict(answer)
    assert isinstance(found, Accepted), found
    assert found.payload == items(task("Email"), question=QUESTION)
    assert found.dropped == ("/items/0/content", "/items/0/due", "/mood", "/question/options")


# 4. What was answered --------------------------------------------------------------------------


FIXTURES = sorted((TESTS / "extraction" / "fixtures" / EXTRACTION.id).glob("*.json"))


@each("file", FIXTURES)
def test_an_answer_of_old_is_an_answer_of_today(file: Any) -> None:
    assert len(FIXTURES) >= 10
    assert isinstance(verdict(file.read_text("utf-8")), Accepted)
