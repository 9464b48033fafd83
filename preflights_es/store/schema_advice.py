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
_COPY: Final = "restore it from a copy"
_COLUMNS: Final = "SELECT * FROM :table LIMIT 0"
_INSERT: Final = "INSERT INTO alembic_version VALUES (:schema)"
_SET: Final = "UPDATE alembic_version SET version_num = :schema"
_KEEP: Final = "DELETE FROM alembic_version WHERE version_num <> :schema"
_MAKE: Final = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


def missing(database: Database) -> str:
    """Advice if the table is missing."""
    found = "its table 'alembic_version' is missing"
    if not _is_of_today(database):
        return f"{found}: {_COPY}"
    return f"{found}: {_COPY}, or run in it: `{_MAKE}`, then `{_inserted()}`"


def unsaid(database: Database, rows: int) -> str:
    """Advice if the table has no row, or rows without a schema."""
    found = "it does not say its schema: its table 'alembic_version' is empty"
    if rows > 1 or not _is_of_today(database):
        return f"{found}: {_COPY}"
    return f"{found}: {_COPY}, or run in it: `{_set() if rows else _inserted()}`"


def unknown(database: Database, schema: str) -> str:
    """Advice if no version of this program made the table's schema."""
    found = f"it says the schema {_named(schema)}, which no version of preflights has"
    if not _is_of_today(database):
        return f"{found}: {_COPY}"
    return f"{found}: {_COPY}, or run in it: `{_set()}`"


def several(database: Database, schemas: Sequence[str]) -> str:
    """Where the table has more than one schema.

    Today's is kept where the tables are today's. Else the oldest is kept: the next command upgrades
    the tables, or says which schema they have.
    """
    named = ", ".join(_named(one) for one in sorted(schemas)[:SHOWN])
    found = f"it says {len(schemas)} schemas ({named}), expected one: {_COPY}"
    today = frozen.schema()
    ours = [one for one in schemas if one.isdigit() and one <= today]
    if not ours:
        return found
    if today in ours and _is_of_today(database):
        return f"{found}, or run in it: `{_kept(today)}`"
    return (
        f"{found}, or run in it: `{_kept(min(ours))}`; the next command upgrades it or says what "
        "fits"
    )


def _is_of_today(database: Database) -> bool:
    """Whether every table is there, with the columns that this version gives it."""
    wanted = frozen.frozen().tables
    if not database.tables() >= wanted.keys():
        return False

    def look(cursor: Any) -> bool:
        for table in wanted:
            cursor.execute(_COLUMNS.replace(":table", table))
            if {column[0] for column in cursor.description} != {*frozen.columns(table)}:
                return False
        return True

    return database.looked(look)


def _named(schema: str) -> str:
    return repr(schema[:SHOWN_LENGTH])


def _inserted() -> str:
    return _INSERT.replace(":schema", repr(frozen.schema()))


def _set() -> str:
    return _SET.replace(":schema", repr(frozen.schema()))


def _kept(schema: str) -> str:
    return _KEEP.replace(":schema", repr(schema))
