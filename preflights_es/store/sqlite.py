"""The log in a file of SQLite, by the standard library's driver."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from preflights_es.kernel.errors import (
    AnotherVersion,
    CommitUnknown,
    LogBusy,
    LogDamaged,
    NoLog,
    PreflightsError,
    ReadOnlyLog,
    SettingsError,
    StoreUnavailable,
)
from preflights_es.store.database import HURRY_MS, WAIT_S, Dialect, T
from preflights_es.store.frozen import Room, SqlStatement, new_tables
from preflights_es.store.urls import SqliteFile, parse_log_address, shown_url

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine


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
    "SQLITE_ERROR",
    "SQLITE_SCHEMA",
    "SQLITE_MISMATCH",
    "SQLITE_TOOBIG",
    "SQLITE_FORMAT",
    "SQLITE_RANGE",
    "SQLITE_MISUSE",
)
_BUSY: Final = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_BUSY_ADVICE: Final = (
    "the database is locked, another process is writing: wait for it or end it, then run this again"
)
_NOTHING_COMMITTED: Final = ("SQLITE_FULL", "SQLITE_BUSY")


class _ThreadConnection:
    """The connection of one thread, closed when the thread ends."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None
        self.wait_ms = BUSY_TIMEOUT_MS

    def close(self) -> None:
        """Give the connection back; the next use opens another one."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()

    def __del__(self) -> None:
        self.close()


class SqliteDatabase:
    """A connection for each thread; one of them writes at a time, as the file has it anyway."""

    dialect: Dialect = "sqlite"
    begin = "BEGIN IMMEDIATE"
    taken: type[Exception] = sqlite3.IntegrityError
    keeps = "the database's own journal still holds what was erased until no other process reads it"

    def __init__(self, url: SqliteFile, *, lasts: bool = True) -> None:
        self.url = url
        # NORMAL loses acknowledged appends at a power cut; a temporary file has none to lose.
        self._synchronous = f"PRAGMA synchronous={'FULL' if lasts else 'OFF'}"
        self._path = Path(url.name)
        self._mine = threading.local()
        self._lines: WeakSet[_ThreadConnection] = WeakSet()
        self._lines_change = threading.Lock()
        # Threads stand in line here: SQLite would let them sleep and try again, in no order.
        self._writes = threading.Lock()

    @property
    def engine(self) -> Engine:
        """SQLAlchemy's, for migrations."""
        from preflights_es.store.migrate import sqlite_engine

        return sqlite_engine(self.opened)

    def statements(self, room: str) -> Mapping[str, SqlStatement]:
        return Room(room)

    def cursor(self) -> sqlite3.Cursor:
        """On this thread's connection, which is opened where it is not."""
        line = self._line()
        if line.connection is None:
            line.connection = self.opened()
        return line.connection.cursor()

    def _line(self) -> _ThreadConnection:
        try:
            found: _ThreadConnection = self._mine.line
        except AttributeError:
            found = self._mine.line = _ThreadConnection()
            with self._lines_change:
                self._lines.add(found)
        return found

    def opened(self) -> sqlite3.Connection:
        """A new connection.

        Alone, where the disk is too full for the file that processes share beside the journal.
        Nothing can be written there then, but all can be read, by one connection after the other.
        """
        try:
            return self._connected()
        except sqlite3.OperationalError as error:
            if not getattr(error, "sqlite_errorname", "").startswith("SQLITE_IOERR_SHM"):
                raise
        return self._connected(alone=True)

    def _connected(self, *, alone: bool = False) -> sqlite3.Connection:
        place = _build_connection_path(self._path, is_read_only=self.url.is_read_only)
        made = sqlite3.connect(
            place,
            uri=place.startswith("file:"),
            isolation_level=None,
            check_same_thread=False,  # it is closed with the store, by any thread
        )
        try:
            made.execute(f"PRAGMA busy_timeout={self._line().wait_ms}")
            if alone:  # said before the file is first looked at, else it is shared
                made.execute("PRAGMA locking_mode=EXCLUSIVE")
            made.execute(self._synchronous)
            made.execute("PRAGMA secure_delete=ON")
        except BaseException:  # only this function can close the connection; raised on
            made.close()
            raise
        return made

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

    def wrote(self, work: Callable[[Any], T], *, begins: bool = True) -> T:
        """IMMEDIATE: a deferred one that reads and then writes fails at once, whatever it waits."""
        with self.translated():
            cursor = self.cursor()
            if not self._writes.acquire(timeout=self._line().wait_ms / 1_000):
                raise LogBusy(_BUSY_ADVICE)
            try:
                return self._written(cursor, work, begins=begins)
            finally:
                self._writes.release()

    def _written(self, cursor: sqlite3.Cursor, work: Callable[[Any], T], *, begins: bool) -> T:
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
            self._line().close()
            raise CommitUnknown(f"it may have been recorded: the commit failed: {error}") from error

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
        """Sets how long this thread's connection waits for other writers."""
        line = self._line()
        line.wait_ms = at_most_ms
        if line.connection is not None:
            with self.translated():
                line.connection.execute(f"PRAGMA busy_timeout={at_most_ms}")

    def made(self) -> bool:
        """Make the tables of a new log, as migrations would; another process may be at it too."""
        until = time.monotonic() + self._line().wait_ms / 1_000
        with self.translated():
            while True:
                try:
                    self.prepared()
                    break
                except sqlite3.OperationalError as error:
                    if time.monotonic() > until or not self.raced(error):
                        raise
                    time.sleep(WAIT_S)
        self.wrote(_make)
        return True

    def prepared(self) -> None:
        """Page size and journal, which must be chosen before the first table."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        wait_s = self._line().wait_ms / 1_000
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=wait_s)
        try:
            connection.execute(self._synchronous)
            connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
            connection.execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()

    def alone(self, connection: Connection) -> None:
        """It is: every transaction of this engine begins with the file's one lock."""

    def raced(self, error: Exception) -> bool:
        # Changing the journal's mode does not wait for others, whatever the busy timeout says.
        return "locked" in str(error)

    def translated(self) -> AbstractContextManager[None]:
        """Foreign errors become ours, once, here."""
        return _TRANSLATED

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

    def close(self) -> None:
        with self._lines_change:
            lines = list(self._lines)
        for line in lines:
            line.close()


