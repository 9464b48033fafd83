"""What running again comes to: the sessions side by side, and causes of drift."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import msgspec

from preflights_es.history.child import (
    Child,
    Divergence,
    Encoded,
    Fault,
    InputLeftOut,
    causes,
    find_event_divergences,
    show_absent_value,
    trace,
)
from preflights_es.history.recording import Recording, Turn
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import Event, Input
from preflights_es.kernel.json import canonical_json, decode_plain_json, differences
from preflights_es.kernel.lead import FellBack, ResponseRejected
from preflights_es.kernel.session import Session
from preflights_es.providers.recorded import RecordedProvider, RequestMatch
from preflights_es.store.codec import Codec
from preflights_es.words.questions import Question
from preflights_es.words.workflow import Workflow, compute_session_status

Status = Literal["identical", "different", "stopped", "faulted"]

OUTCOMES: Final = frozenset((CompletionReceived.tag, CompletionFailed.tag))
CLOCK: Final = ("at", "latency_ms")
"""Of an outcome: when it came and how long it took, which no two runs have in common."""


class ChildChange(msgspec.Struct, frozen=True, kw_only=True):
    """One difference at the end of the child."""

    pointer: str
    """JSON Pointer into what is told of a session: `told`."""
    recorded: Any
    child: Any


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """A request of the child that had the response of a recorded one which it does not equal."""

    call: str
    recorded: str
    """The recorded call."""
    causes: tuple[str, ...]
    """What differs between the two requests."""


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    """A session, run again."""

    session_id: str
    """Of the recorded session."""
    workflow: str
    mode: Literal["drift", "simulate", "whatif"]
    otherwise: tuple[str, ...]
    """The change in words; empty for a plain replay."""
    status: Status
    """`stopped`: no provider may answer a call of the child; it ends there."""
    events: int
    """Recorded."""
    trace: str
    """Of the recorded events, as in a strict replay."""
    kept: int
    """Events that the child has from the recording, byte for byte."""
    child_events: int
    child_trace: str
    differences: int
    divergences: tuple[Divergence, ...]
    """Event by event, up to the first of another type; time is not compared."""
    exact: int
    """Requests that had the response of the same recorded request."""
    matches: tuple[Served, ...]
    """Those that had another's."""
    live: int
    """Calls that were made of a model."""
    left: tuple[InputLeftOut, ...]
    """Recorded Inputs that the child did not get or did not take."""
    stopped: str
    fault: Fault | None
    asks: tuple[str, ...]
    """Keys of the questions that the child leaves open."""
    changes: tuple[ChildChange, ...]
    """What the two come to, where that differs."""


def rerun(
    child: Child,
    mode: Literal["drift", "simulate", "whatif"],
    *,
    kept: int = 0,
    otherwise: tuple[str, ...] = (),
    exact: int = 0,
    matches: tuple[Served, ...] = (),
    live: int = 0,
) -> Rerun:
    """What came of a child that was played.

    Args:
        kept: events that it has from the recording.
    """
    recording, stored = child.recording, child.stored
    codec = Codec(recording.workflow.decider)
    recorded = [codec.upcast(one) for one in recording.stored]
    now = [codec.upcast(one) for one in stored]
    events = tuple(codec.decode(one) for one in stored)
    found = divergences(todays(recorded, recording.events), todays(now, events))
    ended: Status = "faulted" if child.fault else "stopped" if child.stopped else "identical"
    return Rerun(
        session_id=recording.session_id,
        workflow=recording.workflow.name,
        mode=mode,
        otherwise=otherwise,
        status="different" if found and ended == "identical" else ended,
        events=len(recorded),
        trace=trace(recorded),
        kept=kept,
        child_events=len(now),
        child_trace=trace(now),
        differences=len(found),
        divergences=tuple(found),
        exact=exact,
        matches=matches,
        live=live,
        left=tuple(child.left),
        stopped=child.stopped,
        fault=child.fault,
        asks=tuple(question.id for question in child.questions()),
        changes=()
        if now == recorded
        else changes(
            describe_session_outcome(recording.workflow, recording.session, recording.events),
            describe_session_outcome(recording.workflow, child.handle.session, events),
        ),
    )


# 1. Event by event ---------------------------------------------------------------------------


