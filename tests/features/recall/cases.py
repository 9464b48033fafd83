"""First Inputs of recalls, learnings and comparisons."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.features.recall.domain.events import ComparisonAsked, LearningAsked, RecallAsked
from preflights_es.kernel.decisions import Evolution, OlderDecision, Related
from preflights_es.kernel.events import Input, Source
from tests.fixed import PROJECT

NEW: Final = "00003f9a12c4"
OLD: Final = "0d1da1e8af20"
SOURCE: Final = Source("01a0c450-6c01-7000-8000-00003f9a12c4", 9, "ab" * 32)


def finding(evolution: Evolution, uid: str = OLD, value: str = "PostgreSQL") -> OlderDecision:
    """What the rules say of an older decision."""
    session = f"01a0c450-6c00-7000-8000-{uid}"
    return OlderDecision(
        related=Related(uid, f"Use {value} as the database", 3, session),
        category="Database",
        fields=(("Type", value),),
        accepted_at=1_795_000_000_000_000,
        evolution=evolution,
        by="rules",
        source=Source(session, 9, "cd" * 32),
    )


OLDER: Final = (
    finding("contradict"),
    finding("extend", "1d1da1e8af21", "MySQL"),
    finding("none", "2d1da1e8af22", "SQLite"),
)


def opening(text: str, **fields: Any) -> Input:
    """By the first word of a text: a learning, a comparison, or a question."""
    kind, _, said = text.partition(": ")
    about: dict[str, Any] = {
        "decision": NEW,
        "title": "Use MySQL as the database",
        "category": "Database",
        "fields": (("Type", "MySQL"),),
        "source": SOURCE,
        "intention": said,
    }
    whole: dict[str, Any] = {"project": PROJECT, "language": "de", **fields}
    if kind == "learn":
        return LearningAsked(**about, **whole)
    if kind == "compare":
        return ComparisonAsked(**about, **whole, older=OLDER)
    return RecallAsked(question=text, **whole)
