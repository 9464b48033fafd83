"""What every provider can do once it can answer one request, and the providers that ask no model:
recorded responses, the rules, and a text that the caller wrote.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.kernel.completions import (
    Completion,
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    get_call_facts,
)
from preflights_es.kernel.errors import (
    LLMAPIError,
    LLMEmptyError,
    LLMError,
    LLMLostError,
    LLMRequestRejectedError,
    LLMUnfinishedError,
    ReportedCall,
)
from preflights_es.kernel.events import Event
from preflights_es.kernel.json import canonical_json
from preflights_es.words.simulation import References

if TYPE_CHECKING:
    from preflights_es.judging.contract import Contract


DIRECT: Final = "direct"
"""Names a call that belongs to no session."""

JUDGED_AS: Final = "complete_json"
"""Names the contract of a value that belongs to no session."""

CLASSES_MAX: Final = 64  # pydantic classes whose schema is kept

Said = Message | Mapping[str, str]
"""A message, or a mapping with the keys `role` and `content`."""


class LLMProvider(ABC):
    """Text in, text out (seed 1).

    Only `respond` is to be written; it is the port that the runner uses, and raises nothing but
    `LLMError` for whatever the provider does. The other methods are for callers without a log.
    """

    name: str
    """As in `--provider`."""
    model: str = ""
    """The one that is asked where a caller names none."""
    failed_at: str = ""
    """The host of the last call that failed; no error names it, since errors are recorded."""

    @abstractmethod
    async def respond(self, request: CompletionRequested) -> Completion:
        """One response to one request.

        Raises:
            LLMError: no usable response.
        """

    async def complete(self, prompt: str) -> str:
        """The response to a prompt, verbatim.

        Raises:
            LLMError: no usable response.
            ValueError: the prompt is empty.
        """
        return decode_completion_text(await self.answered(self.asked([Message("user", prompt)])))

    async def chat(self, messages: Iterable[Said]) -> str:
        """The response to a conversation, verbatim; what was given is copied.

        Raises:
            LLMError: no usable response.
            ValueError: there are no messages, or one has an unknown role.
        """
        request = self.asked([*map(_convert_to_message, messages)])
        return decode_completion_text(await self.answered(request))

    async def answered(self, request: CompletionRequested) -> Completion:
        """As `respond`, for a request outside of a log: again without what the server refuses."""
        while True:
            try:
                return await self.respond(request)
            except LLMRequestRejectedError as error:
                kept = tuple(one for one in request.parameters if one[0] not in error.untaken)
                if kept == request.parameters:
                    raise
            request = msgspec.structs.replace(request, parameters=kept)

    async def complete_json(self, prompt: str, schema: object) -> Any:
        """The value of a response that is JSON and nothing else, checked against a schema.

        What the model thought before it, between tags such as `<think>`, is dropped.

        Args:
            schema: a JSON Schema, a pydantic class, or the type `dict` or `list`.

        Raises:
            InvalidJSONError: it is not JSON (also a `ValueError`).
            SchemaViolationError: it does not meet the schema.
            LLMError: no usable response, or there is more than the value in it.
            ValueError: the prompt is empty, or the schema is invalid.
        """
        contract = contract_for(schema)
        return judge_response_value(await self.complete(prompt), contract)

    def asked(self, messages: Iterable[Message], attempt: int = 1) -> CompletionRequested:
        """The request for a conversation that belongs to no session.

        Raises:
            ValueError: nothing is said.
        """
        return CompletionRequested(
            call=DIRECT,
            provider=self.name,
            model=self.model,
            messages=require_spoken_messages(messages),
            attempt=attempt,
        )

    async def aclose(self) -> None:  # noqa: B027  most share nothing
        """Give back what calls share; nothing where they share nothing."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def require_spoken_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """A conversation in which something is said.

    Raises:
        ValueError: nothing is.
    """
    said = tuple(messages)
    for message in said:
        given: object = message.content
        if not isinstance(given, str):
            raise ValueError(f"the prompt is of the type {type(given).__name__}: expected text")
    for message in said:
        if message.content:
            return said
    raise ValueError("the prompt is empty: expected at least one character")


def decode_completion_text(completion: Completion) -> str:
    """The response as text.

    Raises:
        LLMAPIError: it is not valid UTF-8.
    """
    if completion.text is not None:
        return completion.text
    raw = base64.b64decode(completion.text_base64 or "")
    raise LLMAPIError(f"the response is not valid UTF-8: it begins with {raw[:40]!r}")


def contract_for(schema: object) -> Contract:
    """What `complete_json` judges by: syntax and schema, nothing else.

    Raises:
        ValueError: it is no schema.
    """
    from preflights_es.judging.contract import Contract

    if schema is dict or schema is list:
        schema = {"type": "object" if schema is dict else "array"}
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        return _contract_of(schema)
    if not isinstance(schema, (dict, bool)):
        message = f"found {schema!r}, expected a JSON Schema, a pydantic class, dict or list"
        raise ValueError(message)
    contract = Contract(name=JUDGED_AS, version=1, schema=schema, failure=False, code=False)
    shape = contract.shape  # compiled here: an invalid schema costs no call
    assert shape is not None, "compiled"
    return contract


def judge_response_value(text: str, contract: Contract) -> Any:
    """The value of a response.

    Raises:
        LLMOutputError: the contract rejects it.
    """
    from preflights_es.judging.contract import Rejected, error_of, judge

    verdict = judge(text, contract)
    if isinstance(verdict, Rejected):
        raise error_of(verdict)
    return verdict.payload


@lru_cache(CLASSES_MAX)
def _contract_of(model: type[Any]) -> Contract:
    from preflights_es.judging.contract import Contract

    return Contract(name=JUDGED_AS, version=1, model=model, failure=False, code=False)


def _convert_to_message(said: Said) -> Message:
    if isinstance(said, Message):
        return said
    try:
        return msgspec.convert(said, Message)
    except msgspec.ValidationError as error:
        raise ValueError(f"found a message {said!r}, expected role and content: {error}") from error


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
        alike = self._same[digest_request(request)]
        same = [pair for pair in alike if pair.request.call not in self._served]
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
        return Completion(outcome.text, outcome.text_base64, **get_call_facts(outcome))
    raise error_of_failed_call(outcome)


def error_of_failed_call(failed: CompletionFailed) -> LLMError:
    """The error that a recorded failure was; its kind stays even where no class has it."""
    cls = _classes().get(failed.kind, LLMError)
    if cls is LLMAPIError and failed.model:
        cls = LLMEmptyError
    if issubclass(cls, LLMUnfinishedError):
        error: LLMError = cls(failed.message, received=failed.received)
    else:
        error = cls(failed.message)
    if isinstance(error, ReportedCall):
        vars(error).update(get_call_facts(failed))
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
            more = f"only {expected}: choose another provider"
            raise LLMAPIError(f"no rules answer the contract {request.contract!r}, {more}")
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
