"""What follows from an Input of a log of calls; total and never empty."""

from __future__ import annotations

from preflights_es.features.calls.domain import dialects
from preflights_es.features.calls.domain.calls import read_kept_body
from preflights_es.features.calls.domain.events import (
    CALLS_MAX,
    SESSION_MAX,
    CallJudged,
    CallJudgementKept,
    CallKept,
    CallNotTaken,
    CallRecorded,
    CallsBegun,
    CallsMissed,
    CallsOpened,
    MissingCallsCounted,
)
from preflights_es.features.calls.domain.state import CallsState
from preflights_es.kernel.events import INT_MAX, Decision, Input


def decide(state: CallsState, new: Input) -> tuple[Decision, ...]:
    """The Decisions that follow from an Input; total and never empty."""
    match new:
        case CallsOpened():
            return (CallsBegun() if state.opened is None else CallNotTaken(reason="opened"),)
        case _ if state.opened is None:
            return (CallNotTaken(reason="not_opened"),)
        case CallRecorded():
            return (_decide_recorded(state, new),)
        case CallsMissed(count=count):
            return (MissingCallsCounted(count=min(state.missed + count, INT_MAX)),)
        case CallJudged(call=call) if not 0 < call <= len(state.calls):
            return (CallNotTaken(reason="no_such_call"),)
        case CallJudged(is_right=None, expected=None):
            return (CallNotTaken(reason="nothing_said"),)
        case CallJudged():
            return (CallJudgementKept(call=new.call, counts=new.actor.kind == "user"),)
        case _:
            return (CallNotTaken(reason="not_opened"),)


def _decide_recorded(state: CallsState, new: CallRecorded) -> Decision:
    request, answer = new.request, new.answer
    size = len(request.body.encode()) + len(answer.text.encode())
    if len(state.calls) >= CALLS_MAX or state.size + size > SESSION_MAX:
        return CallNotTaken(reason="full")
    if request.like > len(state.calls):
        return CallNotTaken(reason="no_such_call")
    body = read_kept_body(request.body)
    dialect = dialects.recognize_dialect(request.path, body)
    read = dialects.read_answer(dialect, answer.type, answer.text)
    model = body.get("model") if isinstance(body, dict) else None
    return CallKept(
        call=len(state.calls) + 1,
        dialect=dialect,
        model=model if isinstance(model, str) else read.model,
        status=answer.status,
        stop=read.stop,
        input_tokens=read.tokens_in or None,
        output_tokens=read.tokens_out or None,
        size=size,
    )
