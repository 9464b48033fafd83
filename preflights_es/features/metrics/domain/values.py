"""What a catalogue holds, and the limits of a question (docs/specs/metrics.md)."""

from __future__ import annotations

from typing import Final, Literal

from preflights_es.kernel.events import Value

Dialect = Literal["sqlite", "postgres"]

QUESTION_MAX: Final = 2_000  # characters; a longer text is a document
TEXT_MAX: Final = 4_000  # characters of a reply in words
SQL_MAX: Final = 20_000  # characters of a query
CANDIDATES: Final = (2, 9)  # so that one digit chooses (seed 4)
CANDIDATE_MAX: Final = 300  # characters
TURNS_MAX: Final = 3  # clarifications before an answer
CATALOGUE_MAX: Final = 500_000  # bytes of all files of a catalogue, and characters of a text
METRICS_MAX: Final = 500
NAME_MAX: Final = 100  # characters of a metric's name and of an alias
VALUE_MAX: Final = 200  # characters of a value of a dimension
VALUES_MAX: Final = 51  # values of a dimension that are known
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
    """Triples of a dimension, a value as the database has it, and what people call it."""
    numbers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Columns that may be compared with a number, with their units."""


class Matched(Value, frozen=True):
    """A value of a dimension that stands in the words of a question."""

    column: str
    value: str


class Saved(Value, frozen=True, kw_only=True):
    """A question that a person saved with its query."""

    name: str
    question: str
    sql: str


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
