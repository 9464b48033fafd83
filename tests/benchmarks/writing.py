"""Durable appends by one writer and by four, each its own process, on both engines.

The floor runs the same statements on the bare driver. The clock on the wall is read, since writers
wait for the disk and for each other. What four writers gain over one is measured twice: on a disk
whose flush takes 2 ms, as those of most servers do (PostgreSQL's `commit_delay` waits as long), and
on the disk that is there. If its flush takes no time, the gain depends on the processors, which the
server shares: there, the floor is the bare driver that makes as few trips as ours.
"""

from __future__ import annotations

import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Final

from preflights_es.kernel.ports import AppendBatch, Draft, Head
from preflights_es.store.sql import SqlStore
from preflights_es.store.sqlite import BUSY_TIMEOUT_MS
from preflights_es.system import clock_ids
from tests.benchmarks.measure import Figure, paired
from tests.postgres import SAFE, OwnServer, connected

APPENDS: Final = 120  # by each writer, a round
WRITERS: Final = 4
ROUNDS: Final = 7
SLOW: Final = ("-c", "commit_delay=2000", "-c", "commit_siblings=0")
DATA: Final = (
    '{"at":1790000000000000,"actor":{"kind":"user","name":"Ada"},"answers":[{"key":"db_type"}]}'
)
Work = Callable[[str], Callable[[], None]]
"""Gets ready at an address, and hands over what is timed."""
Context = multiprocessing.get_context("fork")  # what is imported need not be imported again


def figures() -> list[Figure]:
    """Both engines; the server is a new one with its flushes on."""
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        url = str(Path(folder) / "log.db")
        found += _figures("SQLite", url, _raw_sqlite)
    with closing(OwnServer(SAFE)) as server, server.log() as url:
        found += _figures("PostgreSQL", url, _raw_postgres)
        found.append(_gain_against_raw(url))
    with closing(OwnServer((*SAFE, *SLOW))) as server, server.log() as url:
        found.append(_gain(url))
    return found


def _gain(url: str) -> Figure:
    """Where the disk is what takes time, writers must not wait for each other."""
    one, four = (partial(_seconds, url, _ours, writers) for writers in (1, WRITERS))
    pair = paired(four, one, ROUNDS)
    return pair.figure(
        "an append on PostgreSQL with a flush of 2 ms, four writers against one",
        0.5,
        lambda taken: f"{taken * 1_000_000:.0f} us",
        0.3,
    )


def _gain_against_raw(url: str) -> Figure:
    """Where processors are the limit, the server shares them with every writer."""
    gain = paired(partial(_slowed, url, _ours), partial(_slowed, url, _raw_pipeline), ROUNDS)
    return gain.figure(
        "what four writers gain over one with a flush that takes no time",
        1.15,
        lambda taken: f"{1 / taken:.2f} times",
    )


def _figures(engine: str, url: str, raw: Work) -> list[Figure]:
    SqlStore(url, clock_ids.now, clock_ids.salt).close()
    found = []
    for writers in (1, WRITERS):
        pair = paired(
            partial(_seconds, url, _ours, writers), partial(_seconds, url, raw, writers), ROUNDS
        )
        found.append(
            pair.figure(
                f"durable append on {engine}, {writers} writer{'s' if writers > 1 else ''}",
                1.3,
                lambda taken: f"{taken * 1_000_000:.0f} us",
            )
        )
    return found


def _slowed(url: str, work: Work) -> float:
    """Time of an append by four writers, in that of one by one writer: 0.25 with cores for all."""
    return _seconds(url, work, WRITERS) / _seconds(url, work, 1)


def _seconds(url: str, work: Work, writers: int) -> float:
    """Of one append, all writers together."""
    barrier = Context.Barrier(writers + 1)
    processes = [Context.Process(target=_writer, args=(barrier, work, url)) for _ in range(writers)]
    for process in processes:
        process.start()
    barrier.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
        assert process.exitcode == 0, "a writer failed"
    return (time.perf_counter() - began) / (writers * APPENDS)


def _writer(barrier: Barrier, work: Work, url: str) -> None:
    try:
        ready = work(url)
    except BaseException:  # the others would wait without end; raised on
        barrier.abort()
        raise
    barrier.wait()
    ready()


