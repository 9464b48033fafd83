"""Runs one query of others in a process of its own, which ends at the limit whatever the query is.

SQLite asks nothing while one of its functions works on a value, so a limit inside of the process
cannot end every query. The child reads one line of JSON, opens the database so that it can only
read, and answers by one line. The caller has checked the query; this module does not rely on that.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from itertools import islice
from math import isfinite
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, NamedTuple

import msgspec

from preflights_es.kernel.errors import LogDamaged, Refused, StoreUnavailable
from preflights_es.store.frozen import frozen
from preflights_es.store.opening import database_at
from preflights_es.store.urls import Address, SqliteFile, parse_log_address, without_secrets

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

LOG_TABLES: Final = frozenset(frozen().tables)
LENGTH_MAX: Final = 1_000_000  # bytes of a value or a row: nothing stops a function on one value
COLUMNS_MAX: Final = 200
RESULT_MAX: Final = 50_000_000  # characters and bytes of all rows together
EXPRESSION_MAX: Final = 200  # levels of an expression
STEPS: Final = 1_000  # instructions of SQLite's machine between two looks at the clock
_INTERNAL: Final = frozenset(("sqlite_master", "sqlite_schema", "sqlite_temp_master"))
_REFUSED: Final = frozenset(
    (
        "load_extension",
        "readfile",
        "writefile",
        "edit",
        "fts3_tokenizer",
        "randomblob",
        "zeroblob",
        "printf",
        "format",
    )
)


class Limits(NamedTuple):
    """How much a query may bring and take, and whose days it counts."""

    rows: int = 1_000
    seconds: float = 10.0
    time_zone: str = ""
    """Of time stamps in PostgreSQL, as it names one; empty for the server's."""


class Rows(msgspec.Struct, frozen=True):
    """What a query brought; never recorded."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    """Whether there were more rows than asked for."""


class QueryFailed(Refused):
    """The database does not run the query: the message says why."""


def rows_here(address: Address, sql: str, readable: Collection[str], limits: Limits) -> Rows:
    """What a query brings, run in this process: `rows` ends it at the limit.

    Args:
        readable: tables of the database that it may read; empty for all.

    Raises:
        QueryFailed: the database refuses it, or it takes too long.
        StoreUnavailable: the database cannot be opened.
    """
    if isinstance(address, SqliteFile):
        return _of_file(address, sql, readable, limits)
    server = database_at(address)
    try:
        return server.looked(lambda cursor: _fetched_from_server(cursor, address, sql, limits))
    finally:
        server.close()


def listed_columns(
    address: Address, tables: Iterable[str], limits: Limits
) -> dict[str, tuple[str, ...]]:
    """The columns that the database lists of tables and views, by table; none of what is not there.

    Args:
        tables: names as the database compares them, a schema with a dot in front.

    Raises:
        QueryFailed, StoreUnavailable: as `rows_here`.
    """
    if isinstance(address, SqliteFile):
        with _reading_file(address, limits) as connection:
            return {name: _in_file(connection, name) for name in tables}
    server = database_at(address)
    try:
        return server.looked(lambda cursor: _on_server(cursor, address, tables, limits))
    finally:
        server.close()


def holds_log(address: Address) -> bool:
    """Whether the tables of a log are there."""
    try:
        rows_here(address, "SELECT 1 AS a FROM heads, outbox, projections LIMIT 0", (), Limits())
    except QueryFailed:
        return False
    return True


def fetched(cursor: Iterable[tuple[Any, ...]], limits: Limits) -> list[tuple[Any, ...]]:
    """The first rows, and one more.

    Raises:
        QueryFailed: they hold too much.
    """
    found: list[tuple[Any, ...]] = []
    size = 0
    for row in islice(cursor, limits.rows + 1):
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if size > RESULT_MAX:
            message = f"the rows hold more than {RESULT_MAX:,} characters: ask for less"
            raise QueryFailed(message, code="too_many_rows")
        found.append(row)
    return found


def too_long(limits: Limits) -> QueryFailed:
    """The query was stopped."""
    message = f"the query took more than {limits.seconds:g} seconds, and was stopped"
    return QueryFailed(message, code="query_timeout")


def build_query_failure(why: object) -> QueryFailed:
    """The database said no."""
    said = " ".join(str(why).split())[:300]
    return QueryFailed(f"the database does not run the query: {said}", code="query_failed")


@contextmanager
def _reading_file(file: SqliteFile, limits: Limits) -> Iterator[sqlite3.Connection]:
    read_only = database_at(SqliteFile(file.name, is_read_only=True))
    with read_only.translated():
        connection: sqlite3.Connection = read_only.opened()  # type: ignore[attr-defined]  # SQLite's
        try:
            connection.execute("PRAGMA query_only=ON")
            connection.execute("PRAGMA trusted_schema=OFF")
            until = time.monotonic() + limits.seconds
            connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            yield connection
        except (sqlite3.Error, sqlite3.Warning) as error:
            if getattr(error, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
                if time.monotonic() < until:  # Ctrl-C, which SQLite takes for the handler's answer
                    raise KeyboardInterrupt from error
                raise too_long(limits) from error
            raise build_query_failure(error) from error
        finally:
            connection.close()


def _of_file(file: SqliteFile, sql: str, readable: Collection[str], limits: Limits) -> Rows:
    with _reading_file(file, limits) as connection:
        _guard(connection, readable)
        cursor = connection.execute(sql)
        found = fetched(cursor, limits)
        columns = tuple(one[0] for one in cursor.description or ())
        return Rows(columns, tuple(found[: limits.rows]), len(found) > limits.rows)


def _in_file(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Without what SQLite hides: columns that a virtual table takes as arguments, and the rowid."""
    schema, _, name = table.rpartition(".")
    sql = "SELECT name FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1"
    return tuple(row[0] for row in connection.execute(sql, (name, schema or None)))


