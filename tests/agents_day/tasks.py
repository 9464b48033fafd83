"""Ten tasks of a coding agent, and what the agent asks by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple


class Task(NamedTuple):
    """What the agent is to do."""

    name: str
    """Of the file with what it is told."""
    words: str
    """Of the person who gives the task."""
    query: str
    """What it looks for among the decisions."""
    why: str = ""
    """The decision that it wants explained; empty for none."""
    question: dict[str, Any] | None = None
    """Its own question, as `start_decision` takes it."""


_FILE: Final = Path(__file__).with_suffix(".json")
TASKS: Final = tuple(Task(**one) for one in json.loads(_FILE.read_text("utf-8")))
