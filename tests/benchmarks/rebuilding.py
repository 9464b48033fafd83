"""All projections from zero, against a scan of the same events that only decodes their JSON."""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
import time

from preflights_es.app import projector
from preflights_es.runtime import entropy
from preflights_es.store.following import SqlFollowing
from preflights_es.store.sql import SqlStore
from tests.benchmarks import large
from tests.benchmarks.measure import Figure, Pair

EVENTS = large.SESSIONS * large.EVENTS
MEMORY_MB = 150
PROGRAM = "from tests.benchmarks import rebuilding as r; import sys; r.rebuilt(sys.argv[1])"


def figures() -> list[Figure]:
    """One rebuild in a process of its own, whose memory is measured; the scan before and after."""
    path = str(large.database())
    before = scan_seconds(path)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", PROGRAM, path], check=True)
    ours = time.perf_counter() - began
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1_024
    floor = (before + scan_seconds(path)) / 2
    pair = Pair(ours, floor, ours / floor)
    return [
        Figure(
            f"rebuild all projections from {EVENTS:,} events",
            pair.ratio,
            1 / 0.3,
            1 / 0.45,
            f"{EVENTS / pair.ours:,.0f} events/s",
            f"{EVENTS / pair.floor:,.0f} events/s",
        ),
        Figure(
            "its memory",
            megabytes / MEMORY_MB,
            1.0,
            None,
            f"{megabytes:.0f} MB",
            f"{MEMORY_MB} MB",
        ),
    ]


def rebuilt(path: str) -> None:
    """Every projection, from zero."""
    store = SqlStore(path, entropy.now, entropy.salt)
    projector(SqlFollowing(store)).rebuild()
    store.close()


def scan_seconds(path: str) -> float:
    """Read every event in the order of its session, and decode what it holds."""
    connection = sqlite3.connect(path)
    began = time.perf_counter()
    for (data,) in connection.execute("SELECT data FROM events ORDER BY session_id, version"):
        json.loads(data)
    connection.close()
    return time.perf_counter() - began
