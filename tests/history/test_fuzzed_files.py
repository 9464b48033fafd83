"""6,000 session files that mean harm: each is refused, or imported with what it says."""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    DecisionAcknowledged,
    DecisionRenumbered,
    DecisionSuperseded,
)
from preflights_es.features.clarification.domain.state import ClarificationState
from preflights_es.history.imports import Passes
from preflights_es.history.replayer import Replayer
from preflights_es.history.transfer import Transfer
from preflights_es.kernel import session as kernel
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.errors import LogDamaged, PreflightsError, SessionFaulted
from preflights_es.kernel.events import Actor, Input, SessionAbandoned
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.ports import Stored, Stream
from preflights_es.kernel.session import Session
from preflights_es.records.documents import Documents
from preflights_es.records.record_brief import render_session_brief
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.store import jsonl, stored_events
from preflights_es.store.memory import MemoryStore
from preflights_es.use import process as kept
from preflights_es.use.replays import own_code
from preflights_es.words.decisions import Related
from preflights_es.words.questions import GivenAnswer
from preflights_es.words.workflow import Workflow, compute_session_status
from tests import fuzzing
from tests.bounds import TookTooLong, bounded
from tests.fixed import Clock, Ids, salt

CASES: Final = 3_000
PARTS: Final = 4  # test functions, so that several processes share them
GROWTH_MAX_KB: Final = 200_000  # of the memory of a process, over one part
EVE: Final = Actor("user", "Eve")
FOLDERS: Final = ("docs/decisions", "docs/tasks")
REPLAYER: Final = Replayer(WORKFLOWS, own_code())
READER: Final = kept.build_projection_reader()
PROJECTIONS: Final = kept.projections()

Streams = dict[str, tuple[Stored, ...]]


class Log:
    """A log in memory, and what reads it."""

    def __init__(self) -> None:
        clock = Clock()
        self.store = MemoryStore(clock, salt)
        self.runner = Runner(self.store, WORKFLOWS, clock, Ids())
        self.transfer = Transfer(self.runner, self.store)
        self.documents = Documents(self.runner, Path("nowhere"), FOLDERS)

    def take(self, content: bytes, *, agrees: bool) -> None:
        """Import a file.

        Raises:
            PreflightsError: it is refused.
        """
        lines = content.splitlines(keepends=True)
        for _ in self.transfer.imported(
            lambda: lines, "file", agrees=lambda review: agrees or not review.changes
        ):
            pass

    def streams(self) -> Streams:
        """All that is held."""
        heads = self.store.heads(None)
        return {head.session_id: self.store.read(head.session_id) for head in heads}


def look_at(log: Log, session_id: str) -> None:
    """Every way to read a session; a refusal is no trouble, anything else is.

    Raises:
        AssertionError: it does not verify.
    """
    stored = log.store.read(session_id)
    assert stored_events.verified(stored) is stored
    handle = log.runner.load(session_id)
    workflow, session = handle.workflow, handle.session
    view = workflow.shown.view(session.state)
    canonical_json(view)
    if session.undecided is not None:
        session = decided(workflow, session, session.undecided)
    for new in inputs(workflow, session):
        after = decided(workflow, kernel.evolve(workflow.decider, session, new), new)
        canonical_json(workflow.shown.view(after.state))
    compute_session_status(workflow, session, view)
    if workflow.filed.record:
        canonical_json(workflow.filed.record(session.state))
        for look in (lambda: log.documents.text(session_id), lambda: render_session_brief(handle)):
            with suppress(PreflightsError):
                look()
    head = log.store.head(session_id)
    assert head is not None
    read = READER.read(Stream(head, stored))
    assert read.trouble in ("", "erased"), read.why
    for projection in PROJECTIONS:
        projection.rows(read)
    with suppress(LogDamaged):
        result = REPLAYER.replay(stored, head.hash)
        assert result.fault is None, result.fault


