"""A provider that answers from a list."""

from __future__ import annotations

from json import dumps
from typing import Any

from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import LLMError
from preflights_es.providers.base import LLMProvider

Reply = str | dict[str, Any] | Completion | LLMError
"""A text, an object that is sent as JSON, a whole completion, or a failure."""


class ScriptedProvider(LLMProvider):
    """Gives its replies in turn, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[CompletionRequested] = []

    async def respond(self, request: CompletionRequested) -> Completion:
        """The next reply.

        Raises:
            LLMError: the reply is one.
            AssertionError: there is none left.
        """
        self.requests.append(request)
        if not self._replies:
            count = len(self.requests)
            raise AssertionError(f"call {request.call!r} is number {count}: give another reply")
        match self._replies.pop(0):
            case LLMError() as error:
                raise error
            case Completion() as whole:
                return whole
            case str(text):
                return Completion(text)
            case payload:
                return Completion(dumps(payload))
