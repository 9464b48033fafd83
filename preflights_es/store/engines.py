"""Where a log lies, how its connections begin, and what their errors mean."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from preflights_es.core.errors import (
    LogDamaged,
    PreflightsError,
    SettingsError,
    StoreUnavailable,
)

BUSY_TIMEOUT_MS: Final = 15_000  # a writer waits this long for another one's transaction

_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_DAMAGED_WORDS = ("malformed", "Could not decode to UTF-8")


def parsed(url: str) -> URL:
    """The address of a log; a plain path is a SQLite file.

    Raises:
        SettingsError: it names no engine that this version supports, or no file.
    """
    expected = "expected sqlite:///PATH or a path"
    if "\0" in url:
        raise SettingsError(f"the database URL holds a NUL character: {expected}")
    try:
        # A path is taken as it is: one with `?` or `%` in it would mean something in a URL.
        found = make_url(url) if "://" in url else URL.create("sqlite", database=url)
    except (ArgumentError, ValueError) as error:
        raise SettingsError(f"the database URL cannot be read: {expected}") from error
    if found.get_backend_name() != "sqlite":
        raise SettingsError(
            f"the database engine {found.get_backend_name()!r} is not supported: {expected}"
        )
    if file_of(found) is None:
        raise SettingsError(f"a log cannot live in memory: {expected}")
    return found


def shown_url(url: URL) -> str:
    """Without a password."""
    path = file_of(url)
    return str(path) if path else url.render_as_string(hide_password=True)


def file_of(url: URL) -> Path | None:
    """The file of a SQLite log."""
    name = url.database
    return Path(name) if name and name != ":memory:" else None


def engine(url: URL) -> Engine:
    """An engine whose transactions begin as the log needs them."""
    try:
        made = create_engine(
            _readable(url), poolclass=NullPool, connect_args={"isolation_level": None}
        )
    except (NoSuchModuleError, ImportError) as error:
        raise SettingsError(f"the database driver is missing: {error}") from error

    @event.listens_for(made, "connect")
    def _on_connect(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        # NORMAL loses acknowledged appends at a power cut.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA secure_delete=ON")
        cursor.close()

    @event.listens_for(made, "begin")
    def _on_begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return made


def _readable(url: URL) -> URL:
    """A log that nobody can write is opened as such: SQLite would else want to lock it."""
    path = file_of(url)
    if path is None or not os.path.isfile(path) or os.access(path.parent, os.W_OK):
        return url
    query = {"mode": "ro", "uri": "true"}
    journal = path.with_name(f"{path.name}-wal")
    if not journal.exists() or journal.stat().st_size == 0:
        query["immutable"] = "1"
    return URL.create("sqlite", database=f"file:{quote(str(path))}", query=query)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Foreign errors become ours, once, here."""
    try:
        yield
    except PreflightsError:
        raise
    except DatabaseError as error:
        raise _ours(error.orig or error) from error
    except sqlite3.Error as error:
        raise _ours(error) from error
    except OSError as error:
        raise StoreUnavailable(f"the log cannot be opened: {error}") from error


def _ours(error: BaseException) -> PreflightsError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(_DAMAGED) or any(words in str(error) for words in _DAMAGED_WORDS):
        return LogDamaged("the database file", 0, f"{error}: restore it from a copy")
    if "no such table" in str(error) or "no such column" in str(error):
        return LogDamaged("the database", 0, f"{error}: it is not a log of preflights")
    return StoreUnavailable(f"the log cannot be used: {error}: mend its disk or rights, then again")
