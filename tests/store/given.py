"""Events of no workflow, and the sessions that hold them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from preflights_es.kernel.events import ERASED_TAG
from preflights_es.kernel.ids import SALT_BYTES
from preflights_es.kernel.ports import AppendBatch, Draft, Head, Numbered, Stored
from preflights_es.store.memory import MemoryStore
from preflights_es.store.sql import SqlStore
from preflights_es.store.sqlite import SqliteDatabase
from preflights_es.store.stored_events import (
    GENESIS,
    digest_payload,
    hash_event_link,
    sealed,
    stream_prefix,
)
from tests.fixed import NOON, PROJECT, Clock

WORKFLOW: Final = "toy"
INPUT: Final = "toy.said.v1"
DECISION: Final = "toy.heard.v1"

AnyStore = MemoryStore | SqlStore


UPGRADER = """
import sys
from preflights_es.store import migrate
from preflights_es.store.sql import SqlStore
from preflights_es.store.sqlite import PAGE_SIZE
for url in sys.argv[1:]:
    print("ready", flush=True)
    sys.stdin.readline()
    store = SqlStore(url, int, bytes)
    print(store.schema(), flush=True)
    store.close()
"""
"""A process that opens each log that it is given, when it is told to, and says its schema."""


class Salt:
    """Sixteen bytes that count."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> bytes:
        """The next ones."""
        self.count += 1
        return self.count.to_bytes(SALT_BYTES, "big")


def sql(folder: Path) -> SqlStore:
    """A log in a file of the folder; a new one is a copy, which is made sooner than its tables."""
    path = folder / "log.db"
    if not path.exists():
        path.write_bytes(_new_log())
    return SqlStore(str(path), Clock(), Salt())


def at(place: str) -> SqlStore:
    """A log at the address of a server, or in a folder."""
    return SqlStore(place, Clock(), Salt()) if "://" in place else sql(Path(place))


def cursor(store: SqlStore) -> sqlite3.Cursor:
    """On the connection that a log in a file uses."""
    assert isinstance(store.database, SqliteDatabase)
    found = store.database.cursor()
    assert isinstance(found, sqlite3.Cursor)
    return found


@cache
def _new_log() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.db"
        SqlStore(str(path), Clock(), Salt()).close()
        return path.read_bytes()


def session_id(number: int) -> str:
    """An id; a greater number is a newer session."""
    return f"{number:08x}-0000-7000-8000-{number:012x}"


def said(text: str, input_id: str) -> Draft:
    """An Input."""
    return Draft(INPUT, b'{"text":"%s"}' % text.encode(), "toy/1", input_id, "user")


def heard(text: str) -> Draft:
    """A Decision."""
    return Draft(DECISION, b'{"text":"%s"}' % text.encode(), "toy/1")


def erased() -> Draft:
    """What covers payloads that are gone."""
    return Draft(ERASED_TAG, b'{"at":1}', "toy/1", "input-of-erasure", "user")


def batch(
    number: int,
    *events: Draft,
    after: Head | None = None,
    project: str = PROJECT,
    opens: tuple[str, ...] = (),
    closes: tuple[str, ...] = (),
    holds: int | None = None,
) -> AppendBatch:
    """What is to be appended to a session behind its head."""
    return AppendBatch(
        session_id=session_id(number),
        project=project,
        workflow=WORKFLOW,
        expected_version=after.version if after else 0,
        expected_hash=after.hash if after else b"",
        events=events,
        opens=opens,
        closes=closes,
        number=None if holds is None else Numbered("", holds),
    )


def behind(head: Head, *events: Draft) -> AppendBatch:
    """What is to be appended to whatever session a head is of."""
    return AppendBatch(
        session_id=head.session_id,
        project=head.project,
        workflow=head.workflow,
        expected_version=head.version,
        expected_hash=head.hash,
        events=events,
    )


def opened(store: AnyStore, number: int, *, project: str = PROJECT) -> Head:
    """A session with an Input and a Decision."""
    events = (said("hello", f"input-{number}"), heard("hello"))
    (head,) = store.append([batch(number, *events, project=project)])
    return head


def chain_of(*events: Draft, number: int = 1) -> list[Stored]:
    """A session sealed as a store would seal it."""
    return list(sealed(batch(number, *events), NOON, Salt()))


def resealed(events: Sequence[Stored]) -> list[Stored]:
    """The same events, counted and chained anew, as an attacker who knows how would do it."""
    first = events[0]
    prefix = stream_prefix(first.session_id, first.project, first.workflow)
    previous, made = GENESIS, []
    for version, event in enumerate(events, 1):
        value = event.digest
        if event.data is not None and event.salt is not None:
            value = digest_payload(event.salt, event.data)
        counted = replace(event, version=version, digest=value)
        previous = hash_event_link(previous, prefix, counted)
        made.append(replace(counted, hash=previous))
    return made


def conversation() -> list[Stored]:
    """Six events, sealed."""
    return chain_of(
        *(said("one", "a"), heard("one")),
        *(said("two", "b"), heard("two")),
        *(said("three", "c"), heard("three")),
    )
