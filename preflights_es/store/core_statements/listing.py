"""The statements that list pages of sessions."""

from __future__ import annotations

from sqlalchemy import BigInteger, and_, bindparam, literal_column, or_, select
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.core.events import INT_MAX
from preflights_es.store import tables


def statements() -> dict[str, ClauseElement]:
    """Each of a project, and as `any_` of all."""
    sessions = tables.projected["sessions"]
    h, s, o = tables.heads.c, sessions.c, tables.outbox.c
    head = (h.session_id, h.project, h.workflow, h.version, h.head_hash)
    limit: BindParameter[int] = bindparam("at_most")
    after: BindParameter[str] = bindparam("after")
    project: BindParameter[str] = bindparam("of_project")
    since, until = (bindparam(name, type_=BigInteger) for name in ("since", "until"))
    newest = (
        select(*head, *s)
        .outerjoin_from(tables.heads, sessions, s.session_id == h.session_id)
        .where(h.session_id < bindparam("before"))
        .order_by(h.session_id.desc())
        .limit(limit)
    )
    trouble = or_(
        *(s.status == literal_column(f"'{word}'") for word in ("damaged", "faulted")),
        s.began_at > literal_column(str(INT_MAX)),  # a text, which is damage
    )
    within = (
        select(*head)
        .join_from(sessions, tables.heads, s.session_id == h.session_id)
        .where(s.session_id > after, or_(trouble, and_(s.moved_at >= since, s.began_at <= until)))
        .order_by(s.session_id)
        .limit(limit)
    )
    waiting = (
        select(*head)
        .join_from(tables.outbox, tables.heads, o.session_id == h.session_id)
        .where(o.session_id > after)
        .distinct()
        .order_by(h.session_id)
        .limit(limit)
    )
    return {
        "any_newest": newest,
        "newest": newest.where(h.project == project),
        "any_within": within,
        "within": within.where(s.project == project),
        "any_waiting": waiting,
        "waiting": waiting.where(h.project == project),
    }
