"""Which decisions in force concern a task, and which of them stand at one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from preflights_es.features.recall.domain.ranking import concerns
from preflights_es.features.recall.use.searching import ranks
from preflights_es.features.recall.use.variants import stems
from preflights_es.kernel.words import begins
from preflights_es.use.request import Request


def near(request: Request, task: str, places: Mapping[str, tuple[str, str]]) -> dict[str, int]:
    """By uid of a decision, and by path of a record: the order of those that a task concerns.

    Those come first whose scope the task names, then what memory finds, then those whose topic it
    names.

    Args:
        places: scope and topic of the decisions in force, by uid or path, in their order.
    """
    said, begun = stems(task), begins(task)

    def is_named(text: str) -> bool:
        begin = begins(text)
        stemmed = stems(text) if begin and begin <= begun else ()
        return any(own <= all_ for own, all_ in zip(stemmed, said, strict=False))

    by_scope = [uid for uid, (scope, _) in places.items() if is_named(scope)]
    by_topic = [uid for uid, (_, topic) in places.items() if is_named(topic)]
    found = ranks(request, task, concerns, widens=False)
    return {uid: n for n, uid in enumerate(dict.fromkeys((*by_scope, *found, *by_topic)))}


def places(scopes: Iterable[str]) -> dict[str, str]:
    """For each scope the first one that says the same, by stems of one language."""
    first: dict[tuple[int, frozenset[str]], str] = {}
    found = {}
    for scope in scopes:
        keys = [*enumerate(stems(scope))]
        place = next((first[key] for key in keys if key in first), scope)
        found[scope] = place
        for key in keys:
            first.setdefault(key, place)
    return found
