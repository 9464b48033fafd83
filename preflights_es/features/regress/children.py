"""A recorded session run again with a change: it hears what was recorded, or models.

A question that the recording does not answer is answered with what the person accepted for it,
where the log says that.
"""

from __future__ import annotations

from collections.abc import Container, Coroutine, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from msgspec.structs import replace

from preflights_es.features.regress.change import (
    RunChange,
    apply_change_to_input,
    describe_change,
    simulated,
)
from preflights_es.features.regress.results import RunMeasures
from preflights_es.history.child import Child
from preflights_es.history.recording import (
    Code,
    Reasking,
    Recording,
    Turn,
    driven,
    recording,
    step_of,
)
from preflights_es.history.replayer import questions_in
from preflights_es.history.whatif import Misused, keys_of
from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import (
    LLMError,
    LLMLostError,
    LLMRequestRejectedError,
    LogDamaged,
    SettingsError,
)
from preflights_es.kernel.events import Actor, Event, Input, InputIgnored, Outcome, OutsideRequest
from preflights_es.kernel.json import canonical_json, decode_plain_json
from preflights_es.kernel.lead import UNFINISHED, WRITERS, FellBack, ResponseAccepted, StepFailed
from preflights_es.kernel.ports import Provider, Stored
from preflights_es.kernel.session import Session
from preflights_es.providers.base import RecordedProvider, Unanswered, Unrecorded
from preflights_es.runtime.performer import open_completion
from preflights_es.words.questions import Answers, GivenAnswer, Question, Reached, Refusal
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    import asyncio

    from preflights_es.history.recording import Models
    from preflights_es.projections.usage import Price


PER: Final = 1_000_000  # tokens that a price is for
T = TypeVar("T")


class ChildRun(NamedTuple):
    """One run of a session."""

    side: RunMeasures
    events: Sequence[Event]
    questions: Sequence[Question]
    child: Child
    assumed: tuple[str, ...]
    """Keys of questions that were answered with what was accepted."""
    needed: bool
    """Whether only a model could go on."""

    @property
    def ended(self) -> tuple[bool, bool, tuple[str, ...]]:
        """How it ended: with a fault, for want of a response, or with questions."""
        asks = tuple(question.id for question in self.child.questions())
        return self.child.fault is not None, bool(self.child.stopped), asks


