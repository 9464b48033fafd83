"""One Input with its Decisions, durable, against the same statements by the standard library."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from itertools import count
from pathlib import Path

from preflights_es.kernel.ports import AppendBatch, Draft, Head
from preflights_es.store.sql import SqlStore
from preflights_es.store.sqlite import BUSY_TIMEOUT_MS
from preflights_es.system import clock_ids
from tests.benchmarks.measure import Figure, paired

APPENDS = 150  # a round
DATA = b'{"at":1790000000000000,"actor":{"kind":"user","name":"Ada"},"answers":[{"key":"db_type"}]}'
HEAD = "INSERT INTO heads VALUES (?, ?, ?, ?, ?)"
MOVE = "UPDATE heads SET version=?, head_hash=? WHERE session_id=? AND version=? AND head_hash=?"
EVENT = (
    "INSERT INTO events (session_id, version, input_id, type, recorded_at, actor_kind, decider,"
    " data, salt, digest, hash) VALUES (?,?,?,?,?,?,?,?,?,?,?)"
)
OUTBOX = "INSERT INTO outbox (session_id, version) VALUES (?, ?)"


def figures() -> list[Figure]:
    """Durable single appends with one writer."""
    with tempfile.TemporaryDirectory() as folder:
        ours, floor = _Ours(Path(folder) / "ours.db"), _Floor(Path(folder) / "floor.db")
        pair = paired(ours.seconds, floor.seconds, 15)
        ours.store.close()
        floor.connection.close()
    per = 1_000_000 / APPENDS
    return [
        pair.figure(
            "durable append of one Input with two Decisions",
            1.3,
            lambda taken: f"{taken * per:.0f} us",
        )
    ]


class _Ours:
    def __init__(self, path: Path) -> None:
        self.store = SqlStore(str(path), clock_ids.now, clock_ids.salt)
        self.head = Head(clock_ids.new_id(), "bench", "clarification", 0, b"")

    def seconds(self) -> float:
        began = time.perf_counter()
        for _ in range(APPENDS):
            (self.head,) = self.store.append(
                [
                    AppendBatch(
                        session_id=self.head.session_id,
                        project="bench",
                        workflow="clarification",
                        expected_version=self.head.version,
                        expected_hash=self.head.hash,
                        events=(
                            Draft("bench.input.v1", DATA, "bench/1", clock_ids.new_id(), "user"),
                            Draft("bench.decision.v1", DATA, "bench/1"),
                            Draft("bench.decision.v1", DATA, "bench/1"),
                        ),
                    )
                ]
            )
        return time.perf_counter() - began


class _Floor:
    """The same tables, triggers, pragmas and statements, without chain, ids or objects."""

    def __init__(self, path: Path) -> None:
        SqlStore(str(path), clock_ids.now, clock_ids.salt).close()
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        self.connection.execute("PRAGMA synchronous=FULL")
        self.connection.execute("PRAGMA secure_delete=ON")
        self.session = clock_ids.new_id()
        self.version, self.hash = 0, os.urandom(32)
        self.ids = count()
        row = (self.session, "bench", "clarification", 0, self.hash)
        self.connection.execute(HEAD, row)

    def seconds(self) -> float:
        began = time.perf_counter()
        cursor = self.connection.cursor()
        text = DATA.decode()
        salt, digest = self.hash[:16], self.hash
        for _ in range(APPENDS):
            version = self.version
            now = 1_790_000_000_000_000
            cursor.execute("BEGIN IMMEDIATE")
            cursor.execute(MOVE, (version + 3, self.hash, self.session, version, self.hash))
            rows = [
                (
                    self.session,
                    version + i,
                    f"id-{next(self.ids):032}" if i == 1 else None,
                    "bench.input.v1",
                    now,
                    "user" if i == 1 else None,
                    "bench/1",
                    text,
                    salt,
                    digest,
                    self.hash,
                )
                for i in (1, 2, 3)
            ]
            cursor.executemany(EVENT, rows)
            cursor.execute(OUTBOX, (self.session, version + 3))
            cursor.execute("COMMIT")
            self.version = version + 3
        return time.perf_counter() - began
