"""A copy of a log in a file, made while writers go on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from preflights_es.kernel.errors import AnotherVersion, LogDamaged, NoLog, SettingsError
from preflights_es.store.sqlite import SqliteDatabase
from preflights_es.store.urls import SqliteFile, parsed, shown_url


def copied(url: str, to: Path) -> None:
    """The log as it stands, in another file: what is committed while it is copied is not in it.

    Raises:
        SettingsError: it lies in no file.
        NoLog: the file is not there.
        LogDamaged: the file cannot be read as a database.
        StoreUnavailable: it cannot be read, or the copy not written.
    """
    address = parsed(url)
    if not isinstance(address, SqliteFile):
        raise SettingsError(
            "a log in PostgreSQL is copied by its own tools: "
            "pg_dump --format=custom --file=FILE DATABASE"
        )
    database = SqliteDatabase(address)
    try:
        if not database.tables():
            raise NoLog(shown_url(address))
        with database.translated(), closing(sqlite3.connect(to)) as copy:
            # In one step: a copy in several begins again at each write of another process.
            database.cursor().connection.backup(copy, pages=-1)
    finally:
        database.close()


@contextmanager
def blamed_on(url: str, copy: Path) -> Iterator[None]:
    """What is found wrong with a copy is wrong with the log that it was made of, which is named."""
    name, found = shown_url(parsed(url)), str(copy)
    try:
        yield
    except AnotherVersion as error:
        raise type(error)(str(error).replace(found, name)) from error
    except LogDamaged as error:
        where = error.where.replace(found, name)
        raise LogDamaged(where, error.version, error.found) from error
