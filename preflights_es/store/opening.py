"""What schema the tables of a log have, and how they come to today's."""

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
from preflights_es.store import frozen
from preflights_es.store.database import Database
from preflights_es.store.urls import may_create, shown_url

_OURS: Final = {"alembic_version", "events", "heads"}
SHOWN: Final = 40  # characters of a schema in a message
DIGITS: Final = 9  # of a format's number


def schema(database: Database) -> str | None:
    """The revision of the tables; None where there are none.

    Raises:
        LogDamaged: the tables are another program's, or say no schema, or several.
    """
    names = database.tables()
    if not names:
        return None
    if not names >= _OURS:
        raise LogDamaged(shown_url(database.url), 0, _foreign(database, names))
    rows = database.looked(
        lambda cursor: cursor.execute("SELECT version_num FROM alembic_version").fetchall()
    )
    found = [str(row[0] or "") for row in rows]
    if len(found) != 1 or not found[0]:
        from preflights_es.store import schema_advice

        told = (
            schema_advice.several(database, found)
            if any(found)
            else schema_advice.unsaid(database, len(found))
        )
        raise LogDamaged(shown_url(database.url), 0, told)
    return found[0]


def _foreign(database: Database, names: frozenset[str]) -> str:
    """Why tables are not those of a log."""
    from preflights_es.store import schema_advice

    if "alembic_version" not in names and names >= schema_advice.OURS:
        return schema_advice.missing(database)
    return "it is another program's database"


def make_current(database: Database, *, creates: bool, hurries: bool = False) -> None:
    """Create or upgrade the tables where needed.

    Args:
        hurries: wait only a moment for a process that writes: the command only reads.

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
    if found is None and not (creates and may_create(url)):
        raise NoLog(shown_url(url))
    try:
        if found is None:
            with database.hurried() if hurries else nullcontext():
                is_made = database.made()
            found = _known_schema(database) if is_made else None  # an older version may be first
        if found != frozen.schema():
            from preflights_es.store import migrate

            database.close()
            with database.translated():
                migrate.upgrade(url, hurries=hurries)
    except LogBusy as error:
        code = "log_being_made" if found is None else "upgrade_waits"
        raise LogBusy(_busy(found), code=code) from error


def _known_schema(database: Database) -> str | None:
    """As `schema`, where a release made the tables, and no newer one than this.

    A revision is `log_N`, and N is the format of the log (docs/decisions/0041).
    """
    found, known = schema(database), frozen.schema()
    if found is None or 1 <= (number := _format(found)) <= _format(known):
        return found
    where = f"the log {shown_url(database.url)}"
    if number:
        raise LogFromFuture(
            f"{where} was written by a newer Preflights (schema {found}, this version knows "
            f"{known}): upgrade preflights"
        )
    raise LogFromDevelopment(
        f"{where} was written by a development version of Preflights (schema {found[:SHOWN]!r}), "
        "which no release reads: move it away to begin a new log"
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
        f"the log must be upgraded first, from schema {found} to {frozen.schema()}, and another "
        "process is writing: run this again when it is done"
    )
