"""A log of a hundred thousand real sessions, each with an id of its own, made once a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from preflights_es.kernel import ids
from preflights_es.kernel.ports import AppendBatch, Draft, Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import jsonl, stored_events
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import Codec
from preflights_es.system import clock_ids

SESSIONS: Final = 100_000
EVENTS: Final = 8  # of each session
GOLDENS: Final = Path(__file__).parent.parent.parent / "replays" / "clarification"
FOLDER: Final = TemporaryDirectory(prefix="preflights-bench-")
EVENT: Final = "INSERT INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?)"
HEAD: Final = "INSERT INTO heads VALUES (?,?,?,?,?)"
BEGAN: Final = 1_790_000_000_000  # milliseconds since 1970 UTC


@cache
def database() -> Path:
    """Where the log lies; its events are verified by their chains like any others."""
    path = Path(FOLDER.name) / "large.db"
    write(path, sessions(SESSIONS))
    return path


def write(path: Path, made: Iterator[list[Stored]]) -> None:
    """Make a log of sealed sessions."""
    SqlStore(str(path), clock_ids.now, clock_ids.salt).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=OFF")
    while some := list(islice(made, 5_000)):
        connection.execute("BEGIN")
        # Straight into the tables: a hundred thousand durable commits would take minutes.
        connection.executemany(EVENT, [_row(event) for events in some for event in events])
        connection.executemany(
            HEAD, [(e.session_id, e.project, e.workflow, e.version, e.hash) for *_, e in some]
        )
        connection.executemany(
            "INSERT INTO outbox VALUES (?, ?)", [(e.session_id, e.version) for *_, e in some]
        )
        connection.execute("COMMIT")
    connection.close()


def session_id(number: int) -> str:
    """The id of one of them."""
    return ids.uuid7(BEGAN + number, (number * 7_919).to_bytes(10, "big"))


def sessions(count: int) -> Iterator[list[Stored]]:
    """So many sessions, sealed."""
    patterns = [events for path in sorted(GOLDENS.glob("*.jsonl")) for events in _of(path)]
    for number in range(count):
        yield copied(patterns[number % len(patterns)], session_id(number))


def _of(path: Path) -> list[list[Stored]]:
    streams = stored_events.group_events_by_session(
        jsonl.stored(path.read_bytes().splitlines(), path.name)
    )
    return [[*map(_today, some[:EVENTS])] for some in streams.values() if len(some) >= EVENTS]


def _today(event: Stored) -> Stored:
    """As this version writes it: no log that people have begins with tags of the past."""
    tag, data = Codec(WORKFLOWS[event.workflow].decider).upcast(event)
    return replace(event, type=tag, data=data)


def copied(events: list[Stored], session: str, project: str = "bench") -> list[Stored]:
    """The events as another session's."""
    former, uid = (ids.decision_uid(one).encode() for one in (events[0].session_id, session))
    drafts = tuple(
        Draft(
            event.type,
            (event.data or b"").replace(former, uid),
            event.decider,
            f"{session}/{event.version}" if event.input_id else None,
            event.actor_kind,
        )
        for event in events
    )
    batch = AppendBatch(
        session_id=session,
        project=project,
        workflow=events[0].workflow,
        expected_version=0,
        expected_hash=b"",
        events=drafts,
    )
    return list(stored_events.sealed(batch, BEGAN * 1_000, clock_ids.salt))


def _row(e: Stored) -> tuple[object, ...]:
    data = None if e.data is None else e.data.decode()
    return (
        *(e.session_id, e.version, e.input_id, e.type, e.recorded_at, e.actor_kind, e.decider),
        *(data, e.salt, e.digest, e.hash),
    )
