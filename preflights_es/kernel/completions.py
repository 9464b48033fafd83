"""A provider call is two events: the request, whole, and what came of it."""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import UNSET, UnsetType

from preflights_es.kernel.events import Count, Event, Outcome, Request, Value, Whole


class Message(Value, frozen=True):
    """One turn of the conversation that is sent."""

    role: Literal["system", "user", "assistant"]
    content: str


class CompletionRequested(Request, frozen=True):
    """Everything that is sent to a provider; durable before the call is made."""

    tag: ClassVar[str] = "completion.requested.v1"
    provider: str
    model: str
    messages: tuple[Message, ...]
    parameters: tuple[tuple[str, str], ...] = ()
    """Pairs of name and value as sent; only what the provider's API takes."""
    contract: str = ""
    """`name.vN` of what the response must meet; empty for free text."""
    prompts: tuple[tuple[str, str], ...] = ()
    """Pairs of a prompt file's `name.vN` and the SHA-256 of its bytes, in hexadecimal."""
    attempt: Whole = 1
    """1 for the first try of a step; a retry counts on."""
    wait_ms: Whole = 0
    """Milliseconds that the performer waits before the call; a replay does not wait."""
    output: str | UnsetType = UNSET
    """The JSON Schema that the provider holds its response to; not written where it gets none. Our
    own judging stays the same."""


class CompletionReceived(Outcome, frozen=True):
    """The response, without its keys, tokens and e-mail addresses."""

    tag: ClassVar[str] = "completion.received.v1"
    answers: ClassVar[type[Request]] = CompletionRequested
    text: str | None
    """None when the bytes were not valid UTF-8: then `text_base64` holds them."""
    text_base64: str | None = None
    model: str = ""
    """As the provider reports it."""
    stop_reason: str = ""
    request_id: str = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    latency_ms: Whole | None = None


class CompletionFailed(Outcome, frozen=True):
    """No usable response came."""

    tag: ClassVar[str] = "completion.failed.v1"
    answers: ClassVar[type[Request]] = CompletionRequested
    kind: str
    """`timeout`, `rate_limit`, `api_error`, or another kind of `core.errors.LLMError`."""
    message: str
    retry_after_ms: Whole | None = None
    latency_ms: Whole | None = None
    received: str = ""
    """What came of a response that was cut off or refused, as far as the provider keeps it."""
    model: str = ""
    """This and the next four as in `CompletionReceived`, where there was a response."""
    stop_reason: str = ""
    request_id: str = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None


class Completion(Value, frozen=True):
    """What a provider hands back for one request."""

    text: str | None
    text_base64: str | None = None
    model: str = ""
    stop_reason: str = ""
    request_id: str = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None


COMPLETION_EVENTS: tuple[type[Event], ...] = (
    CompletionRequested,
    CompletionReceived,
    CompletionFailed,
)
