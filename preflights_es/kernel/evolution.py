"""How a new decision stands to older ones that are in force, and what a person chose about it."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from preflights_es.kernel.artifacts import Related
from preflights_es.kernel.events import Value, Whole
from preflights_es.kernel.source import Source

Evolution = Literal["update", "contradict", "exception", "same", "extend", "derive", "none"]
"""How a decision stands to an older one.

`update` and `contradict` give a field another value at the same place, and `exception` gives what
the whole project has another value at one place: a person has to choose. `same` says the same.
"""
EXCEPTION = "exception"
"""The reason why the older decision stays in force, where the new one is an exception to it."""

Choice = Literal["supersedes", "keeps"]
"""The older decision is superseded, or both stay in force."""


class Choices(Value, frozen=True):
    """What a person says about older decisions, by whatever the person calls them."""

    supersedes: tuple[str, ...] = ()
    keeps: tuple[tuple[str, str], ...] = ()
    """Pairs of a decision and the reason why both stay in force."""
    exceptions: tuple[str, ...] = ()
    """Those to which the new one is an exception."""
    again: bool = False
    """Whether a decision is recorded once more that is in force already."""

    def __bool__(self) -> bool:
        return bool(self.supersedes or self.keeps or self.exceptions or self.again)


class Finding(Value, frozen=True, kw_only=True):
    """An older decision, and how the new one stands to it."""

    related: Related
    category: str
    fields: tuple[tuple[str, str], ...]
    """Of the older decision: pairs of field name and value, in the order of the table."""
    accepted_at: Whole
    """In microseconds since 1970 UTC."""
    evolution: Evolution
    by: Literal["rules", "model"]
    source: Source
    """The older decision's session, as it was read."""
    compared: Source | UnsetType = UNSET
    """The session in which a model compared the two; unset where the rules alone did."""

    @property
    def needs_choice(self) -> bool:
        """Whether the new decision is accepted only with a choice about the older one."""
        return self.evolution in ("update", "contradict", "exception")


class Resolution(Value, frozen=True, kw_only=True):
    """What a person chose about a finding."""

    finding: Finding
    choice: Choice
    reason: str = ""
    """Why both stay in force; empty where the older decision is superseded."""
