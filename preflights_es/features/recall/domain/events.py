"""What a recall records: Inputs first, then Decisions, then the list of all."""

from __future__ import annotations

from typing import ClassVar, Literal

from preflights_es.features.recall.domain.values import Found, FoundRecord, Rewriter
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.decisions import OlderDecision
from preflights_es.kernel.events import Decision, Event, Input, Quoted, Source, Typed
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.kernel.questions import Language, Refusal
from preflights_es.kernel.text import INTENTION_MAX

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
    """Whether decisions that match weakly are among the answer, too."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class DecisionsFound(Input, frozen=True):
    """The decisions of the index that match; each names its session."""

    tag: ClassVar[str] = "recall.decisions_found.v1"
    verb: ClassVar[str] = "looked for"
    found: tuple[Found, ...]
    records: tuple[FoundRecord, ...] = ()
    """Of other tools, the best first."""


class LearningAsked(Input, frozen=True, kw_only=True):
    """The actor asks for more words by which a decision is found; opens the session."""

    tag: ClassVar[str] = "recall.learning_asked.v1"
    verb: ClassVar[str] = "asked to learn"
    decision: str
    """The uid of the decision."""
    title: str
    intention: str
    category: str
    fields: tuple[tuple[str, str], ...]
    """Pairs of field name and value."""
    source: Source
    """The decision's session, as it was read."""
    project: str
    setup: Setup
    language: Language


class ComparisonAsked(Input, frozen=True, kw_only=True):
    """A model is asked how a new decision stands to older ones; opens the session."""

    tag: ClassVar[str] = "recall.comparison_asked.v1"
    verb: ClassVar[str] = "compared"
    decision: str
    """The uid of the new decision, which waits to be accepted."""
    title: str
    intention: str
    category: str
    fields: tuple[tuple[str, str], ...]
    """Pairs of field name and value."""
    source: Source
    """Its session, as it was read."""
    older: tuple[OlderDecision, ...]
    """What the rules find, `none` among it."""
    project: str
    setup: Setup
    language: Language


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


class EntitiesExtracted(Decision, frozen=True):
    """What a model names in a decision; it is asked for categories next."""

    tag: ClassVar[str] = "recall.entities_extracted.v1"
    names: tuple[str, ...]


class WordsLearned(Decision, frozen=True):
    """The words that a decision gains; none of its own."""

    tag: ClassVar[str] = "recall.words_learned.v1"
    words: tuple[str, ...]
    source: Rewriter


class EvolutionDetected(Decision, frozen=True):
    """How the new decision stands to the older ones; never `none`."""

    tag: ClassVar[str] = "recall.evolution_detected.v1"
    findings: tuple[OlderDecision, ...]
    source: Rewriter


class RecallRefused(Refusal, frozen=True):
    """The Input does not fit the session as it stands."""

    tag: ClassVar[str] = "recall.recall_refused.v1"
    reason: Literal["not_expected"] = "not_expected"


# 3. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    RecallAsked,
    LearningAsked,
    ComparisonAsked,
    DecisionsFound,
    QueriesRewritten,
    DecisionsRecalled,
    EntitiesExtracted,
    WordsLearned,
    EvolutionDetected,
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
