"""The statements that write and read sessions."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.store import tables
from preflights_es.store.memory import MATCHES_MAX

_h, _e, _c, _n = tables.heads.c, tables.events.c, tables.claims.c, tables.numbers.c


def statements() -> dict[str, ClauseElement]:
    """By name."""
    head = select(_h.session_id, _h.project, _h.workflow, _h.version, _h.head_hash)
    ours: BindParameter[str] = bindparam("in_session")
    return {
        "insert_head": insert(tables.heads),
        "move_head": update(tables.heads)
        .where(
            _h.session_id == ours,
            _h.version == bindparam("expected_version"),
            _h.head_hash == bindparam("expected_hash"),
        )
        .values(version=bindparam("to_version"), head_hash=bindparam("to_hash")),
        "insert_event": insert(tables.events),
        "insert_outbox": insert(tables.outbox),
        "insert_claim": insert(tables.claims),
        "delete_claim": delete(tables.claims).where(
            _c.session_id == ours, _c.call == bindparam("of_call")
        ),
        "claimed": select(_c.owner, _c.until).where(
            _c.session_id == ours, _c.call == bindparam("of_call")
        ),
        "move_claim": update(tables.claims)
        .where(
            _c.session_id == ours,
            _c.call == bindparam("of_call"),
            _c.owner == bindparam("of_owner"),
            _c.until == bindparam("was_until"),
        )
        .values(owner=bindparam("to_owner"), until=bindparam("to_until")),
        "open_calls": select(_c.session_id, _c.call)
        .where(_c.project == bindparam("of_project"))
        .order_by(_c.session_id, _c.call),
        "session_calls": select(_c.call).where(_c.session_id == ours),
        "insert_number": insert(tables.numbers),
        "numbers": select(_n.number, _n.session_id).where(_n.project == bindparam("of_project")),
        "number": select(_n.session_id).where(
            _n.project == bindparam("of_project"), _n.number == bindparam("of_number")
        ),
        "read": reading(),
        "head": head.where(_h.session_id == ours),
        "heads": head.order_by(_h.session_id.desc()).limit(bindparam("at_most")),
        "project_heads": head.where(_h.project == bindparam("of_project"))
        .order_by(_h.session_id.desc())
        .limit(bindparam("at_most")),
        "matching": select(_h.session_id)
        .where(
            or_(
                _h.session_id.like(bindparam("beginning")),
                _h.session_id.like(bindparam("ending")),
            )
        )
        .order_by(_h.session_id.desc())
        .limit(MATCHES_MAX),
        "count_sessions": select(func.count()).select_from(tables.heads),
        "count_events": select(func.count()).select_from(tables.events),
        "count_open_calls": select(func.count()).select_from(tables.claims),
        "session_of_input": select(_e.session_id, _e.version).where(
            _e.input_id == bindparam("of_input")
        ),
    }


def reading() -> Select[Any]:
    """The events of a session behind a version, as `event_of` takes them."""
    return (
        select(
            *(_e.version, _e.type, _e.recorded_at, _e.input_id, _e.actor_kind),
            *(_e.decider, _e.data, _e.salt, _e.digest, _e.hash),
        )
        .where(_e.session_id == bindparam("in_session"), _e.version > bindparam("after"))
        .order_by(_e.version)
    )
