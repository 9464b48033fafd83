"""The statements that write, read, take over and erase sessions, and name projects."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    null,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.store import tables
from preflights_es.store.bulk_insert import AMONG, AT_ONCE
from preflights_es.store.erasing import CLEAR
from preflights_es.store.memory import MATCHES_MAX
from preflights_es.store.projects import DIGITS

_h, _e, _c, _n = tables.heads.c, tables.events.c, tables.claims.c, tables.numbers.c
_o, _p = tables.outbox.c, tables.projects.c
# As every engine of ours says it; Core has it for each dialect apart, which is not known here.
_SET_MARK: Final = (
    "INSERT INTO marks (projection, session_id, version) "
    "VALUES (:of_name, :in_session, :to_version) "
    "ON CONFLICT (projection, session_id) DO UPDATE SET version = excluded.version"
)


_head = select(_h.session_id, _h.project, _h.workflow, _h.version, _h.head_hash)
_ours: BindParameter[str] = bindparam("in_session")


def statements() -> dict[str, ClauseElement]:
    """By name."""
    return {**_appending_and_reading(), **_erasing(), **_taking_over()}


def _appending_and_reading() -> dict[str, ClauseElement]:
    return {
        "insert_head": insert(tables.heads),
        "move_head": update(tables.heads)
        .where(
            _h.session_id == _ours,
            _h.version == bindparam("expected_version"),
            _h.head_hash == bindparam("expected_hash"),
        )
        .values(version=bindparam("to_version"), head_hash=bindparam("to_hash")),
        "insert_event": insert(tables.events),
        "insert_outbox": insert(tables.outbox),
        "insert_claim": insert(tables.claims),
        "delete_claim": delete(tables.claims).where(
            _c.session_id == _ours, _c.call == bindparam("of_call")
        ),
        "claimed": select(_c.owner, _c.until).where(
            _c.session_id == _ours, _c.call == bindparam("of_call")
        ),
        "move_claim": update(tables.claims)
        .where(
            _c.session_id == _ours,
            _c.call == bindparam("of_call"),
            _c.owner == bindparam("of_owner"),
            _c.until == bindparam("was_until"),
        )
        .values(owner=bindparam("to_owner"), until=bindparam("to_until")),
        "open_calls": select(_c.session_id, _c.call)
        .where(_c.project == bindparam("of_project"))
        .order_by(_c.session_id, _c.call),
        "session_calls": select(_c.call).where(_c.session_id == _ours),
        "insert_number": insert(tables.numbers),
        "numbers": select(_n.number, _n.session_id).where(_n.project == bindparam("of_project")),
        "number": select(_n.session_id).where(
            _n.project == bindparam("of_project"), _n.number == bindparam("of_number")
        ),
        "read": reading(),
        "head": _head.where(_h.session_id == _ours),
        "heads": _head.order_by(_h.session_id.desc()).limit(bindparam("at_most")),
        "project_heads": _head.where(_h.project == bindparam("of_project"))
        .order_by(_h.session_id.desc())
        .limit(bindparam("at_most")),
        "workflow_heads": _head.where(_h.workflow == bindparam("of_workflow")).order_by(
            _h.session_id
        ),
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
        "inputs_between": select(_e.input_id, _e.data)
        .where(_e.input_id >= bindparam("first_input"), _e.input_id < bindparam("behind_input"))
        .order_by(_e.input_id),
        "session_of_input": select(_e.session_id, _e.version).where(
            _e.input_id == bindparam("of_input")
        ),
    }


def _taking_over() -> dict[str, ClauseElement]:
    project, number = (
        bindparam("project", type_=_n.project.type),
        bindparam("number", type_=_n.number.type),
    )
    holder = bindparam("session_id", type_=_n.session_id.type)
    is_held = select(_n.number).where(_n.project == project, _n.number == number).exists()
    whole = (tables.heads, tables.events, tables.outbox)
    return {
        "heads_among": _head.where(_h.session_id.in_([bindparam(f"id_{n}") for n in range(AMONG)])),
        "insert_imported": insert(tables.imported_documents),
        "insert_free_number": insert(tables.numbers).from_select(
            ["project", "number", "session_id"], select(project, number, holder).where(~is_held)
        ),
        **{f"insert_many {one.name}": _many(one) for one in whole},
        **{f"insert_one {one.name}": insert(one) for one in whole},
    }


def _many(table: Table) -> ClauseElement:
    values = [
        {column.name: bindparam(f"{column.name}_{n}", type_=column.type) for column in table.c}
        for n in range(AT_ONCE)
    ]
    return insert(table).values(values)


def _erasing() -> dict[str, ClauseElement]:
    before: BindParameter[int] = bindparam("before")
    return {
        "drop_payloads": update(tables.events)
        .where(_e.session_id == _ours, _e.version < before)
        .values(data=null(), salt=null()),
        "forget_calls": delete(tables.claims).where(tables.claims.c.session_id == _ours),
        "forget_outbox": delete(tables.outbox).where(_o.session_id == _ours, _o.version < before),
        "set_marks": update(tables.marks)
        .where(tables.marks.c.session_id == _ours)
        .values(version=bindparam("to_version")),
        "set_mark": text(_SET_MARK),
        "headless": select(_e.session_id)
        .where(~select(_h.session_id).where(_h.session_id == _e.session_id).exists())
        .distinct()
        .order_by(_e.session_id),
        **{
            f"{CLEAR}{table.name}": delete(table).where(table.c.session_id == _ours)
            for table in tables.projected.values()
        },
    }


def project_statements() -> dict[str, ClauseElement]:
    """Those of the table `projects`, by name."""
    each = [bindparam(f"name_{n}", type_=_p.name.type) for n in range(1 + len(DIGITS))]
    return {
        "held": select(_p.name, _p.identity).where(_p.name.in_(each)),
        "holder": select(_p.identity).where(_p.name == bindparam("of_name")),
        "claim": insert(tables.projects),
        "count": select(func.count())
        .select_from(tables.heads)
        .where(_h.project == bindparam("of_project")),
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
