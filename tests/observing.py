"""A question that an agent asked elsewhere, as tests tell of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from preflights_es.bootstrap import opened_process
from preflights_es.core.observed import Observed, Outcome
from preflights_es.services.clarification.observed import record

QUESTION: Final = "Which database should orders use?"
OPTIONS: Final = ("PostgreSQL", "SQLite")


def seen(outcome: Outcome = "answered", call: str = "call-1", **more: Any) -> Observed:
    """Where it was asked."""
    said = {"agent": "claude-code", "agent_version": "2.1.300", "conversation": "c-1", **more}
    return Observed(channel="hook", call=call, outcome=outcome, **said)


def observed_in(folder: Path) -> str:
    """The session of such a question in a project."""
    opened = opened_process(folder)
    files = ("app/db.py",)
    found = record(opened.request(), QUESTION, OPTIONS, ("SQLite",), seen(), files=files)
    opened.process.close()
    return found.session_id
