"""Runs one query of others in PostgreSQL: a transaction that can only read, as the reader role."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy.engine import URL

from preflights_es.store.guarded_query import Limits, Rows, failed, fetched, too_long
from preflights_es.store.postgres import PostgresDatabase
from preflights_es.store.urls import without_secrets

READER: Final = "preflights_reader"
"""The role of docs/operations.md; taken where the server has it and the user may."""
_MAY: Final = (
    "SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = %s "
    "AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER')"
)


_NAME: Final = "asked"  # of the cursor that the server keeps, so that not all rows come at once


def of_server(url: URL, sql: str, limits: Limits) -> Rows:
    """What a query brings.

    Raises:
        QueryFailed: the server refuses it, or it takes too long.
        StoreUnavailable: the server cannot be reached.
    """
    made = PostgresDatabase(url)
    try:
        return made.looked(lambda cursor: _fetched(cursor, url, sql, limits))
    finally:
        made.close()


def _fetched(cursor: Any, url: URL, sql: str, limits: Limits) -> Rows:
    from psycopg import Error
    from psycopg import errors as pg

    may_be_reader = cursor.execute(_MAY, (READER,)).fetchone() is not None
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    try:
        cursor.execute(f"SET LOCAL statement_timeout = {max(1, int(limits.seconds * 1000))}")
        # A backslash in a text is one, whatever the server or the user is set to.
        cursor.execute("SET LOCAL standard_conforming_strings = on")
        if may_be_reader:
            cursor.execute(f"SET LOCAL ROLE {READER}")
        with cursor.connection.cursor(name=_NAME) as asked:
            asked.execute(sql)
            found = fetched(asked, limits)
            columns = tuple(one.name for one in asked.description or ())
    except pg.QueryCanceled as error:
        raise too_long(limits) from error
    except Error as error:
        is_reader = may_be_reader and isinstance(error, pg.InsufficientPrivilege)
        as_reader = f", as the role {READER}" if is_reader else ""
        raise failed(without_secrets(url, str(error).strip()) + as_reader) from error
    finally:
        cursor.execute("ROLLBACK")
    return Rows(columns, tuple(found[: limits.rows]), len(found) > limits.rows)
