"""The reference: a question becomes queries, and words that match become a ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from preflights_es.core.evolution import Evolution, Finding
from preflights_es.core.word_stems import said, stems
from preflights_es.workflows.recall.events import LearningAsked
from preflights_es.workflows.recall.values import (
    LEARNED_MAX,
    QUERIES_MAX,
    SAID,
    WORDS_MAX,
    Found,
    Match,
)
from preflights_es.workflows.recall.vocabulary import TOPICS, Topic

NOTHING: Final[Mapping[str, Evolution]] = MappingProxyType({})


class Wanted(NamedTuple):
    """A word that is looked for."""

    word: str
    times: int
    """How often it counts."""


# 1. Rewriting --------------------------------------------------------------------------------


def rewritten(question: str) -> tuple[str, ...]:
    """The words of a question; those of its topics in English; and in German."""
    own = [word for _, word in said(question)][:WORDS_MAX]
    known = set(stems(question))
    topics = [topic for topic in TOPICS if known & _stems_of(topic)]
    english = _together([topic.english for topic in topics], known)
    german = _together([topic.german for topic in topics], known | set(stems(" ".join(english))))
    return tuple(" ".join(words) for words in (own, english, german) if words)[:QUERIES_MAX]


def _stems_of(topic: Topic) -> set[str]:
    return {stem for word in (*topic.english, *topic.german) for stem in stems(word)}


def _together(lists: list[tuple[str, ...]], known: set[str]) -> list[str]:
    """The words of several topics in turn, without those that are there."""
    longest = max(map(len, lists), default=0)
    turns = [words[n] for n in range(longest) for words in lists if n < len(words)]
    found = {stem: word for stem, word in said(" ".join(turns)) if stem not in known}
    return list(found.values())[:WORDS_MAX]


# 2. Learning and comparing -------------------------------------------------------------------


def gained(decision: LearningAsked, names: Iterable[str]) -> tuple[str, ...]:
    """The words of names that the decision does not have itself, each once."""
    own = (decision.title, decision.intention, decision.category)
    has = set(stems(" ".join((*own, *(text for pair in decision.fields for text in pair)))))
    new = dict.fromkeys(word for stem, word in said(" ".join(names)) if stem not in has)
    return tuple(new)[:LEARNED_MAX]


def standing(
    older: Iterable[Finding], said: Mapping[str, Evolution] = NOTHING
) -> tuple[Finding, ...]:
    """What the rules find, with what a model says of it by uid; without `none`.

    A model adds a finding or changes its type. It takes none away, and no choice from the person.
    """
    judged = [_judged(one, said.get(one.related.uid, "none")) for one in older]
    return tuple(one for one in judged if one.evolution != "none")


def _judged(found: Finding, said: Evolution) -> Finding:
    if said in ("none", found.evolution):
        return found
    made = replace(found, evolution=said, by="model")
    return found if found.needs_choice and not made.needs_choice else made


# 3. Ranking ----------------------------------------------------------------------------------


def wanted(question: str, queries: Iterable[str]) -> dict[str, Wanted]:
    """The words that are looked for, by stem; those of the question itself count more."""
    own = set(stems(question))
    found: dict[str, Wanted] = {}
    for query in queries:
        for stem, word in said(query)[:WORDS_MAX]:
            found.setdefault(stem, Wanted(word, SAID if stem in own else 1))
    return found


class Place(NamedTuple):
    """Where a decision stands, and what the order of matches asks of it."""

    session_id: str
    version: int
    uid: str
    accepted_at: int
    superseded_at: int | None


def ranked(
    rows: Iterable[Mapping[str, Any]],
    words: Mapping[str, Wanted],
    *,
    everything: bool,
    learning: Callable[[str], str] = lambda _: "",
    place_of: Callable[[str], Place | None] = lambda _: None,
) -> list[Match]:
    """The decisions of which a word matches, the best first.

    Args:
        rows: of the projection `memory`; others than those that match may be among them.
        everything: whether superseded decisions count, too.
        learning: the session in which words of a decision were learned last, by its uid.
        place_of: where a decision stands of which only learned words match, by its uid.
    """
    matched: dict[str, dict[str, int]] = {}
    said: dict[str, set[str]] = {}
    places: dict[str, Place | None] = {}
    for row in rows:
        term, uid = row["term"], row["uid"]
        is_learned = row["accepted_at"] is None
        if term not in words or (is_learned and row["session_id"] != learning(uid)):
            continue
        weights = matched.setdefault(uid, {})
        weights[term] = max(weights.get(term, 0), row["weight"])
        if not is_learned:
            said.setdefault(uid, set()).add(term)
            names = ("session_id", "version", "uid", "accepted_at", "superseded_at")
            places[uid] = Place(*(row[name] for name in names))
    found: list[Match] = []
    for uid, weights in matched.items():
        place = places[uid] if uid in places else place_of(uid)
        if place is None or (place.superseded_at is not None and not everything):
            continue
        terms = [stem for stem in words if stem in weights]
        found.append(
            Match(
                *place[:4],
                sum(weights[stem] * words[stem].times for stem in terms),
                tuple(words[stem].word for stem in terms),
                tuple(words[stem].word for stem in terms if stem not in said.get(uid, ())),
            )
        )
    return sorted(found, key=_order)


def best(found: Iterable[Found]) -> list[Found]:
    """Decisions that were found, in the order of the answer."""
    return sorted(found, key=_order)


def _order(one: Match | Found) -> tuple[int, int, str]:
    """The higher score, then the newer, then the uid."""
    return (-one.score, -one.accepted_at, one.uid)
