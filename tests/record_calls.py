"""Golden sessions of recorded calls: what each of them is, recorded by `tests.record_goldens`."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.calls.domain import WORKFLOW
from preflights_es.features.calls.domain.events import (
    CallJudged,
    CallRecorded,
    CallsMissed,
    CallsOpened,
    CallSource,
    LeftOut,
    RecordedAnswer,
    RecordedRequest,
)
from preflights_es.kernel.json import canonical_json
from preflights_es.runtime.runner import Handle
from tests.record_goldens import ADA, BEGAN, CLAUDE, Recorder

CHAT: Final = (
    '{"choices":[{"finish_reason":"stop","message":{"content":"Tomorrow."}}],'
    '"usage":{"completion_tokens":2,"prompt_tokens":9}}'
)
STREAM: Final = (
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    '"delta":{"type":"text_delta","text":"Tomorrow."}}\n\n'
)
RESPONSE: Final = (
    '{"object":"response","output":[{"type":"message","content":'
    '[{"type":"output_text","text":"Tomorrow."}]}],"status":"completed"}'
)


def opened(r: Recorder, source: CallSource = "jsonl", **said: Any) -> Handle:
    """A session that holds calls of a source."""
    new = CallsOpened(
        at=r.runner.now(),
        actor=ADA,
        source=source,
        file="calls.jsonl",
        conversation="thread-7",
        about="Where is my parcel?",
        program="0.1.0",
        **said,
    )
    return r.opened(new, WORKFLOW)


def turn(words: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": words}


def call(r: Recorder, body: object, answer: RecordedAnswer, **said: Any) -> CallRecorded:
    """A call of now."""
    request = RecordedRequest(
        route="openai",
        method=said.pop("method", "POST"),
        path=said.pop("path", ""),
        headers=(("content-type", "application/json"),),
        like=said.pop("like", 0),
        keeps=said.pop("keeps", 0),
        body=canonical_json(body).decode(),
        digest="ab" * 32,
        users=said.pop("users", ()),
    )
    return CallRecorded(
        at=r.runner.now(), actor=ADA, made_at=BEGAN, request=request, answer=answer, **said
    )


def a_conversation_of_each_dialect(r: Recorder) -> None:
    step = opened(r, user="cd" * 16)
    first = {"model": "gpt-4o", "messages": [turn("Where is my parcel?")]}
    step = r.submitted(step, call(r, first, RecordedAnswer(text=CHAT, type="application/json")))
    more = {"model": "gpt-4o", "messages": [turn("Tomorrow.", "assistant"), turn("Thanks")]}
    failed = RecordedAnswer(
        status=529, text='{"error":{"message":"overloaded"}}', ended="no answer"
    )
    step = r.submitted(step, call(r, more, failed, like=1, keeps=1))
    anthropic = {"model": "claude", "system": "Be kind.", "messages": [turn("And now?")]}
    cut = RecordedAnswer(text=STREAM, type="text/event-stream", ended="cut off")
    path = "/v1/messages?beta=true"
    step = r.submitted(step, call(r, anthropic, cut, path=path, taken_out=("email",)))
    responses = {"model": "gpt-5", "input": [turn("When?")]}
    step = r.submitted(step, call(r, responses, RecordedAnswer(text=RESPONSE), users=("cd" * 16,)))
    other = {"model": "embed", "input": "When?", "dimensions": 8}
    r.submitted(
        step,
        call(r, other, RecordedAnswer(text='{"data":[]}'), path="/v1/embeddings", method="PUT"),
    )


def a_call_is_judged(r: Recorder) -> None:
    step = opened(r, "otel")
    step = r.submitted(step, call(r, {"messages": [turn("When?")]}, RecordedAnswer(text=CHAT)))
    for actor, is_right, expected in ((ADA, True, None), (CLAUDE, False, None), (ADA, None, '"3"')):
        new = CallJudged(
            at=r.runner.now(),
            actor=actor,
            call=1,
            answer="Tomorrow.",
            digest="ef" * 32,
            is_right=is_right,
            expected=expected,
            why="as the shop says",
        )
        step = r.submitted(step, new)


def a_log_is_not_whole(r: Recorder) -> None:
    step = opened(r, "litellm")
    big = tuple(
        LeftOut(part=part, size=9_000_000, type="application/json", sha256="12" * 32)
        for part in ("request", "answer")
    )
    step = r.submitted(step, call(r, {}, RecordedAnswer(), left_out=big))
    missed = CallsMissed(
        at=r.runner.now(), actor=ADA, count=3, first_at=BEGAN, last_at=BEGAN + 9, why="a full disk"
    )
    r.submitted(step, missed)


def what_does_not_fit_calls_changes_nothing(r: Recorder) -> None:
    first = call(r, {"messages": []}, RecordedAnswer(text="{}"))
    r.opened(first, WORKFLOW)
    again = opened(r, "llm")
    again = r.submitted(again, call(r, {"messages": []}, RecordedAnswer(), like=9))
    said: dict[str, Any] = {"answer": "", "digest": "", "expected": None}
    for number, is_right in ((1, True), (0, True)):
        new = CallJudged(at=r.runner.now(), actor=ADA, call=number, is_right=is_right, **said)
        again = r.submitted(again, new)
    again = r.submitted(again, call(r, {"messages": []}, RecordedAnswer()))
    nothing = CallJudged(at=r.runner.now(), actor=ADA, call=1, is_right=None, **said)
    again = r.submitted(again, nothing)
    r.submitted(
        again,
        CallsOpened(
            at=r.runner.now(),
            actor=ADA,
            source="llm",
            file="",
            conversation="",
            about="",
            program="",
        ),
    )


def calls_of_other_files(r: Recorder) -> None:
    for source in ("openai-batch", "langfuse"):
        opened(r, source)


def a_program_that_ran(r: Recorder) -> None:
    step = opened(r, "record")
    pieces = RecordedAnswer(
        text=STREAM, type="text/event-stream", cuts=(40, len(STREAM) - 40), gaps_ms=(310, 12)
    )
    body = {"model": "claude", "stream": True, "messages": [turn("Where is my parcel?")]}
    r.submitted(step, call(r, body, pieces, path="/v1/messages"))
