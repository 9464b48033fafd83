"""The words of the specification (docs/specs/memory.md)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from preflights_es.core.events import RecordNumber, Value, Whole
from preflights_es.core.source import Source

QUERIES_MAX: Final = 3  # queries that a question becomes
WORDS_MAX: Final = 8  # words of one query that count
QUERY_MAX: Final = 500  # characters of a query
RESULTS_MAX: Final = 10  # decisions that are shown
SAID: Final = 2  # times that a word of the question itself counts

Rewriter = Literal["rules", "model"]


class Found(Value, frozen=True, kw_only=True):
    """A decision that matches, as it was read."""

    uid: str
    title: str
    standing: Literal["accepted", "superseded"]
    category: str
    fields: tuple[tuple[str, str], ...]
    """Pairs of field name and value."""
    accepted_at: Whole
    """In microseconds since 1970 UTC."""
    number: RecordNumber | None
    words: tuple[str, ...]
    """Those of the queries that matched, in their order."""
    score: Whole
    source: Source


class Match(msgspec.Struct, frozen=True):
    """A decision of which words match, before it is read."""

    session_id: str
    version: int
    uid: str
    accepted_at: int
    score: int
    words: tuple[str, ...]
