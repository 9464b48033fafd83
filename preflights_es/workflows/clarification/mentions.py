"""The values that a text names, and the words around them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
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
    said: list[int]
    """Of each topic what independent words say: a word inside a longer term adds nothing."""
    called: list[tuple[int, int]]
    """Where a topic is called by a name, and which."""
    asked: list[int]
    """Where words ask for a decision or begin something."""
    mentions: list[Mention]
    roles: list[list[tuple[int, int]]]
    """By role: the first word of each term, and the word behind its last."""
    hits: list[Hit]


def seen_in(text: Text, finder: Finder) -> Seen:
    hits = finder.terms.found(text)
    scores, said, ends, worths = ([0] * (len(finder.ids) + len(GROUPS)) for _ in range(4))
    asking = (len(scores) - 1, len(scores) - 3)
    called: list[tuple[int, int]] = []
    asked: list[int] = []
    roles: list[list[tuple[int, int]]] = [[] for _ in ROLES]
    values = []
    weighing, first_value = finder.first_role, finder.first_value
    meanings, places = finder.meanings, finder.roles
    known: set[int] = set()
    for hit in hits:
        start, end, number = hit
        if number >= weighing:
            if number >= first_value:
                values.append(hit)
            else:
                roles[places[number]].append((start, end))
        elif number not in known:
            known.add(number)
            group, weight, is_name, _, _, _ = meanings[number]
            scores[group] += weight
            if weight <= 0:
                said[group] += weight
            elif start >= ends[group]:
                said[group] += weight
                ends[group], worths[group] = end, weight
            elif weight > worths[group]:
                said[group] += weight - worths[group]
                worths[group] = weight
            if is_name:
                called.append((start, group))
            elif group in asking:
                asked.append(start)
    mentions = _kept(_fitting(_mentions(values, hits, scores, finder), scores), scores)
    return Seen(scores, said[: len(finder.ids)], called, asked, mentions, roles, hits)


def _mentions(
    values: list[Hit], hits: list[Hit], scores: list[int], finder: Finder
) -> list[Mention]:
    """The values that terms name, and shared ones where words near them speak for their topic."""
    mentions: list[Mention] = []
    spoken: dict[int, set[int]] = {}
    for start, end, number in values:
        group, _, _, value, is_loose, is_shared = finder.meanings[number]
        if is_shared:
            if scores[group] < LIKELY:
                continue
            if start not in spoken:
                spoken[start] = around(start, hits, finder.speaks, end)
            if group not in spoken[start]:
                continue
        mentions.append(Mention(start, end, group, value, is_loose, is_shared))
    return mentions


def around(at: int, hits: list[Hit], speaks: Mapping[int, int], end: int = 0) -> set[int]:
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
