"""What a catalogue holds, the limits of a question, and what a metrics session records.

Values first (docs/specs/metrics.md), then Inputs, Decisions, and the list of all."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from preflights_es.kernel.completions import COMPLETION_EVENTS, Policy
from preflights_es.kernel.events import Decision, Event, Input, Typed, Value
from preflights_es.kernel.lead import LED_EVENTS, Setup
from preflights_es.words.questions import AnswerRefusal, Answers, Language, Question, Refusal

# 1. What may be asked ------------------------------------------------------------------------

Dialect = Literal["sqlite", "postgres"]

QUESTION_MAX: Final = 2_000  # characters; a longer text is a document
TEXT_MAX: Final = 4_000  # characters of a reply in words
SQL_MAX: Final = 20_000  # characters of a query
QUOTED_MAX: Final = 60  # characters of a name that a finding quotes
CANDIDATES: Final = (2, 9)  # so that one digit chooses (seed 4)
TURNS_MAX: Final = 3  # clarifications before an answer
CATALOGUE_MAX: Final = 500_000  # bytes of all files of a catalogue, and characters of a text
METRICS_MAX: Final = 500
NAME_MAX: Final = 100  # characters of a metric's name and of an alias
PACKAGE: Final = "preflights_es.features.metrics"
PROMPTS: Final[dict[str, str]] = {"ask": "ask.v1"}
POLICY: Final = Policy(bad_output=1, failed_transport=1, then="report")
CONTRACT: Final = "metrics.v1"
FIRST_DAY: Final = ":first_day"
END_DAY: Final = ":end_day"
"""In a metric's SQL: the first day of the range, and the day behind its last, as `YYYY-MM-DD`."""


class Metric(Value, frozen=True, kw_only=True):
    """A number that the catalogue defines."""

    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""
    sql: str
    """One query; it may hold `:first_day` and `:end_day`."""
    dimensions: tuple[str, ...] = ()
    """Columns by which it may be grouped."""
    date: str = ""
    """The column of its day; empty where it has none."""
    unit: tuple[str, ...] = ()
    """What its numbers are called, such as `euro`."""
    words: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """By dimension: other names of it."""
    values: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """Triples of a dimension, a value as the database has it, and other names of it.

    A dimension with some has no other values.
    """
    kind: Literal["", "ratio"] = ""
    """A ratio has no share and no total."""


class Table(Value, frozen=True):
    """What a query may read."""

    name: str
    columns: tuple[str, ...] = ()
    """Empty where the catalogue does not say them."""


class Catalogue(Value, frozen=True, kw_only=True):
    """All that may be asked, as the session found it."""

    dialect: Dialect
    metrics: tuple[Metric, ...]
    tables: tuple[Table, ...]


# 2. Inputs -----------------------------------------------------------------------------------


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
                "kind",
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
    redacted: tuple[str, ...] = ()
    """Kinds of secrets that were taken out before recording, one a replacement."""


class MetricsAnswersGiven(Answers, frozen=True):
    """The answer to the open question: a number, a candidate, or other words."""

    tag: ClassVar[str] = "metrics.answers_given.v1"
    verb: ClassVar[str] = "answered in"


class FollowUpPut(Input, frozen=True):
    """The actor goes on where a query stands, or where no answer came."""

    tag: ClassVar[str] = "metrics.follow_up_put.v1"
    verb: ClassVar[str] = "followed up in"
    typed: ClassVar = {"text": Typed(QUESTION_MAX, "say what you want to know")}
    text: str
    redacted: tuple[str, ...] = ()


# 3. Decisions --------------------------------------------------------------------------------


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


class MetricsAnswerAccepted(Decision, frozen=True):
    """The answer counts, and goes into the conversation."""

    tag: ClassVar[str] = "metrics.answer_accepted.v1"
    key: str
    answer: str
    """The chosen candidate in place of its number."""


class MetricsAnswerRefused(AnswerRefusal, frozen=True):
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


# 4. All --------------------------------------------------------------------------------------

EVENTS: tuple[type[Event], ...] = (
    QuestionPut,
    MetricsAnswersGiven,
    FollowUpPut,
    SqlAnswered,
    CandidatesOffered,
    ClarificationAsked,
    TurnsExhausted,
    MetricsAnswerAccepted,
    MetricsAnswerRefused,
    FollowUpTaken,
    NotTaken,
    *COMPLETION_EVENTS,
    *LED_EVENTS,
)