class _Translated(AbstractContextManager[None]):
    """No generator: each append enters it, and this takes a third of the time."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        match error:
            case None | PreflightsError():
                return
            case sqlite3.Error():
                raise _translate_sqlite_error(error) from error
            case UnicodeDecodeError():
                # SQLite quotes the schema in its errors, and the driver reads those as UTF-8.
                raise _build_damage_error("a name in its schema is not UTF-8") from error
            case MemoryError():
                message = "the log cannot be read: it asks for too much memory"
                raise StoreUnavailable(message) from error
            case OSError():
                raise StoreUnavailable(f"the log cannot be opened: {error}") from error


_TRANSLATED: Final = _Translated()


def _make(cursor: sqlite3.Cursor) -> None:
    """All tables, unless another process was first."""
    if cursor.execute(_TABLES).fetchone() is None:
        for statement in new_tables():
            cursor.execute(statement)
        cursor.execute("INSERT INTO log (id) VALUES (?)", (os.urandom(16).hex(),))


def _build_connection_path(path: Path, *, is_read_only: bool) -> str:
    """A log that is read only, or opened to read, says so: SQLite would else lock it."""
    if not os.path.isfile(path) or os.access(path.parent, os.W_OK):
        return _uri(path) if is_read_only else os.path.abspath(path)
    journal = path.with_name(f"{path.name}-wal")
    if not journal.exists() or journal.stat().st_size == 0:
        return f"{_uri(path)}&immutable=1"
    return _uri(path)


def _uri(path: Path) -> str:
    from urllib.parse import quote

    return f"file:{quote(str(path))}?mode=ro"


def _translate_sqlite_error(error: BaseException) -> PreflightsError:
    name, said = getattr(error, "sqlite_errorname", ""), str(error)
    if name.startswith(_DAMAGED) or any(words in said for words in _DAMAGED_WORDS):
        return _build_damage_error(said)
    if name.startswith(_NOT_OURS):
        return LogDamaged("the database", 0, f"{said}: it is not a log of preflights")
    if name.startswith(_BUSY):
        return LogBusy(_BUSY_ADVICE)
    cure = "make room" if name == "SQLITE_FULL" else "mend its disk or rights"
    kind = ReadOnlyLog if name.startswith("SQLITE_READONLY") else StoreUnavailable
    return kind(f"the log cannot be used: {said}: {cure}, then run this again")


def _build_damage_error(found: str) -> LogDamaged:
    return LogDamaged("the database file", 0, f"{found}: restore it from a copy")


def copied(url: str, to: Path) -> None:
    """The log as it stands, in another file: what is committed while it is copied is not in it.

    Raises:
        SettingsError: it lies in no file.
        NoLog: the file is not there.
        LogDamaged: the file cannot be read as a database.
        StoreUnavailable: it cannot be read, or the copy not written.
    """
    address = parse_log_address(url)
    if not isinstance(address, SqliteFile):
        command = "pg_dump --format=custom --file=FILE DATABASE"
        raise SettingsError(f"a log in PostgreSQL is copied by its own tools: {command}")
    database = SqliteDatabase(address)
    try:
        if not database.tables():
            raise NoLog(shown_url(address))
        if not Path(address.name).stat().st_mode & _OTHERS:
            to.touch()  # before anything is in it
            make_private(str(to))
        with database.translated(), closing(sqlite3.connect(to)) as copy:
            # In one step: a copy in several begins again at each write of another process.
            database.cursor().connection.backup(copy, pages=-1)
    finally:
        database.close()


_OTHERS: Final = 0o077  # rights of the group and of all others
# The file, and what SQLite keeps beside it while the log is open or after a crash.
_FILES_OF_LOG: Final = ("", "-wal", "-shm", "-journal")


def make_private(url: str) -> bool:
    """Let the owner alone read and write the log: its file, and what SQLite keeps beside it.

    SQLite gives a file that it makes beside the log later the rights of the log.

    Returns:
        False if the log lies on a server: there the roles of the server say who reads it.

    Raises:
        StoreUnavailable: the rights of a file cannot be changed, or the log does not exist.
    """
    address = parse_log_address(url)
    if not isinstance(address, SqliteFile):
        return False
    for ending in _FILES_OF_LOG:  # the log first: what SQLite makes meanwhile takes its rights
        path = f"{address.name}{ending}"
        try:
            mode = os.stat(path).st_mode
            if mode & _OTHERS:
                os.chmod(path, mode & ~_OTHERS & 0o777)
        except FileNotFoundError as error:
            if not ending:
                raise StoreUnavailable(f"no log at {path}: nothing to make private") from error
        except OSError as error:
            why = f"{error.strerror}. Its owner can run: chmod 600 {path}"
            raise StoreUnavailable(f"{path} stays readable for others: {why}") from error
    return True


@contextmanager
def blamed_on(url: str, copy: Path) -> Iterator[None]:
    """What is found wrong with a copy is wrong with the log that it was made of, which is named."""
    name, found = shown_url(parse_log_address(url)), str(copy)
    try:
        yield
    except AnotherVersion as error:
        raise type(error)(str(error).replace(found, name)) from error
    except LogDamaged as error:
        where = error.where.replace(found, name)
        raise LogDamaged(where, error.version, error.found) from error
