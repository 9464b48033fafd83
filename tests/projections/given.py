"""Logs of golden sessions, and their projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from preflights_es.kernel.ports import Stored
from preflights_es.runtime.projector import Projector
from preflights_es.store.frozen import PROJECTED
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.store.urls import SqliteFile
from preflights_es.use.process import projector
from tests.projections.recording import Recording

NAMES: Final = tuple(sorted(PROJECTED))


def recorded(store: SqlStore, sessions: Sequence[Sequence[Stored]], first: int = 1) -> list[str]:
    """Sessions, recorded whole, an Input of each at a time; their ids."""
    made = [Recording(events, number) for number, events in enumerate(sessions, first)]
    growing = made
    while growing := [one for one in growing if one.next() is not None]:
        batches = [batch for one in growing if (batch := one.next()) is not None]
        for one, head in zip(growing, store.append(batches), strict=True):
            one.appended(head)
    return [one.session_id for one in made]


def asked(store: SqlStore, statement: str) -> list[Any]:
    """What any other program would read there."""
    rows: list[Any] = store.database.looked(lambda cursor: cursor.execute(statement).fetchall())
    return rows


def changed(store: SqlStore, *statements: str) -> None:
    """What any other program would do there."""

    def work(cursor: Any) -> None:
        for statement in statements:
            cursor.execute(statement)

    store.database.wrote(work)


def tampered(store: SqlStore, *statements: str) -> None:
    """What an administrator can do: past the triggers that guard events."""
    if store.database.dialect == "postgresql":
        changed(store, "SET LOCAL session_replication_role = replica", *statements)
    else:
        guards = ("events_are_immutable", "events_are_kept")
        changed(store, *(f"DROP TRIGGER {name}" for name in guards), *statements)


def address(store: SqlStore) -> str:
    """Where a process of its own finds the log."""
    if isinstance(store.url, SqliteFile):
        return store.url.name
    return store.url.render_as_string(hide_password=False)


def following(store: SqlStore) -> Projector:
    """The projections of a log."""
    return projector(SqlFollowing(store))


def kept(store: SqlStore) -> dict[str, list[dict[str, Any]]]:
    """The rows of projections as they are stored, without catching up."""
    log = SqlFollowing(store)
    return {name: list(log.rows(name, None)) for name in NAMES}


def from_zero(store: SqlStore) -> dict[str, list[dict[str, Any]]]:
    """What folding every session anew comes to."""
    following(store).rebuild()
    return kept(store)