def _hidden(connection: sqlite3.Connection, readable: Collection[str]) -> set[str]:
    """Tables that may not be read, in lower case: none that a readable view reads."""
    lists = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"
    there = {name.lower(): (name, kind) for name, kind in connection.execute(lists)}
    known = {name.lower() for name in readable}
    views = [there[name][0] for name in known & there.keys() if there[name][1] == "view"]

    def seen(action: int, first: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ and first:
            known.add(first.lower())
        return sqlite3.SQLITE_OK

    connection.set_authorizer(seen)
    for view in views:
        quoted = view.replace('"', '""')
        with suppress(sqlite3.Error):  # a view of what is not there reads nothing
            connection.execute(f'EXPLAIN SELECT * FROM "{quoted}"')  # noqa: S608  a name of its own
    return there.keys() - known


def _guard(connection: sqlite3.Connection, readable: Collection[str]) -> None:
    # SQLite declares this table at its first use, which no authorizer that only reads allows.
    connection.execute("SELECT 1 FROM json_each('[]')")
    hidden = _hidden(connection, readable) if readable else set()
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LENGTH_MAX)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1_000_000)
    connection.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, COLUMNS_MAX)
    connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, EXPRESSION_MAX)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000)
    connection.setlimit(sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 50)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)

    def allowed(
        action: int, first: str | None, second: str | None, _db: str | None, _by: str | None
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            is_refused = (second or "").lower() in _REFUSED
            return sqlite3.SQLITE_DENY if is_refused else sqlite3.SQLITE_OK
        table = (first or "").lower()
        is_hidden = table in hidden or table.startswith("pragma_") or table in _INTERNAL
        if action == sqlite3.SQLITE_READ and not is_hidden:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(allowed)


# In PostgreSQL: a transaction that can only read, as the reader role ---------------------------

READER: Final = "preflights_reader"
"""The role of docs/operations.md; taken where the server has it and the user may."""
_MAY: Final = (
    "SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = %s "
    "AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER')"
)


_LISTED: Final = (
    "SELECT attname::text FROM pg_catalog.pg_attribute "
    "WHERE attrelid = pg_catalog.to_regclass(%s) AND attnum > 0 AND NOT attisdropped"
)


_ZONE: Final = "SELECT set_config('TimeZone', %s, true)"
_NAME: Final = "asked"  # of the cursor that the server keeps, so that not all rows come at once


@contextmanager
def _reading_server(cursor: Any, url: URL, limits: Limits) -> Iterator[None]:
    from psycopg import Error
    from psycopg import errors as pg

    may_be_reader = cursor.execute(_MAY, (READER,)).fetchone() is not None
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    try:
        cursor.execute(f"SET LOCAL statement_timeout = {max(1, int(limits.seconds * 1000))}")
        # A backslash in a text is one, whatever the server or the user is set to.
        cursor.execute("SET LOCAL standard_conforming_strings = on")
        if limits.time_zone:
            cursor.execute(_ZONE, (limits.time_zone,))
        if may_be_reader:
            cursor.execute(f"SET LOCAL ROLE {READER}")
        yield
    except pg.QueryCanceled as error:
        raise too_long(limits) from error
    except Error as error:
        is_reader = may_be_reader and isinstance(error, pg.InsufficientPrivilege)
        as_reader = f", as the role {READER}" if is_reader else ""
        raise build_query_failure(without_secrets(url, str(error).strip()) + as_reader) from error
    finally:
        cursor.execute("ROLLBACK")


def _fetched_from_server(cursor: Any, url: URL, sql: str, limits: Limits) -> Rows:
    with _reading_server(cursor, url, limits), cursor.connection.cursor(name=_NAME) as asked:
        asked.execute(sql)
        found = fetched(asked, limits)
        columns = tuple(one.name for one in asked.description or ())
    return Rows(columns, tuple(found[: limits.rows]), len(found) > limits.rows)


def _on_server(
    cursor: Any, url: URL, tables: Iterable[str], limits: Limits
) -> dict[str, tuple[str, ...]]:
    """Of the tables that a query of these names reads; no system columns, and none that went."""
    found = {}
    with _reading_server(cursor, url, limits):
        for name in tables:
            quoted = ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))
            rows = cursor.execute(_LISTED, (quoted,)).fetchall()
            found[name] = tuple(row[0] for row in rows)
    return found


