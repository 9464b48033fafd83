"""Two values in force at one place, as a list, a brief and a check tell them."""

from __future__ import annotations

from preflights_es.kernel.events import Value
from preflights_es.kernel.text import escaped_text, one_line


class DecisionConflict(Value, frozen=True):
    """A field with two values in force, which no person kept on purpose."""

    category: str
    """Without a topic what both titles are about."""
    scope: str
    field: str
    """Empty without a topic."""
    values: tuple[tuple[str, str], ...]
    """Pairs of value and the decision's name, or the path of a record; newest first."""


def describe_conflict(one: DecisionConflict) -> str:
    """`Database, Type for orders: MySQL (ADR-0003) and Oracle (ADR-0002)`, on one line."""
    what = ", ".join(filter(None, (one.category, one.field)))
    place = f" for {one.scope}" if one.scope else ""
    values = " and ".join(f"{value} ({name})" for value, name in one.values)
    return escaped_text(one_line(f"{what}{place}: {values}"))
