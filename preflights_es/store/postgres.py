"""The log in PostgreSQL, by psycopg 3, the extra `postgres` (docs/decisions/0010).

No lock but those that rows have, and no session state that a transaction relies on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

from sqlalchemy import create_engine, event, inspect
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from preflights_es.kernel.errors import (
    CommitUnknown,
    ExtraMissing,
    LogBusy,
    LogDamaged,
    PreflightsError,
    ReadOnlyLog,
    Refused,
    SettingsError,
    StoreUnavailable,
)
from preflights_es.store.core_statements import Compiled
from preflights_es.store.database import HURRY_MS, Dialect, Race, T
from preflights_es.store.frozen import SqlStatement, frozen
from preflights_es.store.urls import without_secrets

try:
    import psycopg
    from psycopg import errors as pg
    from psycopg.conninfo import make_conninfo
except ImportError as error:
    raise ExtraMissing("a log in PostgreSQL", "postgres") from error

# What it warns of, an error says as well; without a handler it would stand on stderr beside that.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

STATEMENT_TIMEOUT_MS: Final = 15_000  # as long as a writer waits for another one in SQLite
IDLE_TIMEOUT_MS: Final = 60_000  # of a transaction whose process hangs and holds a head
CONNECT_TIMEOUT_S: Final = 10
RECONNECT_S: Final = 10  # seconds to find a server again that was there; it restarts in a few
RECONNECT_WAIT_S: Final = 0.1  # seconds between two tries
FINISH_S: Final = 2  # seconds that the server may take with a COMMIT whose connection broke
FINISH_WAIT_S: Final = 0.01  # seconds between two looks
POOL_SIZE: Final = 4  # connections of one store, which uses as many as it has threads
TRIES: Final = 20  # of a transaction that others crossed, before the log is said to be busy
BREAKS: Final = 3  # connections that may break under one piece of work

_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_HURRY: Final = f"SET LOCAL lock_timeout = {HURRY_MS}"
_TABLES: Final = (
    "SELECT c.relname FROM pg_catalog.pg_class AS c "
    "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
    "WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')"
)
_SIZE: Final = (
    "SELECT coalesce(sum(pg_catalog.pg_total_relation_size(pg_catalog.to_regclass(name))), 0) "
    "FROM unnest(%s::text[]) AS name"
)
_ALIVE: Final = "SELECT 1 FROM pg_catalog.pg_stat_activity WHERE pid = %s"
_UNKNOWN: Final = "40003"  # statement_completion_unknown, of those that say so
_AGAIN: Final = (Race, pg.SerializationFailure, pg.DeadlockDetected)
_RACED: Final = (
    pg.DuplicateTable,
    pg.DuplicateObject,
    pg.DuplicateFunction,
    pg.UniqueViolation,
    pg.SerializationFailure,
    pg.DeadlockDetected,
)
_DAMAGED: Final = (pg.DataCorrupted, pg.IndexCorrupted)
_NOT_OURS: Final = (pg.UndefinedTable, pg.UndefinedColumn)


class _Mine(threading.local):
    """What holds for one thread."""

    hurries = False


class PostgresDatabase:
    """A pool of connections, each used for one look or one transaction at a time."""

    dialect: Dialect = "postgresql"
    begin = _BEGIN
    taken: type[Exception] = psycopg.IntegrityError
    keeps = (
        "the server's files hold what was erased until VACUUM FULL, its journal for some time "
        "after that"
    )

    def __init__(self, url: URL) -> None:
        self.url = url
        self.engine = _engine(url)
        self._was_there = False
        self._mine = _Mine()
        self._patience_s = _patience_s(url)

    def statements(self, room: str) -> Mapping[str, SqlStatement]:
        return Compiled(room, self.engine.dialect)

    @contextmanager
    def hurried(self) -> Iterator[None]:
        self._mine.hurries = True
        try:
            yield
        finally:
            self._mine.hurries = False

    # 1. Work ---------------------------------------------------------------------------------

    def looked(self, look: Callable[[Any], T]) -> T:
        with self.translated():
            return self._done(lambda connection: look(connection.cursor()))

    def begun(self, cursor: Any) -> None:
        cursor.execute(self.begin)
        if self._mine.hurries:
            cursor.execute(_HURRY)

    def wrote(self, work: Callable[[Any], T], *, begins: bool = True) -> T:
        def once(connection: PoolProxiedConnection) -> T:
            cursor: Any = connection.cursor()
            if begins:
                self.begun(cursor)
            made = work(cursor)
            self._commit(connection, cursor)
            return made

        with self.translated():
            for _ in range(TRIES):
                try:
                    return self._done(once)
                except _AGAIN as error:
                    crossed = error
            found = f"{TRIES} tries to write failed: {_first_error_line(crossed)}"
            raise StoreUnavailable(f"the log is too busy: {found}") from crossed

    def _done(self, work: Callable[[PoolProxiedConnection], T]) -> T:
        """Work with a connection, on a new one where that broke before it could commit."""
        for left in range(BREAKS, -1, -1):
            connection = self._connection()
            try:
                made = work(connection)
            except BaseException as error:  # a connection goes back to the pool whatever happens
                lost = _is_connection_lost(connection, error)
                pid: int = connection.info.get("pid", 0)
                if lost:
                    # What else the pool holds is of the same server.
                    connection.invalidate()
                    self.engine.dispose()
                connection.close()
                if isinstance(error, CommitUnknown):
                    self._let_finish(pid)
                if left == 0 or not lost or not isinstance(error, psycopg.OperationalError):
                    raise
            else:
                connection.close()
                return made
        raise AssertionError("the last try returns or raises")

    def _let_finish(self, pid: int) -> None:
        """Wait for the process that a COMMIT was sent to, which may be at it still.

        No guarantee rests on it: a reader that looks too early finds the rows a moment later.
        """
        until = time.monotonic() + FINISH_S
        with suppress(psycopg.Error, DBAPIError), closing(self.engine.raw_connection()) as other:
            cursor: Any = other.cursor()
            while cursor.execute(_ALIVE, (pid,)).fetchone() and time.monotonic() < until:
                time.sleep(FINISH_WAIT_S)

    def _connection(self) -> PoolProxiedConnection:
        until = time.monotonic() + self._patience_s
        while True:
            try:
                made = self.engine.raw_connection()
            except (psycopg.OperationalError, DBAPIError):
                # One that never was there is told at once: the address may be wrong.
                if not self._was_there or time.monotonic() > until:
                    raise
                time.sleep(RECONNECT_WAIT_S)
            except AssertionError as error:  # SQLAlchemy reads the version when it first connects
                message = f"the server is not PostgreSQL: {_first_error_line(error)}"
                raise SettingsError(message) from error
            else:
                self._was_there = True
                return made

    def _commit(self, connection: PoolProxiedConnection, cursor: Any) -> None:
        try:
            cursor.execute("COMMIT")
        except psycopg.Error as error:
            is_known = error.sqlstate not in (None, _UNKNOWN)
            if is_known and not _is_connection_lost(connection, error):
                raise
            why = f"the commit broke off ({_first_error_line(error)})"
            raise CommitUnknown(f"it may have been recorded: {why}") from error
        assert cursor.statusmessage == "COMMIT", "nothing that failed goes on to its commit"

    def scrubbed(self) -> bool:
        """Never: old versions of rows stay in the tables' files until VACUUM FULL writes them anew.

        What stands in the server's journal stays longer still (docs/operations.md). VACUUM alone
        only lets the room be used again.
        """
        return False

    def close(self) -> None:
        self.engine.dispose()

    # 2. Tables -------------------------------------------------------------------------------

    def tables(self) -> frozenset[str]:
        def look(cursor: Any) -> frozenset[str]:
            encoding = cursor.connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                expected = "expected one that was created with ENCODING 'UTF8'"
                found = f"the database's encoding is {encoding}, which cannot hold every text"
                raise SettingsError(f"{found}: {expected}")
            return frozenset(row[0] for row in cursor.execute(_TABLES))

        return self.looked(look)

    def made(self) -> bool:
        """False: a server's tables are made by migrations, whatever is there already."""
        return False

    def prepared(self) -> None:
        """Nothing: a database is made by its administrator."""

    def alone(self, connection: Connection) -> None:
        """By the one row that says the schema; before it is there, names of tables collide."""
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        if self._mine.hurries:
            connection.exec_driver_sql(_HURRY)
        if inspect(connection).has_table("alembic_version"):
            connection.exec_driver_sql("SELECT version_num FROM alembic_version FOR UPDATE")

    def raced(self, error: Exception) -> bool:
        return isinstance(getattr(error, "orig", error), _RACED)

    def size(self) -> int:
        """Of the tables and their indexes, without the server's journal."""
        names = sorted(frozen().tables)
        (found,) = self.looked(lambda cursor: cursor.execute(_SIZE, (names,)).fetchone())
        return int(found)

    def check(self) -> None:
        """A server maintains its own files: the check is that it answers."""
        self.looked(lambda cursor: cursor.execute("SELECT 1 FROM heads LIMIT 1").fetchall())

    # 3. Errors -------------------------------------------------------------------------------

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Foreign errors become ours, once, here."""
        try:
            yield
        except PreflightsError:
            raise
        except DBAPIError as error:
            raise self._ours(error.orig or error) from error
        except psycopg.Error as error:
            raise self._ours(error) from error
        except PoolTimeout as error:
            raise StoreUnavailable(f"all {POOL_SIZE} connections are in use: {error}") from error

    def _ours(self, error: BaseException) -> PreflightsError:
        said = without_secrets(self.url, _first_error_line(error))
        match error:
            case _ if isinstance(error, _DAMAGED):
                return LogDamaged("the database", 0, f"{said}: restore it from a copy")
            case _ if isinstance(error, _NOT_OURS):
                return LogDamaged("the database", 0, f"{said}: it is not a log of preflights")
            case psycopg.DataError():
                return Refused(f"nothing was recorded: PostgreSQL cannot hold it: {said}")
            case pg.InsufficientPrivilege() | pg.ReadOnlySqlTransaction():
                return ReadOnlyLog(f"this role may not do that: {said}")
            case pg.LockNotAvailable():
                return LogBusy(
                    f"another transaction holds a lock of the log: {said}: wait for it or end it, "
                    "then run this again"
                )
            case pg.QueryCanceled():
                return StoreUnavailable(f"the log took too long: {said}: try again")
        return StoreUnavailable(f"the log at {self._where()} cannot be used: {said}")

    def _where(self) -> str:
        host = self.url.query.get("host") or self.url.host or "this machine"
        return host if isinstance(host, str) else ", ".join(host)


def _first_error_line(error: BaseException) -> str:
    """The first line of what a driver says; the rest are hints."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _is_connection_lost(connection: PoolProxiedConnection, error: BaseException) -> bool:
    """Whether the connection is of no use any more, nor what it was told last known."""
    driver: Any = connection.driver_connection
    if driver is None or driver.closed or isinstance(error, CommitUnknown):
        return True
    if driver.info.pipeline_status:
        # It could not leave its pipeline: the server went, and its line is not closed yet.
        return True
    if isinstance(error, psycopg.Error):
        # The server says so before it hangs up.
        return error.diag.severity_nonlocalized in ("FATAL", "PANIC")
    return not isinstance(error, Exception)


