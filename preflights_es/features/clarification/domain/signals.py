"""Packages and images of the repository, as `LLMContext.technology_signals` holds them.

Seed 0 (section 9) gives the signals as texts: one is `PostgreSQL: psycopg in pyproject.toml`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from preflights_es.features.clarification.domain.events import (
    IntentionDeclared,
    Present,
    TopicsFound,
)
from preflights_es.features.clarification.domain.pack import Topic, asked_topic, loaded
from preflights_es.features.clarification.domain.values import LLMContext
from preflights_es.kernel.text import late_pattern
from preflights_es.kernel.words import canonical, folded

PRESENT_MAX: Final = 3  # options that stand first because the repository has them

_SIGNAL: Final = late_pattern(r"(?:(?P<product>[^:]+): )?(?P<package>\S+) in (?P<path>.+)")


class Signal(NamedTuple):
    """What a file of the repository lists."""

    product: str
    """By its name in `kernel/names.txt`; empty where the package is in no product's list."""
    package: str
    """Or image."""
    path: str

    def written(self) -> str:
        """As a text of the context."""
        product = f"{self.product}: " if self.product else ""
        return f"{product}{self.package} in {self.path}"


def signals(context: LLMContext | None) -> tuple[Signal, ...]:
    """The signals of a context; none of a text in another form."""
    said = context.technology_signals if context else ()
    found = map(_SIGNAL.fullmatch, said)
    return tuple(Signal(one["product"] or "", one["package"], one["path"]) for one in found if one)


def own_names(new: IntentionDeclared) -> dict[str, str]:
    """Values that are names in this project: of its packages and images, and those in force."""
    said = [one.package for one in signals(new.context)]
    lines = () if new.told is UNSET else new.told
    said += [value for one in lines for value in one.values or ()]
    return {folded(name): name for name in said}


def with_present(new: IntentionDeclared, found: TopicsFound) -> TopicsFound:
    """What was found, with the values of the first topic that the repository has already."""
    topic = asked_topic(loaded(new.inlined), found) if found.kind == "choice" else None
    present = _present(signals(new.context), topic) if topic else ()
    if not present:
        return found
    from msgspec.structs import replace

    kept: tuple[Present, ...] | UnsetType = present
    return replace(found, present=kept)


def _present(said: tuple[Signal, ...], topic: Topic) -> tuple[Present, ...]:
    values = {canonical(value): value for value in (*topic.values, *topic.options)}
    found: dict[str, Present] = {}
    for one in said:
        value = values.get(canonical(one.product)) if one.product else None
        if value and value not in found:
            found[value] = Present(value, f"{one.package} is in {one.path}")
    return tuple(found.values())[:PRESENT_MAX]
