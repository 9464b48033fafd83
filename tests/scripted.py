"""A provider that is told what to answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from preflights_es.kernel.completions import Completion, CompletionRequested
from preflights_es.kernel.errors import LLMError

Reply = str | LLMError | dict[str, Any]


def asks(topic: str, question: str, *labels: str, **more: Any) -> dict[str, Any]:
    """A `clarify.v1` of a model that asks."""
    options = [{"label": label} for label in labels]
    return {
        "outcome": "ask",
        "topic": topic,
        "question": question,
        "options": options,
        **more,
    }


class Scripted:
    """A provider that says what it was told to, in turn."""

    def __init__(self, *replies: Reply) -> None:
        self._replies: Iterator[Reply] = iter(replies)
        self.requests: list[CompletionRequested] = []

    async def respond(self, request: CompletionRequested) -> Completion:
        self.requests.append(request)
        reply = next(self._replies)
        if isinstance(reply, LLMError):
            raise reply
        return Completion(reply if isinstance(reply, str) else json.dumps(reply))
