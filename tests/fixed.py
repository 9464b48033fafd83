"""What `preflights_es.testing.played` has, and a runner of all our workflows."""

from __future__ import annotations

from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.testing import played
from preflights_es.testing.played import NOON, PROJECT, SECOND, Clock, Ids, salt

__all__ = ["NOON", "PROJECT", "SECOND", "Clock", "Ids", "memory_runner", "salt"]


def memory_runner() -> Runner:
    """Every workflow over an empty store that lives as long as the test."""
    return played.memory_runner(WORKFLOWS)
