"""Timing that survives a shared machine: both sides in turn, and a ratio of the two."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import NamedTuple


class Figure(NamedTuple):
    """One speed, held against its floor."""

    what: str
    ratio: float
    """Ours divided by the floor; smaller is faster."""
    limit: float
    stretch: float | None
    ours: str
    """The absolute figure, for a feeling."""
    floor: str

    @property
    def verdict(self) -> str:
        """How the ratio stands to its limits."""
        if self.stretch is not None and self.ratio <= self.stretch:
            return "stretch"
        return "held" if self.ratio <= self.limit else "MISSED"


class Pair(NamedTuple):
    """What both sides took, and their ratio."""

    ours: float
    floor: float
    ratio: float

    def figure(
        self, what: str, limit: float, shown: Callable[[float], str], stretch: float | None = None
    ) -> Figure:
        """As a figure whose two sides are shown alike."""
        return Figure(what, self.ratio, limit, stretch, shown(self.ours), shown(self.floor))


def paired(ours: Callable[[], float], floor: Callable[[], float], rounds: int) -> Pair:
    """Both sides in turn, after one warm-up of each; seconds as each function returns them."""
    ours()
    floor()
    pairs = [(ours(), floor()) for _ in range(rounds)]
    return Pair(
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )


def quickest(ours: Callable[[], float], floor: Callable[[], float], rounds: int) -> Pair:
    """As `paired`, of CPU time, to which other work on the machine only adds: the least counts."""
    ours()
    floor()
    pairs = [(ours(), floor()) for _ in range(rounds)]
    our_least, floor_least = min(a for a, _ in pairs), min(b for _, b in pairs)
    return Pair(our_least, floor_least, our_least / floor_least)
