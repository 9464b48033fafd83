"""200 decisions, and 40 questions with the one that each is about."""

from __future__ import annotations

from typing import Final, NamedTuple

from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)


class Case(NamedTuple):
    """A decision: its category, field, value and intention."""

    category: str
    field: str
    value: str
    intention: str


_SPECIFIC: Final = tuple(FILED["_SPECIFIC"])
_AREAS: Final = ("warehouse", "newsroom", "clinic", "garage")

DECISIONS: Final = (
    *(Case(*one) for one in _SPECIFIC),
    *(
        Case(f"{area.title()} rule", "Rule", f"Plan {n} of the {area}", f"Settle matter {n} there")
        for area in _AREAS
        for n in range(40)
    ),
)
"""40 of different categories, and 160 that only fill the log."""

RECALLS: Final = tuple(FILED["RECALLS"])
"""Questions, each with the value of the decision that it is about."""

PLAIN: Final = tuple(FILED["PLAIN"])
"""More of them, as a stranger to the topics' words asks."""
