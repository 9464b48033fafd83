"""Strict replay of recorded sessions, against the standard library doing the same by hand."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from preflights_es.app import WORKFLOWS
from preflights_es.replay.replayer import Replayer
from preflights_es.store import chain, jsonl
from tests.benchmarks import floor
from tests.benchmarks.measure import Figure, paired
from tests.record_goldens import Recorder

SESSIONS = 1_000
ANSWERS = (
    ("Add OAuth login", "auth_strategy", ("tbd", "", "OAuth"), "Magic Link"),
    ("Choose a database", "db_type", ("n/a", "?", "postgresql"), "MySQL"),
    ("A new UI", "frontend_framework", (" ", "todo", "Solid"), "React"),
    ("An API for partners", "api_style", ("-", "tba", "REST"), "GraphQL"),
)


def recorded_lines() -> list[bytes]:
    """The lines of 1,000 sessions of 19 events each, as `export` writes them."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder))
        for i in range(SESSIONS):
            intention, key, values, revised = ANSWERS[i % len(ANSWERS)]
            handle = recorder.start(f"{intention} for customer {i}")
            for value in values:
                handle = recorder.answer_all(handle, {key: value})
            handle = recorder.answer_all(handle, {key: revised}, revise=True)
            handle = recorder.answer(handle, no_such_key="x")
            handle = recorder.answer_all(handle, {key: values[-1]}, revise=True)
            recorder.by().accept(handle.session_id)
        return recorder.lines().splitlines()


def figures() -> list[Figure]:
    """Sessions a CPU second, parsing and verifying included."""
    lines = recorded_lines()
    pair = paired(lambda: _ours(lines), lambda: _floor(lines), 9)
    events = len(lines) / SESSIONS
    return [
        Figure(
            f"strict replay of {SESSIONS:,} sessions of {events:.0f} events",
            pair.ratio,
            3.0,
            1.5,
            f"{SESSIONS / pair.ours:,.0f} sessions/s",
            f"{SESSIONS / pair.floor:,.0f} sessions/s",
        )
    ]


def _ours(lines: list[bytes]) -> float:
    began = time.process_time()
    replayer = Replayer(WORKFLOWS)
    for events in chain.sessions(jsonl.stored(lines, "bench")).values():
        result = replayer.replay(events)
        assert result.status == "identical", result
    return time.process_time() - began


def _floor(lines: list[bytes]) -> float:
    began = time.process_time()
    assert floor.replay(lines) == SESSIONS, "the floor replays all of them"
    return time.process_time() - began
