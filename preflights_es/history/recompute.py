"""Providers that are code of ours are asked again: what they answer is computed, like the rest."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, NamedTuple, TypeVar

from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import LLMError, LLMLostError
from preflights_es.kernel.events import Event, Outcome
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.ports import Provider
from preflights_es.kernel.session import Workflow
from preflights_es.redaction import redact, response_redacted

T = TypeVar("T")

WHAT_IF: Final = "what if"
"""Begins the message of a failure, and is the request id of a response, that `--fault` made."""
CACHED: Final = 256  # providers that are kept; sessions of one batch share most of them


class Code(NamedTuple):
    """The providers that are code of ours, as the composition root knows them."""

    generation: Callable[[CompletionRequested, Workflow[Any]], str | None]
    """The model by which a request is answered today; None where that is no code of ours."""
    made: Callable[[Lead], Provider]


class Reasking:
    """Asks them, and keeps them from one session to the next."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._made: dict[tuple[str, tuple[tuple[str, str], ...], str | None], Provider] = {}

    def generation(self, request: CompletionRequested, workflow: Workflow[Any]) -> str | None:
        """The model by which it is answered today; None where that is no code of ours."""
        return self._code.generation(request, workflow)

    def again(
        self, request: CompletionRequested, recorded: CompletionReceived | CompletionFailed
    ) -> Outcome:
        """What would be recorded now; time and latency are the recording's."""
        try:
            got = driven(self.provider(request).respond(request))
        except LLMError as error:
            return CompletionFailed(
                at=recorded.at,
                actor=recorded.actor,
                call=recorded.call,
                kind=error.kind,
                message=_kept(str(error), recorded, lambda text: redact(text).text),
                retry_after_ms=error.retry_after_ms,
                latency_ms=recorded.latency_ms,
            )
        return CompletionReceived(
            at=recorded.at,
            actor=recorded.actor,
            call=recorded.call,
            text=None if got.text is None else _kept(got.text, recorded, response_redacted),
            text_base64=got.text_base64,
            model=got.model,
            stop_reason=got.stop_reason,
            request_id=got.request_id,
            input_tokens=got.input_tokens,
            output_tokens=got.output_tokens,
            latency_ms=recorded.latency_ms,
        )

    def provider(self, request: CompletionRequested) -> Provider:
        """The provider of the request, made once a contract: it knows the workflows met so far."""
        key = (request.provider, request.parameters, request.contract)
        if key not in self._made:
            if len(self._made) >= CACHED:
                self._made.clear()
            self._made[key] = self._code.made(Lead(request.provider, request.model, key[1]))
        return self._made[key]


def _kept(
    text: str, recorded: CompletionReceived | CompletionFailed, redacted: Callable[[str], str]
) -> str:
    return text if text in said((recorded,)) else redacted(text)


def said(events: Iterable[Event]) -> frozenset[str]:
    """What providers said, as it is recorded: it may be older than today's redaction."""
    found: set[str | None] = set()
    for event in events:
        if isinstance(event, CompletionReceived):
            found |= {event.text, event.model, event.stop_reason, event.request_id}
        elif isinstance(event, CompletionFailed):
            found |= {event.message, event.received}
            found |= {event.model, event.stop_reason, event.request_id}
    return frozenset(text for text in found if text)


def is_provider_s(outcome: CompletionReceived | CompletionFailed) -> bool:
    """Whether a provider said it: not that a call was lost, nor what a what-if made of it."""
    if isinstance(outcome, CompletionReceived):
        return outcome.request_id != WHAT_IF
    return outcome.kind != LLMLostError.kind and not outcome.message.startswith(f"{WHAT_IF}:")


def driven(asking: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits; an event loop would cost more than it."""
    try:
        asking.send(None)
    except StopIteration as done:
        found: T = done.value
        return found
    asking.close()
    message = "a provider of this program waited, which it must not"
    raise AssertionError(message)
