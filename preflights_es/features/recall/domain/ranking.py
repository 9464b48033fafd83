"""BM25 over words that were counted: the rarer, the better placed and the more often, the higher.

One small function for every store. PostgreSQL's own ranking knows no rarity, SQLite's stems English
alone and keeps deleted words in its file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from math import log
from typing import Any, Final, NamedTuple

from preflights_es.features.recall.domain.events import RESULTS_MAX, Match

WEIGHTS: Final = (0.0, 3.0, 3.0, 4.0, 2.0, 2.0, 2.0, 1.0, 1.5)
"""Of a word by its place, in the order of the places of `projections.memory`."""
MORE: Final = 0.5  # each further time that a word stands somewhere
SATURATION: Final = 2.0  # how much it still counts that a word comes again (`k1`)
LENGTH: Final = 0.5  # how much a long decision loses (`b`)
SUPERSEDED: Final = 0.7  # what a superseded decision counts
QUALITY: Final = (0.0, 1.0, 1.0, 1.0, 0.8, 0.9, 1.2, 0.6, 0.6)
"""How sure it is by its place that a word is what the decision is about."""
SHARE: Final = 0.5  # of what the words of a question could say, what an answer must have
SURE: Final = 0.61
"""Or this much, where a word of one decision alone says one: more than one of a reason does."""
GUESSED: Final = 0.8  # of a word that stands for another by a part, an error or a synonym
LONGER: Final = 0.5  # of one that counts less than this for another, and only begins like it
UNKNOWN: Final = 0.5  # what a word that no decision has counts of it
POINTS: Final = 100  # of a score of one


Variants = dict[str, float]
"""Words of decisions that stand for one of a question, and how much each counts."""


class Corpus(NamedTuple):
    """How much is looked through."""

    documents: int
    words: int


class Place(NamedTuple):
    """Where a decision stands, and what the order of matches asks of it."""

    session_id: str
    version: int
    accepted_at: int
    superseded_at: int | None
    length: int


class Scored(NamedTuple):
    """A decision with what it scores, and how much of the question it answers."""

    uid: str
    score: float
    share: float
    sure: float
    """The same, where a word that a single decision has says one."""


Hit = tuple[str, str, float, float]
"""A word of the question, one of the decision, how much that counts, and how sure it is."""
Hits = dict[str, dict[str, tuple[float, float]]]
"""By word of the question: words of the decision, with how much each counts and how sure it is."""


def answers(one: Scored) -> bool:
    """Whether a question may be about a decision."""
    return one.share >= SHARE or one.sure >= SURE


def ranked(
    rows: Iterable[Mapping[str, Any]],
    wanted: Mapping[str, Variants],
    corpus: Corpus,
    *,
    enough: Callable[[Scored], bool] = answers,
    limit: int = RESULTS_MAX,
) -> list[Match]:
    """The decisions that have words of a question, the best first.

    Args:
        rows: of the projection `memory`; others than those that match may be among them.
        wanted: by word of the question, what counts as it.
        enough: which of them count.
    """
    having, places = _gathered(rows, wanted)

    def hits(uid: str) -> Hits:
        return _by_word(having[uid])

    found = nsmallest(
        limit,
        filter(enough, scored(hits, places, tuple(wanted), corpus)),
        key=lambda one: (-round(one.score * POINTS), -places[one.uid].accepted_at, one.uid),
    )
    return [
        Match(
            session_id=places[one.uid].session_id,
            version=places[one.uid].version,
            uid=one.uid,
            accepted_at=places[one.uid].accepted_at,
            score=round(one.score * POINTS),
            words=tuple(word for word in wanted if word in of),
            terms=tuple(term for terms in of.values() for term in terms),
        )
        for one in found
        for of in [hits(one.uid)]
    ]


def scored(
    hits: Callable[[str], Hits], places: Mapping[str, Place], words: Sequence[str], corpus: Corpus
) -> Iterator[Scored]:
    """What each decision scores, in no order."""
    total = max(corpus.documents, len(places), 1)
    average = max(corpus.words / max(corpus.documents, 1), 1)
    having = Counter(word for uid in places for word in hits(uid))
    rare = {word: rarity(having[word], total) for word in words}
    could = sum(one if having[word] else UNKNOWN * one for word, one in rare.items()) or 1.0
    most = rarity(1, total)
    for uid, place in places.items():
        of = hits(uid)
        norm = SATURATION * (1 - LENGTH + LENGTH * place.length / average)
        score = known = 0.0
        for word, terms in of.items():
            count = max(weight for weight, _ in terms.values())
            score += rare[word] * count * (SATURATION + 1) / (count + norm)
            known += rare[word] * max(sure for _, sure in terms.values())
        factor = 1.0 if place.superseded_at is None else SUPERSEDED
        yield Scored(uid, score * factor, known / could, known / most)


def rarity(having: int, total: int) -> float:
    """How much a word says that some of all decisions have."""
    return log(1 + (total - having + 0.5) / (having + 0.5))


def _by_word(hits: Iterable[Hit]) -> Hits:
    found: Hits = {}
    for word, term, counts, sure in hits:
        found.setdefault(word, {})[term] = counts, sure
    return found


def _gathered(
    rows: Iterable[Mapping[str, Any]], wanted: Mapping[str, Variants]
) -> tuple[dict[str, tuple[Hit, ...]], dict[str, Place]]:
    """By uid: a decision's words, and where it stands."""
    of_term: dict[str, list[tuple[str, float]]] = {}
    for word, variants in wanted.items():
        for term, factor in variants.items():
            of_term.setdefault(term, []).append((word, factor))
    having: dict[str, tuple[Hit, ...]] = {}
    same: dict[Hit, Hit] = {}  # many decisions have the same: each is held once
    places: dict[str, Place] = {}
    for row in rows:
        term, uid = row["term"], row["uid"]
        if term not in of_term:
            continue
        if uid not in places:
            names = ("session_id", "version", "accepted_at", "superseded_at", "length")
            places[uid] = Place(*(row[name] for name in names))
        weight = WEIGHTS[row["field"]] + MORE * (row["count"] - 1)
        for word, factor in of_term[term]:
            sure = QUALITY[row["field"]] * _sureness(factor)
            hit = word, term, weight * factor, sure
            having[uid] = (*having.get(uid, ()), same.setdefault(hit, hit))
    return having, places


def _sureness(factor: float) -> float:
    """How sure a word is that counts so much for one of the question."""
    if factor == 1.0:
        return 1.0
    return GUESSED if factor >= LONGER else LONGER
