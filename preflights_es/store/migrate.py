"""Brings a log's tables to today's form, by Alembic; imported only when there is work to do."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import NullPool

from preflights_es.kernel.errors import LogDamaged
from preflights_es.store.database import HURRY_MS, PATIENCE_S, WAIT_S, Database
from preflights_es.store.urls import Address, database, shown_url

_DUPLICATE = ("42P07", "42701", "42710", "42723")  # a table, column, object or function
_CURE = "UPDATE alembic_version SET version_num = :revision"


def script_location() -> Path:
    """The folder of the migrations: in the installed package, else in the checkout."""
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


def sqlite_engine(opened: Callable[[], sqlite3.Connection]) -> Engine:
    """One whose connections are opened as every other one, and whose transactions can write."""
    made = create_engine("sqlite://", creator=opened, poolclass=NullPool)

    @event.listens_for(made, "begin")
    def _on_begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return made


def is_known(schema: str) -> bool:
    """Whether a version of this program made tables of this schema."""
    scripts = ScriptDirectory.from_config(config()).walk_revisions()
    return schema in {script.revision for script in scripts}


def upgrade(url: Address, *, hurries: bool = False) -> None:
    """To the newest revision; two processes at once end with one of them having done it.

    Args:
        hurries: wait only `HURRY_MS` for a process that writes.

    Raises:
        LogDamaged: the tables have a revision that there never was, or another one than they say.
        OSError, and errors of the driver: as they come.
    """
    opened = database(url)
    until = time.monotonic() + (HURRY_MS / 1_000 if hurries else PATIENCE_S)
    try:
        with opened.hurried() if hurries else nullcontext():
            while True:
                try:
                    _upgrade(opened)
                    return
                except (sqlite3.OperationalError, DatabaseError) as error:
                    if time.monotonic() > until or not opened.raced(error):
                        raise _of_driver(error) from None
                    time.sleep(WAIT_S)
    except CommandError as error:
        raise LogDamaged(shown_url(url), 0, str(error)) from error
    finally:
        opened.close()


def _of_driver(error: Exception) -> BaseException:
    """What SQLAlchemy wrapped."""
    return error.orig or error if isinstance(error, DatabaseError) else error


def _upgrade(opened: Database) -> None:
    opened.prepared()
    said = None
    try:
        with opened.engine.begin() as connection:
            opened.alone(connection)
            said = MigrationContext.configure(connection).get_current_revision()
            command.upgrade(config(connection), "head")
    except DatabaseError as error:
        # A process that found a revision is alone: no other one has made what is there already.
        if said is None or not _is_there(error):
            raise
        raise LogDamaged(shown_url(opened.url), 0, _set_back(opened, said)) from error


def _is_there(error: DatabaseError) -> bool:
    """Whether a migration makes what another one has made."""
    if (state := getattr(error.orig, "sqlstate", None)) is not None:
        return state in _DUPLICATE
    words = str(error.orig)
    return "already exists" in words or "duplicate column" in words


def _set_back(opened: Database, said: str) -> str:
    found = f"it says schema {said}, but has tables of a newer one"
    if (fitting := _fitting(opened, said)) is None:
        return f"{found}: restore it from a copy"
    return (
        f"it says schema {said}, but has the tables of {fitting}: restore it from a copy, or run "
        f"in it: `{_CURE.replace(':revision', repr(fitting))}`"
    )


def _fitting(opened: Database, said: str) -> str | None:
    """The oldest revision from which the tables can be upgraded; tried, and taken back."""
    newer = ScriptDirectory.from_config(config()).iterate_revisions("head", said)
    for revision in sorted(script.revision for script in newer if script.revision != said):
        try:
            with opened.engine.connect() as connection, connection.begin() as tried:
                connection.execute(text(_CURE), {"revision": revision})
                command.upgrade(config(connection), "head")
                tried.rollback()
        except DatabaseError as error:
            if not _is_there(error):
                raise
        else:
            return revision
    return None
