"""The reference: a question becomes queries, and words that match become a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from preflights_es.core.word_stems import said, stems
from preflights_es.workflows.recall.values import (
    QUERIES_MAX,
    SAID,
    WORDS_MAX,
    Found,
    Match,
)
from preflights_es.workflows.recall.vocabulary import TOPICS, Topic


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


# 2. Ranking ----------------------------------------------------------------------------------


def wanted(question: str, queries: Iterable[str]) -> dict[str, Wanted]:
    """The words that are looked for, by stem; those of the question itself count more."""
    own = set(stems(question))
    found: dict[str, Wanted] = {}
    for query in queries:
        for stem, word in said(query)[:WORDS_MAX]:
            found.setdefault(stem, Wanted(word, SAID if stem in own else 1))
    return found


def ranked(
    rows: Iterable[Mapping[str, Any]], words: Mapping[str, Wanted], *, everything: bool
) -> list[Match]:
    """The decisions of which a word matches, the best first.

    Args:
        rows: of the projection `memory`; others than those that match may be among them.
        everything: whether superseded decisions count, too.
    """
    scores: dict[tuple[str, int], int] = {}
    matched: dict[tuple[str, int], set[str]] = {}
    firsts: dict[tuple[str, int], Mapping[str, Any]] = {}
    for row in rows:
        term = row["term"]
        if term not in words or (row["superseded_at"] is not None and not everything):
            continue
        place = (row["session_id"], row["version"])
        firsts.setdefault(place, row)
        scores[place] = scores.get(place, 0) + row["weight"] * words[term].times
        matched.setdefault(place, set()).add(term)
    found = [
        Match(
            *place,
            row["uid"],
            row["accepted_at"] or 0,
            scores[place],
            tuple(one.word for stem, one in words.items() if stem in matched[place]),
        )
        for place, row in firsts.items()
    ]
    return sorted(found, key=_order)


def best(found: Iterable[Found]) -> list[Found]:
    """Decisions that were found, in the order of the answer."""
    return sorted(found, key=_order)


def _order(one: Match | Found) -> tuple[int, int, str]:
    """The higher score, then the newer, then the uid."""
    return (-one.score, -one.accepted_at, one.uid)
