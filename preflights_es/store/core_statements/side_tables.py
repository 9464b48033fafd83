"""The statements that look at what no chain covers."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    String,
    bindparam,
    case,
    false,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    union,
    update,
)
from sqlalchemy.sql import ClauseElement

from preflights_es.kernel.events import ERASED_TAG
from preflights_es.store import tables

_OPENS: Final = ("completion.requested.v1", "artifact.due.v1")
# Neither an Outcome that is ignored nor one in quarantine answers its call.
_LEAVES_OPEN: Final = ("session.response_ignored.v1", "session.input_quarantined.v1")
_ANSWERS: Final = ("completion.received.v1", "completion.failed.v1", "artifact.written.v1")
_NAME_PROJECTS: Final = (tables.numbers, tables.claims, *tables.projected.values())
"""Tables whose rows name a session, and the project that it had."""


def statements() -> dict[str, ClauseElement]:
    """By name."""
    h, e, m = tables.heads.c, tables.events.c, tables.marks.c
    o, c, n = tables.outbox.c, tables.claims.c, tables.numbers.c
    p, i = tables.projections.c, tables.imported_documents.c
    at_most: Any = bindparam("at_most")
    after: Any = bindparam("after", type_=String)

    def strays(table: Any, said: Any, ours: Any, condition: Any) -> ClauseElement:
        of = table.c.session_id
        return (
            select(of, said, h.project, ours)
            .select_from(table.outerjoin(tables.heads, h.session_id == of))
            .where(h.session_id.is_(None) | condition)
            .order_by(of)
            .limit(at_most)
        )

    kinds = case((_is_one_of(e.type, *_OPENS, *_LEAVES_OPEN), 1), else_=-1)
    # A number may be given under the name of another project than that of its session.
    held = tables.numbers.join(tables.heads, h.session_id == n.session_id)
    is_erased = (
        select(e.session_id).where(e.session_id == n.session_id, e.type == ERASED_TAG).exists()
    )
    return {
        "untyped": select(e.session_id, e.version, h.project)
        .select_from(tables.events.outerjoin(tables.heads, h.session_id == e.session_id))
        .where(~_is_one_of(func.typeof(e.data), "text", "null"))
        .limit(at_most),
        "strays_marks": strays(tables.marks, m.version, h.version, false()),
        "strays_outbox": strays(
            tables.outbox, o.version, h.version, or_(o.version > h.version, o.version < 0)
        ),
        "strays_claims": strays(tables.claims, c.project, h.project, false()),
        "unknown_marks": select(m.projection)
        .where(~_is_one_of(m.projection, *tables.projected), m.projection.not_in(select(p.name)))
        .distinct()
        .limit(at_most),
        "registered": select(p.name, p.version),
        "claimed": select(c.session_id)
        .where(c.session_id > after)
        .distinct()
        .order_by(c.session_id)
        .limit(at_most),
        "moved": union(
            *(
                select(table.c.session_id)
                .select_from(table.join(tables.heads, h.session_id == table.c.session_id))
                .where(table.c.project == bindparam("of_project"), h.project != table.c.project)
                for table in _NAME_PROJECTS
            )
        ),
        "session_claims": select(c.call, c.project, c.until).where(
            c.session_id == bindparam("of_session")
        ),
        "mend_claim": update(tables.claims)
        .where(
            c.session_id == bindparam("of_session"),
            c.call == bindparam("of_call"),
            c.project == bindparam("was_project"),
            c.until == bindparam("was_until"),
        )
        .values(project=bindparam("to_project"), until=bindparam("to_until")),
        "asking": select(e.session_id)
        .where(e.session_id > after, _is_one_of(e.type, *_OPENS, *_LEAVES_OPEN, *_ANSWERS))
        .group_by(e.session_id)
        .having(func.sum(kinds) > 0)
        .order_by(e.session_id)
        .limit(at_most),
        "given": select(n.session_id).where(
            n.project == bindparam("of_project"), n.number == bindparam("of_number")
        ),
        "gone": select(n.project, n.number, n.session_id)
        .where(~select(h.session_id).where(h.session_id == n.session_id).exists())
        .order_by(n.project, n.number),
        "imported": select(i.call).where(i.session_id == bindparam("of_session")),
        "count_numbers": select(n.project, h.project, func.count())
        .select_from(held)
        .where(~is_erased)
        .group_by(n.project, h.project),
        "held_numbers": select(n.project, n.number, n.session_id, h.project)
        .select_from(held)
        .where(
            tuple_(n.project, n.number)
            > tuple_(
                bindparam("after_project", type_=String),
                bindparam("after_number", type_=BigInteger),
            ),
            ~is_erased,
        )
        .order_by(n.project, n.number)
        .limit(at_most),
    }


def _is_one_of(column: Any, *texts: str) -> Any:
    """Spelled out: `IN` would be expanded only by SQLAlchemy's own way to run a statement."""
    return or_(*(column == literal_column(f"'{text}'") for text in texts))
