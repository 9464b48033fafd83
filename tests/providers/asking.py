"""Real providers in front of the server that imitates their APIs."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.kernel.errors import LLMError
from preflights_es.providers.apis import AnthropicProvider, OpenAIProvider
from preflights_es.providers.remote import RemoteProvider
from tests.providers.server import FakeAPI

KEY: Final = "sk-a-key-that-is-no-key-0123456789"
ENDPOINTS: Final = ("messages", "chat", "responses")


def provider(endpoint: str, api: FakeAPI, **options: Any) -> RemoteProvider:
    """The provider that asks an endpoint of the server."""
    options = {"timeout_s": 5.0, **options}
    key = options.pop("key", KEY)
    if endpoint == "messages":
        return AnthropicProvider(key, base_url=api.anthropic, **options)
    kind: Any = "responses" if endpoint == "responses" else "chat"
    return OpenAIProvider(key, base_url=api.openai, api=kind, **options)


def request(asked: RemoteProvider, said: str = "Hi") -> CompletionRequested:
    """A request with a system message and one word."""
    return asked.asked([Message("system", "Be brief."), Message("user", said)])


def answer(asked: RemoteProvider, said: str = "Hi") -> Completion:
    """What a provider answers."""

    async def one() -> Completion:
        async with asked:
            return await asked.respond(request(asked, said))

    return asyncio.run(one())


def outcomes(asked: RemoteProvider, count: int) -> list[Completion | LLMError]:
    """What so many requests end in, one after the other."""

    async def all_of_them() -> list[Completion | LLMError]:
        found: list[Completion | LLMError] = []
        async with asked:
            for _ in range(count):
                try:
                    found.append(await asked.respond(request(asked)))
                except LLMError as error:
                    found.append(error)
        return found

    return asyncio.run(all_of_them())


def failure(asked: RemoteProvider) -> LLMError:
    """The error a provider ends in."""
    with pytest.raises(LLMError) as raised:
        answer(asked)
    return raised.value
