"""What `preflights_es.testing.counted` has, and a runner of all our workflows."""

from __future__ import annotations

from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.testing import counted
from preflights_es.testing.counted import NOON, SECOND, Clock, Ids, salt
from preflights_es.testing.played import PROJECT

__all__ = ["NOON", "PROJECT", "SECOND", "Clock", "Ids", "memory_runner", "salt"]


def memory_runner() -> Runner:
    """Every workflow over an empty store that lives as long as the test."""
    return counted.memory_runner(WORKFLOWS)
