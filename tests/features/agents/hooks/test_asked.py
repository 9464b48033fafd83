"""What came of a question, off the events in which agents tell of it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.features.agents.hook_events import HookEvent
from preflights_es.features.agents.hook_questions import questions, read_hook_choices
from preflights_es.kernel.text import visible
from preflights_es.words.questions import ANSWERED
from tests.each import each

OPTIONS = [{"label": "Redis", "description": "fast"}, {"label": "Kafka"}, {"label": "A, B"}]
CACHE = {"question": "Which broker?", "header": "Broker", "options": OPTIONS}
SEVERAL = {**CACHE, "multiSelect": True}
CODEX = {"id": "broker", **CACHE}
CURSOR = {"id": "q1", "prompt": "Which broker?", "options": [{"id": "a", "label": "Redis"}]}


def claude(response: Any, *asked: Any) -> dict[str, Any]:
    """PostToolUse of Claude Code."""
    said = {"questions": list(asked or (CACHE,))}
    return {"tool_name": "AskUserQuestion", "tool_input": said, "tool_response": response}


def codex(response: Any) -> dict[str, Any]:
    """PostToolUse of Codex."""
    said = {"questions": [CODEX]}
    return {"tool_name": "request_user_input", "tool_input": said, "tool_response": response}


def answers(**said: Any) -> dict[str, Any]:
    return {"answers": {"Which broker?": said.pop("of", "Redis")}, **said}


def cursor(output: Any, **more: Any) -> dict[str, Any]:
    """postToolUse of Cursor: JSON in a text."""
    said = {"questions": [{**CURSOR, **more}]}
    return {"tool_name": "AskQuestion", "tool_input": said, "tool_output": json.dumps(output)}


SWAPPED = [{"id": "Kafka", "label": "Redis"}, {"id": "Redis", "label": "Kafka"}]

CASES: tuple[tuple[dict[str, Any], str, tuple[str, ...]], ...] = (
    (claude(answers()), "answered", ("Redis",)),
    (claude(answers(of=" Redis ")), "answered", ("Redis",)),
    (claude(answers(of="NATS, please")), "typed", ("NATS, please",)),
    (claude(answers(of="A, B"), SEVERAL), "answered", ("A, B",)),
    (claude(answers(of="Redis, A, B"), SEVERAL), "several", ("Redis", "A, B")),
    (claude(answers(of=["Redis", "Kafka"]), SEVERAL), "several", ("Redis", "Kafka")),
    (claude(answers(of="")), "empty", ()),
    (claude(answers(of="\u200b ")), "empty", ()),
    (claude(answers(of=None)), "empty", ()),
    (claude(answers(of=7)), "empty", ()),
    (claude({"answers": {}}), "empty", ()),
    (claude({"answers": []}), "empty", ()),
    (claude({}), "empty", ()),
    (claude(None), "empty", ()),
    (claude([]), "empty", ()),
    (claude(3), "empty", ()),
    (claude({"answers": {}, "afkTimeoutMs": 60000}), "timed_out", ()),
    (claude(answers(afkTimeoutMs=60000)), "timed_out", ()),
    (claude("No response after 60 s: go on"), "timed_out", ()),
    (claude("The user doesn't want to proceed with this tool use"), "denied", ()),
    (claude("PreToolUse:AskUserQuestion hook error: denied"), "by_hook", ()),
    (claude(answers(answeredBy="hook")), "by_hook", ()),
    (claude("AskUserQuestion is not available here"), "unattended", ()),
    (claude(answers(annotations={"Which broker?": {"notes": "only for now"}})), "typed", (
        "Redis (only for now)",
    )),
    (claude(json.dumps(answers())), "answered", ("Redis",)),
    (claude([{"type": "text", "text": json.dumps(answers())}]), "answered", ("Redis",)),
    (codex({"answers": {"broker": {"answers": ["Redis"]}}}), "answered", ("Redis",)),
    (codex(json.dumps({"answers": {"broker": {"answers": ["Redis"]}}})), "answered", ("Redis",)),
    (codex({"answers": {"broker": {"answers": ["user_note: NATS"]}}}), "typed", ("NATS",)),
    (codex({"answers": {"broker": {"answers": ["None of the above"]}}}), "empty", ()),
    (codex({"answers": {}, "autoResolved": True}), "timed_out", ()),
    (codex({"answers": {}}), "timed_out", ()),
    (codex({"answers": {}, "interrupted": True}), "denied", ()),
    (codex("request_user_input was cancelled"), "denied", ()),
    (cursor({"answers": {"q1": {"selected": ["a"]}}}), "answered", ("Redis",)),
    (cursor({"answers": {"q1": "a"}}), "answered", ("Redis",)),
    (cursor({"answers": {"q1": ["b"]}}), "typed", ("b",)),
    (cursor({"answers": {"q1": "Kafka"}}, options=SWAPPED), "answered", ("Kafka",)),
    (cursor({"answers": {"q1": ""}}, options=[{"id": "", "label": "Redis"}]), "empty", ()),
    (cursor({"answers": {"q1": [""]}}, options=[{"label": "Redis"}]), "empty", ()),
    ({"tool_name": "ask_user", "tool_input": {"questions": [CACHE]}, "tool_response": {
        "llmContent": json.dumps({"answers": {"0": "Kafka"}}), "returnDisplay": ""}},
        "answered", ("Kafka",)),
    ({"tool_name": "ask_user", "tool_input": {"questions": [CACHE]}, "tool_response": {
        "llmContent": "User dismissed ask_user dialog"}}, "denied", ()),
    ({"tool_name": "AskQuestion", "tool_input": {"questions": [CURSOR]},
      "tool_output": json.dumps({"answers": {"q1": "Redis"}})}, "answered", ("Redis",)),
    ({"tool_name": "vscode_askQuestions", "tool_input": {"questions": [CACHE]}, "tool_response":
        {"answers": {"Broker": {"selected": ["Kafka"], "freeText": None, "skipped": False}}}},
        "answered", ("Kafka",)),
    ({"tool_name": "vscode_askQuestions", "tool_input": {"questions": [CACHE]}, "tool_response":
        {"answers": {"Broker": {"selected": [], "freeText": "NATS", "skipped": False}}}},
        "typed", ("NATS",)),
    ({"tool_name": "vscode_askQuestions", "tool_input": {"questions": [CACHE]}, "tool_response":
        {"answers": {"Broker": {"selected": [], "freeText": None, "skipped": True}}}},
        "empty", ()),
)  # fmt: skip


def came(call: dict[str, Any], *, failed: bool = False) -> list[Any]:
    event = msgspec.convert(call, HookEvent)
    return [*read_hook_choices(event, "failed" if failed else "asked", questions(event))]


@each(("call", "outcome", "said"), CASES)
def test_what_came_of_a_question(call: dict[str, Any], outcome: str, said: tuple[str, ...]) -> None:
    assert came(call) == [(outcome, said)]


@each(
    ("error", "outcome"),
    [
        ("The user rejected it", "denied"),
        ("Interrupted by user", "denied"),
        ("hook said no", "by_hook"),
        ("", "empty"),
        ("no terminal", "unattended"),
        ({"message": "timed out"}, "timed_out"),
    ],
)
def test_a_call_that_failed_has_no_answer(error: object, outcome: str) -> None:
    call = {**claude(None), "error": error}
    assert came(call, failed=True) == [(outcome, ())]


def test_each_question_of_a_call_has_its_own_answer() -> None:
    second = {"question": "Which CI?", "options": ["GitHub Actions", "Jenkins"]}
    response = {"answers": {"Which CI?": "Jenkins", "Which broker?": "Kafka"}}
    assert came(claude(response, CACHE, second)) == [
        ("answered", ("Kafka",)),
        ("answered", ("Jenkins",)),
    ]


def test_an_input_of_another_shape_asks_nothing() -> None:
    shapes: tuple[object, ...] = (None, 3, [], {}, {"questions": 3}, {"questions": [3, None]})
    for said in shapes:
        assert came({"tool_name": "AskUserQuestion", "tool_input": said}) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("answers", "Which broker?", "content", "notes", "afkTimeoutMs", "0")),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(JSON, JSON)
def test_no_response_makes_silence_an_answer(response: Any, question: Any) -> None:
    """Whatever an agent says, an answer has words, and no words are an answer by themselves."""
    for asked in (CACHE, SEVERAL, {"question": "Which broker?", "options": question}):
        for outcome, said in came(claude(response, asked)):
            assert (outcome in ANSWERED) == bool(said)
            assert all(map(visible, said))
