"""The tables as SQLAlchemy Core knows them, and the statements that fill, follow and read
projections. It is imported for PostgreSQL and for `make freeze` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Float,
    Index,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.types import TypeEngine

from preflights_es.kernel.events import ERASED_TAG, INT_MAX
from preflights_es.kernel.ports import DOCUMENT, FIELD, TERMS_MAX, Choice
from preflights_es.projections.projection import Projection, declared
from preflights_es.store.frozen import PREFIX

metadata = MetaData()


def _text_column_type(length: int | None = None) -> TypeEngine[str]:
    """Compared byte by byte, on every server alike, as SQLite does anyway."""
    kind = String if length else Text
    return kind(length).with_variant(kind(length, collation="C"), "postgresql")


heads = Table(
    "heads",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("project", _text_column_type(), nullable=False),
    Column("workflow", _text_column_type(), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("head_hash", LargeBinary, nullable=False),
    Index("heads_by_project", "project", "session_id"),
)

events = Table(
    "events",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("input_id", _text_column_type(100), unique=True),
    Column("type", _text_column_type(), nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("actor_kind", _text_column_type()),
    Column("decider", _text_column_type(), nullable=False),
    Column("data", _text_column_type()),
    Column("salt", LargeBinary),
    Column("digest", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
)

marks = Table(
    "marks",
    metadata,
    Column("projection", _text_column_type(), primary_key=True),
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("version", BigInteger, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("call", _text_column_type(200), primary_key=True),
    Column("project", _text_column_type(), nullable=False),
    Column("owner", _text_column_type(), nullable=False),
    Column("until", BigInteger, nullable=False),
    Index("claims_by_project", "project"),
)

numbers = Table(
    "numbers",
    metadata,
    Column("project", _text_column_type(), primary_key=True),
    Column("folder", _text_column_type(), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("session_id", _text_column_type(36), nullable=False),
)

imported_documents = Table(
    "imported_documents",
    metadata,
    Column("session_id", _text_column_type(36), primary_key=True),
    Column("call", _text_column_type(200), primary_key=True),
)
"""Documents that this log does not owe: their requests came with an import."""

log = Table("log", metadata, Column("id", _text_column_type(32), primary_key=True))
"""One row: what the log calls itself."""

projections = Table(
    "projections",
    metadata,
    Column("name", _text_column_type(100), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("complete", BigInteger, nullable=False),
)


def _projected(one: Projection) -> Table:
    hints = get_type_hints(one.row)
    return Table(
        PREFIX + one.name,
        metadata,
        *(_column(name, hints[name], number < one.key) for number, name in enumerate(hints)),
        Index(f"{PREFIX}{one.name}_by_project", *one.index),
    )


def _column(name: str, hint: Any, is_key: bool) -> Column[Any]:
    types = get_args(hint) or (hint,)
    kind = _KINDS[types[0]]() if name != "session_id" else _text_column_type(36)
    is_nullable = NoneType in types
    return Column(name, kind, primary_key=is_key, autoincrement=False, nullable=is_nullable)


_KINDS: Final[dict[Any, Any]] = {str: _text_column_type, int: BigInteger, float: Float}

projected: Final = {one.name: _projected(one) for one in declared()}
"""The table of each projection."""


def statements(dialect: str) -> dict[str, ClauseElement]:
    """By name."""
    upsert = _upsert(dialect)
    p, m, o = projections.c, marks.c, outbox.c
    h, e = heads.c, events.c
    head = select(h.session_id, h.project, h.workflow, h.version, h.head_hash)
    registered = select(p.name, p.version, p.generation, p.complete)
    named = p.name == bindparam("of_name")

    made: dict[str, ClauseElement] = {
        "registered": registered,
        "registered_alone": registered.with_for_update(),
        "registered_shared": registered.with_for_update(read=True),
        # Two may be the first at the same time.
        "register": upsert(projections).on_conflict_do_nothing(),
        "begin": update(projections)
        .where(named)
        .values(version=bindparam("version"), generation=bindparam("generation"), complete=0),
        "finish": update(projections)
        .where(named, p.generation == bindparam("of_generation"))
        .values(complete=1),
        "empty_marks": delete(marks).where(m.projection == bindparam("of_name")),
        "marks": select(m.session_id, m.version).where(
            m.projection == bindparam("of_name"),
            m.session_id.between(bindparam("first"), bindparam("last")),
        ),
        "count_marks": select(func.count()).where(m.projection == bindparam("of_name")),
        "take": select(o.session_id, o.version)
        .where(
            tuple_(o.session_id, o.version)
            > tuple_(
                bindparam("after_session", type_=String),
                bindparam("after_version", type_=BigInteger),
            )
        )
        .order_by(o.session_id, o.version)
        .limit(bindparam("at_most"))
        .with_for_update(skip_locked=True),
        "delete_outbox": delete(outbox).where(
            o.session_id == bindparam("in_session"), o.version == bindparam("of_version")
        ),
        "delete_folded": delete(outbox).where(
            o.session_id == bindparam("in_session"), o.version <= bindparam("upto")
        ),
        "keep_outbox": upsert(outbox).on_conflict_do_nothing(),
        "moved": head.where(h.session_id.in_(select(o.session_id)))
        .order_by(h.session_id)
        .limit(bindparam("at_most")),
        "page": head.where(h.session_id > bindparam("after"))
        .order_by(h.session_id)
        .limit(bindparam("at_most")),
        "moved_between": head.add_columns(
            select(func.count())
            .where(
                or_(*(m.projection == literal_column(f"'{name}'") for name in projected)),
                m.session_id == h.session_id,
                m.version >= h.version,
            )
            .scalar_subquery()
        )
        .where(
            h.session_id.in_(
                select(o.session_id).where(
                    o.session_id.between(bindparam("first"), bindparam("last"))
                )
            )
        )
        .order_by(h.session_id),
        "read": select_session_events(),
        "read_range": select(e.session_id, *select_session_events().selected_columns)
        .where(e.session_id.between(bindparam("first"), bindparam("last")))
        .order_by(e.session_id, e.version),
        "erased": select(e.version)
        .where(
            e.session_id == bindparam("in_session"),
            e.version > bindparam("upto"),
            e.type == literal_column(f"'{ERASED_TAG}'"),
        )
        .limit(1),
        "kept": select(
            *(select(column).where(named).scalar_subquery() for column in (p.version, p.complete)),
            select(m.version)
            .where(m.projection == bindparam("of_name"), m.session_id == bindparam("in_session"))
            .scalar_subquery(),
            select(o.session_id).where(o.session_id == bindparam("in_session")).exists(),
        ),
        "count_sessions": select(func.count()).select_from(heads),
        "count_events": select(func.count()).select_from(events),
        "count_waiting": select(func.count()).select_from(outbox),
    }
    for name, table in projected.items():
        made |= _of_table(name, table)
    return (
        made
        | _of_many(dialect)
        | _select_session_pages()
        | {
            "compared": _select_best_decisions(),
            **_select_memory_words(),
            "unfolded_events": select(e.session_id, e.data)
            .where(e.type == bindparam("of_type"), e.session_id.in_(select(o.session_id)))
            .order_by(e.session_id, e.version),
        }
    )


def select_session_events() -> Select[Any]:
    """The events of a session behind a version, as `event_of` takes them."""
    e = events.c
    return (
        select(
            e.version,
            e.type,
            e.recorded_at,
            e.input_id,
            e.actor_kind,
            e.decider,
            e.data,
            e.salt,
            e.digest,
            e.hash,
        )
        .where(e.session_id == bindparam("in_session"), e.version > bindparam("after"))
        .order_by(e.version)
    )


def _select_best_decisions() -> ClauseElement:
    """Decisions in force with some words in a value, category or field, the best match first."""
    m, d = projected["memory"].c, projected["decisions"].c
    score: Any = func.sum(literal_column(str(FIELD + 1)) - m.field).label("score")
    best = (
        select(m.session_id, m.version, score)
        .where(
            m.project == bindparam("of_project"),
            m.term.in_([bindparam(f"term_{n}") for n in range(TERMS_MAX)]),
            m.superseded_at.is_(None),
            m.field.between(literal_column("1"), literal_column(str(FIELD))),
        )
        .group_by(m.session_id, m.version)
        .order_by(score.desc(), m.session_id.desc())
        .limit(bindparam("at_most"))
        .subquery()
    )
    return (
        select(d.session_id, d.decided)
        .join_from(best, projected["decisions"], _is_same_event_row(best.c, d))
        .order_by(best.c.score.desc(), d.session_id.desc())
    )


def _select_memory_words() -> dict[str, ClauseElement]:
    """What a search asks of `memory`, beside the rows of some words."""
    m = projected["memory"].c
    of_project = m.project == bindparam("of_project")
    return {
        "words": select(m.term)
        .where(of_project, m.term >= bindparam("first"), m.term < bindparam("last"))
        .distinct()
        .order_by(m.term)
        .limit(bindparam("at_most")),
        "documents": select(func.count(), func.sum(m.length)).where(
            of_project, m.term == literal_column(f"'{DOCUMENT}'")
        ),
    }


def _is_same_event_row(one: Any, other: Any) -> ColumnElement[bool]:
    return and_(one.session_id == other.session_id, one.version == other.version)


def among(dialect: str, column: Any) -> ColumnElement[bool]:
    """Whether a column has one of the texts of `ids`, an array of JSON: one statement for any."""
    items: Any = func.json_each if dialect == "sqlite" else func.jsonb_array_elements_text
    found: ColumnElement[bool] = column.in_(select(_array(dialect, items, "ids").c.value))
    return found


def _array(dialect: str, items: Any, name: str) -> Any:
    values: Any = bindparam(name, type_=String)
    return items(values if dialect == "sqlite" else cast(values, JSONB)).table_valued("value")


def _of_many(dialect: str) -> dict[str, ClauseElement]:
    """Statements on many sessions at once.

    `mark` sets marks, of the projections in `names` and of the pairs of session and version in
    `turns`, and finds those that it moved. `found_marks` finds those of a projection, `heads` finds
    heads, `delete_NAME` deletes the rows of a projection, and `rows_NAME` finds them.
    """
    h, m = heads.c, marks.c
    made: dict[str, ClauseElement] = {
        "mark": _upsert_projection_marks(dialect),
        "heads": select(h.session_id, h.version).where(among(dialect, h.session_id)),
        "found_marks": select(m.session_id, m.version).where(
            m.projection == bindparam("of_name"), among(dialect, m.session_id)
        ),
    }
    for name, table in projected.items():
        named = among(dialect, table.c.session_id)
        made[f"delete_{name}"] = delete(table).where(named)
        rows = select(*table.c).where(named)
        made[f"rows_{name}"] = rows.order_by(*table.primary_key.columns)
    return made


def _upsert_projection_marks(dialect: str) -> ClauseElement:
    """In one order everywhere, so that no two processes wait for each other's marks."""
    m = marks.c
    if dialect == "sqlite":
        names, turns = (_array(dialect, func.json_each, name) for name in ("names", "turns"))
        places: list[Any] = [literal_column(f"'$[{n}]'") for n in (0, 1)]
        pair: list[Any] = [func.json_extract(turns.c.value, place) for place in places]
    else:
        names = _array(dialect, func.jsonb_array_elements_text, "names")
        turns = _array(dialect, func.jsonb_array_elements, "turns")
        said = [turns.c.value.op("->>")(literal_column(f"{n}")) for n in (0, 1)]
        pair = [said[0], cast(said[1], BigInteger)]
    # Behind a bare SELECT, SQLite takes ON for a join's.
    values = select(names.c.value, *pair).where(true()).order_by(pair[0], names.c.value)
    made = _upsert(dialect)(marks).from_select([m.projection, m.session_id, m.version], values)
    marked: ClauseElement = made.on_conflict_do_update(
        index_elements=[m.projection, m.session_id],
        set_={"version": made.excluded.version},
        where=m.version < made.excluded.version,
    ).returning(m.projection, m.session_id)
    return marked