def _ours(url: str) -> Callable[[], None]:
    store = SqlStore(url, clock_ids.now, clock_ids.salt)
    head = _head(store)

    def work() -> None:
        at = head
        for _ in range(APPENDS):
            (at,) = store.append([_batch(at)])
        store.close()

    return work


def _head(store: SqlStore) -> Head:
    """Of a session that exists, so that each side moves a head."""
    return store.append([_batch(Head(clock_ids.new_id(), "bench", "clarification", 0, b""))])[0]


def _batch(head: Head) -> AppendBatch:
    data = DATA.encode()
    return AppendBatch(
        session_id=head.session_id,
        project="bench",
        workflow="clarification",
        expected_version=head.version,
        expected_hash=head.hash,
        events=(
            Draft("bench.input.v1", data, "bench/1", clock_ids.new_id(), "user"),
            Draft("bench.decision.v1", data, "bench/1"),
            Draft("bench.decision.v1", data, "bench/1"),
        ),
    )


# The floors ----------------------------------------------------------------------------------

MOVE = "UPDATE heads SET version=?, head_hash=? WHERE session_id=? AND version=? AND head_hash=?"
EVENT = (
    "INSERT INTO events (session_id, version, input_id, type, recorded_at, actor_kind, decider,"
    " data, salt, digest, hash) VALUES (?,?,?,?,?,?,?,?,?,?,?)"
)
OUTBOX = "INSERT INTO outbox (session_id, version) VALUES (?, ?)"


def _rows(head: Head) -> list[tuple[object, ...]]:
    now, salt = 1_790_000_000_000_000, head.hash[:16]
    kinds = (
        ("bench.input.v1", clock_ids.new_id(), "user"),
        *[("bench.decision.v1", None, None)] * 2,
    )
    return [
        (
            *(head.session_id, head.version + i, input_id, type_, now, by, "bench/1"),
            *(DATA, salt, head.hash, head.hash),
        )
        for i, (type_, input_id, by) in enumerate(kinds, 1)
    ]


def _raw_sqlite(path: str) -> Callable[[], None]:
    with closing(SqlStore(path, clock_ids.now, clock_ids.salt)) as store:
        head = _head(store)
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in (f"busy_timeout={BUSY_TIMEOUT_MS}", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")

    def work() -> None:
        cursor, version = connection.cursor(), head.version
        for _ in range(APPENDS):
            at = Head(head.session_id, "", "", version, head.hash)
            cursor.execute("BEGIN IMMEDIATE")
            cursor.execute(MOVE, (version + 3, head.hash, head.session_id, version, head.hash))
            cursor.executemany(EVENT, _rows(at))
            cursor.execute(OUTBOX, (head.session_id, version + 3))
            cursor.execute("COMMIT")
            version += 3

    return work


def _raw_postgres(url: str) -> Callable[[], None]:
    with closing(SqlStore(url, clock_ids.now, clock_ids.salt)) as store:
        head = _head(store)
    connection = connected(url)
    connection.autocommit = False
    move, event, outbox = (text.replace("?", "%s").encode() for text in (MOVE, EVENT, OUTBOX))

    def work() -> None:
        cursor, version = connection.cursor(), head.version
        for _ in range(APPENDS):
            at = Head(head.session_id, "", "", version, head.hash)
            cursor.execute(move, (version + 3, head.hash, head.session_id, version, head.hash))
            cursor.executemany(event, _rows(at))
            cursor.execute(outbox, (head.session_id, version + 3))
            connection.commit()
            version += 3
        connection.close()

    return work


def _raw_pipeline(url: str) -> Callable[[], None]:
    """The same in two trips, as ours: all statements up to the COMMIT go together."""
    with closing(SqlStore(url, clock_ids.now, clock_ids.salt)) as store:
        head = _head(store)
    connection = connected(url)
    move, event, outbox = (text.replace("?", "%s").encode() for text in (MOVE, EVENT, OUTBOX))

    def work() -> None:
        moved, cursor, version = connection.cursor(), connection.cursor(), head.version
        for _ in range(APPENDS):
            at = Head(head.session_id, "", "", version, head.hash)
            with connection.pipeline():
                cursor.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
                moved.execute(move, (version + 3, head.hash, head.session_id, version, head.hash))
                cursor.executemany(event, _rows(at))
                cursor.execute(outbox, (head.session_id, version + 3))
            assert moved.rowcount == 1, "only this process moves it"
            cursor.execute("COMMIT")
            version += 3
        connection.close()

    return work
