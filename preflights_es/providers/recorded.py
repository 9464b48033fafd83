"""Providers that ask no model: recorded responses, the rules, and a text that the caller wrote.

For drift and what-if, a request has the response of a recorded one that is the same: by digest of
all that was sent, and by occurrence where the same was sent again (a retry after a timeout). Else,
if it may, that of the call with the same number. No response serves twice, and no other provider is
ever asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import (
    LLMAPIError,
    LLMError,
    LLMLostError,
    LLMRequestRejectedError,
    LLMUnfinishedError,
)
from preflights_es.kernel.events import Event
from preflights_es.kernel.json import canonical_json
from preflights_es.providers.base import LLMProvider
from preflights_es.words.simulation import References

NAME: Final = "recorded"


class Unanswered(Exception):
    """No provider may answer a request; no provider raises it, so it is not an `LLMError`."""

    def __init__(self, request: CompletionRequested, why: str) -> None:
        super().__init__(f"the call {request.call!r}: {why}")
        self.request = request


class Unrecorded(Unanswered):
    """No response is recorded for a request."""

    def __init__(self, request: CompletionRequested) -> None:
        super().__init__(request, "no response is recorded for it")


class Pair(msgspec.Struct, frozen=True):
    """A recorded request and what came of it."""

    request: CompletionRequested
    outcome: CompletionReceived | CompletionFailed


class RequestMatch(msgspec.Struct, frozen=True):
    """A request and the recorded one whose response it had."""

    asked: CompletionRequested
    recorded: CompletionRequested
    exact: bool
    """By digest and occurrence; else by call number."""


class RecordedProvider(LLMProvider):
    """Serves the responses of one session, and of no other."""

    name = NAME

    def __init__(self, events: Iterable[Event], *, by_call: bool = True) -> None:
        """Args:
        by_call: whether a request that was never sent may have the response of its call's number.
        """
        self.matches: list[RequestMatch] = []
        """So far, in the order of the requests."""
        self._by_call = by_call
        self._same: dict[bytes, list[Pair]] = defaultdict(list)
        self._calls: dict[str, Pair] = {}
        self._served: set[str] = set()
        for pair in pair_requests_with_outcomes(events):
            self._same[digest_request(pair.request)].append(pair)
            self._calls[pair.request.call] = pair

    async def respond(self, request: CompletionRequested) -> Completion:
        """What was recorded.

        Raises:
            LLMError: what was recorded is a failure; the same kind, words and hint.
            Unrecorded: there is no response for this request.
        """
        return served(self.taken(request).outcome)

    def taken(self, request: CompletionRequested) -> Pair:
        """The recorded call that answers a request; not to be had again.

        Raises:
            Unrecorded: there is none.
        """
        same = [
            p for p in self._same[digest_request(request)] if p.request.call not in self._served
        ]
        pair = same[0] if same else self._calls.get(request.call) if self._by_call else None
        if pair is None or pair.request.call in self._served:
            raise Unrecorded(request)
        self._served.add(pair.request.call)
        self.matches.append(RequestMatch(request, pair.request, bool(same)))
        return pair


def pair_requests_with_outcomes(events: Iterable[Event]) -> list[Pair]:
    """Each request with its first outcome, in the order of the requests; others came too late."""
    requests: dict[str, CompletionRequested] = {}
    outcomes: dict[str, CompletionReceived | CompletionFailed] = {}
    for event in events:
        if isinstance(event, CompletionRequested):
            requests[event.call] = event
        elif isinstance(event, (CompletionReceived, CompletionFailed)) and event.call in requests:
            outcomes.setdefault(event.call, event)
    return [Pair(r, outcomes[call]) for call, r in requests.items() if call in outcomes]


def digest_request(request: CompletionRequested) -> bytes:
    """Of all that is sent; not of the call's number, the attempt, nor how long it waits."""
    return sha256(
        canonical_json(replace(request, call="", attempt=1, wait_ms=0, without=UNSET))
    ).digest()


def served(outcome: CompletionReceived | CompletionFailed) -> Completion:
    """A recorded outcome as its provider gave it.

    Raises:
        LLMError: it is a failure.
    """
    if isinstance(outcome, CompletionReceived):
        return Completion(
            text=outcome.text,
            text_base64=outcome.text_base64,
            model=outcome.model,
            stop_reason=outcome.stop_reason,
            request_id=outcome.request_id,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
        )
    raise error_of_failed_call(outcome)


def error_of_failed_call(failed: CompletionFailed) -> LLMError:
    """The error that a recorded failure was; its kind stays even where no class has it."""
    cls = _classes().get(failed.kind, LLMError)
    if issubclass(cls, LLMUnfinishedError):
        error: LLMError = cls(
            failed.message,
            received=failed.received,
            stop_reason=failed.stop_reason,
            model=failed.model,
            request_id=failed.request_id,
            input_tokens=failed.input_tokens,
            output_tokens=failed.output_tokens,
        )
    else:
        error = cls(failed.message)
    if failed.untaken and isinstance(error, LLMRequestRejectedError):
        error.untaken = failed.untaken
    error.retry_after_ms = failed.retry_after_ms
    error.kind = failed.kind
    return error


def _classes() -> dict[str, type[LLMError]]:
    """Every kind of failure, by the name it has in the log."""
    found: dict[str, type[LLMError]] = {}
    left: list[type[LLMError]] = [LLMError]
    while left:
        cls = left.pop()
        found.setdefault(cls.kind, cls)
        left += cls.__subclasses__()
    return found


class ReferenceProvider(LLMProvider):
    """Answers by rules: the same request, the same response, without a seed."""

    name = "mock"

    def __init__(self, references: References) -> None:
        """Args:
        references: by the contract's name, without its version.
        """
        self._references = references

    async def respond(self, request: CompletionRequested) -> Completion:
        """What the rules of the request's contract answer.

        Raises:
            LLMAPIError: there are no rules for it.
        """
        name = request.contract.rpartition(".v")[0]
        if name not in self._references:
            expected = ", ".join(sorted(self._references))
            raise LLMAPIError(
                f"no rules answer the contract {request.contract!r}, only {expected}: "
                "choose another provider"
            )
        text = self._references[name](request)
        return Completion(text=text, model=request.model, stop_reason="end_turn")


class GivenProvider(LLMProvider):
    """Answers with the text that the actor of a command wrote, in the process that was told it."""

    def __init__(self, name: str, text: str) -> None:
        """Args:
        name: `agent` or `person`.
        text: empty in a process that was not told it.
        """
        self.name = name
        self._text = text

    async def respond(self, request: CompletionRequested) -> Completion:
        """The text.

        Raises:
            LLMLostError: the process that was told it ended before it was recorded.
        """
        if not self._text:
            raise LLMLostError("the command that brought the response ended before it was recorded")
        return Completion(
            text=self._text,
            model=request.model,
            stop_reason="end_turn",
            input_tokens=0,  # nothing was sent, and nothing is paid
            output_tokens=0,
        )