def _upsert(dialect: str) -> Callable[[Table], Any]:
    if dialect == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert
    from sqlalchemy.dialects import postgresql

    return postgresql.insert


def _of_table(name: str, table: Table) -> dict[str, ClauseElement]:
    """The statements of one projection's rows; its first column is the session's id."""
    h, session_id, project = heads.c, table.c.session_id, table.c.project
    some = (
        select(*table.c)
        .where(session_id > bindparam("after"))
        .order_by(*table.primary_key.columns)
        .limit(bindparam("at_most"))
    )
    made: dict[str, ClauseElement] = {
        f"empty_{name}": delete(table),
        f"insert_{name}": insert(table),
        f"strays_{name}": select(session_id, project, h.project)
        .select_from(table.outerjoin(heads, h.session_id == session_id))
        .where(h.session_id.is_(None) | (h.project != project), session_id > bindparam("after"))
        .distinct()
        .order_by(session_id)
        .limit(bindparam("at_most")),
    }
    for choice, condition in _build_row_conditions(table.c).items():
        chosen = some.where(condition)
        made[f"any_{name}_{choice}"] = chosen
        made[f"some_{name}_{choice}"] = chosen.where(project == bindparam("of_project"))
    return made


def _build_row_conditions(columns: Any) -> dict[Choice, ColumnElement[bool]]:
    """Conditions on rows, answered from the index before a row is read.

    SQLite may hold a text in the place of a time. A text sorts behind every number; its row is
    read, so that the damage is found.
    """
    made: dict[Choice, ColumnElement[bool]] = {"all": true()}
    if "accepted_at" in columns:
        at: BindParameter[int] = bindparam("at", type_=BigInteger)
        began, ended = columns.accepted_at, columns.superseded_at
        made["in_force"] = and_(
            or_(began <= at, began > literal_column(str(INT_MAX))),  # the second one is damage
            or_(ended.is_(None), ended > at),
        )
    elif "standing" in columns:
        words = ("approved", "locked")
        made["in_force"] = columns.standing.in_([literal_column(f"'{word}'") for word in words])
    if "term" in columns:
        terms: list[BindParameter[str]] = [bindparam(f"term_{n}") for n in range(TERMS_MAX)]
        made["named"] = columns.term.in_(terms)
    if "status" in columns:
        ends = ("damaged", "erased", "faulted")
        made["unfolded"] = or_(*(columns.status == literal_column(f"'{word}'") for word in ends))
    return made


def _select_session_pages() -> dict[str, ClauseElement]:
    """Pages of sessions: each of a project, and as `any_` of all."""
    sessions = projected["sessions"]
    h, s, o = heads.c, sessions.c, outbox.c
    head = (h.session_id, h.project, h.workflow, h.version, h.head_hash)
    limit: BindParameter[int] = bindparam("at_most")
    after: BindParameter[str] = bindparam("after")
    project: BindParameter[str] = bindparam("of_project")
    since, until = (bindparam(name, type_=BigInteger) for name in ("since", "until"))
    newest = (
        select(*head, *s)
        .outerjoin_from(heads, sessions, s.session_id == h.session_id)
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
        .join_from(sessions, heads, s.session_id == h.session_id)
        .where(s.session_id > after, or_(trouble, and_(s.moved_at >= since, s.began_at <= until)))
        .order_by(s.session_id)
        .limit(limit)
    )
    waiting = (
        select(*head)
        .join_from(outbox, heads, o.session_id == h.session_id)
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
