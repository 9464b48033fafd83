"""Requests, and coroutines driven without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from preflights_es.kernel.completions import CompletionRequested, Message

T = TypeVar("T")
Said = str | tuple[str, str]
"""What a person says, or a role and what it says."""


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What it returns, or raises."""
    return asyncio.run(coroutine)


def driven(coroutine: Coroutine[Any, Any, T]) -> T:
    """As `run`, for a coroutine that waits for nothing; thousands of times as fast."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        found: T = stop.value
        return found
    message = "it waits for something"
    raise AssertionError(message)


def request(*said: Said, attempt: int = 1, **fields: Any) -> CompletionRequested:
    """A request; a bare text is a person's."""
    pairs = [("user", one) if isinstance(one, str) else one for one in said]
    messages = tuple(Message(role, content) for role, content in pairs)  # type: ignore[arg-type]  # roles are checked where they come from outside
    return CompletionRequested(
        call="completion-1",
        provider="sim",
        model="simllm/1",
        messages=messages,
        attempt=attempt,
        **fields,
    )
