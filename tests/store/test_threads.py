"""Several threads at one store: each event once, no word lost, and no connection left behind."""

from __future__ import annotations

import gc
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any, Final

import pytest

from preflights_es.kernel.errors import Conflict, LogBusy, NumberTaken
from preflights_es.store.database import HURRY_MS
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.store.sqlite import BUSY_TIMEOUT_MS
from preflights_es.store.stored_events import verified
from preflights_es.system import clock_ids
from tests.projections.given import following, from_zero, kept, recorded
from tests.projections.recording import goldens
from tests.store.given import batch, behind, cursor, heard, opened, said, session_id

THREADS: Final = 16
OWN: Final = 6  # sessions that each thread opens
SHARED: Final = 3  # sessions that all of them append to
APPENDS: Final = 10  # of each thread to the shared ones
ENDED: Final = 40  # threads that use a store one after the other
WAIT_S: Final = 30  # seconds for what comes in a moment, on a machine that is busy


@pytest.fixture
def store(database: str) -> Iterator[SqlStore]:
    """An empty log, on either engine."""
    with closing(SqlStore(database, clock_ids.now, clock_ids.salt)) as made:
        yield made


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SqlStore]:
    """One in a file."""
    with closing(SqlStore(str(tmp_path / "log.db"), clock_ids.now, clock_ids.salt)) as made:
        yield made


def together(work: Callable[[int], Any]) -> list[Any]:
    """What comes of work in every thread, all of which begin at one moment."""
    gate = Barrier(THREADS)

    def begun(thread: int) -> Any:
        gate.wait(WAIT_S)
        return work(thread)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begun, range(THREADS)))


def in_a_thread(work: Callable[[], Any]) -> Any:
    """What comes of work in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(WAIT_S)


# 1. Nothing is lost and nothing doubled ------------------------------------------------------


def test_sixteen_threads_lose_nothing_and_double_nothing(store: SqlStore) -> None:
    shared = [opened(store, number).session_id for number in range(1, SHARED + 1)]
    looked = Barrier(THREADS)

    def work(thread: int) -> int:
        conflicts = 0
        for n in range(OWN):
            opened(store, 1_000 + thread * OWN + n)
        for n in range(APPENDS):
            words = said("more", f"{thread}-{n}"), heard("more")
            while True:
                head = store.head(shared[(thread + n) % SHARED])
                assert head is not None
                if n == conflicts == 0:  # all of them append behind one of the first heads
                    looked.wait(WAIT_S)
                try:
                    store.append([behind(head, *words)])
                    break
                except Conflict:
                    conflicts += 1
        return conflicts

    conflicts = sum(together(work))
    assert conflicts >= THREADS - SHARED, "the threads met"
    heads = store.heads(None)
    assert len(heads) == SHARED + THREADS * OWN
    events = [event for head in heads for event in verified(store.read(head.session_id), head.hash)]
    assert len(events) == 2 * (SHARED + THREADS * (OWN + APPENDS))
    inputs = Counter(event.input_id for event in events if event.input_id)
    assert set(inputs.values()) == {1}
    assert {f"{thread}-{n}" for thread in range(THREADS) for n in range(APPENDS)} <= inputs.keys()
    assert store.counts() == {"sessions": len(heads), "events": len(events), "open_calls": 0}


def test_one_number_goes_to_one_of_sixteen_threads(store: SqlStore) -> None:
    def work(thread: int) -> bool:
        try:
            store.append([batch(thread + 1, said("mine", f"{thread}"), heard("it is"), holds=7)])
        except NumberTaken:
            return False
        return True

    assert sum(together(work)) == 1
    assert len(store.numbers("house")) == 1


@pytest.mark.slow("crowds")
def test_threads_that_follow_while_others_record_keep_what_one_would(store: SqlStore) -> None:
    log, sessions = SqlFollowing(store), goldens()[:8]
    projections = following(store)
    projections.catch_up()

    def work(thread: int) -> None:
        if thread % 2:
            recorded(store, sessions, first=1 + thread * len(sessions))
        else:
            for _ in range(5):
                following(store).catch_up()
                list(log.rows("sessions", None))

    together(work)
    projections.catch_up()
    assert log.counts()["waiting"] == 0
    found = kept(store)
    assert len(found["sessions"]) == THREADS // 2 * len(sessions)
    assert found == from_zero(store)


# 2. Connections ------------------------------------------------------------------------------


def connections() -> list[sqlite3.Connection]:
    """Those of this process that are open."""
    found = []
    for one in gc.get_objects():
        if isinstance(one, sqlite3.Connection):
            with suppress(sqlite3.ProgrammingError):  # it is closed
                one.cursor()
                found.append(one)
    return found


@pytest.mark.slow("crowds")
def test_the_connection_of_a_thread_that_ended_is_closed(file: SqlStore) -> None:
    opened(file, 1)
    before = len(connections())
    assert before > 0
    assert in_a_thread(lambda: (file.read(session_id(1)), len(connections()))[1]) == before + 1
    for _ in range(ENDED):
        assert in_a_thread(lambda: len(file.read(session_id(1)))) == 2
    assert len(connections()) == before


@pytest.mark.slow("crowds")
def test_a_store_that_is_closed_has_no_connection_of_any_thread(file: SqlStore) -> None:
    before = len(connections())
    reads, ends = Event(), Event()

    def work() -> None:
        file.heads(None)
        reads.set()
        ends.wait(WAIT_S)

    thread = Thread(target=work)
    thread.start()
    try:
        assert reads.wait(WAIT_S)
        assert len(connections()) == before + 1
        file.close()
        assert len(connections()) == before - 1, "this thread's is closed as well"
    finally:
        ends.set()
        thread.join()
    opened(file, 1)  # it is opened again where it is used again


# 3. Waiting ----------------------------------------------------------------------------------


def test_one_thread_in_a_hurry_hurries_no_other(file: SqlStore) -> None:
    def patience() -> int:
        (found,) = cursor(file).execute("PRAGMA busy_timeout").fetchone()
        assert isinstance(found, int)
        return found

    with file.database.hurried():
        assert patience() == HURRY_MS
        assert in_a_thread(patience) == BUSY_TIMEOUT_MS
    assert patience() == BUSY_TIMEOUT_MS


def test_who_is_in_a_hurry_does_not_wait_for_another_threads_transaction(file: SqlStore) -> None:
    begun, ends = Event(), Event()

    def slow(_: Any) -> None:
        begun.set()
        ends.wait(WAIT_S)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(lambda: file.database.wrote(slow))
        assert begun.wait(WAIT_S)
        since = time.monotonic()
        try:
            with file.database.hurried(), pytest.raises(LogBusy):
                opened(file, 1)
            assert HURRY_MS / 1_000 <= time.monotonic() - since < BUSY_TIMEOUT_MS / 2_000
        finally:
            ends.set()
        done.result()
    opened(file, 1)
