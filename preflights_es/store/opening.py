"""Opens the database at an address: which schema its tables have, and how they come to today's."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, Final

from preflights_es.kernel.errors import (
    LogBusy,
    LogDamaged,
    LogFromDevelopment,
    LogFromFuture,
    NoLog,
)
from preflights_es.kernel.ports import Access
from preflights_es.store import frozen
from preflights_es.store.database import Database
from preflights_es.store.urls import Address, SqliteFile, may_create, shown_url

_OURS: Final = {"alembic_version", "events", "heads"}
_ALWAYS: Final = frozenset({"events", "heads", "claims", "outbox"})
"""Tables that every log has had; no other program is taken for one that has them all."""
SHOWN: Final = 5  # schemas of a log that says more than one
SHOWN_LENGTH: Final = 40  # characters of each
DIGITS: Final = 9  # of a format's number


def database_at(url: Address, *, lasts: bool = True) -> Database:
    """The database at an address, not connected yet.

    Args:
        lasts: whether a file is to survive a power cut.

    Raises:
        SettingsError: its driver is missing, or does not know what the address asks for.
    """
    if isinstance(url, SqliteFile):
        from preflights_es.store.sqlite import SqliteDatabase

        return SqliteDatabase(url, lasts=lasts)
    from preflights_es.store.postgres import PostgresDatabase

    return PostgresDatabase(url)


def read_table_revision(database: Database) -> str | None:
    """The revision of the tables; None where there are none.

    Raises:
        LogDamaged: the tables are another program's, or say no schema, or several.
    """
    names = database.tables()
    if not names:
        return None
    if not names >= _OURS:
        raise LogDamaged(shown_url(database.url), 0, _explain_foreign_tables(database, names))
    rows = database.looked(
        lambda cursor: cursor.execute("SELECT version_num FROM alembic_version").fetchall()
    )
    found = [str(row[0] or "") for row in rows]
    if len(found) != 1 or not found[0]:
        told = (
            _explain_several_schemas(database, found)
            if any(found)
            else _unsaid(database, len(found))
        )
        raise LogDamaged(shown_url(database.url), 0, told)
    return found[0]


def _explain_foreign_tables(database: Database, names: frozenset[str]) -> str:
    """Why tables are not those of a log."""
    if "alembic_version" not in names and names >= _ALWAYS:
        return _explain_with_cure(
            "its table 'alembic_version' is missing", database, _MAKE, _INSERT
        )
    return "it is another program's database"


def make_current(database: Database, access: Access) -> None:
    """Create or upgrade the tables where needed.

    Raises:
        NoLog: there are none, and the caller did not ask to create them.
        LogFromFuture: a newer version of this program made them.
        LogFromDevelopment: a version before the first release made them.
        LogDamaged: they are not ours.
        LogBusy: they must be upgraded, and another process is writing.
        StoreUnavailable: they cannot be upgraded.
    """
    url = database.url
    found = _known_schema(database)
    if found is None and not (access.creates and may_create(url)):
        raise NoLog(shown_url(url))
    try:
        if found is None:
            with nullcontext() if access.waits else database.hurried():
                is_made = database.made()
            found = _known_schema(database) if is_made else None  # an older version may be first
        if found != frozen.read_frozen_revision():
            from preflights_es.store import migrate

            database.close()
            with database.translated():
                migrate.upgrade(database, hurries=not access.waits)
    except LogBusy as error:
        code = "log_being_made" if found is None else "upgrade_waits"
        raise LogBusy(_busy(found), code=code) from error


def _known_schema(database: Database) -> str | None:
    """As `schema`, where a release made the tables, and no newer one than this.

    A revision is `log_N`, and N is the format of the log (docs/decisions/0041).
    """
    found, known = read_table_revision(database), frozen.read_frozen_revision()
    if found is None or 1 <= (number := _format(found)) <= _format(known):
        return found
    where = f"the log {shown_url(database.url)}"
    if number:
        raise LogFromFuture(
            f"{where} was written by a newer Preflights (schema {found}, this version knows "
            f"{known}): upgrade preflights"
        )
    raise LogFromDevelopment(
        f"{where} was written by a development version of Preflights (schema "
        f"{found[:SHOWN_LENGTH]!r}), which no release reads: move it away to begin a new log"
    )


def _format(schema: str) -> int:
    """The number of a schema; 0 where no release has such a one."""
    name, _, number = schema.partition("_")
    is_ours = name == "log" and number.isascii() and number.isdecimal() and len(number) <= DIGITS
    return int(number) if is_ours else 0


def _busy(found: str | None) -> str:
    if found is None:
        return "the log is being made by another process: run this again"
    return (
        f"the log must be upgraded first, from schema {found} to {frozen.read_frozen_revision()}, "
        "and another process is writing: run this again when it is done"
    )


# A table `alembic_version` that was changed or dropped by hand -----------------------------------

_COPY: Final = "restore it from a copy"
_MAKE: Final = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
_INSERT: Final = "INSERT INTO alembic_version VALUES ('{}')"
_SET: Final = "UPDATE alembic_version SET version_num = '{}'"
_KEEP: Final = "DELETE FROM alembic_version WHERE version_num <> '{}'"


def _unsaid(database: Database, rows: int) -> str:
    """Advice if the table has no row, or rows without a schema."""
    found = "it does not say its schema: its table 'alembic_version' is empty"
    return (
        f"{found}: {_COPY}"
        if rows > 1
        else _explain_with_cure(found, database, _SET if rows else _INSERT)
    )


def _explain_several_schemas(database: Database, schemas: Sequence[str]) -> str:
    """Where the table has more than one schema; today's is kept where the tables are today's."""
    named = ", ".join(repr(one[:SHOWN_LENGTH]) for one in sorted(schemas)[:SHOWN])
    found = f"it says {len(schemas)} schemas ({named}), expected one"
    return (
        _explain_with_cure(found, database, _KEEP)
        if frozen.read_frozen_revision() in schemas
        else f"{found}: {_COPY}"
    )


def _explain_with_cure(found: str, database: Database, *statements: str) -> str:
    """What is wrong and what to do; statements only where the tables are today's."""
    if not _is_of_today(database):
        return f"{found}: {_COPY}"
    cure = ", then ".join(f"`{one.format(frozen.read_frozen_revision())}`" for one in statements)
    return f"{found}: {_COPY}, or run in it: {cure}"


def _is_of_today(database: Database) -> bool:
    """Whether every table is there, with the columns that this version gives it."""
    wanted = frozen.frozen().tables
    if not database.tables() >= wanted.keys():
        return False

    def look(cursor: Any) -> bool:
        for table in wanted:
            cursor.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608  names of our own tables
            if {column[0] for column in cursor.description} != {*frozen.columns(table)}:
                return False
        return True

    return database.looked(look)
