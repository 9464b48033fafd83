"""The first Input of a recall."""

from __future__ import annotations

from typing import Any

from preflights_es.features.recall.domain.events import RecallAsked
from tests.fixed import PROJECT


def opening(text: str, **fields: Any) -> RecallAsked:
    """A question."""
    return RecallAsked(question=text, project=PROJECT, language="de", **fields)
