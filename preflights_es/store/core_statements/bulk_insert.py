"""The statements that take over many sessions at once."""

from __future__ import annotations

from sqlalchemy import Table, bindparam, insert, select
from sqlalchemy.sql import ClauseElement

from preflights_es.store import tables
from preflights_es.store.bulk_insert import AMONG, AT_ONCE

_TABLES = (tables.heads, tables.events, tables.outbox)
_h, _n = tables.heads.c, tables.numbers.c


def statements() -> dict[str, ClauseElement]:
    """By name."""
    project, number = (
        bindparam("project", type_=_n.project.type),
        bindparam("number", type_=_n.number.type),
    )
    holder = bindparam("session_id", type_=_n.session_id.type)
    is_held = select(_n.number).where(_n.project == project, _n.number == number).exists()
    return {
        "heads_among": select(
            _h.session_id, _h.project, _h.workflow, _h.version, _h.head_hash
        ).where(_h.session_id.in_([bindparam(f"id_{n}") for n in range(AMONG)])),
        "insert_imported": insert(tables.imported_documents),
        "insert_free_number": insert(tables.numbers).from_select(
            ["project", "number", "session_id"], select(project, number, holder).where(~is_held)
        ),
        **{f"insert_many {one.name}": _many(one) for one in _TABLES},
        **{f"insert_one {one.name}": insert(one) for one in _TABLES},
    }


def _many(table: Table) -> ClauseElement:
    values = [
        {column.name: bindparam(f"{column.name}_{n}", type_=column.type) for column in table.c}
        for n in range(AT_ONCE)
    ]
    return insert(table).values(values)
