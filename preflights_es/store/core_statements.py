"""Every statement of the store, in SQLAlchemy Core: the one source of what engines are sent.

SQLite takes them from the frozen file (`store.frozen`), so that this module, and SQLAlchemy with
it, is imported for PostgreSQL alone (docs/decisions/0017). Those of projections follow from
the table that each declares (`store.core_tables`).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    String,
    Table,
    bindparam,
    case,
    delete,
    false,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    text,
    tuple_,
    union,
    update,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.kernel.events import ERASED_TAG
from preflights_es.store import core_tables
from preflights_es.store.core_tables import among, select_session_events
from preflights_es.store.frozen import AT_ONCE, CLEAR, MATCHES_MAX, SqlStatement


class Compiled(dict[str, SqlStatement]):
    """The statements of a room by name, each compiled when it is first used."""

    def __init__(self, room: str, dialect: Dialect) -> None:
        super().__init__()
        self._elements = rooms(dialect.name)[room]
        self._dialect = dialect

    def __missing__(self, name: str) -> SqlStatement:
        made = self[name] = compile_statement(self._elements[name], self._dialect)
        return made


def compile_statement(element: ClauseElement, dialect: Dialect) -> SqlStatement:
    """A statement as a driver takes it."""
    made: Any = element.compile(dialect=dialect)
    return SqlStatement(
        " ".join(str(made).split()),
        None if made.positiontup is None else tuple(map(str, made.positiontup)),
        {str(name): value for name, value in made.params.items() if value is not None},
    )


@cache
def rooms(dialect: str) -> dict[str, dict[str, ClauseElement]]:
    """All statements, by the room that runs them and by name."""
    return {
        "log": {**_appending_and_reading(), **_erasing(), **_taking_over(dialect)},
        "projections": core_tables.statements(dialect),
        "side_tables": _of_side_tables(),
    }


_h, _e, _o = core_tables.heads.c, core_tables.events.c, core_tables.outbox.c
_c, _n = core_tables.claims.c, core_tables.numbers.c
# As every engine of ours says it; Core has it for each dialect apart, which is not known here.
_SET_MARK: Final = (
    "INSERT INTO marks (projection, session_id, version) "
    "VALUES (:of_name, :in_session, :to_version) "
    "ON CONFLICT (projection, session_id) DO UPDATE SET version = excluded.version"
)


_head = select(_h.session_id, _h.project, _h.workflow, _h.version, _h.head_hash)
_ours: BindParameter[str] = bindparam("in_session")
_holder = select(_n.session_id).where(
    _n.project == bindparam("of_project"),
    _n.folder == bindparam("of_folder"),
    _n.number == bindparam("of_number"),
)


def _appending_and_reading() -> dict[str, ClauseElement]:
    return {
        "insert_head": insert(core_tables.heads),
        "move_head": update(core_tables.heads)
        .where(
            _h.session_id == _ours,
            _h.version == bindparam("expected_version"),
            _h.head_hash == bindparam("expected_hash"),
        )
        .values(version=bindparam("to_version"), head_hash=bindparam("to_hash")),
        "insert_event": insert(core_tables.events),
        "insert_outbox": insert(core_tables.outbox),
        "insert_claim": insert(core_tables.claims),
        "delete_claim": delete(core_tables.claims).where(
            _c.session_id == _ours, _c.call == bindparam("of_call")
        ),
        "claimed": select(_c.owner, _c.until).where(
            _c.session_id == _ours, _c.call == bindparam("of_call")
        ),
        "move_claim": update(core_tables.claims)
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
        "insert_number": insert(core_tables.numbers),
        "numbers": select(_n.folder, _n.number, _n.session_id).where(
            _n.project == bindparam("of_project")
        ),
        "number": _holder,
        "read": select_session_events(),
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
            or_(*(_h.session_id.like(bindparam(name)) for name in ("beginning", "shown", "ending")))
        )
        .order_by(_h.session_id.desc())
        .limit(MATCHES_MAX),
        "count_sessions": select(func.count()).select_from(core_tables.heads),
        "count_events": select(func.count()).select_from(core_tables.events),
        "count_open_calls": select(func.count()).select_from(core_tables.claims),
        "session_of_input": select(_e.session_id, _e.version).where(
            _e.input_id == bindparam("of_input")
        ),
    }


def _taking_over(dialect: str) -> dict[str, ClauseElement]:
    row = {column.name: bindparam(column.name, type_=column.type) for column in _n}
    keys = (column == row[column.name] for column in core_tables.numbers.primary_key)
    is_held = select(_n.number).where(*keys).exists()
    whole = (core_tables.heads, core_tables.events, core_tables.outbox)
    return {
        "heads_among": _head.where(among(dialect, _h.session_id)),
        "sessions_with": select(_e.session_id).where(among(dialect, _e.type)).distinct(),
        "insert_imported": insert(core_tables.imported_documents),
        "insert_free_number": insert(core_tables.numbers).from_select(
            [*row], select(*row.values()).where(~is_held)
        ),
        **{f"insert_many {one.name}": _many(one) for one in whole},
        **{f"insert_one {one.name}": insert(one) for one in whole},
    }


def _many(table: Table) -> ClauseElement:
    def row(n: int) -> dict[str, ClauseElement]:
        return {one.name: bindparam(f"{one.name}_{n}", type_=one.type) for one in table.c}

    return insert(table).values([*map(row, range(AT_ONCE))])


def _erasing() -> dict[str, ClauseElement]:
    before: BindParameter[int] = bindparam("before")
    return {
        "drop_payloads": update(core_tables.events)
        .where(_e.session_id == _ours, _e.version < before)
        .values(data=null(), salt=null()),
        "forget_calls": delete(core_tables.claims).where(core_tables.claims.c.session_id == _ours),
        "forget_outbox": delete(core_tables.outbox).where(
            _o.session_id == _ours, _o.version < before
        ),
        "set_marks": update(core_tables.marks)
        .where(core_tables.marks.c.session_id == _ours)
        .values(version=bindparam("to_version")),
        "set_mark": text(_SET_MARK),
        "headless": select(_e.session_id)
        .where(~select(_h.session_id).where(_h.session_id == _e.session_id).exists())
        .distinct()
        .order_by(_e.session_id),
        **{
            f"{CLEAR}{table.name}": delete(table).where(table.c.session_id == _ours)
            for table in core_tables.projected.values()
        },
    }


_OPENS: Final = ("completion.requested.v1", "artifact.due.v1")
# Neither an Outcome that is ignored nor one in quarantine answers its call.
_LEAVES_OPEN: Final = ("session.response_ignored.v1", "session.input_quarantined.v1")
_ANSWERS: Final = ("completion.received.v1", "completion.failed.v1", "artifact.written.v1")
_NAME_PROJECTS: Final = (core_tables.numbers, core_tables.claims, *core_tables.projected.values())
"""Tables whose rows name a session, and the project that it had."""


def _of_side_tables() -> dict[str, ClauseElement]:
    h, e, m = core_tables.heads.c, core_tables.events.c, core_tables.marks.c
    o, c, n = core_tables.outbox.c, core_tables.claims.c, core_tables.numbers.c
    p, i = core_tables.projections.c, core_tables.imported_documents.c
    at_most: Any = bindparam("at_most")
    after: Any = bindparam("after", type_=String)

    def strays(table: Any, said: Any, ours: Any, condition: Any) -> ClauseElement:
        of = table.c.session_id
        return (
            select(of, said, h.project, ours)
            .select_from(table.outerjoin(core_tables.heads, h.session_id == of))
            .where(h.session_id.is_(None) | condition)
            .order_by(of)
            .limit(at_most)
        )

    kinds = case((_is_one_of(e.type, *_OPENS, *_LEAVES_OPEN), 1), else_=-1)
    # A number may be given under the name of another project than that of its session.
    held = core_tables.numbers.join(core_tables.heads, h.session_id == n.session_id)
    erasing = select(e.session_id).where(e.session_id == n.session_id, e.type == ERASED_TAG)
    return {
        "untyped": select(e.session_id, e.version, h.project)
        .select_from(core_tables.events.outerjoin(core_tables.heads, h.session_id == e.session_id))
        .where(~_is_one_of(func.typeof(e.data), "text", "null"))
        .limit(at_most),
        "strays_marks": strays(core_tables.marks, m.version, h.version, false()),
        "strays_outbox": strays(
            core_tables.outbox, o.version, h.version, or_(o.version > h.version, o.version < 0)
        ),
        "strays_claims": strays(core_tables.claims, c.project, h.project, false()),
        "unknown_marks": select(m.projection)
        .where(
            ~_is_one_of(m.projection, *core_tables.projected), m.projection.not_in(select(p.name))
        )
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
                .select_from(table.join(core_tables.heads, h.session_id == table.c.session_id))
                .where(table.c.project == bindparam("of_project"), h.project != table.c.project)
                for table in _NAME_PROJECTS
            )
        ),
        "session_claims": select(c.call, c.project, c.until).where(
            c.session_id == bindparam("of_session")
        ),
        "asking": select(e.session_id)
        .where(e.session_id > after, _is_one_of(e.type, *_OPENS, *_LEAVES_OPEN, *_ANSWERS))
        .group_by(e.session_id)
        .having(func.sum(kinds) > 0)
        .order_by(e.session_id)
        .limit(at_most),
        "given": _holder,
        "gone": select(n.project, n.number, n.session_id)
        .where(~select(h.session_id).where(h.session_id == n.session_id).exists())
        .order_by(n.project, n.number),
        "imported": select(i.call).where(i.session_id == bindparam("of_session")),
        "count_numbers": select(n.project, h.project, func.count())
        .select_from(held)
        .where(~erasing.exists())
        .group_by(n.project, h.project),
        "held_numbers": select(n.project, n.folder, n.number, n.session_id, h.project)
        .select_from(held)
        .where(
            tuple_(n.project, n.folder, n.number)
            > tuple_(
                bindparam("after_project", type_=String),
                bindparam("after_folder", type_=String),
                bindparam("after_number", type_=BigInteger),
            ),
            ~erasing.exists(),
        )
        .order_by(n.project, n.folder, n.number)
        .limit(at_most),
    }


def _is_one_of(column: Any, *texts: str) -> Any:
    """Spelled out: `IN` would be expanded only by SQLAlchemy's own way to run a statement."""
    return or_(*(column == literal_column(f"'{text}'") for text in texts))
