"""Timing that survives a shared machine: both sides in turn, the median of the paired ratios."""

from __future__ import annotations

import resource
import statistics
import subprocess
from collections.abc import Callable, Sequence
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
    """The median of both sides and of their paired ratios."""

    ours: float
    floor: float
    ratio: float


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


def process_seconds(command: Sequence[str], cwd: str) -> float:
    """CPU seconds, user and system, of a whole process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
