"""Who answers a child: code of ours, the recording, or a model, if it may; and what fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, get_args

from msgspec.structs import replace

from preflights_es.history.recompute import WHAT_IF, Reasking
from preflights_es.history.recording import Recording
from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import LLMAPIError, LLMRateLimitError, LLMTimeoutError
from preflights_es.kernel.ports import Provider
from preflights_es.kernel.simulation import Draws
from preflights_es.providers.faults import HINTS_MS, damaged
from preflights_es.providers.recorded import RecordedProvider, Unanswered, Unrecorded

FailureKind = Literal["timeout", "error", "rate_limit", "malformed"]
KINDS: Final[tuple[FailureKind, ...]] = get_args(FailureKind)

Models = Callable[[CompletionRequested], Provider]
"""The paid provider that a request names."""

_ATTEMPT = re.compile(r"(?P<step>.+)\.[1-9][0-9]*")


class Answering:
    """Code of ours where it leads; else what was recorded for the same request; else a model."""

    def __init__(
        self, recording: Recording, kept: int, reasking: Reasking, models: Models | None, most: int
    ) -> None:
        """Args:
        kept: events that the child has already; what was said there is not said again.
        most: calls of a model that were announced.
        """
        self.needed: CompletionRequested | None = None
        """What only a model could answer, where none may be asked."""
        self.asked = 0
        """Calls of a model so far."""
        outcomes = (CompletionReceived, CompletionFailed)
        later = (
            event
            for version, event in enumerate(recording.events, 1)
            if version > kept or not isinstance(event, outcomes)
        )
        self._recorded = RecordedProvider(later, by_call=False)
        self._workflow = recording.workflow
        self._reasking = reasking
        self._models = models
        self._most = most

    async def respond(self, request: CompletionRequested) -> Completion:
        """One response.

        Raises:
            LLMError: as the provider that answers.
            Unanswered: no provider may answer.
        """
        if self._reasking.generation(request, self._workflow) is not None:
            return await self._reasking.provider(request).respond(request)
        try:
            return await self._recorded.respond(request)
        except Unrecorded:
            if self._models is None:
                self.needed = request
                raise
        if self.asked >= self._most:
            raise Unanswered(request, f"{self._most} calls were announced, and have been made")
        self.asked += 1
        return await self._models(request).respond(request)


class Failing:
    """A provider whose calls fail where the user asked for it."""

    def __init__(self, provider: Provider, faults: Sequence[tuple[str, FailureKind]]) -> None:
        """Args:
        faults: pairs of a step, or one of its calls, and what goes wrong: of a step the first.
        """
        self.met: set[str] = set()
        """Of the faults, those that came up."""
        self._provider = provider
        self._faults = dict(faults)

    async def respond(self, request: CompletionRequested) -> Completion:
        """What the provider answers, unless this call is to fail.

        Raises:
            LLMError: it is to fail, or as the provider.
        """
        named = (request.call, step_of(request.call) if request.attempt == 1 else "")
        found = next((name for name in named if name in self._faults), None)
        if found is None:
            return await self._provider.respond(request)
        self.met.add(found)
        match self._faults[found]:
            case "timeout":
                raise LLMTimeoutError(f"{WHAT_IF}: no response within the time allowed")
            case "error":
                raise LLMAPIError(f"{WHAT_IF}: the provider's API failed")
            case "rate_limit":
                message = f"{WHAT_IF}: too many requests"
                raise LLMRateLimitError(message, retry_after_ms=HINTS_MS[-1])
            case "malformed":
                got = await self._provider.respond(request)
                draws = Draws.of("what if", request.call)
                text = None if got.text is None else damaged(got.text, draws)
                return replace(got, text=text, request_id=WHAT_IF)


def step_of(call: str) -> str:
    """`clarify-1` for `clarify-1.2`; a call without an attempt is its own step."""
    found = _ATTEMPT.fullmatch(call)
    return found["step"] if found else call
