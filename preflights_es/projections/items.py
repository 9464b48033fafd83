"""`items`: what sessions hold that others go on with, each with the place that it was read at."""

from __future__ import annotations

from typing import Final

import msgspec

from preflights_es.kernel.items import KeptItem
from preflights_es.kernel.ports import Row
from preflights_es.projections.projection import Projection, Read, text, whole


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


def rows(read: Read) -> tuple[Row, ...]:
    """One an item; none of a session that was given up or cannot be folded."""
    if read.workflow.items is None or not read.sessions or read.sessions[-1].closed:
        return ()
    last, session = read.stored[-1], read.sessions[-1]
    return tuple(
        (
            read.head.session_id,
            whole(item.number),
            text(read.head.project),
            text(item.type),
            text(item.status),
            text(item.title),
            *(_said(one) for one in (item.importance, item.energy, item.due)),
            item.duration_min,
            item.duration_max,
            *(_said(one) for one in (item.start_time, item.end_time)),
            text(item.noted_at),
            whole(item.began_at),
            last.version,
            last.hash.hex(),
            _said(item.source),
            item.confidence,
            *(_said(one) for one in (item.content, item.decision)),
            item.record,
            _said(item.date),
        )
        for item in _held(read, session.state)
    )


def _held(read: Read, state: object) -> tuple[KeptItem, ...]:
    held = read.workflow.items
    return held(state) if held is not None else ()


def _said(value: str | None) -> str | None:
    return None if value is None else text(value)


ITEMS: Final = Projection(
    name="items",
    version=1,
    rows=rows,
    row=ItemColumns,
    key=2,
    index=("project", "session_id"),
)
PROJECTION: Final = ITEMS
