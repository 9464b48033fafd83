"""Runs one query of others on a connection that can only read, within limits of time and size.

The caller has checked the query; this room does not rely on that.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from preflights_es.kernel.errors import Refused
from preflights_es.store.frozen import frozen
from preflights_es.store.urls import Address, SqliteFile, database

LOG_TABLES: Final = frozenset(frozen().tables)
LENGTH_MAX: Final = 1_000_000  # bytes of a value or a row: nothing stops a function on one value
COLUMNS_MAX: Final = 200
RESULT_MAX: Final = 50_000_000  # characters and bytes of all rows together
EXPRESSION_MAX: Final = 200  # levels of an expression
STEPS: Final = 1_000  # instructions of SQLite's machine between two looks at the clock
_INTERNAL: Final = frozenset(("sqlite_master", "sqlite_schema", "sqlite_temp_master"))
_REFUSED: Final = frozenset(
    (
        *("load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"),
        *("randomblob", "zeroblob", "printf", "format"),
    )
)


class Limits(NamedTuple):
    """How much a query may bring and take."""

    rows: int = 1_000
    seconds: float = 10.0


class Rows(msgspec.Struct, frozen=True):
    """What a query brought; never recorded."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    """Whether there were more rows than asked for."""


class QueryFailed(Refused):
    """The database does not run the query: the message says why."""


def rows_here(address: Address, sql: str, readable: Collection[str], limits: Limits) -> Rows:
    """What a query brings, run in this process: `store.query_process` ends it at the limit.

    Args:
        readable: tables of the database that it may read; empty for all.

    Raises:
        QueryFailed: the database refuses it, or it takes too long.
        StoreUnavailable: the database cannot be opened.
    """
    if isinstance(address, SqliteFile):
        return _of_file(address, sql, readable, limits)
    from preflights_es.store.guarded_postgres import of_server

    return of_server(address, sql, limits)


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


def failed(why: object) -> QueryFailed:
    """The database said no."""
    said = " ".join(str(why).split())[:300]
    return QueryFailed(f"the database does not run the query: {said}", code="query_failed")


def _of_file(file: SqliteFile, sql: str, readable: Collection[str], limits: Limits) -> Rows:
    read_only = database(SqliteFile(file.name, is_read_only=True))
    with read_only.translated():
        connection: sqlite3.Connection = read_only.opened()  # type: ignore[attr-defined]  # SQLite's
        try:
            connection.execute("PRAGMA query_only=ON")
            connection.execute("PRAGMA trusted_schema=OFF")
            until = time.monotonic() + limits.seconds
            _guard(connection, readable, until)
            return _fetched(connection, sql, limits, until)
        finally:
            connection.close()


def _hidden(connection: sqlite3.Connection, readable: Collection[str]) -> set[str]:
    """Tables that may not be read, in lower case: none that a readable view reads."""
    there = {
        name.lower(): (name, kind)
        for name, kind in connection.execute(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"
        )
    }
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


def _guard(connection: sqlite3.Connection, readable: Collection[str], until: float) -> None:
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
    connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)

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


def _fetched(connection: sqlite3.Connection, sql: str, limits: Limits, until: float) -> Rows:
    try:
        cursor = connection.execute(sql)
        found = fetched(cursor, limits)
    except (sqlite3.Error, sqlite3.Warning) as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
            if time.monotonic() < until:  # Ctrl-C, which SQLite takes for the handler's answer
                raise KeyboardInterrupt from error
            raise too_long(limits) from error
        raise failed(error) from error
    columns = tuple(one[0] for one in cursor.description or ())
    return Rows(columns, tuple(found[: limits.rows]), len(found) > limits.rows)
