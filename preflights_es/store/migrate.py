"""Brings a log's tables to today's form, by Alembic; imported only when there is work to do."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import OperationalError

from preflights_es.core.errors import LogDamaged
from preflights_es.store.engines import engine, file_of, shown_url

TRIES = 150  # to find nobody else changing the file
WAIT_S = 0.1  # seconds between two of them
PAGE_SIZE = 8192  # bytes: payloads of a few kilobytes stay on one page


def script_location() -> Path:
    """Where the migrations lie: inside the installed package, else at the checkout's root."""
    here = Path(__file__).resolve().parent
    packaged = here / "migrations"
    return packaged if packaged.is_dir() else here.parent.parent / "alembic"


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, made here so that no ini file is needed."""
    made = Config()
    made.set_main_option("script_location", str(script_location()).replace("%", "%%"))
    if connection is not None:
        made.attributes["connection"] = connection
    return made


def upgrade(url: URL) -> None:
    """To the newest revision; two processes at once end with one of them having done it.

    Raises:
        LogDamaged: the tables have a revision that there never was.
        OSError, sqlalchemy.exc.DatabaseError: as the engine raises them.
    """
    for left in range(TRIES - 1, -1, -1):
        try:
            _upgrade(url)
            return
        except (sqlite3.OperationalError, OperationalError) as error:
            # Changing the journal's mode does not wait for others, whatever the busy timeout says.
            if left == 0 or "locked" not in str(error):
                raise
            time.sleep(WAIT_S)


def _upgrade(url: URL) -> None:
    path = file_of(url)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _prepare(path)
    made = engine(url)
    try:
        with made.begin() as connection:
            command.upgrade(config(connection), "head")
    except CommandError as error:
        raise LogDamaged(shown_url(url), 0, str(error)) from error
    finally:
        made.dispose()


def _prepare(path: Path) -> None:
    """Page size and journal, which must be chosen before the first table."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=15)
    try:
        connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
        connection.execute("PRAGMA journal_mode=WAL")
    finally:
        connection.close()
