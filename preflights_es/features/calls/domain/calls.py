"""What a log of recorded calls folds to, what follows from an Input, and what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.calls.domain import dialects
from preflights_es.features.calls.domain.dialects import Dialect
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
from preflights_es.kernel.events import Actor, Decision, Event, Input, Value
from preflights_es.kernel.json import decode_plain_json
from preflights_es.words.questions import Reached
from preflights_es.words.workflow import MadeCall, View

# 1. The fold ---------------------------------------------------------------------------------


class Judgement(Value, frozen=True, kw_only=True):
    """What was said of one answer to a call."""

    call: int
    answer: str
    digest: str
    is_right: bool | None
    expected: str | None
    why: str
    by: Actor
    at: int
    counts: bool


class CallsState(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; the words of calls stay in their Inputs."""

    opened: CallsOpened | None = None
    calls: tuple[CallKept, ...] = ()
    size: int = 0
    """Bytes of all calls."""
    missed: int = 0
    judgements: tuple[Judgement, ...] = ()
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""


def evolve(state: CallsState, event: Event) -> CallsState:
    """The state after one more event; any event in any state."""
    new = state.input
    match event:
        case Input():
            return replace(state, input=event)
        case CallsBegun() if isinstance(new, CallsOpened):
            return replace(state, opened=new)
        case CallKept(size=size):
            return replace(state, calls=(*state.calls, event), size=state.size + size, input=None)
        case MissingCallsCounted(count=count):
            return replace(state, missed=count)
        case CallJudgementKept(counts=counts) if isinstance(new, CallJudged):
            return replace(state, judgements=(*state.judgements, _judgement_of(new, counts)))
        case _:
            return state


def _judgement_of(new: CallJudged, counts: bool) -> Judgement:
    return Judgement(
        call=new.call,
        answer=new.answer,
        digest=new.digest,
        is_right=new.is_right,
        expected=new.expected,
        why=new.why,
        by=new.actor,
        at=new.at,
        counts=counts,
    )


# 2. What follows -----------------------------------------------------------------------------


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
            return (MissingCallsCounted(count=state.missed + count),)
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
    body = _read_json(request.body)
    dialect = dialects.recognize_dialect(request.path, body)
    read = dialects.read_answer(dialect, answer.type, answer.text)
    model = body.get("model") if isinstance(body, dict) else ""
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


def _read_json(text: str) -> Any:
    try:
        return decode_plain_json(text.encode())
    except (ValueError, RecursionError):
        return None


# 3. The calls of a session, whole ------------------------------------------------------------


class WholeCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call with all its turns, as it was sent."""

    number: int
    made_at: int | None
    kept: CallKept
    recorded: CallRecorded
    request: Any
    """What was sent, read from its JSON; None where it was left out."""

    @property
    def dialect(self) -> Dialect:
        """How request and answer are written."""
        return self.kept.dialect


def join_calls(events: Iterable[Event]) -> Iterator[WholeCall]:
    """The calls that a session keeps, each with the turns that it shares with an earlier one."""
    turns: list[list[Any]] = []
    recorded: CallRecorded | None = None
    for event in events:
        if isinstance(event, CallRecorded):
            recorded = event
        elif isinstance(event, CallKept) and recorded is not None:
            request, like = recorded.request, recorded.request.like
            before = turns[like - 1][: request.keeps] if like else []
            whole = dialects.join_request(_read_json(request.body), before)
            turns.append(dialects.turns_of_request(whole))
            yield WholeCall(
                number=event.call,
                made_at=recorded.made_at,
                kept=event,
                recorded=recorded,
                request=whole,
            )


def list_made_calls(events: Sequence[Event | None]) -> Iterator[tuple[int, MadeCall]]:
    """Each call that was kept, with the place of its Decision among the events."""
    recorded: CallRecorded | None = None
    for place, event in enumerate(events):
        if isinstance(event, CallRecorded):
            recorded = event
        elif isinstance(event, CallKept) and recorded is not None:
            yield (
                place,
                MadeCall(
                    call=str(event.call),
                    provider=recorded.request.route,
                    model=event.model,
                    made_at=recorded.made_at,
                    is_answered=200 <= event.status < 300,
                    input_tokens=event.input_tokens,
                    output_tokens=event.output_tokens,
                ),
            )


# 4. What is shown ----------------------------------------------------------------------------


class CallsView(View, frozen=True, kw_only=True):
    """`calls/1` (docs/api.md)."""

    FORMAT = "calls/1"

    source: str = ""
    conversation: str = ""
    calls: int = 0
    models: tuple[str, ...] = ()
    """That were asked, each once, in the order of the first calls."""
    input_tokens: int | None = None
    """Of all calls; None where the source says it of none."""
    output_tokens: int | None = None
    missed: int = 0
    """Calls that the session lacks."""
    judged: int = 0
    """Calls of which a person judged an answer, or said the right value."""


ENDED: Final = "holds recorded calls: `preflights calls show` prints them"


def view(state: CallsState) -> CallsView:
    """What can be shown; derived, never stored."""
    opened = state.opened
    if opened is None:
        return CallsView(status="done", intention="", ended=ENDED)
    missing = f"{state.missed} calls are missing" if state.missed else ""
    return CallsView(
        status="done",
        intention=opened.about,
        progress=1.0,
        warnings=(missing,) if missing else (),
        ended=ENDED,
        source=opened.source,
        conversation=opened.conversation,
        calls=len(state.calls),
        models=tuple(dict.fromkeys(filter(None, (one.model for one in state.calls)))),
        input_tokens=_add(one.input_tokens for one in state.calls),
        output_tokens=_add(one.output_tokens for one in state.calls),
        missed=state.missed,
        judged=len({one.call for one in state.judgements if one.counts}),
    )


def _add(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def calls_reached(state: CallsState) -> Reached:
    """What the session comes to: how many calls it holds."""
    return Reached(result={"calls": len(state.calls), "missed": state.missed})
