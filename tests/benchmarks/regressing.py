"""A regression run in one process, against the strict replay of the same sessions from memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

from preflights_es.features.regress.change import RunChange
from preflights_es.features.regress.results import Case
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.use.prompt_changes import PromptChange
from preflights_es.use.replays import own_code
from tests.benchmarks.measure import Figure, quickest
from tests.features.regress.sessions import many, regression_of

SESSIONS = 300
STRICT_LIMIT = 1.3
CHILD_LIMIT, CHILD_STRETCH = 5.0, 3.0
ALIKE = RunChange(parameters=(("faults", "malformed=0.0"),))
"""Sent otherwise, and the same to the simulator."""
DIFFERENT = RunChange(
    prompts=(PromptChange("clarify", "", "Ask."), PromptChange("extract", "", "Go."))
)


@cache
def sessions() -> tuple[tuple[Stored, ...], ...]:
    """Clarifications and notes that the simulator led."""
    return tuple(many(SESSIONS))


def figures() -> list[Figure]:
    """CPU time of the same sessions, verification included."""
    return [
        _figure("a strict case", None, STRICT_LIMIT, None),
        _figure("a child that comes to the same", ALIKE, CHILD_LIMIT, CHILD_STRETCH),
        _figure("a child that differs, with its cause", DIFFERENT, CHILD_LIMIT, None),
    ]


def _figure(what: str, change: RunChange | None, limit: float, stretch: float | None) -> Figure:
    events = sum(map(len, sessions())) / SESSIONS
    pair = quickest(_judging(change), _replaying, 7)
    return pair.figure(
        f"regress: {what}, over strict replay of {events:.0f} events",
        limit,
        lambda taken: f"{SESSIONS / taken:,.0f} sessions/s",
        stretch,
    )


def _judging(change: RunChange | None) -> Callable[[], float]:
    def judged() -> float:
        regression = regression_of(change)
        began = time.process_time()
        for events in sessions():
            case = regression.case(events)
            assert isinstance(case, Case), case
            assert (case.outcome == "same") is (change is not DIFFERENT), case
        return time.process_time() - began

    return judged


def _replaying() -> float:
    replayer = Replayer(WORKFLOWS, own_code())
    began = time.process_time()
    for events in sessions():
        assert replayer.replay(events).status == "identical"
    return time.process_time() - began
