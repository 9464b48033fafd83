"""Recorded and computed sessions side by side: strict replay through today's `decide`, and the
report and causes of a session that was run again. Nothing is written and no remote provider is
asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from preflights_es.history.child import (
    Child,
    Divergence,
    Encoded,
    Fault,
    InputLeftOut,
    causes,
    fault_of,
    find_event_divergences,
    show_absent_value,
    trace,
)
from preflights_es.history.recording import Code, Reasking, Recording, Turn, is_provider_s
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import LogDamaged, WorkflowMissing
from preflights_es.kernel.events import Decision, Event, Input, InputQuarantined
from preflights_es.kernel.json import canonical_json, decode_plain_json, differences
from preflights_es.kernel.lead import FellBack, ResponseRejected
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Session
from preflights_es.providers.base import RecordedProvider, RequestMatch
from preflights_es.store.stored_events import Codec, erased_before, verified
from preflights_es.words.event_names import pointer_in_words
from preflights_es.words.questions import Question
from preflights_es.words.workflow import Workflow, compute_session_status, find_known_workflow

PROVIDER_S: Final = (CompletionReceived, CompletionFailed)
ANSWERERS: Final = {"sim": "simulator", "mock": "reference"}
"""How people call the providers that are code of ours."""


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What came of replaying one session."""

    session_id: str
    workflow: str
    status: Literal["identical", "diverged", "faulted", "erased"]
    events: int
    trace: str
    """SHA-256 over type and payload of every recorded event, in hexadecimal; empty after an
    erasure."""
    undecided: bool = False
    """The log ends with an Input that today's code decides: the session can be resumed."""
    divergences: tuple[Divergence, ...] = ()
    fault: Fault | None = None
    reasked: int = 0
    """Responses of code of ours that were computed again."""
    generation: str = ""
    """Of the code that answered, where it is not today's: its responses were not computed again."""


class Replayer:
    """Replays sessions of any workflow it is given."""

    def __init__(self, workflows: Mapping[str, Workflow[Any]], code: Code | None = None) -> None:
        """Args:
        code: the providers that are code of ours; without them no response is computed again.
        """
        self._workflows = workflows
        self._codecs: dict[str, Codec] = {}
        self._reasking = Reasking(code) if code else None

    def replay(self, stored: Sequence[Stored], head: bytes | None = None) -> Replay:
        """Replay one whole session.

        Args:
            head: the hash that the session's head bears, where there is one to compare with.

        Raises:
            LogDamaged: it does not verify, or its events follow no grammar; nothing is replayed.
            LogFromFuture: a newer version wrote it.
            UnreadableEvent: the code of its workflow does not take one of its events.
            WorkflowMissing: its workflow is not here, or lacks a package.
        """
        if not stored:
            raise LogDamaged("the session", 0, "it has no events")
        verified(stored, head)
        if erased_before(stored):
            first, events = stored[0], len(stored)
            return Replay(
                session_id=first.session_id,
                workflow=first.workflow,
                status="erased",
                events=events,
                trace="",
            )
        return _ReplayRun(self._codec(stored[0].workflow), stored, self._reasking).result()

    def _codec(self, name: str) -> Codec:
        """Made when a session asks for it: that of another package is found by its name."""
        if name not in self._codecs:
            self._codecs[name] = Codec(find_known_workflow(self._workflows, name).decider)
        return self._codecs[name]