# In a process of its own ----------------------------------------------------------------------

GRACE_S: Final = 0.2  # behind the limit, in which the engine ends the query by itself
PATIENCE_S: Final = 30.0  # beside the limit: to start, to open the database, to hand rows over
LATE: Final = 124  # how the child ends at the limit
NUMBER_MAX: Final = 2**53  # above it, JSON's readers round


class _GuardedRequest(msgspec.Struct, frozen=True):
    """What the child is told."""

    address: str
    """Its bytes, in hexadecimal: a path or a URL."""
    is_file: bool
    sql: str
    readable: tuple[str, ...]
    limits: Limits


class _GuardedAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What it says: rows, or why there are none."""

    rows: Rows | None = None
    kind: Literal["", "query", "damaged", "unavailable"] = ""
    message: str = ""
    code: str = ""
    version: int = 0


def run_guarded_query(
    address: Address, sql: str, readable: Collection[str], limits: Limits
) -> Rows:
    """What a query brings, each value as JSON has it.

    Args:
        readable: tables of the database that it may read; empty for all.

    Raises:
        QueryFailed: the database refuses it, or it takes too long.
        LogDamaged, StoreUnavailable: the database cannot be opened.
    """
    if isinstance(address, SqliteFile):
        named, is_file = address.name, True
    else:
        named, is_file = address.render_as_string(hide_password=False), False
    # A file's name may be none of UTF-8.
    asked = _GuardedRequest(os.fsencode(named).hex(), is_file, sql, tuple(readable), limits=limits)
    with subprocess.Popen(  # noqa: S603  our own interpreter, and nothing of the query
        [sys.executable, "-P", "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin is not None, "a pipe"
        assert child.stdout is not None, "a pipe"
        late = Timer(limits.seconds + PATIENCE_S, child.kill)
        late.start()
        try:
            with suppress(BrokenPipeError):
                child.stdin.write(msgspec.json.encode(asked) + b"\n")
                child.stdin.flush()  # it stays open: its end tells the child that we are gone
            said = child.stdout.readline()
            ended = 0 if said else child.wait()
        finally:  # also where Ctrl-C ends the wait
            late.cancel()
            child.kill()
    if ended in (LATE, -signal.SIGKILL):
        raise too_long(limits)
    if ended:
        raise RuntimeError(f"the process that runs the query ended with {ended}")
    return _unpack_guarded_answer(said)


def _unpack_guarded_answer(said: bytes) -> Rows:
    answer = msgspec.json.decode(said, type=_GuardedAnswer)
    match answer.kind:
        case "query":
            raise QueryFailed(answer.message, code=answer.code)
        case "damaged":
            raise LogDamaged("the database", answer.version, answer.message)
        case "unavailable":
            raise StoreUnavailable(answer.message)
        case _:
            assert answer.rows is not None, "it is no error"
            return answer.rows


# The child ------------------------------------------------------------------------------------


def main(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer one question, and end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this process
    asked = msgspec.json.decode(source.readline(), type=_GuardedRequest)
    Thread(target=_end_with, args=(source,), daemon=True).start()
    # No lock of the interpreter is held while an engine works, so this ends whatever it does.
    limit = Timer(asked.limits.seconds + GRACE_S, os._exit, (LATE,))
    limit.daemon = True
    named = os.fsdecode(bytes.fromhex(asked.address))
    address = SqliteFile(named) if asked.is_file else parse_log_address(named)
    try:
        limit.start()
        found = rows_here(address, asked.sql, asked.readable, asked.limits)
        limit.cancel()
        plain = tuple(tuple(map(_convert_cell_value, row)) for row in found.rows)
        answer = _GuardedAnswer(Rows(found.columns, plain, found.more))
    except QueryFailed as error:
        answer = _GuardedAnswer(kind="query", message=str(error), code=error.code)
    except LogDamaged as error:
        answer = _GuardedAnswer(kind="damaged", message=error.found, version=error.version)
    except StoreUnavailable as error:
        answer = _GuardedAnswer(kind="unavailable", message=str(error))
    sink.write(msgspec.json.encode(answer) + b"\n")
    sink.flush()
    os._exit(0)  # the thread that waits for the parent cannot be ended


def _end_with(source: BinaryIO) -> None:
    """End as soon as the parent does, also where that is killed."""
    os.read(source.fileno(), 1)
    os._exit(1)


def _convert_cell_value(value: Any) -> Any:
    """As JSON has it; bytes in hexadecimal, anything else as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case bytes():
            return value.hex()
        case Decimal() if value.is_finite() and abs(value) < NUMBER_MAX:
            return int(value) if value == int(value) else float(value)
        case list() | dict():
            return msgspec.json.encode(value, enc_hook=str).decode()
        case _:
            return str(value)


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
