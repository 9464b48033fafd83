"""GPT by OpenAI's Chat Completions or Responses API, and every server that imitates them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import LLMRefusedError, LLMTruncatedError
from preflights_es.providers import http_body
from preflights_es.providers.capabilities import BASE_URLS, arguments
from preflights_es.providers.http_body import Answer
from preflights_es.providers.remote import Call, RemoteProvider

FILTERED: Final = "content_filter"
CUT_OFF: Final = "length"


class _Said(msgspec.Struct):
    """A message, or a part of one."""

    content: Any = None
    """Text, or parts of it."""
    refusal: Any = None


class _Choice(msgspec.Struct):
    message: _Said
    finish_reason: Any = None


class _Chat(msgspec.Struct):
    """What is read of a chat completion; the rest may change."""

    choices: list[_Choice]
    id: Any = None
    model: Any = None
    usage: Any = None


class _Item(msgspec.Struct):
    type: Any = None
    content: Any = None


class _Response(msgspec.Struct):
    """What is read of a response; the rest may change."""

    output: list[_Item]
    id: Any = None
    model: Any = None
    status: Any = None
    incomplete_details: Any = None
    usage: Any = None


class OpenAIProvider(RemoteProvider):
    """GPT; with another address and key OpenRouter, Ollama, vLLM, LM Studio and their like."""

    name = "openai"

    def arguments(self, request: CompletionRequested) -> dict[str, Any]:
        """The conversation as it is, and the parameters that the request names."""
        said = [{"role": m.role, "content": m.content} for m in request.messages]
        return {
            "model": request.model or self.model,
            "input" if self.api == "responses" else "messages": said,
            **arguments(self.api, request.parameters),
            **self._format(request),
        }

    def _format(self, request: CompletionRequested) -> dict[str, Any]:
        """The schema of the response, where the request holds one."""
        if not request.output:
            return {}
        name = request.contract.replace(".", "_")
        schema = msgspec.json.decode(request.output)
        held = {"name": name, "schema": schema, "strict": True}
        if self.api == "responses":
            return {"text": {"format": {"type": "json_schema", **held}}}
        return {"response_format": {"type": "json_schema", "json_schema": held}}

    def sdk(self) -> tuple[Any, type[Exception]]:
        import openai

        return openai, openai.OpenAIError

    def client(self, **options: Any) -> Any:
        import openai

        made = openai.AsyncOpenAI(**options)
        if self.base_url != BASE_URLS["openai"]:
            # The SDK reads them from the environment; another server must not get them.
            made.organization = made.project = None
        return made

    def endpoint(self, client: Any) -> Call:
        resource = client.responses if self.api == "responses" else client.chat.completions
        create: Call = resource.with_raw_response.create
        return create

    def read(self, answer: Answer) -> Completion:
        return self._response(answer) if self.api == "responses" else self._chat(answer)

    def _chat(self, answer: Answer) -> Completion:
        """The text of the first choice."""
        chat, valid = self.body(answer, _Chat)
        if not chat.choices:
            raise self.failure("the response has no choices")
        choice = chat.choices[0]
        usage = http_body.fields(chat.usage)
        text, refusal = _texts([choice.message])
        found = self.completion(
            answer,
            text or "",
            valid=valid,
            model=chat.model,
            stop_reason=choice.finish_reason,
            request_id=chat.id,
            input_tokens=usage.get("prompt_tokens"),
            output_tokens=usage.get("completion_tokens"),
        )
        if refusal or choice.finish_reason == FILTERED:
            raise self.unfinished(LLMRefusedError, refusal or text or "", found)
        if choice.finish_reason == CUT_OFF:
            raise self.unfinished(LLMTruncatedError, text or "", found)
        return self._with_text(found, text)

    def _response(self, answer: Answer) -> Completion:
        """The text of every message, without the model's reasoning."""
        response, valid = self.body(answer, _Response)
        usage = http_body.fields(response.usage)
        why = http_body.fields(response.incomplete_details).get("reason")
        messages = [_Said(item.content) for item in response.output if item.type == "message"]
        text, refusal = _texts(messages)
        found = self.completion(
            answer,
            text or "",
            valid=valid,
            model=response.model,
            stop_reason=why or response.status,
            request_id=response.id,
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
        )
        if refusal or why == FILTERED:
            raise self.unfinished(LLMRefusedError, refusal or text or "", found)
        if response.status == "incomplete":
            raise self.unfinished(LLMTruncatedError, text or "", found)
        if response.status not in ("completed", None):
            raise self.failure(f"the response is {found.stop_reason!r}, not completed")
        return self._with_text(found, text)

    def _with_text(self, found: Completion, text: str | None) -> Completion:
        if text is None:
            raise self.failure(f"the response holds no text (it stopped for {found.stop_reason!r})")
        return found


def _texts(said: list[_Said]) -> tuple[str | None, str]:
    """The written text or None, and the refusal in its place."""
    texts: list[str] = []
    refusals: list[str] = []
    for one in said:
        whole = {"text": one.content, "refusal": one.refusal}
        parts = one.content if isinstance(one.content, list) else []
        for part in (whole, *map(http_body.fields, parts)):
            texts += [t for t in (part.get("text"),) if isinstance(t, str)]
            refusals += [t for t in (part.get("refusal"),) if isinstance(t, str)]
    return ("".join(texts) if texts else None), "".join(refusals)