def replay(content: bytes) -> None:
    """Every session of a file, without taking it.

    Raises:
        PreflightsError: it is refused.
    """
    passes = Passes(lambda: content.splitlines(keepends=True), "file")
    for events, _ in passes.first():
        REPLAYER.replay(events)


def decided(workflow: Workflow[Any], session: Session[Any], new: Input) -> Session[Any]:
    """The session behind the Decisions that follow from an Input."""
    before = replace(session, undecided=None)
    for decision in kernel.decide(workflow.decider, before, new):
        canonical_json(decision)
        session = kernel.evolve(workflow.decider, session, decision)
    return session


def inputs(workflow: Workflow[Any], session: Session[Any]) -> Iterator[Input]:
    """What people and providers may say next."""
    yield SessionAbandoned(at=1, actor=EVE)
    for answers in (workflow.asked.answers, workflow.asked.revisions):
        if answers is not None:
            keys = [question.id for question in workflow.shown.view(session.state).questions]
            given = tuple(GivenAnswer(key, ("x",)) for key in (*keys, "change_category"))
            yield answers(at=1, actor=EVE, answers=given)
    for call in session.calls:
        if isinstance(call, CompletionRequested):
            for text in ("{}", "not JSON"):
                yield CompletionReceived(at=1, actor=EVE, call=call.call, text=text)
            yield CompletionFailed(at=1, actor=EVE, call=call.call, kind="timeout", message="x")
    if isinstance(session.state, ClarificationState):
        patch = session.state.offer.patch
        yield DecisionAcknowledged(at=1, actor=EVE, patch=patch, folder="docs/decisions", number=7)
        yield DecisionSuperseded(at=1, actor=EVE, by=Related("0" * 12, "x", 8, "x"))
        yield DecisionRenumbered(at=1, actor=EVE, number=9)


def played(seed: int) -> str:
    """What came of one case."""
    rng = Random(seed)
    log = Log()
    original = fuzzing.session(rng)
    if rng.random() < 0.5:
        log.take(jsonl.encode_event_file(original[: rng.randint(1, len(original))]), agrees=True)
    held = log.streams()
    agrees = rng.random() < 0.5
    content = fuzzing.file(rng, original)
    with suppress(PreflightsError):
        replay(content)
    try:
        log.take(content, agrees=agrees)
    except SessionFaulted:
        raise
    except PreflightsError as error:
        outcome = type(error).__name__
    else:
        outcome = "taken"
    now = log.streams()
    for session_id, before in held.items():
        after = now[session_id]
        assert [one.hash for one in after[: len(before)]] == [one.hash for one in before]
        assert agrees or after == before, "no person agreed that it changes"
    for session_id in now:
        if now[session_id] != held.get(session_id):
            look_at(log, session_id)
    return outcome


@pytest.mark.slow("fuzzing")
@pytest.mark.parametrize("part", range(PARTS))
def test_a_forged_file_is_refused_or_taken_and_every_reader_bears_it(part: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes: Counter[str] = Counter()
    for case in range(part, CASES, PARTS):
        try:
            with bounded():
                outcomes[played(case)] += 1
        except Exception as error:  # any of them is the bug that the fuzzer looks for
            raise AssertionError(f"case {case}: {type(error).__name__}: {error}") from error
    assert outcomes["taken"] > CASES // PARTS // 20, outcomes
    assert len(outcomes) > 2, outcomes
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < GROWTH_MAX_KB


def test_a_case_that_does_not_end_or_fills_the_memory_is_ended() -> None:
    with pytest.raises(TookTooLong), bounded(cpu_s=0.02):
        sum(1 for _ in repeat(None))
    if sys.platform == "linux":
        with pytest.raises(MemoryError), bounded(memory=10_000_000):
            bytearray(100_000_000)  # more than the heap may have kept
    assert len(bytearray(100_000_000)) == 100_000_000, "what comes after is not bounded"
