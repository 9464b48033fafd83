"""The five routes of seed 1, and what they know of the domain.

A generator leans towards what the data says and strays from it by chance, within its schema: a
model that is always right finds no bugs. No outcome starves, whatever the data is.
"""

from __future__ import annotations

from typing import Final

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.json import encoded
from preflights_es.kernel.simulation import Draws, Route
from preflights_es.providers.simulated.lexicon import (
    ABOUT,
    ANGLES,
    COMPANY,
    KNOWN,
    LEANING,
    REASONS,
    SIGNS,
    WORDLESS,
)
from preflights_es.providers.simulated.schemas import (
    CATEGORIES,
    CATEGORIES_MAX,
    ENTITY_TYPES,
    EVOLUTIONS,
)
from preflights_es.providers.simulated.words import data_of, names, word_before, words

WEIGHT_MAX: Final = 28  # weight of an outcome that the data speaks for; the others have 1 to 5

# 1. Entities ---------------------------------------------------------------------------------


def entities(draws: Draws, request: CompletionRequested) -> str:
    """The names in the data, typed; where there are none, its words as topics."""
    text = data_of(request)
    found: list[dict[str, str | float]] = []
    for name, at in names(text).items():
        kind = _known(name)
        if kind is not None:
            found.append(_entity(name, kind, 80 + draws.below(20)))
        elif draws.below(10):  # one name in ten is overlooked
            kind = _guessed(draws, word_before(text, at))
            found.append(_entity(name, kind, 40 + draws.below(56)))
    if not found or draws.below(2):
        topics = draws.sample(words(text), draws.between(1, 2))
        named = {str(entity["name"]).lower() for entity in found}
        found += (_entity(t, "topic", draws.between(30, 80)) for t in topics if t not in named)
    return _json({"entities": found})


def _entity(name: str, kind: str, percent: int) -> dict[str, str | float]:
    return {"name": name, "type": kind, "confidence": percent / 100}


def _known(name: str) -> str | None:
    if " " not in name:
        return KNOWN.get(name)
    parts = name.split(" ")
    if parts[-1] in COMPANY:
        return "organization"
    return KNOWN.get(" ".join(parts[:2])) or KNOWN.get(parts[0])


_GUESSES: Final = tuple(
    tuple(12 if i == likely else 1 for i in range(len(ENTITY_TYPES)))
    for likely in range(len(ENTITY_TYPES))
)
_NO_GUESS: Final = (4, 3, 2, 2, 1, 3)


def _guessed(draws: Draws, before: str) -> str:
    likely = LEANING.get(before)
    return draws.weighted(ENTITY_TYPES, _NO_GUESS if likely is None else _GUESSES[likely])


# 2. Queries ----------------------------------------------------------------------------------


def queries(draws: Draws, request: CompletionRequested) -> str:
    """Ways to ask for what the data asks for, at most four, the first the nearest to it."""
    found = words(data_of(request))
    if not found:
        return _json(draws.sample(WORDLESS, draws.between(2, 4)))
    subjects = draws.sample(found, 3)
    made = [" ".join(found[:8])]
    for angle in draws.sample(ANGLES, draws.between(1, 3)):
        first = draws.pick(subjects)
        others = [subject for subject in subjects if subject != first]
        made.append(angle.format(first, draws.pick(others) if others else "details"))
    return _json(list(dict.fromkeys(made)))


# 3. Evolution --------------------------------------------------------------------------------


def evolution(draws: Draws, request: CompletionRequested) -> str:
    """How a new statement stands to an old one; signs in the data make their type likely."""
    text = data_of(request)
    found = words(text)
    weights = [5, 4, 2, 2, 2]
    for word in found:
        if (at := SIGNS.get(word)) is not None:
            weights[at] = min(weights[at] + 12, WEIGHT_MAX)
    kind = draws.weighted(EVOLUTIONS, weights)
    subjects = list(names(text, 2)) or [word for word in found if word not in SIGNS]
    reason = draws.pick(REASONS[kind]).format(draws.pick(subjects or ["the subject"]))
    return _json({"type": kind, "reason": reason, "confidence": draws.between(50, 99) / 100})


# 4. Categories -------------------------------------------------------------------------------


def categories(draws: Draws, request: CompletionRequested) -> str:
    """One to three categories, those first that the data speaks of."""
    weights = [1] * len(CATEGORIES)
    for word in words(data_of(request)):
        if (at := ABOUT.get(word)) is not None:
            weights[at] = min(weights[at] + 9, WEIGHT_MAX)
    chosen: list[str] = []
    for _ in range(draws.weighted(range(1, CATEGORIES_MAX + 1), (5, 3, 1))):
        category = draws.weighted(CATEGORIES, weights)
        weights[CATEGORIES.index(category)] = 0
        chosen.append(category)
    return _json(chosen)


# 5. Everything else --------------------------------------------------------------------------


def generic(draws: Draws, _request: CompletionRequested) -> str:
    """Text that no other prompt gets."""
    return f"SimResponse[{draws.hex()}]"


def _json(value: object) -> str:
    return encoded(value).decode()


# 6. The table --------------------------------------------------------------------------------

GENERIC: Final = "generic"

FIVE: Final[dict[str, Route]] = {
    "extract_entities": Route(entities, ("extract entities",), ("extract", "entity")),
    "rewrite_query": Route(queries, ("rewrite query",), ("rewrite|rewrote|rewritten", "query")),
    "detect_evolution": Route(evolution, ("detect evolution",), ("detect", "evolve|evolution")),
    "categorize": Route(
        categories,
        ("categorize",),
        ("categorize|categorise|categorization|categorisation",),
    ),
    GENERIC: Route(generic),
}
"""In the order of seed 1's table; what asks for none of the others is generic."""
