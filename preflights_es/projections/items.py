"""`items`: what sessions hold that others go on with, each with the place that it was read at."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import asdict

from preflights_es.kernel.ports import Row
from preflights_es.projections.projection import (
    VERSIONS,
    Projection,
    Read,
    database_integer,
    database_text,
)


class ItemColumns(msgspec.Struct, frozen=True):
    """An item, and the session that holds it."""

    session_id: str
    number: int
    project: str
    type: str
    status: str
    title: str
    importance: str | None
    energy: str | None
    due: str | None
    duration_min: int | None
    duration_max: int | None
    start_time: str | None
    end_time: str | None
    noted_at: str
    began_at: int
    version: int
    hash: str
    source: str | None
    confidence: float | None
    content: str | None
    decision: str | None
    record: int | None
    date: str | None


def fold_item_rows(read: Read) -> tuple[Row, ...]:
    """One an item; none of a session that was given up or cannot be folded."""
    held = read.workflow.filed.items
    if held is None or not read.sessions or read.sessions[-1].closed:
        return ()
    last = read.stored[-1]
    place = {
        "session_id": last.session_id,
        "project": read.head.project,
        "version": last.version,
        "hash": last.hash.hex(),
    }
    rows = (asdict(item) | place for item in held(read.sessions[-1].state))
    names = ItemColumns.__struct_fields__
    return tuple(tuple(_database_value(row[name]) for name in names) for row in rows)


def _database_value(value: object) -> object:
    """As a database can hold it."""
    if isinstance(value, str):
        return database_text(value)
    return database_integer(value) if isinstance(value, int) else value


ITEMS: Final = Projection(
    name="items",
    version=VERSIONS["items"],
    rows=fold_item_rows,
    row=ItemColumns,
    key=2,
    index=("project", "session_id"),
)
PROJECTION: Final = ITEMS
