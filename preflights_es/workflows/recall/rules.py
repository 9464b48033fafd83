"""The reference: a question becomes queries, and words that match become a ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from preflights_es.core.evolution import Evolution, Finding
from preflights_es.core.word_stems import said, stems
from preflights_es.workflows.recall import first_rules
from preflights_es.workflows.recall.events import LearningAsked
from preflights_es.workflows.recall.values import (
    COMPOUND_MIN,
    LEARNED_MAX,
    PART_MIN,
    QUERIES_MAX,
    RESULTS_MAX,
    SAID,
    WORDS_MAX,
    Found,
    Match,
)
from preflights_es.workflows.recall.vocabulary import TOPICS, Topic

OTHER: Final = "other"
Reader = Callable[[str], dict[str, str]]
"""The stems of a text in its order, each with the first word that has it."""

NOTHING: Final[Mapping[str, Evolution]] = MappingProxyType({})


class Wanted(NamedTuple):
    """A word that is looked for."""

    word: str
    more: int
    """What it counts more than its weight."""


# 1. Rewriting --------------------------------------------------------------------------------


def rewritten(question: str, decider: str = "") -> tuple[str, ...]:
    """The words of a question; those of its topics in English; and in German.

    Args:
        question: as it was asked.
        decider: the rules that read it, as its session names them; empty for those of now.
    """
    read, is_asked = _reading(decider)
    own = read(question)
    topics = [topic for topic in TOPICS if is_asked(topic, own.keys())]
    english = _together([topic.english for topic in topics], own.keys(), read)
    there = own.keys() | read(" ".join(english)).keys()
    german = _together([topic.german for topic in topics], there, read)
    queries = (list(own.values())[:WORDS_MAX], english, german)
    return tuple(" ".join(words) for words in queries if words)[:QUERIES_MAX]


def _reading(decider: str) -> tuple[Reader, Callable[[Topic, AbstractSet[str]], bool]]:
    if decider in first_rules.DECIDERS:
        return (lambda text: dict(first_rules.said(text))), first_rules.is_asked
    return (lambda text: dict(said(text))), _is_asked


def _is_asked(topic: Topic, known: AbstractSet[str]) -> bool:
    """Whether a stem is a topic's, or a compound's that begins with one or ends with a German one.

    No English word counts as an end: "framework" is no kind of work.
    """
    german = set(stems(" ".join(topic.german)))
    every = german.union(stems(" ".join((*topic.english, *topic.asked))))
    begins, ends = _parts(every), _parts(german)
    compounds = (stem for stem in known if len(stem) >= COMPOUND_MIN)
    return not every.isdisjoint(known) or any(
        stem.startswith(begins) or stem.endswith(ends) for stem in compounds
    )


def _parts(found: set[str]) -> tuple[str, ...]:
    return tuple(stem for stem in found if len(stem) >= PART_MIN)


def _together(lists: list[tuple[str, ...]], known: AbstractSet[str], read: Reader) -> list[str]:
    """The words of several topics in turn, without those that are there."""
    longest = max(map(len, lists), default=0)
    turns = [words[n] for n in range(longest) for words in lists if n < len(words)]
    found = [word for stem, word in read(" ".join(turns)).items() if stem not in known]
    return found[:WORDS_MAX]


# 2. Learning and comparing -------------------------------------------------------------------


def gained(decision: LearningAsked, names: Iterable[str]) -> tuple[str, ...]:
    """The words of names that the decision does not have itself, each once."""
    own = (decision.title, decision.intention, decision.category)
    read, _ = _reading(decision.setup.decider)
    has = read(" ".join((*own, *(text for pair in decision.fields for text in pair))))
    new = dict.fromkeys(word for stem, word in read(" ".join(names)).items() if stem not in has)
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
    """The words that are looked for, by stem; those of the question itself count more.

    The category Other says nothing of a decision.
    """
    own = set(stems(question))
    found: dict[str, Wanted] = {}
    for query in queries:
        for stem, word in said(query)[:WORDS_MAX]:
            if stem != OTHER:
                found.setdefault(stem, Wanted(word, SAID if stem in own else 0))
    return found


Weights = dict[str, int]
"""By stem."""


class Place(NamedTuple):
    """Where a decision stands, and what the order of matches asks of it."""

    session_id: str
    version: int
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
    own, learned, places = _gathered(rows, words, learning)
    for uid in learned.keys() - own.keys():
        if (place := place_of(uid)) is not None:
            places[uid] = place
    rare = _rarity([{**learned.get(uid, {}), **own.get(uid, {})} for uid in places])
    found: list[tuple[int, int, str, Weights]] = []
    for uid, place in places.items():
        if place.superseded_at is None or everything:
            weights = {**learned.get(uid, {}), **own.get(uid, {})}
            score = sum(
                (weight + words[term].more) * rare[term] for term, weight in weights.items()
            )
            found.append((-round(score), -place.accepted_at, uid, weights))
    found.sort(key=itemgetter(0, 1, 2))
    return [
        Match(
            session_id=places[uid].session_id,
            version=places[uid].version,
            uid=uid,
            accepted_at=-before,
            score=-lower,
            words=_said_by(words, weights.keys()),
            learned=_said_by(words, weights.keys() - own.get(uid, {}).keys()),
        )
        for lower, before, uid, weights in found[:RESULTS_MAX]
    ]


def _gathered(
    rows: Iterable[Mapping[str, Any]],
    words: Mapping[str, Wanted],
    learning: Callable[[str], str],
) -> tuple[dict[str, Weights], dict[str, Weights], dict[str, Place]]:
    """By uid: the weights of a decision's own words, those of learned ones, and where it stands."""
    own: dict[str, Weights] = {}
    learned: dict[str, Weights] = {}
    places: dict[str, Place] = {}
    for row in rows:
        term, uid, accepted_at = row["term"], row["uid"], row["accepted_at"]
        if term not in words:
            continue
        if accepted_at is None:
            if row["session_id"] == learning(uid):
                learned.setdefault(uid, {})[term] = row["weight"]
            continue
        if uid not in own:
            own[uid] = {}
            place = row["session_id"], row["version"], accepted_at, row["superseded_at"]
            places[uid] = Place(*place)
        own[uid][term] = row["weight"]
    return own, learned, places


def _rarity(matched: Sequence[Weights]) -> dict[str, float]:
    """By stem: more, the fewer of the decisions that match have it; 1 where all of them do."""
    having = Counter(term for weights in matched for term in weights)
    return {term: 1 + log(len(matched) / count) for term, count in having.items()}


def _said_by(words: Mapping[str, Wanted], terms: Collection[str]) -> tuple[str, ...]:
    return tuple(one.word for stem, one in words.items() if stem in terms)


def best(found: Iterable[Found]) -> list[Found]:
    """Decisions that were found, in the order of the answer."""
    return sorted(found, key=_order)


def _order(one: Found) -> tuple[int, int, str]:
    """The higher score, then the newer, then the uid."""
    return (-one.score, -one.accepted_at, one.uid)
