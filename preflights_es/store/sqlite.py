"""The log in a file of SQLite, by the standard library's driver."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import DatabaseError, NoSuchModuleError
from sqlalchemy.pool import NullPool

from preflights_es.core.errors import (
    CommitUnknown,
    LogBusy,
    LogDamaged,
    PreflightsError,
    ReadOnlyLog,
    SettingsError,
    StoreUnavailable,
)
from preflights_es.store.database import HURRY_MS, Ear, T

BUSY_TIMEOUT_MS: Final = 15_000  # a writer waits this long for another one's transaction
SCRUB_TIMEOUT_MS: Final = 1_000  # a reader of the journal is waited for this long
PAGE_SIZE: Final = 8192  # bytes: payloads of a few kilobytes stay on one page

_TABLES: Final = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^'"
)
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_DAMAGED_WORDS: Final = ("malformed", "Could not decode to UTF-8")
# Our statements never change: what they do not fit is a schema that is damaged or another one.
_NOT_OURS: Final = (
    *("SQLITE_ERROR", "SQLITE_SCHEMA", "SQLITE_MISMATCH", "SQLITE_TOOBIG"),
    *("SQLITE_FORMAT", "SQLITE_RANGE", "SQLITE_MISUSE"),
)
_BUSY: Final = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_NOTHING_COMMITTED: Final = ("SQLITE_FULL", "SQLITE_BUSY")


class SqliteDatabase:
    """One connection, kept: its file has one writer at a time."""

    begin = "BEGIN IMMEDIATE"
    taken: type[Exception] = sqlite3.IntegrityError
    keeps = "the database's own journal still holds what was erased (docs/audit.md)"

    def __init__(self, url: URL, path: Path) -> None:
        self.url = url
        self._path = path
        self._alone = False
        self._patience_ms = BUSY_TIMEOUT_MS
        self.engine = _engine(url, path, lambda: self._alone, lambda: self._patience_ms)
        self._raw: Any = None

    def cursor(self) -> Any:
        """On the one connection, which is opened where it is not."""
        if self._raw is None:
            self._raw = self._connected()
        return self._raw.cursor()

    def _connected(self) -> Any:
        """Alone, where the disk is too full for the file that processes share beside the journal.

        Nothing can be written there then, but all can be read, by one process after the other.
        """
        try:
            return self.engine.raw_connection()
        except sqlite3.OperationalError as error:
            if not getattr(error, "sqlite_errorname", "").startswith("SQLITE_IOERR_SHM"):
                raise
        self._alone = True
        try:
            return self.engine.raw_connection()
        finally:
            self._alone = False

    def tables(self) -> frozenset[str]:
        with self.translated():
            if not self._path.exists():
                return frozenset()
        # One statement, so that an upgrade in another process is seen whole or not at all.
        return self.looked(lambda cursor: frozenset(row[0] for row in cursor.execute(_TABLES)))

    def looked(self, look: Callable[[Any], T]) -> T:
        with self.translated():
            return look(self.cursor())

    def begun(self, cursor: Any) -> None:
        cursor.execute(self.begin)

    def wrote(
        self,
        work: Callable[[Any], T],
        *,
        moves: bool = False,  # noqa: ARG002  see `ear`
        begins: bool = True,
    ) -> T:
        """IMMEDIATE: a deferred one that reads and then writes fails at once, whatever it waits."""
        with self.translated():
            cursor = self.cursor()
            try:
                if begins:
                    self.begun(cursor)
                made = work(cursor)
            except BaseException:  # a transaction never stays open, whatever ended it; raised on
                self._roll_back()
                raise
            self._commit(cursor)
            return made

    def _commit(self, cursor: Any) -> None:
        try:
            cursor.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            if getattr(error, "sqlite_errorname", "") in _NOTHING_COMMITTED:
                raise
            self.close()
            raise CommitUnknown(f"the commit failed: {error}") from error

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self.cursor().execute("ROLLBACK")

    @contextlib.contextmanager
    def hurried(self) -> Iterator[None]:
        try:
            self._wait(HURRY_MS)
            yield
        finally:
            self._wait(BUSY_TIMEOUT_MS)

    def _wait(self, at_most_ms: int) -> None:
        self._patience_ms = at_most_ms
        if self._raw is not None:
            with self.translated():
                self._raw.execute(f"PRAGMA busy_timeout={at_most_ms}")

    def prepared(self) -> None:
        """Page size and journal, which must be chosen before the first table."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._path, isolation_level=None, timeout=self._patience_ms / 1_000
        )
        try:
            connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
            connection.execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()

    def alone(self, connection: Connection) -> None:
        """It is: every transaction of this engine begins with the file's one lock."""

    def raced(self, error: Exception) -> bool:
        # Changing the journal's mode does not wait for others, whatever the busy timeout says.
        return "locked" in str(error)

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Foreign errors become ours, once, here."""
        try:
            yield
        except PreflightsError:
            raise
        except DatabaseError as error:
            raise _ours(error.orig or error) from error
        except sqlite3.Error as error:
            raise _ours(error) from error
        except UnicodeDecodeError as error:
            # SQLite quotes the schema in its errors, and the driver reads those as UTF-8.
            raise _damaged("a name in its schema is not UTF-8") from error
        except MemoryError as error:
            raise StoreUnavailable("the log cannot be read: it asks for too much memory") from error
        except OSError as error:
            raise StoreUnavailable(f"the log cannot be opened: {error}") from error

    def size(self) -> int:
        """Of the file; its journal comes and goes."""
        return self._path.stat().st_size

    def check(self) -> None:
        (found,) = self.looked(lambda c: c.execute("PRAGMA quick_check(1)").fetchone())
        if found != "ok":
            raise LogDamaged(str(self._path), 0, found)

    def scrubbed(self) -> bool:
        """The journal holds what it was written with, until it is emptied, which readers delay."""

        def empty(cursor: Any) -> bool:
            cursor.execute(f"PRAGMA busy_timeout={SCRUB_TIMEOUT_MS}")
            try:
                busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
            return not busy

        return self.looked(empty)

    def ear(self) -> Ear | None:
        """None: a file tells nobody that it was written."""
        return None

    def close(self) -> None:
        if self._raw is not None:
            self._raw.close()
            self._raw = None
        self.engine.dispose()


def _engine(
    url: URL, path: Path, alone: Callable[[], bool], patience_ms: Callable[[], int]
) -> Engine:
    """One whose transactions begin as the log needs them.

    Args:
        alone: whether a connection is to keep others from the file as long as it is open.
        patience_ms: how long a connection that is opened now waits for a writer.
    """
    try:
        made = create_engine(
            _readable(url, path), poolclass=NullPool, connect_args={"isolation_level": None}
        )
    except (NoSuchModuleError, ImportError) as error:
        raise SettingsError(f"the database driver is missing: {error}") from error

    @event.listens_for(made, "connect")
    def _on_connect(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={patience_ms()}")
        if alone():  # said before the file is first looked at, else it is shared
            cursor.execute("PRAGMA locking_mode=EXCLUSIVE")
        # NORMAL loses acknowledged appends at a power cut.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA secure_delete=ON")
        cursor.close()

    @event.listens_for(made, "begin")
    def _on_begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return made


def _readable(url: URL, path: Path) -> URL:
    """A log that nobody can or wants to write is opened as such: SQLite would else lock it."""
    if not os.path.isfile(path) or os.access(path.parent, os.W_OK):
        return _read_only(path) if url.query else url
    journal = path.with_name(f"{path.name}-wal")
    if not journal.exists() or journal.stat().st_size == 0:
        return _read_only(path, immutable="1")
    return _read_only(path)


def _read_only(path: Path, **also: str) -> URL:
    query = {"mode": "ro", "uri": "true", **also}
    return URL.create("sqlite", database=f"file:{quote(str(path))}", query=query)


def _ours(error: BaseException) -> PreflightsError:
    name, said = getattr(error, "sqlite_errorname", ""), str(error)
    if name.startswith(_DAMAGED) or any(words in said for words in _DAMAGED_WORDS):
        return _damaged(said)
    if name.startswith(_NOT_OURS):
        return LogDamaged("the database", 0, f"{said}: it is not a log of preflights")
    if name.startswith(_BUSY):
        return LogBusy(
            "the database is locked, another process is writing: wait for it or end it, then run "
            "this again"
        )
    cure = "make room" if name == "SQLITE_FULL" else "mend its disk or rights"
    kind = ReadOnlyLog if name.startswith("SQLITE_READONLY") else StoreUnavailable
    return kind(f"the log cannot be used: {said}: {cure}, then run this again")


def _damaged(found: str) -> LogDamaged:
    return LogDamaged("the database file", 0, f"{found}: restore it from a copy")
