"""`items`: what sessions hold that others go on with, each with the place that it was read at."""

from __future__ import annotations

from typing import Final

import msgspec

from preflights_es.kernel.ports import Row
from preflights_es.projections.projection import (
    VERSIONS,
    Projection,
    Read,
    database_integer,
    database_text,
)
from preflights_es.words.items import KeptItem


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
    if read.workflow.filed.items is None or not read.sessions or read.sessions[-1].closed:
        return ()
    last, session = read.stored[-1], read.sessions[-1]
    return tuple(
        (
            read.head.session_id,
            database_integer(item.number),
            database_text(read.head.project),
            database_text(item.type),
            database_text(item.status),
            database_text(item.title),
            *(_optional_database_text(one) for one in (item.importance, item.energy, item.due)),
            item.duration_min,
            item.duration_max,
            *(_optional_database_text(one) for one in (item.start_time, item.end_time)),
            database_text(item.noted_at),
            database_integer(item.began_at),
            last.version,
            last.hash.hex(),
            _optional_database_text(item.source),
            item.confidence,
            *(_optional_database_text(one) for one in (item.content, item.decision)),
            item.record,
            _optional_database_text(item.date),
        )
        for item in _items_of_state(read, session.state)
    )


def _items_of_state(read: Read, state: object) -> tuple[KeptItem, ...]:
    held = read.workflow.filed.items
    return held(state) if held is not None else ()


def _optional_database_text(value: str | None) -> str | None:
    return None if value is None else database_text(value)


ITEMS: Final = Projection(
    name="items",
    version=VERSIONS["items"],
    rows=fold_item_rows,
    row=ItemColumns,
    key=2,
    index=("project", "session_id"),
)
PROJECTION: Final = ITEMS
