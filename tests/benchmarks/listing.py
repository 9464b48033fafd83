"""Lists over a hundred thousand sessions, against a scan of the rows that they show."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

from preflights_es.kernel.events import INT_MAX
from preflights_es.projections.decisions import filter_decisions_in_force
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.system import clock_ids
from preflights_es.use.process import projector
from tests.benchmarks import large
from tests.benchmarks.measure import Figure, paired

MEMORY_MB = 80
ROUNDS = 7
PROGRAM = "from tests.benchmarks import listing; import sys; listing.listed(*sys.argv[1:])"
IN_FORCE = (
    "SELECT * FROM projected_decisions WHERE project = 'bench' AND accepted_at IS NOT NULL "
    "AND superseded_at IS NULL ORDER BY session_id, version"
)
OF_A_DAY = (
    "SELECT heads.* FROM projected_sessions AS p JOIN heads ON heads.session_id = p.session_id "
    "WHERE p.project = 'bench' AND (p.status IN ('damaged', 'faulted') "
    "OR p.moved_at >= ? AND p.began_at <= ?) ORDER BY p.session_id"
)
"""A sixth of the sessions are faulted, and every day looks at those."""


def figures() -> list[Figure]:
    """Decisions as their classes, a day on which nothing happened, and the memory of lists."""
    path = str(large.database())
    with closing(SqlStore(path, clock_ids.now, clock_ids.salt)) as store:
        projections = projector(SqlFollowing(store))
        projections.catch_up()
        with closing(sqlite3.connect(path)) as raw:

            def listed_s() -> float:
                began = time.process_time()
                for _ in filter_decisions_in_force(
                    projections.rows("decisions", "bench", "in_force")
                ):
                    pass
                return time.process_time() - began

            def scanned_s() -> float:
                began = time.process_time()
                for row in raw.execute(IN_FORCE):
                    json.loads(row[-1])
                return time.process_time() - began

            def day_s() -> float:
                began = time.process_time()
                for _ in projections.within("bench", INT_MAX, INT_MAX):
                    pass
                return time.process_time() - began

            def index_s() -> float:
                began = time.process_time()
                raw.execute(OF_A_DAY, (INT_MAX, INT_MAX)).fetchall()
                return time.process_time() - began

            listing = paired(listed_s, scanned_s, ROUNDS)
            day = paired(day_s, index_s, ROUNDS)
    return [
        listing.figure(
            "decisions in force among 100,000 sessions, decoded",
            3.0,
            lambda taken: f"{taken * 1_000:.0f} ms",
        ),
        day.figure(
            "a day without events among 100,000 sessions",
            6.0,
            lambda taken: f"{taken * 1_000:.1f} ms",
        ),
        *(_size(path, words) for words in ("decisions --json", "sessions --all --json")),
    ]


def _size(path: str, words: str) -> Figure:
    """In a process of its own, its output thrown away."""
    command = [sys.executable, "-c", PROGRAM, path, *words.split()]
    done = subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    megabytes = float(done.stderr.split()[-1])
    ratio = megabytes / MEMORY_MB
    what = f"memory of `{words}` over 100,000 sessions"
    return Figure(what, ratio, 1.0, None, f"{megabytes:.0f} MB", f"{MEMORY_MB} MB")


def listed(path: str, *words: str) -> None:
    """One command; says on stderr the peak of its memory, in megabytes."""
    import os

    from preflights_cli.main import run_command_line
    from tests.benchmarks.rebuilding import peak_mb

    os.environ["PREFLIGHTS_PROJECT"] = "bench"
    os.chdir(os.path.dirname(path))  # documents that its sessions owe are written there
    assert run_command_line(["--db", path, *words]) == 0
    print(peak_mb(), file=sys.stderr)
