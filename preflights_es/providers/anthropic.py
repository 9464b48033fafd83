"""Claude, by Anthropic's Messages API."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.kernel.errors import LLMRefusedError, LLMTruncatedError
from preflights_es.providers import http_body
from preflights_es.providers.capabilities import arguments
from preflights_es.providers.http_body import Answer
from preflights_es.providers.remote import Call, RemoteProvider

CUT_OFF: Final = ("max_tokens", "model_context_window_exceeded", "pause_turn")
"""Reasons to stop before the end; a turn is paused when a server's tool takes long."""

EMPTY: Final = "(empty response)"
"""Sent in place of a reply of white space only, which the API does not take back."""


class _Block(msgspec.Struct):
    type: str
    text: str = ""


class _Message(msgspec.Struct):
    """What is read of a response; the rest may change."""

    content: list[_Block]
    id: Any = None
    model: Any = None
    stop_reason: Any = None
    usage: Any = None


class AnthropicProvider(RemoteProvider):
    """Claude; a key, and nothing else, is needed."""

    name = "anthropic"

    def arguments(self, request: CompletionRequested) -> dict[str, Any]:
        """System messages go where the API wants them; `max_tokens` is required."""
        said = [m for m in request.messages if m.role != "system"]
        system = "\n\n".join(m.content for m in request.messages if m.role == "system")
        return {
            "model": request.model or self.model,
            "messages": [{"role": m.role, "content": _sent(m)} for m in said],
            **({"system": system} if system else {}),
            "max_tokens": self.max_tokens,
            **arguments("messages", request.parameters),
            **_format(request),
        }

    def sdk(self) -> tuple[Any, type[Exception]]:
        import anthropic

        return anthropic, anthropic.AnthropicError

    def client(self, **options: Any) -> Any:
        import anthropic

        return anthropic.AsyncAnthropic(**options)

    def endpoint(self, client: Any) -> Call:
        create: Call = client.messages.with_raw_response.create
        return create

    def read(self, answer: Answer) -> Completion:
        """The text of a message, without what the model thought before it."""
        message, valid = self.body(answer, _Message)
        text = "".join(block.text for block in message.content if block.type == "text")
        usage = http_body.fields(message.usage)
        found = self.completion(
            answer,
            text,
            valid=valid,
            model=message.model,
            stop_reason=message.stop_reason,
            request_id=message.id,
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
        )
        if message.stop_reason == "refusal":
            raise self.unfinished(LLMRefusedError, text, found)
        if message.stop_reason in CUT_OFF:
            raise self.unfinished(LLMTruncatedError, text, found)
        return found


def _format(request: CompletionRequested) -> dict[str, Any]:
    """The schema of the response, where the request holds one."""
    if not request.output:
        return {}
    schema = msgspec.json.decode(request.output)
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def _sent(message: Message) -> str:
    """What the API is told; the log keeps what was said."""
    is_blank = message.role == "assistant" and not message.content.strip()
    return EMPTY if is_blank else message.content