def todays(payloads: Sequence[Encoded], events: Sequence[Event]) -> list[Encoded]:
    """An old Input with the fields that it has gained since: those of the child have them."""
    return [
        (event.tag, canonical_json(event)) if isinstance(event, Input) else payload
        for payload, event in zip(payloads, events, strict=True)
    ]


def divergences(recorded: Sequence[Encoded], child: Sequence[Encoded]) -> list[Divergence]:
    """Where two runs differ, up to where they go apart: behind that, no event has a counterpart."""
    found: list[Divergence] = []
    for i in range(max(len(recorded), len(child))):
        a = recorded[i] if i < len(recorded) else None
        b = child[i] if i < len(child) else None
        if a == b:
            continue
        if a is None or b is None or a[0] != b[0]:
            return [*found, *find_event_divergences(i + 1, a, b)]
        found += find_event_divergences(i + 1, a, timed(a, b))
    return found


def timed(recorded: Encoded, child: Encoded) -> Encoded:
    """The child's outcome with the recording's clock; any other event as it is."""
    if recorded[0] not in OUTCOMES:
        return child
    was, now = decode_plain_json(recorded[1]), decode_plain_json(child[1])
    return child[0], canonical_json({**now, **{name: was[name] for name in CLOCK}})


# 2. What it comes to -------------------------------------------------------------------------


def describe_session_outcome(
    workflow: Workflow[Any], session: Session[Any], events: Sequence[Event]
) -> dict[str, Any]:
    """What can be said of any session, as JSON: how it stands, what was asked, what it took."""
    asked = [event for event in events if isinstance(event, CompletionRequested)]
    outcomes = [e for e in events if isinstance(e, (CompletionReceived, CompletionFailed))]
    shown = workflow.shown.view(session.state)
    view = decode_plain_json(canonical_json(shown))
    # The status is the workflow's own word, which the session's may overrule.
    for name in ("status", *shown.UNCOMPARED):
        view.pop(name, None)
    return {
        "status": compute_session_status(workflow, session),
        "questions": [question.question for event in events for question in questions_in(event)],
        "calls": len(asked),
        "retries": sum(request.attempt > 1 for request in asked),
        "failures": sum(isinstance(outcome, CompletionFailed) for outcome in outcomes),
        "rejected": sum(isinstance(event, ResponseRejected) for event in events),
        "fallbacks": sum(isinstance(event, FellBack) for event in events),
        "input_tokens": _sum_told(outcome.input_tokens for outcome in outcomes),
        "output_tokens": _sum_told(outcome.output_tokens for outcome in outcomes),
        "view": view,
    }


def _sum_told(counts: Iterable[int | None]) -> int | None:
    """Of the tokens that providers told; None where calls were made and none told any."""
    known = [*counts]
    told = [count for count in known if count is not None]
    return sum(told) if told or not known else None


def questions_in(event: Event) -> list[Question]:
    """What an event holds of questions."""
    values = (getattr(event, name) for name in event.__struct_fields__)
    return [value for value in values if isinstance(value, Question)]


def changes(recorded: dict[str, Any], child: dict[str, Any]) -> tuple[ChildChange, ...]:
    """Every value that differs."""
    return tuple(
        ChildChange(pointer=pointer, recorded=show_absent_value(a), child=show_absent_value(b))
        for pointer, a, b in differences(recorded, child)
    )


async def drift(recording: Recording) -> tuple[Rerun, Child]:
    """The whole session again, on its own responses.

    A request that is not the recorded one has the response of the call with its number, and is
    listed. One without a response left ends the child: no provider and no other session is asked.
    """
    provider = RecordedProvider(recording.events)
    child = Child(recording, 0, provider, "drift")
    await child.play(as_recorded)
    matches = tuple(_served(match) for match in provider.matches if not match.exact)
    exact = len(provider.matches) - len(matches)
    return rerun(child, "drift", exact=exact, matches=matches), child


async def as_recorded(turn: Turn, _session: Session[Any]) -> Input:
    """The recorded Input, once more."""
    return turn.input


def _served(match: RequestMatch) -> Served:
    return Served(
        call=match.asked.call,
        recorded=match.recorded.call,
        causes=causes(match.recorded, match.asked),
    )
