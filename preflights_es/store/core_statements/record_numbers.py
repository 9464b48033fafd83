"""The statements that look at the numbers of records."""

from __future__ import annotations

from sqlalchemy import bindparam, select
from sqlalchemy.sql import ClauseElement

from preflights_es.store import tables


def statements() -> dict[str, ClauseElement]:
    """By name."""
    h, n = tables.heads.c, tables.numbers.c
    return {
        "given": select(n.session_id).where(
            n.project == bindparam("of_project"), n.number == bindparam("of_number")
        ),
        "gone": select(n.project, n.number, n.session_id)
        .where(~select(h.session_id).where(h.session_id == n.session_id).exists())
        .order_by(n.project, n.number),
    }
