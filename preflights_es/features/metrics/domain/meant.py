"""What a question asks of a metric, as it is read before a query is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from preflights_es.features.metrics.domain.question import Step
from preflights_es.features.metrics.domain.ranges import Range


class Comparison(NamedTuple):
    """A number that a column, or the metric, is compared with."""

    column: str
    """Empty for the metric itself."""
    sign: str
    number: str
    """As SQL writes it."""


class Group(NamedTuple):
    """What rows are grouped by: a column, or a step of time."""

    column: str
    """Empty for a step."""
    step: Step | None = None


class Top(NamedTuple):
    """The first groups by the metric."""

    places: int
    is_most: bool


class Meant(msgspec.Struct, frozen=True, kw_only=True):
    """What a text asks of a metric."""

    include: Mapping[str, tuple[str, ...]] = {}
    """By column: one of these values."""
    exclude: Mapping[str, tuple[str, ...]] = {}
    compared: tuple[Comparison, ...] = ()
    """Of single rows."""
    over: tuple[Comparison, ...] = ()
    """Of groups."""
    groups: tuple[Group, ...] = ()
    lacking: tuple[str, ...] = ()
    """Columns without a value."""
    top: Top | None = None
    newest: Top | None = None
    """Of a list, the rows of the newest days; or of the oldest."""
    share: Mapping[str, tuple[str, ...]] | None = None
    """The part of a whole; without a column: of each group."""
    is_average: bool = False
    """Of the groups."""
    days: tuple[Range, ...] = ()
    """Several are compared."""
    is_total: bool = False
    """Whether groups of before are taken away."""
    freed: tuple[str, ...] = ()
    """Columns of which every value is meant, said as `all markets`."""
    left: tuple[str, ...] = ()
    """Words that are not used, those that stand together in one text."""
    asks_days: bool = False
    """Whether words of time are among them."""
    names_metric: bool = False
    is_empty: bool = False
    """Whether nothing but courtesy was said."""
    says_all: bool = False
    """Whether it is `all orders`: without what was left out before, or not."""
    doubtful: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Values that several columns have, each with those columns."""
