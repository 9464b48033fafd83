"""One session among a hundred thousand, against the same query with `json.loads`."""

from __future__ import annotations

import json
import sqlite3
import time

from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Runner
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from tests.benchmarks import large
from tests.benchmarks.measure import Figure, paired

READS = 300  # a round
ROUNDS = 15
QUERY = (
    "SELECT version, type, recorded_at, input_id, actor_kind, decider, data, salt, digest, hash"
    " FROM events WHERE session_id=? AND version>? ORDER BY version"
)


def figures() -> list[Figure]:
    """Events as their classes, of sessions all over the log."""
    path = large.database()
    ours, floor = _Ours(str(path)), _Floor(str(path))
    read = paired(ours.read_seconds, floor.seconds, ROUNDS)
    load = paired(ours.load_seconds, floor.seconds, ROUNDS)
    ours.store.close()
    floor.connection.close()
    micro = 1_000_000
    floor_us = f"{read.floor * micro:.0f} us"
    return [
        Figure(
            "read one session of 8 events among 100,000, decoded",
            read.ratio,
            1.8,
            None,
            f"{read.ours * micro:.0f} us",
            floor_us,
        ),
        Figure(
            "the same, its chain verified and folded",
            load.ratio,
            6.0,
            None,
            f"{load.ours * micro:.0f} us",
            floor_us,
        ),
    ]


def _some(offset: int) -> list[str]:
    step = large.SESSIONS // READS
    return [large.session_id(i * step + offset % step) for i in range(READS)]


class _Ours:
    def __init__(self, path: str) -> None:
        self.store = SqlStore(path, clock_ids.now, clock_ids.salt)
        self.runner = Runner(self.store, WORKFLOWS, clock_ids.now, clock_ids.new_id)
        self.offset = 0

    def read_seconds(self) -> float:
        self.offset += 1
        decode = self.runner.codec(WORKFLOWS["clarification"]).decode
        wanted = _some(self.offset)
        began = time.process_time()
        for session in wanted:
            for stored in self.store.read(session):
                decode(stored)
        return (time.process_time() - began) / READS

    def load_seconds(self) -> float:
        self.offset += 1
        wanted = _some(self.offset)
        began = time.process_time()
        for session in wanted:
            self.runner.load(session)
        return (time.process_time() - began) / READS


class _Floor:
    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.offset = 0

    def seconds(self) -> float:
        self.offset += 1
        wanted = _some(self.offset)
        began = time.process_time()
        for session in wanted:
            for row in self.connection.execute(QUERY, (session, 0)).fetchall():
                json.loads(row[6])
        return (time.process_time() - began) / READS
