"""The statements and tables of a log in SQLite, compiled beforehand: no SQLAlchemy is imported.

`make freeze` writes both files anew, from `store.core_statements` and from the migrations; a test
holds them to what those make today (docs/decisions/0017).
"""

from collections.abc import Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from preflights_es.kernel.events import Whole

STATEMENTS: Final = Path(__file__).with_name("sqlite_statements.json")
TABLES: Final = Path(__file__).with_name("sqlite_tables.sql")

ValueKind = Literal["text", "whole", "real", "bytes"]


class SqlStatement(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a driver is sent, and the values that go with it."""

    sql: str
    names: tuple[str, ...] | None = None
    """Of the values in their order; None where the driver takes them by name."""
    fixed: dict[str, Any] = {}
    """Values that are always the same, by name."""

    def bound(self, values: Mapping[str, Any]) -> Any:
        """The parameters in the form that the driver takes."""
        if self.fixed:
            values = {**self.fixed, **values}
        return [*map(values.__getitem__, self.names)] if self.names is not None else values


class FrozenStatement(msgspec.Struct, frozen=True, omit_defaults=True):
    """A statement as the file holds it: in lines, so that a difference can be read."""

    sql: tuple[str, ...]
    names: tuple[str, ...] | None = None
    fixed: dict[str, Any] = {}


class FrozenColumn(msgspec.Struct, frozen=True, array_like=True):
    """A column of a table."""

    name: str
    kind: ValueKind
    is_nullable: bool


class Frozen(msgspec.Struct, frozen=True):
    """The whole file."""

    schema: str
    """The revision of the tables."""
    tables: dict[str, tuple[FrozenColumn, ...]]
    rooms: dict[str, dict[str, msgspec.Raw]]
    """Of each room its statements by name, as they stand there."""


@cache
def frozen() -> Frozen:
    """What stands in the file of statements."""
    return msgspec.json.decode(STATEMENTS.read_bytes(), type=Frozen)


class Room(dict[str, SqlStatement]):
    """The statements of a room by name, each read when it is first used."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._raw = frozen().rooms[name]

    def __missing__(self, name: str) -> SqlStatement:
        found = msgspec.json.decode(self._raw[name], type=FrozenStatement)
        made = self[name] = SqlStatement(" ".join(found.sql), found.names, found.fixed)
        return made


def read_frozen_revision() -> str:
    """The revision of the tables that this version knows."""
    return frozen().schema


@cache
def columns(table: str) -> tuple[str, ...]:
    """Names of a table's columns, on every engine."""
    return tuple(map(attrgetter("name"), frozen().tables[table]))


def new_tables() -> list[str]:
    """What makes the tables of a new log, as they are after the last migration."""
    # Between two statements is an empty line: a trigger has semicolons within.
    return TABLES.read_text("utf-8").strip().split("\n\n")


PREFIX: Final = "projected_"
PROJECTED: Final = {
    table.removeprefix(PREFIX): table for table in frozen().tables if table.startswith(PREFIX)
}
"""The table of each projection, as `make freeze` found them."""

# How many of something a statement takes.
AT_ONCE: Final = 20  # rows that one inserts: SQLite once took 999 values at most
MATCHES_MAX: Final = 5  # ids shown when what was typed is ambiguous
CLEAR: Final = "clear "  # before the name of a projection's table, in the name of its statement

_KINDS: Final[dict[str, Any]] = {"text": str, "whole": Whole, "real": float}


@cache
def build_row_shape(name: str) -> Any:
    """Lists of a projection's rows, as `msgspec` checks them: what each column holds."""
    kinds = ((_KINDS[one.kind], one.is_nullable) for one in frozen().tables[PROJECTED[name]])
    row = tuple(kind | None if is_nullable else kind for kind, is_nullable in kinds)
    return list[tuple.__class_getitem__(row)]  # type: ignore[misc]  # made while it runs