class _ReplayRun:
    """One replay: a cursor over the recorded events, and the session folded so far."""

    def __init__(
        self, codec: Codec, stored: Sequence[Stored], reasking: Reasking | None = None
    ) -> None:
        self._codec = codec
        self._reasking = reasking
        self._reasked = 0
        self._generation = ""
        self._decider = codec.decider
        self._stored = stored
        self._events: list[Encoded] = [codec.upcast(one) for one in stored]
        self._session: Session[Any] = kernel.begin(codec.decider)
        self._divergences: list[Divergence] = []
        self._undecided = False

    def result(self) -> Replay:
        fault = self._drive()
        first = self._stored[0]
        return Replay(
            session_id=first.session_id,
            workflow=first.workflow,
            status="faulted" if fault else "diverged" if self._divergences else "identical",
            events=len(self._stored),
            trace=trace(self._events),
            undecided=self._undecided,
            divergences=tuple(self._divergences),
            fault=fault,
            reasked=self._reasked,
            generation=self._generation,
        )

    def _drive(self) -> Fault | None:
        at, end = 0, len(self._events)
        while at < end:
            new = self._decode(at)
            if not isinstance(new, Input):
                raise self._damaged(at, "a Decision that follows from no Input")
            after = self._batch_end(at)
            if after == at + 1:
                fault = self._undecided_input(at, new)
                if fault or after == end:
                    return fault
                self._session = kernel.evolve(self._decider, self._session, new)
            elif fault := self._compared(at, after, new):
                return fault
            at = after
        return None

    def _batch_end(self, at: int) -> int:
        """One past the Decisions that follow the Input at a place."""
        at += 1
        while at < len(self._events) and self._stored[at].input_id is None:
            at += 1
        return at

    def _undecided_input(self, at: int, new: Input) -> Fault | None:
        """The Input at the end raises again, or would be decided now; one in quarantine rests."""
        if at + 1 < len(self._events):
            if self._events[at + 1][0] != InputQuarantined.tag:
                raise self._damaged(at, "an Input without a Decision, in the middle of the log")
            return None
        try:
            session = kernel.evolve(self._decider, self._session, new)
            for decision in kernel.decide(self._decider, self._session, new):
                _, event = self._codec.read_back(decision)
                session = kernel.evolve(self._decider, session, event)
        except WorkflowMissing:
            raise
        except Exception as error:  # the recorded bug: reported with its place, not swallowed
            return fault_of(at + 1, error, recorded=True)
        self._undecided = True
        return None

    def _compared(self, at: int, after: int, new: Input) -> Fault | None:
        decider = self._decider
        if self._session.undecided is not None and not isinstance(new, InputQuarantined):
            raise self._damaged(at, "an Input after one that is undecided")
        try:
            if self._reasking is not None and isinstance(new, PROVIDER_S):
                self._asked_again(at, new, self._reasking)
            computed = kernel.decide(decider, self._session, new)
            payloads = [(event.tag, canonical_json(event)) for event in computed]
        except (LogDamaged, WorkflowMissing):
            raise
        except Exception as error:  # today's code fails where the recorded one did not
            return fault_of(at + 1, error, recorded=False)
        session = kernel.evolve(decider, self._session, new)
        count = after - at - 1
        for i in range(max(count, len(payloads))):
            recorded = self._events[at + 1 + i] if i < count else None
            now = payloads[i] if i < len(payloads) else None
            # Also what is the same is read: what the log holds is folded, not what was computed.
            event = None if recorded is None else self._decode(at + 1 + i)
            if recorded != now:
                self._divergences += self._between(at + 1 + i, recorded, now)
            if event is None:
                continue
            if not isinstance(event, Decision):
                raise self._damaged(at + 1 + i, "an Input without an id")
            try:
                session = kernel.evolve(decider, session, event)
            except Exception as error:  # folding fails: what follows cannot be trusted
                return fault_of(at + 2 + i, error, recorded=False)
        self._session = session
        return None

    def _between(
        self, at: int, recorded: Encoded | None, now: Encoded | None
    ) -> Sequence[Divergence]:
        """Every value in which an event differs from the one that is computed."""
        try:
            return find_event_divergences(at + 1, recorded, now)
        except (ValueError, RecursionError) as error:
            raise self._damaged(at, f"its payload cannot be compared: {error}") from error

    def _asked_again(
        self, at: int, new: CompletionReceived | CompletionFailed, reasking: Reasking
    ) -> None:
        """Whether the code that answered an open call answers the same today."""
        open_calls = (call for call in self._session.calls if call.call == new.call)
        request = next((c for c in open_calls if isinstance(c, CompletionRequested)), None)
        if request is None or not is_provider_s(new):
            return
        generation = reasking.generation(request, self._decider)
        if generation != request.model:
            self._generation = request.model if generation else ""
            return
        self._reasked += 1
        again = reasking.again(request, new)
        found = (again.tag, canonical_json(again))
        if found != self._events[at]:
            cause = f"the {ANSWERERS.get(request.provider, request.provider)} answers otherwise"
            self._divergences += find_event_divergences(at + 1, self._events[at], found, cause)

    def _decode(self, at: int) -> Event:
        return self._codec.decode_payload(self._stored[at], *self._events[at])

    def _damaged(self, at: int, found: str) -> LogDamaged:
        return LogDamaged(f"session {self._stored[0].session_id}", at + 1, found)


Status = Literal["identical", "different", "stopped", "faulted"]

OUTCOMES: Final = frozenset((CompletionReceived.tag, CompletionFailed.tag))
CLOCK: Final = ("at", "latency_ms")
"""Of an outcome: when it came and how long it took, which no two runs have in common."""


class ChildChange(msgspec.Struct, frozen=True, kw_only=True):
    """One difference at the end of the child."""

    pointer: str
    """JSON Pointer into what is told of a session: `told`."""
    place: str
    """The same in words."""
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
        ChildChange(
            pointer=pointer,
            place=pointer_in_words(pointer, recorded, child),
            recorded=show_absent_value(a),
            child=show_absent_value(b),
        )
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
    found = causes(match.recorded, match.asked)
    return Served(call=match.asked.call, recorded=match.recorded.call, causes=found)
