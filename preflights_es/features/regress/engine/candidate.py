"""A recorded session run again with a change: it hears what was recorded.

A question that the recording does not answer is answered with what the person accepted for it,
where the log says that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from preflights_es.features.regress.engine.change import Change, changed
from preflights_es.history.child import Child
from preflights_es.history.recording import Models, Reasking, Recording, Turn
from preflights_es.history.whatif import keys_of
from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionRequested,
)
from preflights_es.kernel.errors import LLMLostError
from preflights_es.kernel.events import Actor, Event, Input, Outcome
from preflights_es.kernel.lead import WRITERS
from preflights_es.kernel.questions import Answers, Given, Reached
from preflights_es.kernel.session import Session
from preflights_es.providers.recorded import RecordedProvider, Unanswered, Unrecorded
from preflights_es.runtime.performer import open_completion

NO_MORE: Final = "no more calls of models may be made"

ASSUMED: Final = Actor("script", "what was accepted")
"""Gives a child the answers that the recorded session has none of."""


class Playing:
    """One play of a child."""

    def __init__(self, child: Child, change: Change, label: Reached) -> None:
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
        return changed(turn.input, self._change, self.child.recording.workflow)

    async def _answer_what_is_asked(self, version: int) -> None:
        """Each key once more as it was recorded, once as it was accepted; none that comes yet."""
        while (new := self._answer(version)) is not None:
            self.child.submit(None, new)
            await self.child.settle()

    def _answer(self, version: int) -> Answers | None:
        child, answers = self.child, self.child.recording.workflow.answers
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
                given = (Given(key, (self._accepted.pop(key),)),)
                return answers(at=child.now, actor=ASSUMED, answers=given)
        return None


class Budget:
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
        budget: Budget | None = None,
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
        self._recording = recording
        self._reasking = reasking
        self._models = models
        self._budget = budget or Budget(0)
        self._by_call = by_call
        self._anew = anew
        self._recorded: RecordedProvider | None = None
        self._lost = {event.call: event.message for event in _lost(recording.events)}

    async def respond(self, request: CompletionRequested) -> Completion:
        """One response.

        Raises:
            LLMError: as the provider that answers; a call that was lost is lost again.
            Unanswered: no provider may answer.
        """
        if request.call in self._lost:
            raise LLMLostError(self._lost[request.call])
        if self._reasking.generation(request, self._recording.workflow) is not None:
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
        return await self._models(request).respond(request)

    def _heard(self) -> RecordedProvider:
        if self._recorded is None:
            self._recorded = RecordedProvider(self._recording.events, by_call=self._by_call)
        return self._recorded


def _lost(events: tuple[Event, ...]) -> Iterator[CompletionFailed]:
    for event in events:
        if isinstance(event, CompletionFailed) and event.kind == LLMLostError.kind:
            yield event
