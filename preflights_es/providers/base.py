"""What every provider can do, once it can answer one request."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.kernel.errors import LLMAPIError, LLMRequestRejectedError

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
        return decode_completion_text(
            await self.answered(self.asked([_convert_to_message(said) for said in messages]))
        )

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
            found = type(given).__name__
            raise ValueError(f"the prompt is of the type {found}: expected text")
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
        message = f"found a message {said!r}, expected role and content: {error}"
        raise ValueError(message) from error
