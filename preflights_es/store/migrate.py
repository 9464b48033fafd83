"""Brings a log's tables to today's form, by Alembic; imported only when there is work to do."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import NullPool

from preflights_es.kernel.errors import LogDamaged
from preflights_es.store.database import HURRY_MS, PATIENCE_S, WAIT_S, Database
from preflights_es.store.urls import shown_url


def script_location() -> Path:
    """The folder of the migrations: in the installed package, else in the checkout."""
    here = Path(__file__).resolve().parent
    packaged = here / "migrations"
    return packaged if packaged.is_dir() else here.parent.parent / "alembic"


def config(connection: Connection | None = None, scripts: Path | None = None) -> Config:
    """Alembic's configuration, made here so that no ini file is needed."""
    made = Config()
    location = str(scripts or script_location()).replace("%", "%%")
    made.set_main_option("script_location", location)
    if connection is not None:
        made.attributes["connection"] = connection
    return made


def sqlite_engine(opened: Callable[[], sqlite3.Connection]) -> Engine:
    """One whose connections are opened as every other one, and whose transactions can write."""
    made = create_engine("sqlite://", creator=opened, poolclass=NullPool)

    @event.listens_for(made, "begin")
    def _on_begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return made


def upgrade(database: Database, *, hurries: bool = False, scripts: Path | None = None) -> None:
    """To the newest revision; two processes at once end with one of them having done it.

    Args:
        hurries: wait only `HURRY_MS` for a process that writes.
        scripts: the folder of the migrations, where it is another one.

    Raises:
        LogDamaged: the tables have a revision that there never was.
        OSError, and errors of the driver: as they come.
    """
    until = time.monotonic() + (HURRY_MS / 1_000 if hurries else PATIENCE_S)
    try:
        with database.hurried() if hurries else nullcontext():
            while True:
                try:
                    database.prepared()
                    with database.engine.begin() as connection:
                        database.alone(connection)
                        command.upgrade(config(connection, scripts), "head")
                    return
                except (sqlite3.OperationalError, DatabaseError) as error:
                    if time.monotonic() > until or not database.raced(error):
                        wrapped = error.orig if isinstance(error, DatabaseError) else None
                        raise wrapped or error from None
                    time.sleep(WAIT_S)
    except CommandError as error:
        raise LogDamaged(shown_url(database.url), 0, str(error)) from error
    finally:
        database.close()
