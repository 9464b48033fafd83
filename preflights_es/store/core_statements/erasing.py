"""The statements of an erasure."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, delete, null, select, text, update
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.store import tables
from preflights_es.store.erasing import CLEAR

_e, _h, _o = tables.events.c, tables.heads.c, tables.outbox.c
# As every engine of ours says it; Core has it for each dialect apart, which is not known here.
_SET_MARK: Final = (
    "INSERT INTO marks (projection, session_id, version) "
    "VALUES (:of_name, :in_session, :to_version) "
    "ON CONFLICT (projection, session_id) DO UPDATE SET version = excluded.version"
)


def statements() -> dict[str, ClauseElement]:
    """By name."""
    ours: BindParameter[str] = bindparam("in_session")
    before: BindParameter[int] = bindparam("before")
    return {
        "drop_payloads": update(tables.events)
        .where(_e.session_id == ours, _e.version < before)
        .values(data=null(), salt=null()),
        "forget_calls": delete(tables.claims).where(tables.claims.c.session_id == ours),
        "forget_outbox": delete(tables.outbox).where(_o.session_id == ours, _o.version < before),
        "set_marks": update(tables.marks)
        .where(tables.marks.c.session_id == ours)
        .values(version=bindparam("to_version")),
        "set_mark": text(_SET_MARK),
        "headless": select(_e.session_id)
        .where(~select(_h.session_id).where(_h.session_id == _e.session_id).exists())
        .distinct()
        .order_by(_e.session_id),
        **{
            f"{CLEAR}{table.name}": delete(table).where(table.c.session_id == ours)
            for table in tables.projected.values()
        },
    }
