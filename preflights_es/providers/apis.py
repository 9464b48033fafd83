"""The APIs of Anthropic and OpenAI, and the way from settings to a provider that asks them.

Errors here name all that is missing. The simulator and the reference need what `use` alone can hand
them, and are made there.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final

import msgspec

from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.kernel.errors import ProviderMissing, SettingsError
from preflights_es.kernel.text import Secret
from preflights_es.providers import http_body
from preflights_es.providers.capabilities import (
    ALIASES,
    BASE_URLS,
    DEFAULT_MODELS,
    KEY_VARIABLES,
    REAL,
    ProviderSettings,
    arguments,
    checked_url,
    is_local,
)
from preflights_es.providers.http_body import HttpAnswer
from preflights_es.providers.remote import NO_KEY, Call, RemoteProvider

# 1. From settings to a provider -----------------------------------------------------------------

_SDKS: Final = {"anthropic": "anthropic", "openai": "openai", "openrouter": "openai"}


def build_chosen_provider(
    settings: ProviderSettings, redact: Callable[[str], str]
) -> RemoteProvider:
    """The provider that the settings choose, ready to be asked; see `provider`.

    Raises:
        SettingsError: something that it needs is missing.
    """
    asked = {name: getattr(settings, name) for name in ProviderSettings.__struct_fields__}
    made = provider(asked.pop("provider"), redact=redact, **asked)
    check_importable(made)
    return made


def provider(
    name: str,
    *,
    model: str = "",
    keys: Mapping[str, Secret] | None = None,
    base_url: str = "",
    **asked: Any,
) -> RemoteProvider:
    """A remote provider; its SDK is not imported and no request is made yet.

    Args:
        keys: by the provider's name.
        asked: as for `RemoteProvider`.

    Raises:
        SettingsError: the provider is not known, or its key or its package is missing.
    """
    name = ALIASES.get(name, name)
    if name not in REAL:
        raise SettingsError(f"provider: found {name!r}, expected {', '.join(REAL)}")
    check_installed(name, _SDKS[name])
    try:
        url = checked_url(name, base_url)
    except ValueError as error:
        raise SettingsError(f"base_url: {error}") from error
    kind = AnthropicProvider if name == "anthropic" else OpenAIProvider
    key = _require_provider_key(name, (keys or {}).get(name), url)
    return kind(key, name=name, model=model or DEFAULT_MODELS[name], base_url=url, **asked)


def check_installed(name: str, package: str) -> None:
    """Look for a provider's package, without the second that importing it takes.

    Raises:
        ProviderMissing: it is not installed.
    """
    if find_spec(package) is None:
        more = f"which is not installed: `pip install {package}`"
        raise ProviderMissing(f"the provider {name} needs the package {package!r}, {more}")


def check_importable(asked: RemoteProvider) -> None:
    """Import all that the first request needs, before anything is recorded for it.

    Raises:
        ProviderMissing: the provider's package, or a proxy, lacks one of its own.
    """
    try:
        module, _ = asked.sdk()
        # Without proxies and certificates: this client is never asked.
        without = http_body.transport(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        http = module.DefaultAsyncHttpxClient(transport=without)
        asked.endpoint(asked.client(api_key=NO_KEY, base_url=asked.base_url, http_client=http))
    except ImportError as error:
        package = _SDKS[asked.name]
        raise ProviderMissing(
            f"the provider {asked.name} needs the package {package!r}, which cannot be imported "
            f"({type(error).__name__}: {error}): `pip install --upgrade {package}`"
        ) from error
    if not is_local(asked.base_url) and (problem := http_body.problem_of_proxy()):
        raise ProviderMissing(f"the provider {asked.name} cannot be asked: {problem}")


def _require_provider_key(name: str, key: Secret | None, url: str) -> Secret:
    """The key; a server of one's own may want none.

    Raises:
        ProviderMissing: it is missing.
    """
    if not key and url == BASE_URLS[name]:
        variables = " or ".join(KEY_VARIABLES[name])
        raise ProviderMissing(f"the provider {name} needs a key: set {variables}")
    return key or Secret("")


# 2. Claude, by Anthropic's Messages API ---------------------------------------------------------

EMPTY: Final = "(empty response)"
"""Sent in place of a reply of white space only, which the API does not take back."""


class _AnthropicBlock(msgspec.Struct):
    type: str
    text: str = ""


class _AnthropicMessage(msgspec.Struct):
    """What is read of a response; the rest may change."""

    content: list[_AnthropicBlock]
    id: Any = None
    model: Any = None
    stop_reason: Any = None
    usage: Any = None


class AnthropicProvider(RemoteProvider):
    """Claude; a key, and nothing else, is needed."""

    name = "anthropic"
    optional = ()  # the API wants a limit of tokens, and takes nothing else
    path = "/v1/messages"

    def arguments(self, request: CompletionRequested) -> dict[str, Any]:
        """System messages go where the API wants them; `max_tokens` is required."""
        said = [m for m in request.messages if m.role != "system"]
        system = "\n\n".join(m.content for m in request.messages if m.role == "system")
        return {
            "model": request.model or self.model,
            "messages": [{"role": m.role, "content": _fill_blank_message(m)} for m in said],
            **({"system": system} if system else {}),
            "max_tokens": self.max_tokens,
            **arguments("messages", request.parameters),
            **_format(request),
        }

    def sdk(self) -> tuple[Any, type[Exception]]:
        import anthropic

        return anthropic, anthropic.AnthropicError

    def client(self, **options: Any) -> Any:
        return self.sdk()[0].AsyncAnthropic(**options)

    def endpoint(self, client: Any) -> Call:
        create: Call = client.messages.with_raw_response.create
        return create

    def read(self, answer: HttpAnswer) -> Completion:
        """The text of a message, without what the model thought before it."""
        message, valid = self.body(answer, _AnthropicMessage)
        texts = [block.text for block in message.content if block.type == "text"]
        usage = http_body.read_body_object(message.usage)
        found = self.completion(
            answer,
            "".join(texts),
            valid=valid,
            model=message.model,
            stop_reason=message.stop_reason,
            request_id=message.id,
            input_tokens=usage.get("input_tokens"),
            output_tokens=usage.get("output_tokens"),
        )
        return self.whole(answer, found, "".join(texts) if texts else None)


def _format(request: CompletionRequested) -> dict[str, Any]:
    """The schema of the response, where the request holds one."""
    if not request.output:
        return {}
    schema = msgspec.json.decode(request.output)
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def _fill_blank_message(message: Message) -> str:
    """What the API is told; the log keeps what was said."""
    is_blank = message.role == "assistant" and not message.content.strip()
    return EMPTY if is_blank else message.content


# 3. GPT by OpenAI's Chat Completions or Responses API -------------------------------------------


class _OpenAIMessage(msgspec.Struct):
    """A message, or a part of one."""

    content: Any = None
    """Text, or parts of it."""
    refusal: Any = None


class _OpenAIChoice(msgspec.Struct):
    message: _OpenAIMessage
    finish_reason: Any = None
    error: Any = None
    """How a router says that the provider behind it failed halfway."""


class _Chat(msgspec.Struct):
    """What is read of a chat completion; the rest may change."""

    choices: list[_OpenAIChoice]
    id: Any = None
    model: Any = None
    usage: Any = None


class _OpenAIItem(msgspec.Struct):
    type: Any = None
    content: Any = None


class _OpenAIResponse(msgspec.Struct):
    """What is read of a response; the rest may change."""

    output: list[_OpenAIItem]
    id: Any = None
    model: Any = None
    status: Any = None
    incomplete_details: Any = None
    usage: Any = None


class OpenAIProvider(RemoteProvider):
    """GPT; with another address and key OpenRouter, Ollama, vLLM, LM Studio and their like."""

    name = "openai"

    @property
    def path(self) -> str:
        return "/responses" if self.api == "responses" else "/chat/completions"

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
        held = {"name": name, "schema": msgspec.json.decode(request.output), "strict": True}
        if self.api == "responses":
            return {"text": {"format": {"type": "json_schema", **held}}}
        return {"response_format": {"type": "json_schema", "json_schema": held}}

    def sdk(self) -> tuple[Any, type[Exception]]:
        import openai

        return openai, openai.OpenAIError

    def client(self, **options: Any) -> Any:
        made = self.sdk()[0].AsyncOpenAI(**options)
        if self.base_url != BASE_URLS["openai"]:
            # The SDK reads them from the environment; another server must not get them.
            made.organization = made.project = None
        return made

    def endpoint(self, client: Any) -> Call:
        resource = client.responses if self.api == "responses" else client.chat.completions
        create: Call = resource.with_raw_response.create
        return create

    def read(self, answer: HttpAnswer) -> Completion:
        return self._response(answer) if self.api == "responses" else self._chat(answer)

    def _chat(self, answer: HttpAnswer) -> Completion:
        """The text of the first choice."""
        chat, valid = self.body(answer, _Chat)
        if not chat.choices:
            raise self.failure("the response has no choices")
        choice = chat.choices[0]
        usage = http_body.read_body_object(chat.usage)
        text, refusal = _join_message_texts([choice.message])
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
        return self.whole(answer, found, text, refusal=refusal, error=choice.error)

    def _response(self, answer: HttpAnswer) -> Completion:
        """The text of every message, without the model's reasoning."""
        response, valid = self.body(answer, _OpenAIResponse)
        usage = http_body.read_body_object(response.usage)
        why = http_body.read_body_object(response.incomplete_details).get("reason")
        messages = (item for item in response.output if item.type == "message")
        text, refusal = _join_message_texts([_OpenAIMessage(one.content) for one in messages])
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
        if response.status not in ("completed", "incomplete", None):
            raise self.failure(f"the response is {found.stop_reason!r}, not completed")
        is_cut = response.status == "incomplete"
        return self.whole(answer, found, text, refusal=refusal, is_cut=is_cut)


def _join_message_texts(said: list[_OpenAIMessage]) -> tuple[str | None, str]:
    """The written text or None, and the refusal in its place."""
    texts: list[str] = []
    refusals: list[str] = []
    for one in said:
        whole = {"text": one.content, "refusal": one.refusal}
        parts = one.content if isinstance(one.content, list) else []
        for part in (whole, *map(http_body.read_body_object, parts)):
            texts += [t for t in (part.get("text"),) if isinstance(t, str)]
            refusals += [t for t in (part.get("refusal"),) if isinstance(t, str)]
    return ("".join(texts) if texts else None), "".join(refusals)
