"""What to do with a log whose table `alembic_version` was changed or dropped by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from preflights_es.store import frozen
from preflights_es.store.database import Database

OURS: Final = frozenset({"events", "heads", "claims", "outbox"})
"""Tables that every log has had; no other program is taken for one that has them all."""
SHOWN: Final = 5  # schemas of a log that says more than one
SHOWN_LENGTH: Final = 40  # characters of each
_MAKE: Final = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
_INSERT: Final = "INSERT INTO alembic_version VALUES ('{}')"
_SET: Final = "UPDATE alembic_version SET version_num = '{}'"
_KEEP: Final = "DELETE FROM alembic_version WHERE version_num <> '{}'"


def missing(database: Database) -> str:
    """Where the table is gone."""
    return _told("its table 'alembic_version' is missing", database, _MAKE, _INSERT)


def unsaid(database: Database, rows: int) -> str:
    """Advice if the table has no row, or rows without a schema."""
    found = "it does not say its schema: its table 'alembic_version' is empty"
    return f"{found}: {_COPY}" if rows > 1 else _told(found, database, _SET if rows else _INSERT)


def several(database: Database, schemas: Sequence[str]) -> str:
    """Where the table has more than one schema; today's is kept where the tables are today's."""
    named = ", ".join(repr(one[:SHOWN_LENGTH]) for one in sorted(schemas)[:SHOWN])
    found = f"it says {len(schemas)} schemas ({named}), expected one"
    return _told(found, database, _KEEP) if frozen.schema() in schemas else f"{found}: {_COPY}"


_COPY: Final = "restore it from a copy"


def _told(found: str, database: Database, *statements: str) -> str:
    """What is wrong and what to do; statements only where the tables are today's."""
    if not _is_of_today(database):
        return f"{found}: {_COPY}"
    cure = ", then ".join(f"`{one.format(frozen.schema())}`" for one in statements)
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
