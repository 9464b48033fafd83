"""Processes that are killed around a call, and two that resume: a slow server counts the calls."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
)
from preflights_es.kernel.events import Event
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import Codec
from tests import toy
from tests.fixed import PROJECT, Clock, salt
from tests.providers import server
from tests.providers.server import FakeAPI, wait_until
from tests.store.mortal import ROOT

SESSION = "00000001-0000-7000-8000-000000000001"
EACH = 3  # processes that a test needs
PROCESSES = 3 * EACH
FOREVER_S = 60  # seconds that a call takes that outlives every process


class Process:
    """One that does what it is told."""

    def __init__(self, orders: int, reports: int) -> None:
        self._orders = os.fdopen(orders, "w")
        self._reports = os.fdopen(reports)
        self.pid = int(self.said())

    def told(self, *words: str) -> None:
        """Begin to do something."""
        print(*words, file=self._orders, flush=True)

    def said(self) -> str:
        """What came of it."""
        return self._reports.readline().strip()

    def does(self, *words: str) -> str:
        """Do something and say what came of it."""
        self.told(*words)
        return self.said()

    def killed(self) -> None:
        """Now, and without a word."""
        os.kill(self.pid, signal.SIGKILL)
        wait_until(self._is_gone)

    def _is_gone(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def close(self) -> None:
        """Send it home, dead or alive."""
        self._orders.close()
        self._reports.close()


@pytest.fixture(scope="module")
def crowd() -> Iterator[list[Process]]:
    """Enough processes for all tests: a test uses its own up."""
    orders, reports = zip(*((os.pipe(), os.pipe()) for _ in range(PROCESSES)), strict=True)
    theirs = [(read, write) for (read, _), (_, write) in zip(orders, reports, strict=True)]
    descriptors = [descriptor for pair in theirs for descriptor in pair]
    pairs = [f"{read}:{write}" for read, write in theirs]
    command = [sys.executable, "-m", "tests.providers.resumer", *pairs]
    with subprocess.Popen(command, pass_fds=descriptors, cwd=ROOT) as script:
        for descriptor in descriptors:
            os.close(descriptor)
        made = [Process(write, read) for (_, write), (read, _) in zip(orders, reports, strict=True)]
        yield list(made)
        for process in made:
            process.close()
    assert script.returncode == 0


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as made:
        yield made


@pytest.fixture
def log(tmp_path: Path) -> Path:
    made = tmp_path / "log.db"
    SqlStore(str(made), Clock(), salt).close()
    return made


@pytest.fixture
def processes(crowd: list[Process], log: Path, api: FakeAPI) -> list[Process]:
    made = [crowd.pop() for _ in range(EACH)]
    assert [process.does(str(log), api.openai) for process in made] == ["ready"] * EACH
    return made


def together(processes: list[Process], *words: str) -> list[str]:
    """What comes of telling all of them the same at the same moment, in alphabetical order."""
    for process in processes:
        process.told(*words)
    return sorted(process.said() for process in processes)


def recorded(log: Path) -> list[Event]:
    """The events of the session, which replays and owes no call."""
    with closing(SqlStore(str(log), Clock(), salt)) as store:
        stored, head = store.read(SESSION), store.head(SESSION)
        assert head is not None
        found = Replayer({"toy": toy.WORKFLOW}).replay(stored, head.hash)
        assert found.status == "identical"
        assert store.open_calls(PROJECT) == ()
    return [Codec(toy.WORKFLOW.decider).decode(one) for one in stored]


@pytest.mark.slow("kills")
def test_a_process_that_died_before_it_asked_leaves_a_call_that_two_others_make_once(
    processes: list[Process], api: FakeAPI, log: Path
) -> None:
    first, *others = processes
    assert first.does("ask", SESSION) == "asked"
    first.killed()
    assert api.requests == []
    api.script(server.slow(server.text("because"), 0.5))
    assert together(others, "resume", SESSION) in (["CallHeld", "settled"], ["settled", "settled"])
    assert (len(api.requests), api.most_at_once) == (1, 1)
    events = recorded(log)
    assert [event.attempt for event in events if isinstance(event, CompletionRequested)] == [1]
    assert [type(event) for event in events][2:] == [CompletionReceived, toy.Answered]
    assert others[0].does("resume", SESSION) == "settled"
    assert len(api.requests) == 1


@pytest.mark.slow("kills")
def test_a_process_that_died_while_it_asked_has_made_a_call_that_two_others_only_retry(
    processes: list[Process], api: FakeAPI, log: Path
) -> None:
    first, *others = processes
    api.script(server.slow(server.text(), FOREVER_S), server.slow(server.text("because"), 0.5))
    assert first.does("ask", SESSION) == "asked"
    first.told("resume", SESSION)
    wait_until(lambda: len(api.requests) == 1)
    first.killed()
    assert together(others, "resume", SESSION) == ["CallHeld", "CallHeld"]
    assert len(api.requests) == 1
    assert together(others, "ahead") == ["later", "later"]
    assert together(others, "resume", SESSION) in (["CallHeld", "settled"], ["settled", "settled"])
    assert (len(api.requests), api.most_at_once) == (2, 1)
    events = recorded(log)
    assert [event.attempt for event in events if isinstance(event, CompletionRequested)] == [1, 2]
    assert [event.kind for event in events if isinstance(event, CompletionFailed)] == ["lost"]
    assert [event.text for event in events if isinstance(event, toy.Answered)] == ["because"]


@pytest.mark.slow("whole runs")
def test_two_crashes_in_the_middle_of_a_call_use_up_the_calls_of_a_step(
    processes: list[Process], api: FakeAPI, log: Path
) -> None:
    first, second, third = processes
    api.script(server.slow(server.text(), FOREVER_S))
    assert first.does("ask", SESSION) == "asked"
    first.told("resume", SESSION)
    wait_until(lambda: len(api.requests) == 1)
    first.killed()
    second.does("ahead")
    second.told("resume", SESSION)
    wait_until(lambda: len(api.requests) == 2)
    second.killed()
    third.does("ahead")
    assert third.does("resume", SESSION) == "CallHeld"
    third.does("ahead")
    assert third.does("resume", SESSION) == "settled"
    assert (len(api.requests), api.most_at_once) == (2, 1)
    events = recorded(log)
    assert [event.kind for event in events if isinstance(event, CompletionFailed)] == ["lost"] * 2
    assert events[-1] == toy.GaveUp(kind="lost")
