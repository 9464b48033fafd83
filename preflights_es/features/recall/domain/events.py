"""What a recall records (docs/specs/memory.md): its words, Inputs, Decisions, the list of all."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.events import (
    Decision,
    Event,
    Input,
    Quoted,
    RecordNumber,
    SourceSession,
    Typed,
    Value,
    Whole,
)
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.kernel.text import INTENTION_MAX
from preflights_es.words.questions import Language, Refusal

QUERIES_MAX: Final = 3  # queries that a question becomes
WORDS_MAX: Final = 16  # words of one query that count
QUERY_MAX: Final = 500  # characters of a query
LINE_MAX: Final = 200  # characters of the line that matched
RESULTS_MAX: Final = 10  # decisions that are shown

Rewriter = Literal["rules", "model"]
Link = Literal["supersedes", "superseded_by", "contradict"]


class Stands(Value, frozen=True, kw_only=True):
    """How a decision stands to another, as its own session records it."""

    evolution: Link
    uid: str
    """Of the other one."""
    title: str
    reason: str = ""
    """Why both stay in force; empty where one takes the place of the other."""


class FoundDecision(Value, frozen=True, kw_only=True):
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
    """Those of the queries that matched, in their order; none where it took the place of a match.
    """
    score: Whole
    source: SourceSession
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


class MemoryMatch(msgspec.Struct, frozen=True):
    """A decision of which words match, before it is read."""

    session_id: str
    version: int
    uid: str
    accepted_at: int
    score: int
    words: tuple[str, ...]
    """Those of the question that matched."""
    terms: tuple[str, ...] = ()
    """The decision's own words that matched them."""


# 1. Inputs -----------------------------------------------------------------------------------


class RecallAsked(Input, frozen=True):
    """The actor asks what was decided; opens the session."""

    tag: ClassVar[str] = "recall.recall_asked.v1"
    verb: ClassVar[str] = "asked the question of"
    typed: ClassVar = {"question": Typed(INTENTION_MAX, "ask what was decided")}
    question: str
    project: str
    setup: Setup
    language: Language
    everything: bool = False
    """Whether decisions that match weakly are among the answer, too."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class DecisionsFound(Input, frozen=True):
    """The decisions of the index that match; each names its session."""

    tag: ClassVar[str] = "recall.decisions_found.v1"
    found: tuple[FoundDecision, ...]
    records: tuple[FoundRecord, ...] = ()
    """Of other tools, the best first."""
    matches: Whole | UnsetType = UNSET
    """How many decisions and records match, where these are not all."""


# 2. Decisions --------------------------------------------------------------------------------


class QueriesRewritten(Decision, frozen=True):
    """What is looked for."""

    tag: ClassVar[str] = "recall.queries_rewritten.v1"
    queries: tuple[str, ...]
    source: Rewriter


class DecisionsRecalled(Decision, frozen=True):
    """The answer: the best match first."""

    tag: ClassVar[str] = "recall.decisions_recalled.v1"
    uids: tuple[str, ...]


class RecallRefused(Refusal, frozen=True):
    """The Input does not fit the session as it stands."""

    tag: ClassVar[str] = "recall.recall_refused.v1"
    reason: Literal["not_expected"] = "not_expected"


# 3. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    RecallAsked,
    DecisionsFound,
    QueriesRewritten,
    DecisionsRecalled,
    RecallRefused,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)


# 4. Quotes ----------------------------------------------------------------------------------


def quotes(event: Event) -> tuple[Quoted, ...]:
    """The decisions to which one that was found is linked: the link holds their titles."""
    if not isinstance(event, DecisionsFound):
        return ()
    return tuple(Quoted("named", to.uid) for one in event.found for to in one.stands or ())