def _patience_s(url: URL) -> float:
    """Seconds to look for a server that was there: no longer than connecting may take."""
    asked = url.query.get("connect_timeout", str(RECONNECT_S))
    if not isinstance(asked, str) or not asked.isdigit():
        raise SettingsError(f"the database URL: connect_timeout: found {asked!r}, expected seconds")
    return int(asked) or RECONNECT_S


def _engine(url: URL) -> Engine:
    """One whose connections begin as the log needs them; what the address says comes first."""
    asked = {k: v if isinstance(v, str) else ",".join(v) for k, v in url.query.items()}
    try:
        # Only what the server's own library knows: the driver has options that we rely on.
        make_conninfo("", **asked)
        return _made(url, asked)
    except (ArgumentError, ValueError, psycopg.ProgrammingError) as error:
        said = without_secrets(url, _first_error_line(error))
        raise SettingsError(f"the database URL: {said}") from error


def _made(url: URL, asked: Mapping[str, str]) -> Engine:
    ours: dict[str, Any] = {
        "application_name": "preflights",
        "connect_timeout": CONNECT_TIMEOUT_S,
        # A cable that was pulled is noticed within half a minute.
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 4,
        "tcp_user_timeout": 30_000,
    }
    given = {key: value for key, value in ours.items() if key not in asked}
    options = (
        f"-c statement_timeout={STATEMENT_TIMEOUT_MS} "
        f"-c idle_in_transaction_session_timeout={IDLE_TIMEOUT_MS} "
        # Where a server acknowledges sooner, it may lose what it acknowledged.
        "-c synchronous_commit=on"
    )
    made = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_timeout=STATEMENT_TIMEOUT_MS / 1_000,
        use_native_hstore=False,
        connect_args={
            **given,
            "options": f"{options} {asked.get('options', '')}".strip(),
            "client_encoding": "UTF8",
            "autocommit": True,
        },
    )

    @event.listens_for(made, "connect")
    def _on_connect(connection: Any, record: Any) -> None:
        record.info["pid"] = connection.info.backend_pid

    @event.listens_for(made, "begin")
    def _on_begin(connection: Any) -> None:
        connection.exec_driver_sql(_BEGIN)

    return made
