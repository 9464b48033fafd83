"""The log's database: where it lies, its tables, and copies of it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Literal

from preflights_es.history.verification import walked
from preflights_es.kernel.errors import LogDamaged
from preflights_es.store import frozen
from preflights_es.store.sql import SqlStore
from preflights_es.store.urls import file_of, parsed, shown_url
from preflights_es.system import clock_ids
from preflights_es.system.files import new_path
from preflights_es.use.progress import Drawn, ticking, undrawn
from preflights_es.use.request import Request
from preflights_es.use.results import Result


class Upgraded(Result, frozen=True, tag_field="format", tag="db-upgrade/1"):
    """A log whose tables are up to date."""

    database: str
    """Path, or URL without its password."""
    schema: str


class Status(Result, frozen=True, tag_field="format", tag="db-status/1"):
    """Where the log is, and how much it holds."""

    database: str
    engine: Literal["sqlite", "postgresql"]
    schema: str | None
    """None where there is no log yet."""
    schema_known: str
    bytes: int | None
    project: str
    """Of the current folder; the counts are those of every project."""
    sessions: int
    events: int
    open_calls: int


class BackedUp(Result, frozen=True, tag_field="format", tag="db-backup/1"):
    """A copy that verifies."""

    file: str
    bytes: int
    sessions: int
    events: int


def upgrade(request: Request) -> Upgraded:
    """Create the log, or bring its tables up to date."""
    store = request.process.store
    _ = request.process.project  # a shared log learns which repository this is
    return Upgraded(database=shown_url(store.url), schema=str(store.schema()))


def status(request: Request) -> Status:
    """How the log stands.

    Raises:
        LogDamaged: its file is not intact.
    """
    store = request.process.store
    store.check()
    url = parsed(request.process.settings.database)
    is_there = store.url == url
    return Status(
        database=shown_url(url),
        engine="sqlite" if file_of(url) else "postgresql",
        schema=store.schema() if is_there else None,
        schema_known=frozen.schema(),
        bytes=store.database.size() if is_there else None,
        project=request.process.project,
        **store.counts(),
    )


def backup(request: Request, file: str, drawn: Drawn = undrawn) -> BackedUp:
    """Copy the log to a new file, and verify the copy.

    Raises:
        Refused: the file exists.
        LogDamaged: a chain of the copy does not hold; then there is no copy.
    """
    from preflights_es.store.sqlite import blamed_on, copied

    log = request.process.settings.database
    with new_path(file) as path:
        copied(log, path)
        with (
            blamed_on(log, path),
            closing(SqlStore(str(path), clock_ids.now, clock_ids.salt)) as copy,
        ):
            copy.check()
            heads = copy.heads(None)
            with drawn(len(heads)) as update:
                found = walked(copy, ticking(heads, update))
        for broken in found.broken:
            raise LogDamaged(f"session {broken.session_id}", broken.version, broken.found)
    size = Path(file).stat().st_size
    return BackedUp(file=file, bytes=size, sessions=found.sessions, events=found.events)
