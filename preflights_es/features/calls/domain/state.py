"""What a log of recorded calls folds to, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.calls.domain.events import (
    CallJudged,
    CallJudgementKept,
    CallKept,
    CallsBegun,
    CallsOpened,
    MissingCallsCounted,
)
from preflights_es.kernel.events import Event, Input, Value
from preflights_es.words.questions import Reached
from preflights_es.words.workflow import View

# 1. The fold ---------------------------------------------------------------------------------


class KeptJudgement(Value, frozen=True):
    """What was said of one answer to a call, or of the call."""

    said: CallJudged
    counts: bool


class CallsState(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; the words of calls stay in their Inputs."""

    opened: CallsOpened | None = None
    calls: tuple[CallKept, ...] = ()
    size: int = 0
    """Bytes of all calls."""
    missed: int = 0
    judgements: tuple[KeptJudgement, ...] = ()
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
            return replace(state, judgements=(*state.judgements, KeptJudgement(new, counts)))
        case _:
            return state


# 2. What is shown ----------------------------------------------------------------------------


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


ENDED: Final = "holds calls of another program: nothing is asked in it"


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
        judged=len({one.said.call for one in state.judgements if one.counts}),
    )


def _add(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def calls_reached(state: CallsState) -> Reached:
    """What the session comes to: how many calls it holds."""
    return Reached(result={"calls": len(state.calls), "missed": state.missed})
