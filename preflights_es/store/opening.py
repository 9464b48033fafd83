"""Opens the database at an address: which schema its tables have, and how they come to today's."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Final

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
SHOWN_LENGTH: Final = 40  # characters of a schema that no release has
_COPY: Final = "restore the log from a copy"
_FOREIGN: Final = "it is another program's database"
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
        is_ours = "alembic_version" not in names and names >= _ALWAYS
        said = f"its table 'alembic_version' is missing: {_COPY}" if is_ours else _FOREIGN
        raise LogDamaged(shown_url(database.url), 0, said)
    asks = "SELECT version_num FROM alembic_version"
    rows = database.looked(lambda cursor: cursor.execute(asks).fetchall())
    found = [str(row[0]) for row in rows if row[0]]
    if len(found) != 1:
        said = f"its table 'alembic_version' says {len(found)} schemas, expected one: {_COPY}"
        raise LogDamaged(shown_url(database.url), 0, said)
    return found[0]


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
    which = f"from schema {found} to {frozen.read_frozen_revision()}"
    why = "another process is writing: run this again when it is done"
    return f"the log must be upgraded first, {which}, and {why}"
