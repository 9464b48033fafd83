"""Strict replay: the recorded Inputs through today's `decide`, compared batch by batch.

What was *recorded* is folded, so that every later difference stands on its own. Nothing is written
and no remote provider is asked; a response that code of ours computed is computed again and
compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from preflights_es.history.child import (
    Divergence,
    Encoded,
    Fault,
    fault_of,
    find_event_divergences,
    trace,
)
from preflights_es.history.recording import Code, Reasking, is_provider_s
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import LogDamaged, WorkflowMissing
from preflights_es.kernel.events import Decision, Event, Input, InputQuarantined
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.session import Session
from preflights_es.store.chain import erased_before, verified
from preflights_es.store.codec import Codec
from preflights_es.words.workflow import Workflow, find_known_workflow

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