class Runs:
    """Runs sessions, one after the other."""

    def __init__(
        self,
        workflows: Mapping[str, Workflow[Any]],
        code: Code,
        change: RunChange,
        prices: Sequence[Price] = (),
        models: Models | None = None,
        calls_max: int | None = None,
        *,
        repeat: int = 1,
        keeps_recording: bool = False,
    ) -> None:
        """Args:
        models: who asks a model; None where none may be asked.
        calls_max: of models, in all; None without a limit.
        repeat: how often a model is asked for each side.
        keeps_recording: whether the recording is the other side; else a model is asked for it, too.

        Raises:
            Misused: the simulator does not take what the change says.
        """
        self.change = change
        self.repeat = repeat
        self.keeps_recording = keeps_recording
        self._workflows = workflows
        self._reasking = Reasking(code)
        self._prices = prices
        self._models = models
        self._budget = CallBudget(calls_max)
        self._providers: dict[tuple[object, ...], Provider] = {}
        self._loop: asyncio.Runner | None = None
        try:
            code.made(simulated(change))
        except LogDamaged as error:  # what the simulator does not take is no session's fault
            raise Misused(str(error)) from error

    @property
    def calls(self) -> int:
        """Of models, so far."""
        return self._budget.made

    @property
    def asks_both(self) -> bool:
        """Whether a model is asked for both sides, also what it answered already."""
        return self._models is not None and not self.keeps_recording

    def recording(self, stored: Sequence[Stored], head: bytes | None) -> Recording:
        """As `replay.recording`."""
        return recording(self._workflows, stored, head)

    def ran(
        self, recorded: Recording, change: RunChange, label: Reached, *, hears: bool = False
    ) -> ChildRun:
        """A child with a change; none is the unchanged side.

        Args:
            hears: whether it hears what was recorded, and no model is asked.
        """
        unchanged = change == RunChange()
        anew = self.asks_both and not hears
        answerer = Answerer(
            recorded,
            self._reasking,
            None if hears or self._models is None else self._asked,
            self._budget,
            by_call=unchanged,
            anew=anew,
        )
        child = Child(recorded, 0, answerer, f"regress {describe_change(change)}")
        playing = ChildPlay(child, change, label)
        self._driven(child.run(playing.play()))
        codec = child.runner.codec(recorded.workflow)
        events = tuple(codec.decode(one) for one in child.stored)
        side = replace(
            side_of(recorded.workflow, child.handle.session, events, label, prices=self._prices),
            asked=answerer.asked,
            unanswered=len(answerer.failed),
            failure=_first_failure_message(events, answerer.failed)
            if brought_nothing(events)
            else "",
        )
        assumed = tuple(playing.assumed)
        return ChildRun(
            side, events, questions(events), child=child, assumed=assumed, needed=answerer.needed
        )

    def child(self, stored: Sequence[Stored]) -> tuple[Stored, ...]:
        """The session run again with the change, event by event; it replays from these alone.

        Raises:
            LogDamaged, LogFromFuture, WorkflowMissing, SessionFaulted: as `recording` says.
        """
        recorded = self.recording(stored, None)
        label = recorded.workflow.shown.reached(recorded.session.state)
        return self.ran(recorded, self.change, label).child.stored

    def side(self, recorded: Recording, label: Reached) -> RunMeasures:
        """What a recorded session comes to."""
        session, events = recorded.session, recorded.events
        return side_of(recorded.workflow, session, events, label, prices=self._prices)

    def _driven(self, running: Coroutine[Any, Any, T]) -> T:
        if self._models is None:
            return driven(running)
        if self._loop is None:
            import asyncio

            self._loop = asyncio.Runner()
        return self._loop.run(running)

    def _asked(self, request: CompletionRequested) -> Provider:
        assert self._models is not None, "looked at before"
        key = (request.provider, request.model, request.parameters)
        if key not in self._providers:
            try:
                self._providers[key] = self._models(request)
            except SettingsError as error:  # this side cannot be asked today, the other one may
                raise LLMRequestRejectedError(str(error)) from error
        return self._providers[key]

    def close(self) -> None:
        """Give back what models hold."""
        if self._loop is None:
            return
        for provider in self._providers.values():
            close = getattr(provider, "aclose", None)  # not part of the port
            if close is not None:
                self._loop.run(close())
        self._loop.close()


NO_MORE: Final = "no more calls of models may be made"

ASSUMED: Final = Actor("script", "what was accepted")
"""Gives a child the answers that the recorded session has none of."""


class ChildPlay:
    """One play of a child."""

    def __init__(self, child: Child, change: RunChange, label: Reached) -> None:
        self.child = child
        self.assumed: list[str] = []
        """Keys of questions that were answered with what was accepted."""
        self._change = change
        self._accepted = dict(label.answers)
        self._answered: dict[str, Answers] = {}
        """By key: the last recorded Input that answers it, of those that were fed."""
        turns = child.recording.turns
        self._last = {key: turn.version for turn in turns for key in keys_of(turn)}
        """By key: the version of the last recorded Input that answers it."""

    async def play(self) -> None:
        """The whole recording, and what is asked behind it."""
        await self.child.feed(self.child.recording.turns, self._changed)
        if open_completion(self.child.recording.session) is None:
            await self.child.settle()
            await self._answer_what_is_asked(len(self.child.recording.events) + 1)

    async def _changed(self, turn: Turn, _session: Session[Any]) -> Input:
        if not isinstance(turn.input, Outcome):
            await self._answer_what_is_asked(turn.version)
        if isinstance(turn.input, Answers):
            self._answered |= dict.fromkeys(keys_of(turn), turn.input)
        return apply_change_to_input(turn.input, self._change, self.child.recording.workflow)

    async def _answer_what_is_asked(self, version: int) -> None:
        """Each key once more as it was recorded, once as it was accepted; none that comes yet."""
        while (new := self._answer(version)) is not None:
            self.child.submit(None, new)
            await self.child.settle()

    def _answer(self, version: int) -> Answers | None:
        child, answers = self.child, self.child.recording.workflow.asked.answers
        if answers is None or not (self._accepted or self._answered):
            return None
        for key in [question.id for question in child.questions()]:
            if self._last.get(key, 0) >= version:
                continue
            if (said := self._answered.pop(key, None)) is not None:
                along = f"{key}__"  # the text of another option has a key of its own
                both = tuple(g for g in said.answers if g.key == key or g.key.startswith(along))
                at, redacted = child.now, said.redacted
                return answers(at=at, actor=said.actor, answers=both, redacted=redacted)
            if key in self._accepted:
                self.assumed.append(key)
                given = (GivenAnswer(key, (self._accepted.pop(key),)),)
                return answers(at=child.now, actor=ASSUMED, answers=given)
        return None


