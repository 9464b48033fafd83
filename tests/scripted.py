"""What a model may answer a clarification."""

from __future__ import annotations

from typing import Any


def asks(topic: str, question: str, *labels: str, **more: Any) -> dict[str, Any]:
    """A `clarify.v1` of a model that asks."""
    options = [{"label": label} for label in labels]
    return {"outcome": "ask", "topic": topic, "question": question, "options": options, **more}
