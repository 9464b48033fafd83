"""Brings a log's tables to today's form, by Alembic; imported only when there is work to do."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import DatabaseError

from preflights_es.core.errors import LogDamaged
from preflights_es.store.database import Database
from preflights_es.store.engines import database, shown_url

TRIES = 150  # to find nobody else changing the tables
WAIT_S = 0.1  # seconds between two of them


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
    opened = database(url)
    try:
        for left in range(TRIES - 1, -1, -1):
            try:
                _upgrade(opened)
                return
            except (sqlite3.OperationalError, DatabaseError) as error:
                if left == 0 or not opened.raced(error):
                    raise
                time.sleep(WAIT_S)
    except CommandError as error:
        raise LogDamaged(shown_url(url), 0, str(error)) from error
    finally:
        opened.close()


def _upgrade(opened: Database) -> None:
    opened.prepared()
    with opened.engine.begin() as connection:
        opened.alone(connection)
        command.upgrade(config(connection), "head")
