"""The statements of the table `projects`."""

from __future__ import annotations

from sqlalchemy import bindparam, func, insert, select
from sqlalchemy.sql import ClauseElement

from preflights_es.store import tables
from preflights_es.store.projects import DIGITS


def statements() -> dict[str, ClauseElement]:
    """By name."""
    p = tables.projects.c
    each = [bindparam(f"name_{n}", type_=p.name.type) for n in range(1 + len(DIGITS))]
    return {
        "held": select(p.name, p.identity).where(p.name.in_(each)),
        "holder": select(p.identity).where(p.name == bindparam("of_name")),
        "claim": insert(tables.projects),
        "count": select(func.count())
        .select_from(tables.heads)
        .where(tables.heads.c.project == bindparam("of_project")),
    }
