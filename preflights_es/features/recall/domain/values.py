"""The words of the specification (docs/specs/memory.md)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from preflights_es.kernel.events import RecordNumber, Source, Value, Whole

QUERIES_MAX: Final = 3  # queries that a question becomes
WORDS_MAX: Final = 16  # words of one query that count
QUERY_MAX: Final = 500  # characters of a query
LINE_MAX: Final = 200  # characters of the line that matched
RESULTS_MAX: Final = 10  # decisions that are shown
LEARNED_MAX: Final = 50  # words that a decision gains by one learning
PAIRS_MAX: Final = 8  # older decisions that a model compares at once

Rewriter = Literal["rules", "model"]
Asks = Literal["question", "learning", "comparison"]
"""`question`: what was decided; `learning`: more words for a decision; `comparison`: how a new
decision stands to older ones."""

Link = Literal[
    "supersedes", "superseded_by", "update", "contradict", "extend", "derive", "exception", "same"
]


class Stands(Value, frozen=True, kw_only=True):
    """How a decision stands to another, as its own session records it."""

    evolution: Link
    uid: str
    """Of the other one."""
    title: str
    reason: str = ""
    """Why both stay in force; empty where one takes the place of the other."""


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
    learned: tuple[str, ...] | UnsetType = UNSET
    """Those of the words that only a learning says."""
    stands: tuple[Stands, ...] | UnsetType = UNSET
    line: str | UnsetType = UNSET
    """The reason, consequence or option turned down that has most of the words, of those that the
    title does not have."""


class FoundRecord(Value, frozen=True, kw_only=True):
    """A record of another tool that matches: words of a stranger."""

    path: str
    title: str
    status: str
    """As the record says it; `unknown` where it does not."""
    date: str
    """ISO 8601; empty where the record names no day."""
    words: tuple[str, ...]
    """Those of the queries that matched, in their order."""
    score: Whole


class Match(msgspec.Struct, frozen=True):
    """A decision of which words match, before it is read."""

    session_id: str
    version: int
    uid: str
    accepted_at: int
    score: int
    words: tuple[str, ...]
    """Those of the question that matched."""
    learned: tuple[str, ...] = ()
    """Those of the words that only a learning says."""
    terms: tuple[str, ...] = ()
    """The decision's own words that matched them."""
