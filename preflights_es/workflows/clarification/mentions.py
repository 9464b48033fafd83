"""The values that a text names, and the words around them."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, NamedTuple

from preflights_es.workflows.clarification.index import GROUPS, NOTHING, ROLES, Finder
from preflights_es.workflows.clarification.terms import Hit, Text

LIKELY: Final = 2
NEAR: Final = 6  # words between two values, or a value and its topic, that belong together


class Mention(NamedTuple):
    """A value, from its first word to before the word `end`."""

    start: int
    end: int
    topic: int
    value: str
    is_loose: bool
    is_shared: bool = False


class Seen(NamedTuple):
    """What the terms of a text say, before it is weighed."""

    scores: list[int]
    """Of each topic, then of each group."""
    called: list[tuple[int, int]]
    """Where a topic is called by a name, and which."""
    asked: list[int]
    """Where words ask for a decision or begin something."""
    mentions: list[Mention]
    roles: list[list[tuple[int, int]]]
    """By role: the first word of each term, and the word behind its last."""
    hits: list[Hit]


def seen_in(text: Text, finder: Finder) -> Seen:
    scores = [0] * (len(finder.ids) + len(GROUPS))
    weights, meanings = finder.weights, finder.meanings
    hits = finder.terms.found(text)
    others = [hit for hit in hits if not weights[hit[2]]]
    firsts = {number: start for start, _, number in reversed(hits) if weights[number]}
    called: list[tuple[int, int]] = []
    asked: list[int] = []
    asking = (len(scores) - 1, len(scores) - 3)
    for number, start in firsts.items():
        group, weight, is_name, _, _, _ = meanings[number]
        scores[group] += weight
        if is_name:
            called.append((start, group))
        elif group in asking:
            asked.append(start)
    mentions: list[Mention] = []
    roles: list[list[tuple[int, int]]] = [[] for _ in ROLES]
    spoken: dict[int, set[int]] = {}
    for start, end, number in others:
        group, _, _, value, is_loose, is_shared = meanings[number]
        if not value:
            roles[group - len(scores)].append((start, end))
        else:
            if is_shared and start not in spoken:
                spoken[start] = around(start, hits, finder.speaks, end)
            if not is_shared or group in spoken[start]:
                mentions.append(Mention(start, end, group, value, is_loose, is_shared))
    return Seen(scores, called, asked, _kept(_fitting(mentions, scores), scores), roles, hits)


def around(at: int, hits: list[Hit], speaks: list[int], end: int = 0) -> set[int]:
    """What words near a place speak for, without those of a value that ends before `end`."""
    first, last = at - NEAR, at + NEAR
    near = starting(first, last + 1, hits)
    return {speaks[number] for start, _, number in near if not at <= start < end}


def starting(first: int, stop: int, hits: list[Hit]) -> list[Hit]:
    """Those that start with the word `first` or behind it, and before `stop`."""
    return hits[bisect_left(hits, (first,)) : bisect_left(hits, (stop,))]


def _fitting(mentions: list[Mention], scores: list[int]) -> list[Mention]:
    """Without shared values of topics that the text does not name more than their own topic."""
    least = {(m.start, m.end): scores[m.topic] + 1 for m in mentions if not m.is_shared}
    return [
        m
        for m in mentions
        if not m.is_shared or scores[m.topic] >= max(LIKELY, least.get((m.start, m.end), 0))
    ]


def _kept(mentions: list[Mention], scores: list[int]) -> list[Mention]:
    """The longest of those that overlap, and an everyday word only where its topic is named too."""
    firm = {mention.topic for mention in mentions if not mention.is_loose}
    kept: list[Mention] = []
    end = 0
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end, m.is_loose, not m.is_shared)):
        if mention.start < end:
            continue
        if not mention.is_loose or mention.topic in firm or scores[mention.topic] >= LIKELY:
            end = mention.end
            if mention.topic != NOTHING:
                kept.append(mention)
    return kept
