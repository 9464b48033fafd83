"""What an erasure does to the tables, besides recording that it was one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import bindparam, column, delete, null, select, table, text, update
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.core.events import ERASED_TAG
from preflights_es.core.ports import Head, Stored
from preflights_es.store import tables
from preflights_es.store.projection_statements import PROJECTED

_e, _h, _o = tables.events.c, tables.heads.c, tables.outbox.c
_CLEAR: Final = "clear "  # before the name of a projection's table, in the name of its statement
# As every engine of ours says it; Core has it for each dialect apart, which is not known here.
_SET_MARK: Final = (
    "INSERT INTO marks (projection, session_id, version) "
    "VALUES (:of_name, :in_session, :to_version) "
    "ON CONFLICT (projection, session_id) DO UPDATE SET version = excluded.version"
)

Run = Callable[..., None]
"""Runs a statement by its name: takes a cursor, the name and the values by name."""


def statements() -> dict[str, ClauseElement]:
    """Those of this module; `clearing` makes the ones for projections."""
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
    }


def clearing(names: Sequence[str]) -> dict[str, ClauseElement]:
    """What takes a session out of tables, each of which has a column `session_id`."""
    ours: BindParameter[str] = bindparam("in_session")
    return {
        f"{_CLEAR}{name}": delete(table(name, column("session_id"))).where(
            column("session_id") == ours
        )
        for name in names
    }


def erased_at(events: Sequence[Stored]) -> int:
    """The version of the last erasure among events; 0 where there is none."""
    return max((event.version for event in events if event.type == ERASED_TAG), default=0)


def covers_any(events: Sequence[Stored], covered: int) -> bool:
    """Whether a payload in front of an erasure is still there."""
    return any(event.data is not None for event in events if event.version < covered)


def settle(run: Run, cursor: Any, head: Head, before: int, clear: Sequence[str] = ()) -> None:
    """Drop what stands in front of an erasure that is recorded, in its transaction.

    The last row of the outbox stays, so that projections fold what is left. Whatever they were
    about to write of an earlier version comes too late: each has a mark, be it a new one, and the
    rows go behind it, so that a fold which was there first is waited for and its rows go too.
    """
    run(cursor, "drop_payloads", in_session=head.session_id, before=before)
    run(cursor, "forget_calls", in_session=head.session_id)
    run(cursor, "forget_outbox", in_session=head.session_id, before=head.version)
    mark = {"in_session": head.session_id, "to_version": head.version - 1}
    for name in PROJECTED:
        run(cursor, "set_mark", of_name=name, **mark)
    run(cursor, "set_marks", **mark)  # those that only a newer program knows
    for name in clear:
        run(cursor, f"{_CLEAR}{name}", in_session=head.session_id)
