"""The statements that look at rows of projections as they lie there."""

from __future__ import annotations

from sqlalchemy import bindparam, select
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.store import tables
from preflights_es.store.projected import PROJECTED
from preflights_es.store.projection_rows import TOGETHER


def statements() -> dict[str, ClauseElement]:
    """By name."""
    asked: list[BindParameter[str]] = [bindparam(f"session_{n}") for n in range(TOGETHER)]
    h, m, o, p = tables.heads.c, tables.marks.c, tables.outbox.c, tables.projections.c
    made: dict[str, ClauseElement] = {
        "registered": select(p.name, p.version, p.generation, p.complete),
        "marked": select(m.session_id, m.version).where(
            m.projection == bindparam("of_name"), m.session_id.in_(asked)
        ),
        "waiting": select(o.session_id).where(o.session_id.in_(asked)).distinct(),
    }
    for name in PROJECTED:
        table = tables.metadata.tables[PROJECTED[name]]
        of = table.c
        made[f"rows_{name}"] = (
            select(*of).where(of.session_id.in_(asked)).order_by(*table.primary_key.columns)
        )
        made[f"strays_{name}"] = (
            select(of.session_id, of.project, h.project)
            .select_from(table.outerjoin(tables.heads, h.session_id == of.session_id))
            .where(
                h.session_id.is_(None) | (h.project != of.project),
                of.session_id > bindparam("after"),
            )
            .distinct()
            .order_by(of.session_id)
            .limit(bindparam("at_most"))
        )
    return made
