"""The reference: a question becomes a query, and what a model says becomes words and findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from preflights_es.features.recall.domain.events import LearningAsked
from preflights_es.features.recall.domain.values import LEARNED_MAX, QUERIES_MAX, WORDS_MAX, Found
from preflights_es.kernel.decisions import Evolution, OlderDecision
from preflights_es.kernel.words import words

EMPTY: Final = ("other", "add", "introduce", "hinzufuegen", "einfuehren")
"""The category of whatever has none, and verbs that begin any intention: they say nothing."""
NOTHING: Final[Mapping[str, Evolution]] = MappingProxyType({})

# 1. Asking -----------------------------------------------------------------------------------


def rewritten(question: str) -> tuple[str, ...]:
    """The words of a question that count, as one query; none where it has no such word."""
    own = wanted((question,))[:WORDS_MAX]
    return (" ".join(own),) if own else ()


def wanted(queries: Iterable[str]) -> tuple[str, ...]:
    """The words that are looked for, each once."""
    found = [word for query in queries for word in words(query)[:WORDS_MAX] if word not in EMPTY]
    return tuple(dict.fromkeys(found))[: QUERIES_MAX * WORDS_MAX]


# 2. Learning and comparing -------------------------------------------------------------------


def gained(decision: LearningAsked, names: Iterable[str]) -> tuple[str, ...]:
    """The words of names that the decision does not have itself, each once."""
    own = (decision.title, decision.intention, decision.category)
    has = words(" ".join((*own, *(text for pair in decision.fields for text in pair))))
    return tuple(word for word in words(" ".join(names)) if word not in has)[:LEARNED_MAX]


def standing(
    older: Iterable[OlderDecision], said: Mapping[str, Evolution] = NOTHING
) -> tuple[OlderDecision, ...]:
    """What the rules find, with what a model says of it by uid; without `none`.

    A model adds a finding or changes its type. It takes none away, and no choice from the person.
    """
    judged = [_judged(one, said.get(one.related.uid, "none")) for one in older]
    return tuple(one for one in judged if one.evolution != "none")


def _judged(found: OlderDecision, said: Evolution) -> OlderDecision:
    if said in ("none", found.evolution):
        return found
    made = replace(found, evolution=said, by="model")
    return found if found.needs_choice and not made.needs_choice else made


# 3. Answering --------------------------------------------------------------------------------


def best(found: Iterable[Found]) -> list[Found]:
    """Decisions that were found, in the order of the answer."""
    return sorted(found, key=_order)


def _order(one: Found) -> tuple[int, int, str]:
    """The higher score, then the newer, then the uid."""
    return (-one.score, -one.accepted_at, one.uid)
