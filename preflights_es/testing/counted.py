"""Time, ids and salt that are the same in every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from preflights_es.kernel import ids
from preflights_es.runtime.runner import Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.words.workflow import Workflow

NOON: Final = 1_790_000_000_000_000  # microseconds since 1970 UTC: a day of September 2026
SECOND: Final = 1_000_000  # microseconds


class Clock:
    """Moves by a second at every look."""

    def __init__(self, at: int = NOON) -> None:
        self.at = at

    def __call__(self) -> int:
        """Microseconds since 1970 UTC."""
        self.at += SECOND
        return self.at


class Ids:
    """UUIDv7s that count."""

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def __call__(self) -> str:
        """The next one."""
        self.count += 1
        return ids.uuid7(NOON // 1_000 + self.count, self.count.to_bytes(10, "big"))


def salt() -> bytes:
    """Sixteen bytes that hide nothing."""
    return bytes(16)


def memory_runner(
    workflows: Mapping[str, Workflow[Any]], began: int = NOON, ids_from: int = 0
) -> Runner:
    """Workflows over an empty store in memory; no retry waits."""
    clock = Clock(began)
    return Runner(MemoryStore(clock, salt), workflows, clock, Ids(ids_from))
