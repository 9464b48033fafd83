"""Calls that are asked again."""

from __future__ import annotations

from typing import Any

from preflights_es.features.calls.domain.asking import AskedCall


def asked_call(call: int = 1, **fields: Any) -> AskedCall:
    """A call of OpenAI's chat, answered with `refund`."""
    given: dict[str, Any] = {
        "session_id": "01a0c450-6c02-7000-8000-000000000001",
        "call": call,
        "dialect": "openai-chat",
        "route": "openai",
        "model": "old",
        "request": {"model": "old", "messages": [{"role": "user", "content": f"Mail {call}"}]},
        "status": 200,
        "content_type": "text/plain",
        "answer": "refund",
        "expected": None,
    }
    return AskedCall(**(given | fields))
