"""A sample of sessions: of each stratum its share, and one of each shape; the seed says which."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from preflights_es.kernel.ports import Stored

_ASKED: Final = re.compile(rb'"question":\{"id":"([^"]*)"')

Stratum = tuple[str, str, str]
"""Workflow, provider and status."""


class Candidate(NamedTuple):
    """A session that may be taken."""

    place: int
    """Among all of them."""
    key: str
    """Its id and where it lies."""
    stratum: Stratum
    shape: bytes


class Sampled(NamedTuple):
    """What was taken."""

    places: frozenset[int]
    shapes: int
    """Of those that there are."""
    of_shapes: int


def shape_of(stored: Sequence[Stored]) -> bytes:
    """Of what types its events are, and what it asked, in turn; texts are no matter."""
    types = sorted({one.type for one in stored})
    asked = [found for one in stored for found in _ASKED.findall(one.data or b"")]
    return sha256(repr((types, asked)).encode()).digest()[:8]


def sampled(candidates: Iterable[Candidate], number: int, seed: int) -> Sampled:
    """So many of them: first one of each shape, then of each stratum its share."""
    order = sorted(candidates, key=lambda one: _drawn(seed, one.key))
    first = {one.shape: one for one in reversed(order)}
    taken = [one for one in order if first[one.shape] is one][:number]
    shapes = len(taken)
    places = {one.place for one in taken}
    rest: dict[Stratum, list[Candidate]] = defaultdict(list)
    for one in reversed(order):
        if one.place not in places:
            rest[one.stratum].append(one)
    due = _shares(Counter(one.stratum for one in order), number)
    due.subtract(Counter(one.stratum for one in taken))
    while len(places) < number and rest:
        stratum = max(rest, key=lambda one: (due[one], one))
        places.add(rest[stratum].pop().place)
        due[stratum] -= 1
        if not rest[stratum]:
            del rest[stratum]
    return Sampled(frozenset(places), shapes, len(first))


def _drawn(seed: int, key: str) -> bytes:
    return sha256(f"{seed} {key}".encode()).digest()


def _shares(sizes: Counter[Stratum], number: int) -> Counter[Stratum]:
    """How many of each stratum, at least one."""
    whole = sizes.total()
    return Counter({key: max(round(number * size / whole), 1) for key, size in sizes.items()})
