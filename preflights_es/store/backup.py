"""A copy of a log in a file, made while writers go on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from preflights_es.core.errors import SettingsError
from preflights_es.store.engines import file_of, parsed
from preflights_es.store.sqlite import SqliteDatabase


def copied(url: str, to: Path) -> None:
    """The log as it stands, in another file: what is committed while it is copied is not in it.

    Raises:
        SettingsError: it lies in no file.
        LogDamaged: the file cannot be read as a database.
        StoreUnavailable: it cannot be read, or the copy not written.
    """
    address = parsed(url)
    path = file_of(address)
    if path is None:
        raise SettingsError(
            "a log in PostgreSQL is copied by its own tools: "
            "pg_dump --format=custom --file=FILE DATABASE"
        )
    database = SqliteDatabase(address, path)
    try:
        with database.translated(), closing(sqlite3.connect(to)) as copy:
            # In one step: a copy in several begins again whenever somebody writes.
            database.cursor().connection.backup(copy, pages=-1)
    finally:
        database.close()
