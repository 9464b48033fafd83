"""What an event costs in a long session, against one in a session of a tenth of its length."""

from __future__ import annotations

import time
from itertools import count
from typing import Final

from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.features.clarification.domain.events import (
    AnswersRevised,
    ClarificationAnswersGiven,
    IntentionDeclared,
)
from preflights_es.features.clarification.domain.values import HeuristicsConfig
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.events import Actor, Input
from preflights_es.kernel.lead import Setup
from preflights_es.kernel.ports import Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.system import clock_ids
from preflights_es.use.replays import own_code
from preflights_es.words.questions import GivenAnswer
from tests.benchmarks.measure import Figure, paired

SHORT: Final = 3_000  # events
LONG: Final = 30_000  # events
LIMIT: Final = 1.3
ROUNDS: Final = 9
ADA: Final = Actor("user", "Ada")


def figures() -> list[Figure]:
    """Strict replay of one session, a CPU second an event."""
    short, long = recorded(SHORT), recorded(LONG)
    pair = paired(lambda: _seconds(long), lambda: _seconds(short), ROUNDS)
    return [
        pair.figure(
            f"an event of a session of {LONG:,}, against one of {SHORT:,}, replayed",
            LIMIT,
            lambda taken: f"{taken * 1e6:.1f} us",
        )
    ]


def recorded(events: int) -> tuple[Stored, ...]:
    """A session of at least so many events, in which a person changes their mind."""
    store = MemoryStore(clock_ids.now, clock_ids.salt)
    ids = map(str, count())
    runner = Runner(store, WORKFLOWS, clock_ids.now, lambda: next(ids))
    step = runner.open(WORKFLOW, "bench", _declared(), "a-session", "opened")
    step = runner.submit(step.handle, _answered(), "answered")
    for number in count():
        if step.handle.version >= events:
            return store.read("a-session")
        step = runner.submit(step.handle, _revised(number), f"revised-{number}")
    raise AssertionError


def _declared() -> Input:
    return IntentionDeclared(
        at=1,
        actor=ADA,
        intention="Add login",
        project="bench",
        uid="0123456789ab",
        setup=Setup("0.1.0", WORKFLOW.decider.version),
        heuristics=HeuristicsConfig(),
    )


def _answered() -> Input:
    return ClarificationAnswersGiven(
        at=1, actor=ADA, answers=(GivenAnswer("auth_strategy", ("OAuth",)),)
    )


def _revised(number: int) -> Input:
    """Another category, which asks its question, or a value for it; each had a token in it."""
    category = ("Authentication", "Database")[number // 2 % 2]
    key = ("auth_strategy", "db_type")[number // 2 % 2]
    given = ("change_category", category) if number % 2 == 0 else (key, f"way {number}")
    answers = (GivenAnswer(given[0], (given[1],)),)
    return AnswersRevised(at=1, actor=ADA, answers=answers, redacted=("token",))


def _seconds(events: tuple[Stored, ...]) -> float:
    """CPU seconds an event, chain and decisions verified."""
    replayer = Replayer(WORKFLOWS, own_code())
    began = time.process_time()
    result = replayer.replay(events)
    assert result.status == "identical", result
    return (time.process_time() - began) / len(events)
