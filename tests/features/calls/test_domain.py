"""What follows from the Inputs of recorded calls, and what they fold to."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.calls import AnsweredCalls, join_calls, list_made_calls
from preflights_es.features.calls.domain.dialects import ReadAnswer
from preflights_es.features.calls.domain.events import (
    CALLS_MAX,
    SESSION_MAX,
    CallJudged,
    CallNotTaken,
    CallRecorded,
    CallsMissed,
    CallsOpened,
    RecordedAnswer,
    RecordedRequest,
)
from preflights_es.features.calls.domain.state import view
from preflights_es.features.calls.recorded_calls import CallReader
from preflights_es.kernel.events import INT_MAX, Actor, Decision, Event, Input
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.session import Session, begin, decide, evolve

ADA = Actor("user", "Ada")
ANSWER = (
    '{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],'
    '"usage":{"prompt_tokens":7,"completion_tokens":2}}'
)


def opened() -> CallsOpened:
    return CallsOpened(
        at=1, actor=ADA, source="jsonl", file="a.jsonl", conversation="", about="hi", program="1"
    )


def recorded(body: dict[str, Any], answer: str = ANSWER % "yes", **said: Any) -> CallRecorded:
    request = RecordedRequest(route="openai", body=canonical_json(body).decode(), **said)
    return CallRecorded(
        at=2, actor=ADA, made_at=5, request=request, answer=RecordedAnswer(text=answer)
    )


def turn(words: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": words}


def run(*inputs: Input) -> tuple[Session[Any], list[Event]]:
    """The session after some Inputs, and all its events."""
    session, events = begin(WORKFLOW.decider), list[Event]()
    for new in inputs:
        for event in (new, *decide(WORKFLOW.decider, session, new)):
            session = evolve(WORKFLOW.decider, session, event)
            events.append(event)
    return session, events


def last(*inputs: Input) -> Decision:
    event = run(*inputs)[1][-1]
    assert isinstance(event, Decision)
    return event


def judged(call: int, **said: Any) -> CallJudged:
    fields: dict[str, Any] = {"answer": "", "digest": "", "is_right": None, "expected": None}
    return CallJudged(at=3, actor=ADA, call=call, **(fields | said))


def test_a_call_says_its_model_tokens_and_why_it_stopped() -> None:
    session, events = run(opened(), recorded({"model": "m1", "messages": [turn("hi")]}))
    (kept,) = session.state.calls
    assert (kept.call, kept.dialect, kept.model, kept.stop) == (1, "openai-chat", "m1", "stop")
    assert (kept.input_tokens, kept.output_tokens) == (7, 2)
    ((place, made),) = list_made_calls(events)
    assert events[place] is kept
    assert (made.provider, made.made_at, made.is_answered) == ("openai", 5, True)
    shown = view(session.state)
    assert (shown.intention, shown.status, shown.progress) == ("hi", "done", 1.0)


def test_turns_of_an_earlier_call_are_joined_again() -> None:
    first, second = [turn("hi")], [turn("yes", "assistant"), turn("and then?")]
    _, events = run(
        opened(),
        recorded({"model": "m", "messages": first}),
        recorded({"model": "m", "messages": second}, like=1, keeps=1),
    )
    whole = [*join_calls(events)]
    assert [call.request["messages"] for call in whole] == [first, [*first, *second]]
    assert [call.number for call in whole] == [1, 2]


@pytest.mark.parametrize(
    ("first", "answer", "second"),
    [
        (
            {"messages": [turn("hello")]},
            ReadAnswer(text="Hi!"),
            {"messages": [turn("hello"), turn("Hi!", "assistant"), turn("My parcel?")]},
        ),
        ({"input": "hello"}, ReadAnswer(id="r1"), {"input": "?", "previous_response_id": "r1"}),
        *(
            ({"messages": [turn("a")]} | named, ReadAnswer(), {"messages": [turn("b")]} | named)
            for named in (
                {"metadata": {"thread_id": "7"}},
                {"metadata": {"thread_id": 7}},
                {"conversation": {"id": "c"}},
            )
        ),
    ],
)
def test_a_call_goes_on_from_what_it_repeats_or_names(
    first: dict[str, Any], answer: ReadAnswer, second: dict[str, Any]
) -> None:
    calls = AnsweredCalls()
    calls.add(first, answer, "ours")
    assert calls.find_earlier(second) == "ours"
    calls.add({"messages": [turn("hello")], "metadata": {"thread_id": "8"}}, answer, "others'")
    other = {"input": "?", "previous_response_id": "r2", "metadata": {"thread_id": "9"}}
    assert calls.find_earlier(other) == ""


def test_a_conversation_of_a_run_begins_once_whatever_its_sessions_and_ids() -> None:
    def asked(words: str, id_: int) -> CallRecorded:
        return recorded(
            {"messages": [turn(words)], "metadata": {"request_id": id_}}, digest=f"{id_}"
        )

    begun = replace(opened(), source="record", conversation="run")
    goes_on = [turn("hi"), turn("yes", "assistant"), turn("and then?")]
    one = run(begun, asked("hi", 1), asked("hi", 2), asked("bye", 3))[1]
    two = run(begun, recorded({"messages": goes_on}, digest="4"), asked("new", 5))[1]
    for ignored, firsts in (["/metadata/request_id"], [1, 1, 3]), ([], [1, 2, 3]):
        reader = CallReader(ignored)
        assert [call.conversation for call in reader.read("one", one)] == firsts
        assert [call.goes_on for call in reader.read("two", two)] == [True, False]


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    call = recorded({"messages": [turn("hi")]})
    assert last(call) == CallNotTaken(reason="not_opened")
    assert last(opened(), opened()) == CallNotTaken(reason="opened")
    assert last(opened(), recorded({"messages": []}, like=1)) == CallNotTaken(reason="no_such_call")
    assert last(opened(), judged(1, is_right=True)) == CallNotTaken(reason="no_such_call")
    assert last(opened(), call, judged(1)) == CallNotTaken(reason="nothing_said")
    many, _ = run(opened(), *[call] * (CALLS_MAX + 1))
    assert len(many.state.calls) == CALLS_MAX
    big = recorded({"messages": []}, "x" * (SESSION_MAX // 2))
    assert last(opened(), big, big) == CallNotTaken(reason="full")


def test_missing_calls_add_up_and_are_said() -> None:
    missed = CallsMissed(at=4, actor=ADA, count=3, first_at=None, last_at=None, why="a full disk")
    session, _ = run(opened(), missed, missed)
    assert session.state.missed == 6
    assert view(session.state).warnings == ("6 calls are missing",)
    session, _ = run(opened(), missed, replace(missed, count=INT_MAX))
    assert session.state.missed == INT_MAX


def test_only_what_a_person_judges_counts() -> None:
    call = recorded({"messages": [turn("hi")]})
    bot = CallJudged(
        at=9, actor=Actor("script"), call=1, answer="no", digest="d", is_right=False, expected=None
    )
    session, _ = run(opened(), call, bot)
    assert view(session.state).judged == 0
    session, _ = run(opened(), call, bot, judged(1, answer="yes", digest="e", is_right=True))
    assert view(session.state).judged == 1
    assert [one.counts for one in session.state.judgements] == [False, True]


def test_a_body_that_is_no_json_is_another_dialect() -> None:
    broken = CallRecorded(
        at=2,
        actor=ADA,
        made_at=None,
        request=RecordedRequest(body="{", path="/v1/chat/completions"),
        answer=RecordedAnswer(text="oops", status=500),
    )
    session, events = run(opened(), broken)
    assert session.state.calls[0].model == ""
    assert next(join_calls(events)).request is None
