"""An attacker who can write the log's file, and does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from msgspec.structs import replace

from preflights_es.kernel.ports import Stored
from tests.cli.program import Project
from tests.store.given import resealed

Tampering = Callable[[sqlite3.Connection, str], object]
"""Changes the session of that id, on a connection without triggers."""

COLUMNS = "version, type, recorded_at, input_id, actor_kind, decider, data, salt, digest, hash"


def noted(house: Project, *args: str) -> str:
    """A checkpoint in a file, of what is there before."""
    done = house.call("audit", "checkpoint", "-o", "checkpoint.jsonl", *args)
    assert done.code == 0, done
    return done.out


def tampered(house: Project, session_id: str, work: Tampering) -> None:
    """Change the log behind the program's back; its triggers are there again afterwards."""
    with closing(sqlite3.connect(house.log, isolation_level=None)) as log:
        found = log.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in found:
            log.execute(f"DROP TRIGGER {name}")
        work(log, session_id)
        for _, made in found:
            log.execute(made)


def changed(house: Project, *statements: str) -> None:
    """What another program does that may write the log's file, with its triggers in place."""
    with closing(sqlite3.connect(house.log, isolation_level=None)) as log:
        for statement in statements:
            log.execute(statement)


def flipped(log: sqlite3.Connection, session_id: str) -> None:
    """One bit of one letter of the payload of event 2."""
    (data,) = log.execute(
        "SELECT data FROM events WHERE session_id = ? AND version = 2", (session_id,)
    ).fetchone()
    changed = bytearray(data.encode())
    changed[-5] ^= 1
    log.execute(
        "UPDATE events SET data = ? WHERE session_id = ? AND version = 2",
        (changed.decode(), session_id),
    )


def deleted(log: sqlite3.Connection, session_id: str) -> None:
    """Event 3."""
    log.execute("DELETE FROM events WHERE session_id = ? AND version = 3", (session_id,))


def deleted_and_closed_ranks(log: sqlite3.Connection, session_id: str) -> None:
    """Event 3, and the others count on without a gap."""
    deleted(log, session_id)
    for version in range(4, _last(log, session_id) + 1):
        _moved(log, session_id, version, version - 1)
    log.execute("UPDATE heads SET version = version - 1 WHERE session_id = ?", (session_id,))


def inserted(log: sqlite3.Connection, session_id: str) -> None:
    """A copy of event 2 behind it, and the others count on."""
    for version in range(_last(log, session_id), 2, -1):
        _moved(log, session_id, version, version + 1)
    log.execute(
        f"INSERT INTO events (session_id, {COLUMNS}) "
        f"SELECT session_id, {COLUMNS.replace('version', '3', 1)} FROM events "
        "WHERE session_id = ? AND version = 2",
        (session_id,),
    )
    log.execute("UPDATE heads SET version = version + 1 WHERE session_id = ?", (session_id,))


def swapped(log: sqlite3.Connection, session_id: str) -> None:
    """Events 2 and 3."""
    for before, after in ((2, -1), (3, 2), (-1, 3)):
        _moved(log, session_id, before, after)


def nulled(log: sqlite3.Connection, session_id: str) -> None:
    """The payload of event 1, by hand: no erasure covers it."""
    log.execute(
        "UPDATE events SET data = NULL, salt = NULL WHERE session_id = ? AND version = 1",
        (session_id,),
    )


def cut(log: sqlite3.Connection, session_id: str) -> None:
    """The last event; the head stays."""
    log.execute(
        "DELETE FROM events WHERE session_id = ? AND version = ?",
        (session_id, _last(log, session_id)),
    )


def cut_with_its_head(log: sqlite3.Connection, session_id: str) -> None:
    """The last event, and the head is set to the one before: the chain holds."""
    cut(log, session_id)
    log.execute(
        "UPDATE heads SET version = version - 1, head_hash = (SELECT hash FROM events AS e "
        "WHERE e.session_id = heads.session_id ORDER BY version DESC LIMIT 1) "
        "WHERE session_id = ?",
        (session_id,),
    )
    log.execute("DELETE FROM outbox WHERE session_id = ?", (session_id,))


def set_back(log: sqlite3.Connection, session_id: str) -> None:
    """The head alone, to event 2."""
    log.execute(
        "UPDATE heads SET version = 2, head_hash = (SELECT hash FROM events AS e "
        "WHERE e.session_id = heads.session_id AND e.version = 2) WHERE session_id = ?",
        (session_id,),
    )


def emptied(log: sqlite3.Connection, session_id: str) -> None:
    """Every event; the head stays."""
    log.execute("DELETE FROM events WHERE session_id = ?", (session_id,))


def beheaded(log: sqlite3.Connection, session_id: str) -> None:
    """The head; the events stay."""
    log.execute("DELETE FROM heads WHERE session_id = ?", (session_id,))


def removed(log: sqlite3.Connection, session_id: str) -> None:
    """All of the session: no chain knows of it any more."""
    for table in ("events", "heads", "claims", "outbox", "numbers"):
        log.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))


def recomputed(log: sqlite3.Connection, session_id: str) -> None:
    """Another payload in event 1, and every digest, hash and the head to fit: the chain holds."""
    events = _stored(log, session_id)
    assert events[0].data is not None
    forged = replace(events[0], data=events[0].data.replace(b"Add ", b"Rid "))
    anew = resealed([forged, *events[1:]])
    for event in anew:
        assert event.data is not None
        log.execute(
            "UPDATE events SET data = ?, digest = ?, hash = ? WHERE session_id = ? AND version = ?",
            (event.data.decode(), event.digest, event.hash, session_id, event.version),
        )
    log.execute("UPDATE heads SET head_hash = ? WHERE session_id = ?", (anew[-1].hash, session_id))


def _moved(log: sqlite3.Connection, session_id: str, before: int, after: int) -> None:
    log.execute(
        "UPDATE events SET version = ? WHERE session_id = ? AND version = ?",
        (after, session_id, before),
    )


def _last(log: sqlite3.Connection, session_id: str) -> int:
    row = log.execute("SELECT max(version) FROM events WHERE session_id = ?", (session_id,))
    return int(row.fetchone()[0])


def _stored(log: sqlite3.Connection, session_id: str) -> Sequence[Stored]:
    project, workflow = log.execute(
        "SELECT project, workflow FROM heads WHERE session_id = ?", (session_id,)
    ).fetchone()
    rows: list[Any] = log.execute(
        f"SELECT {COLUMNS} FROM events WHERE session_id = ? ORDER BY version", (session_id,)
    ).fetchall()
    return [
        Stored(
            session_id,
            project,
            workflow,
            row[0],
            row[1],
            row[2],
            row[3],
            row[4],
            row[5],
            row[6].encode(),
            row[7],
            row[8],
            row[9],
        )
        for row in rows
    ]