class CallBudget:
    """Calls of models that may still be made."""

    def __init__(self, calls_max: int | None) -> None:
        self.left = calls_max
        """None without a limit."""
        self.made = 0

    def take(self) -> bool:
        """Whether one more may be made; it counts."""
        if self.left is not None and self.left <= 0:
            return False
        self.left = None if self.left is None else self.left - 1
        self.made += 1
        return True


class Answerer:
    """Who answers a child: code of ours for itself, else the recording, else a model if it may."""

    def __init__(
        self,
        recording: Recording,
        reasking: Reasking,
        models: Models | None = None,
        budget: CallBudget | None = None,
        *,
        by_call: bool = False,
        anew: bool = False,
    ) -> None:
        """Args:
        by_call: whether a request that was never sent has the response of its call's number.
        anew: whether a model is asked also what it answered already.
        """
        self.needed = False
        """Whether only a model could answer."""
        self.asked = 0
        """Calls of a model."""
        self.failed: set[str] = set()
        """Those that brought nothing."""
        self._recording = recording
        self._reasking = reasking
        self._models = models
        self._budget = budget or CallBudget(0)
        self._by_call = by_call
        self._anew = anew
        self._recorded: RecordedProvider | None = None
        self._lost = recording.lost

    async def respond(self, request: CompletionRequested) -> Completion:
        """One response.

        Raises:
            LLMError: as the provider that answers; a call that was lost is lost again.
            Unanswered: no provider may answer.
        """
        if request.call in self._lost:
            raise LLMLostError(self._lost[request.call])
        if self._reasking.generation(request, self._recording.workflow.decider) is not None:
            return await self._reasking.provider(request).respond(request)
        is_written = request.provider in WRITERS
        if is_written or not self._anew:
            try:
                return await self._heard().respond(request)
            except Unrecorded:
                if is_written:
                    raise
        if self._models is None or not self._budget.take():
            self.needed = True
            asks = "a model would have to be asked" if self._models is None else NO_MORE
            raise Unanswered(request, asks)
        self.asked += 1
        try:
            return await self._models(request).respond(request)
        except LLMError as error:
            if error.kind not in UNFINISHED:
                self.failed.add(request.call)
            raise

    def _heard(self) -> RecordedProvider:
        if self._recorded is None:
            self._recorded = RecordedProvider(self._recording.events, by_call=self._by_call)
        return self._recorded


def _first_failure_message(events: Iterable[Event], calls: Container[str]) -> str:
    """What the first of some calls said that failed, as it is recorded: without secrets."""
    failed = (e for e in events if isinstance(e, CompletionFailed) and e.call in calls)
    return next((one.message for one in failed), "")


# What one run comes to -------------------------------------------------------------------------


