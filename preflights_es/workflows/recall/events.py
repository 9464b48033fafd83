"""What a recall records: Inputs first, then Decisions, then the list of all."""

from __future__ import annotations

from typing import ClassVar, Literal

from preflights_es.core.completions import COMPLETION_EVENTS
from preflights_es.core.events import Decision, Event, Input, Typed
from preflights_es.core.lead import LED_EVENTS, Setup
from preflights_es.core.questions import Refusal
from preflights_es.core.text import INTENTION_MAX
from preflights_es.core.views import Language
from preflights_es.workflows.recall.values import Found, Rewriter

# 1. Inputs -----------------------------------------------------------------------------------


class RecallAsked(Input, frozen=True):
    """The actor asks what was decided; opens the session."""

    tag: ClassVar[str] = "recall.recall_asked.v1"
    verb: ClassVar[str] = "asked"
    typed: ClassVar = {"question": Typed(INTENTION_MAX, "ask what was decided")}
    question: str
    project: str
    setup: Setup
    language: Language
    everything: bool = False
    """Whether superseded decisions count, too."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class DecisionsFound(Input, frozen=True):
    """The decisions of the index that match; each names its session."""

    tag: ClassVar[str] = "recall.decisions_found.v1"
    verb: ClassVar[str] = "looked for"
    found: tuple[Found, ...]


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
