"""What a metrics session records: Inputs first, then Decisions, then the list of all."""

from __future__ import annotations

from typing import ClassVar, Literal

from preflights_es.features.metrics.domain.values import (
    CATALOGUE_MAX,
    QUESTION_MAX,
    Dialect,
    Matched,
    Metric,
    Saved,
    Table,
)
from preflights_es.kernel.completions import COMPLETION_EVENTS
from preflights_es.kernel.events import Decision, Event, Input, Typed
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.kernel.questions import AnswerRefusal, Answers, Language, Question, Refusal

# 1. Inputs -----------------------------------------------------------------------------------


class QuestionPut(Input, frozen=True):
    """The actor asks a question; opens the session and carries all that a replay needs."""

    tag: ClassVar[str] = "metrics.question_put.v1"
    verb: ClassVar[str] = "asked the question of"
    typed: ClassVar = {
        "text": Typed(QUESTION_MAX, "say what you want to know"),
        "metrics": Typed(
            CATALOGUE_MAX,
            parts=(
                "name",
                "aliases",
                "description",
                "sql",
                "dimensions",
                "date",
                "unit",
                "words",
                "values",
                "numbers",
            ),
        ),
        "tables": Typed(CATALOGUE_MAX, parts=("name", "columns")),
    }
    text: str
    project: str
    setup: Setup
    language: Language
    """Of the sentences that a person reads."""
    asked_at: str
    """Local date and time, ISO 8601 with the offset, to the minute."""
    time_zone: str
    dialect: Dialect
    metrics: tuple[Metric, ...]
    tables: tuple[Table, ...]
    matched: tuple[Matched, ...] = ()
    """Values of the database that stand in its words."""
    saved: tuple[Saved, ...] = ()
    """The saved question that it names, or those that are nearest to it."""
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class AnswersGiven(Answers, frozen=True):
    """The answer to the open question: a number, a candidate, or other words."""

    tag: ClassVar[str] = "metrics.answers_given.v1"
    verb: ClassVar[str] = "answered in"
    matched: tuple[Matched, ...] = ()
    """As in the question."""


class FollowUpPut(Input, frozen=True):
    """The actor goes on where a query stands, or where no answer came."""

    tag: ClassVar[str] = "metrics.follow_up_put.v1"
    verb: ClassVar[str] = "followed up in"
    typed: ClassVar = {"text": Typed(QUESTION_MAX, "say what you want to know")}
    text: str
    matched: tuple[Matched, ...] = ()
    """As in the question."""
    redacted: tuple[str, ...] = ()


# 2. Decisions --------------------------------------------------------------------------------


class SqlAnswered(Decision, frozen=True):
    """A query that passed the check, as it was received."""

    tag: ClassVar[str] = "metrics.sql_answered.v1"
    sql: str


class CandidatesOffered(Decision, frozen=True):
    """The question can mean several things: the person chooses."""

    tag: ClassVar[str] = "metrics.candidates_offered.v1"
    question: Question


class ClarificationAsked(Decision, frozen=True):
    """A reply in words: the person is asked for more."""

    tag: ClassVar[str] = "metrics.clarification_asked.v1"
    question: Question


class TurnsExhausted(Decision, frozen=True):
    """Three clarifications brought no query; what is still open is said, and not asked."""

    tag: ClassVar[str] = "metrics.turns_exhausted.v1"
    open: str


class AnswerAccepted(Decision, frozen=True):
    """The answer counts, and goes into the conversation."""

    tag: ClassVar[str] = "metrics.answer_accepted.v1"
    key: str
    answer: str
    """The chosen candidate in place of its number."""


class AnswerRefused(AnswerRefusal, frozen=True):
    """The answer does not count; the question stays as it was."""

    tag: ClassVar[str] = "metrics.answer_refused.v1"


class FollowUpTaken(Decision, frozen=True):
    """The follow-up goes into the conversation."""

    tag: ClassVar[str] = "metrics.follow_up_taken.v1"
    text: str


class NotTaken(Refusal, frozen=True):
    """The Input does not fit the session."""

    tag: ClassVar[str] = "metrics.not_taken.v1"
    reason: Literal["question_open", "asking", "not_expected", "blank"]


# 3. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    QuestionPut,
    AnswersGiven,
    FollowUpPut,
    SqlAnswered,
    CandidatesOffered,
    ClarificationAsked,
    TurnsExhausted,
    AnswerAccepted,
    AnswerRefused,
    FollowUpTaken,
    NotTaken,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)
