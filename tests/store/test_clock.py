"""A clock that steps back, leaps ahead or stands still changes no order, no word and no number."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from preflights_es.features.clarification.clarifications import clarifications_of
from preflights_es.features.clarification.domain import WORKFLOW
from preflights_es.history.replayer import Replayer
from preflights_es.history.verification import walked
from preflights_es.kernel import ids
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.events import Actor
from preflights_es.projections import audit
from preflights_es.projections.decisions import filter_decisions_in_force
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.settings import load
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import verified
from preflights_es.system import clock_ids
from preflights_es.testing import ScriptedProvider
from preflights_es.use.process import Process, made_once
from preflights_es.use.request import Request
from preflights_es.use.use_cases import NewSession
from tests import toy
from tests.fixed import NOON, PROJECT, Clock, Ids, salt
from tests.postgres import SECOND_ENGINE
from tests.projections.given import following, kept
from tests.runtime.performing import Hands

SECOND: Final = 1_000_000  # microseconds
HOUR: Final = 3_600 * SECOND
DAY: Final = 24 * HOUR
ENDS: Final = 253_402_300_799 * SECOND  # the last second that a date can have

CLOCKS: Final[dict[str, Callable[[int], int]]] = {
    "steps back": lambda look: NOON - look * HOUR,
    "leaps ahead": lambda look: NOON + look * 400 * DAY,
    "stands still": lambda _look: NOON,
    "tears to and fro": lambda look: NOON + (-1) ** look * look * 200 * DAY,
    "begins before 1970": lambda look: (look - 40) * DAY,
}
"""What time it is at each look."""


class TimedProcess(Process):
    """The program by a clock of the test's."""

    looks = 0
    clock: Callable[[int], int]

    def now(self) -> int:
        """Microseconds since 1970 UTC."""
        self.looks += 1
        return self.clock(self.looks)

    def new_id(self) -> str:
        """By the same clock."""
        return ids.uuid7(self.now() // 1_000, os.urandom(10))

    @made_once
    def store(self) -> SqlStore:
        """The log."""
        return SqlStore(self.settings.database, self.now, clock_ids.salt)

    @made_once
    def runner(self) -> Runner:
        """The loop."""
        return Runner(self.store, WORKFLOWS, self.now, self.new_id)


class Timed(Request):
    """A request to it."""

    process: TimedProcess

    def decided(self, intention: str, supersedes: str | None = None) -> str:
        """An accepted decision, its document written."""
        setup, heuristics = self.setup(WORKFLOW), self.process.settings.of(WORKFLOW)
        step = clarifications_of(self).open(
            NewSession(intention, supersedes=supersedes), setup, heuristics
        )
        session_id = step.handle.session_id
        self.sessions.answer(step.handle, [("auth_strategy", ["OAuth"])])
        self.process.documents.finish(clarifications_of(self).accept(session_id).handle)
        self.process.finish_pending()
        return session_id


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty log: the clock is the process's, whatever the engine."""
    is_file = request.param == "sqlite"
    return str(tmp_path / "log.db" if is_file else request.getfixturevalue("postgres"))


@pytest.fixture(params=CLOCKS)
def program(request: pytest.FixtureRequest, tmp_path: Path, database: str) -> Iterator[Timed]:
    """The program by each clock, on each engine."""
    found = load.load_settings(tmp_path, {"PREFLIGHTS_PROJECT": PROJECT}, database=database)
    with closing(TimedProcess(found)) as process:
        process.clock = CLOCKS[request.param]
        yield Timed(process, lambda: Actor("user", "Ada"))


# 1. Sessions ---------------------------------------------------------------------------------


def test_a_session_is_in_the_order_of_its_versions_whatever_the_clock_says(program: Timed) -> None:
    for n in range(3):
        program.decided(f"Add login number {n}")
        following(program.process.store).catch_up()
    abandoned = clarifications_of(program).open(
        NewSession("Add a cache"), program.setup(WORKFLOW), program.process.settings.of(WORKFLOW)
    )
    program.sessions.abandon(abandoned.handle, "no need")
    for head in program.process.store.heads(PROJECT):
        stored = verified(program.process.store.read(head.session_id), head.hash)
        assert Replayer(WORKFLOWS).replay(stored, head.hash).status == "identical"
        steps = audit.steps(program.process.history(head.session_id)) if head.version > 4 else ()
        versions = [step.stored.version for step in steps]
        assert versions in ([], list(range(1, head.version + 1)))
    found = walked(program.process.store, program.process.store.heads(None))
    assert (found.broken, found.sessions) == ((), 4)
    given = program.process.store.numbers(PROJECT)
    assert sorted(one.number for one in given) == [1, 2, 3]
    assert len([*(program.process.settings.root / "docs").rglob("*.md")]) == 3


def test_last_is_the_session_begun_last_whatever_the_clock_says(program: Timed) -> None:
    begun: list[str] = []
    for n in range(4):
        setup, heuristics = program.setup(WORKFLOW), program.process.settings.of(WORKFLOW)
        step = clarifications_of(program).open(
            NewSession(f"Add login number {n}"), setup, heuristics
        )
        begun.insert(0, step.handle.session_id)
        assert program.sessions.resolved("last") == begun[0]
    assert [head.session_id for head in program.process.store.heads(PROJECT)] == begun


def test_projections_follow_every_append_whatever_the_clock_says(program: Timed) -> None:
    first = program.decided("Add a login")
    following(program.process.store).catch_up()
    second = program.decided("Add a better login", supersedes=first)
    projections = following(program.process.store)
    projections.catch_up()
    followed = kept(program.process.store)
    assert {row["session_id"]: row["version"] for row in followed["sessions"]} == {
        head.session_id: head.version for head in program.process.store.heads(None)
    }
    rows = list(projections.rows("decisions", PROJECT))
    assert [one.session_id for one in filter_decisions_in_force(rows)] == [second]
    assert [one.session_id for one in filter_decisions_in_force(rows, at=2**62)] == [second]
    assert list(filter_decisions_in_force(rows, at=-(2**62))) == []
    for moment in [row[name] for row in rows for name in ("accepted_at", "superseded_at")]:
        assert len(list(filter_decisions_in_force(rows, at=moment or 0))) <= 1, "never both"
    projections.rebuild()
    assert kept(program.process.store) == followed


# 2. Calls ------------------------------------------------------------------------------------

SESSION: Final = "00000001-0000-7000-8000-000000000001"


@pytest.mark.parametrize("moved", [-1_000 * DAY, -1, 0])
def test_a_clock_that_stepped_back_frees_no_call_under_way(tmp_path: Path, moved: int) -> None:
    hands, new_id, path = Hands(), Ids(), str(tmp_path / "log.db")

    class Meanwhile(ScriptedProvider):
        async def respond(self, request: Any) -> Any:
            hands.at += moved
            with pytest.raises(Refused, match="another process is asking"):
                await bob.settle(bob.load(SESSION), his)
            return await super().respond(request)

    his, hers = ScriptedProvider("his"), Meanwhile("hers")
    with closing(SqlStore(path, Clock(), salt)) as one, closing(SqlStore(path, hands, salt)) as two:
        ada, bob = (Runner(log, {"toy": toy.WORKFLOW}, hands, new_id) for log in (one, two))
        handle = ada.open(ada.workflow("toy"), PROJECT, toy.asked("why?"), SESSION, "first").handle
        step = asyncio.run(ada.settle(handle, hers))
        assert (step.handle.session.state.answers, his.requests) == (("hers",), [])
        assert bob.load(SESSION).session.calls == ()
        assert one.open_calls(PROJECT) == ()


# 3. Erasing what is old ----------------------------------------------------------------------


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[tuple[Timed, Hands]]:
    """The program by a clock that is moved by hand."""
    hands = Hands()
    found = load.load_settings(
        tmp_path, {"PREFLIGHTS_PROJECT": PROJECT}, database=str(tmp_path / "l")
    )
    with closing(TimedProcess(found)) as process:
        made = Timed(process, lambda: Actor("user", "Ada"))
        process.clock = lambda _look: hands.at
        yield made, hands


def test_the_last_event_is_the_latest_as_clocks_step_back(by_hand: tuple[Timed, Hands]) -> None:
    program, hands = by_hand
    hands.at = NOON
    session_id = program.decided("Add a login")
    hands.at = SECOND
    clarifications_of(program).renumber(program.process.runner.load(session_id), 7)
    assert program.erasure.doomed(session_id).last_at == NOON