def side_of(
    workflow: Workflow[Any],
    session: Session[Any],
    events: Sequence[Event],
    label: Reached,
    prices: Sequence[Price] = (),
) -> RunMeasures:
    """The measures of one run.

    Args:
        label: of the recorded session: what a person accepted there.
    """
    asked = [event for event in events if isinstance(event, CompletionRequested)]
    outcomes = [e for e in events if isinstance(e, (CompletionReceived, CompletionFailed))]
    result = workflow.shown.reached(session.state).result
    is_known = not brought_nothing(events)
    agrees = (
        None
        if label.accepted is None
        else _round_trip_json(result) == _round_trip_json(label.accepted)
    )
    return RunMeasures(
        valid=_valid(events, asked, session) if is_known else None,
        agrees=agrees if is_known else None,
        result=None if result is None else sha256(canonical_json(result)).hexdigest(),
        questions=len(questions(events)),
        turns=_turns(events),
        fallbacks=sum(isinstance(event, FellBack) for event in events),
        calls=len(asked),
        tokens=_sum_outcome_tokens(outcomes),
        cost=_sum_call_costs(asked, outcomes, prices) if prices else None,
    )


def _sum_outcome_tokens(outcomes: Iterable[CompletionReceived | CompletionFailed]) -> int | None:
    """In and out; None where the provider of a response said none."""
    total = 0
    for outcome in outcomes:
        if outcome.input_tokens is not None and outcome.output_tokens is not None:
            total += outcome.input_tokens + outcome.output_tokens
        elif isinstance(outcome, CompletionReceived):
            return None
    return total


def brought_nothing(events: Iterable[Event]) -> bool:
    """Whether the rules stand in for a model that did not answer, or its last call is such.

    A model that refused, or whose response was cut off, did answer.

    Source: docs/specs/verdict.md, section 2.
    """
    is_lost = False
    for event in events:
        if isinstance(event, (CompletionReceived, CompletionFailed)):
            is_lost = isinstance(event, CompletionFailed) and event.kind not in UNFINISHED
        elif is_lost and isinstance(event, (FellBack, StepFailed)):
            return True
    return is_lost


def _round_trip_json(value: object) -> Any:
    return decode_plain_json(canonical_json(value))


def _valid(
    events: Sequence[Event], asked: Sequence[CompletionRequested], session: Session[Any]
) -> bool | None:
    """A step that is still open says nothing yet."""
    waits = {step_of(call.call) for call in session.calls}
    steps = {step_of(request.call) for request in asked if request.contract} - waits
    if not steps:
        return None
    return steps <= {step_of(e.call) for e in events if isinstance(e, ResponseAccepted)}


def questions(events: Sequence[Event]) -> list[Question]:
    """All that was asked of a person, in turn."""
    asking = (event for event in events if not isinstance(event, (Input, OutsideRequest)))
    return [question for event in asking for question in questions_in(event)]


def _turns(events: Sequence[Event]) -> int:
    """Inputs of people that a Decision other than a refusal follows."""
    turns, waits = 0, False
    for event in events:
        if isinstance(event, Input):
            waits = not isinstance(event, Outcome)
        elif waits and not isinstance(event, (Refusal, InputIgnored)):
            turns, waits = turns + 1, False
    return turns


def _sum_call_costs(
    asked: Sequence[CompletionRequested],
    outcomes: Sequence[CompletionReceived | CompletionFailed],
    prices: Sequence[Price],
) -> float | None:
    """None where a response has no price, or its provider said no tokens."""
    from decimal import Decimal

    from preflights_es.projections.usage import price_of

    requests = {request.call: request for request in asked}
    total = Decimal(0)
    for outcome in outcomes:
        request, tokens = requests.get(outcome.call), (outcome.input_tokens, outcome.output_tokens)
        if request is None or (isinstance(outcome, CompletionFailed) and tokens == (None, None)):
            continue
        row = {"provider": request.provider, "model": request.model, "at": outcome.at}
        price = price_of(row, prices)
        if price is None or tokens[0] is None or tokens[1] is None:
            return None
        total += price.input_per_million * tokens[0] + price.output_per_million * tokens[1]
    return float(total / PER)
