"""Every statement of the log, in SQLAlchemy Core, compiled once a dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.engine import Engine
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.elements import BindParameter

from preflights_es.core.ports import Head, Stored
from preflights_es.store import tables
from preflights_es.store.database import Database
from preflights_es.store.memory import MATCHES_MAX


class Statement:
    """A Core statement, compiled for one dialect, run with named values on a DBAPI cursor."""

    def __init__(self, element: ClauseElement, engine: Engine) -> None:
        compiled = element.compile(engine)
        self.sql = str(compiled)
        self.names: list[str] | None = compiled.positiontup  # type: ignore[attr-defined]  # SQLCompiler's
        self.fixed: dict[str, Any] = {k: v for k, v in compiled.params.items() if v is not None}

    def bound(self, values: Mapping[str, Any]) -> Any:
        """The parameters in the form that the driver takes."""
        if self.fixed:
            values = {**self.fixed, **values}
        return [values[name] for name in self.names] if self.names is not None else values


class Statements:
    """Statements by name, each compiled when it is first used."""

    def __init__(self, elements: Mapping[str, ClauseElement], engine: Engine) -> None:
        self._elements = dict(elements)
        self._engine = engine
        self._compiled: dict[str, Statement] = {}

    def add(self, elements: Mapping[str, ClauseElement]) -> None:
        """More of them; those that are there already are the same."""
        self._elements |= elements

    def run(self, cursor: Any, which: str, /, **values: Any) -> Any:
        """Run one; the cursor, for what it found."""
        statement = self._of(which)
        cursor.execute(statement.sql, statement.bound(values))
        return cursor

    def many(self, cursor: Any, which: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run one for each row, all together; nothing where there are none."""
        if rows:
            statement = self._of(which)
            cursor.executemany(statement.sql, [statement.bound(row) for row in rows])

    def rows(
        self, cursor: Any, which: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> None:
        """As `many`, for rows without names."""
        if not rows:
            return
        statement = self._of(which)
        if statement.names == list(columns):
            cursor.executemany(statement.sql, rows)
        else:
            self.many(cursor, which, [dict(zip(columns, row, strict=True)) for row in rows])

    def __contains__(self, which: str) -> bool:
        return which in self._elements

    def _of(self, which: str) -> Statement:
        if which not in self._compiled:
            self._compiled[which] = Statement(self._elements[which], self._engine)
        return self._compiled[which]


class Looking:
    """A room that looks rows up by statements of its own."""

    def __init__(self, database: Database, elements: Mapping[str, ClauseElement]) -> None:
        self._database = database
        self._statements = Statements(elements, database.engine)

    def _rows(self, which: str, /, **values: Any) -> list[Any]:
        rows: list[Any] = self._database.looked(
            lambda cursor: self._statements.run(cursor, which, **values).fetchall()
        )
        return rows


def together(cursor: Any) -> AbstractContextManager[Any]:
    """Within it, what is run is sent in one trip, where the driver can: psycopg's pipeline.

    What a statement found or changed is known when the block ends, and an error as well, even where
    later ones ran on: only then is it known which one failed.
    """
    pipeline = getattr(cursor.connection, "pipeline", nullcontext)
    made: AbstractContextManager[Any] = pipeline()
    return made


_h, _e, _c, _n = tables.heads.c, tables.events.c, tables.claims.c, tables.numbers.c


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


def event_of(head: Head, row: Sequence[Any]) -> Stored:
    """An event of a session, as `reading` finds it."""
    version, type_, at, input_id, actor, decider, data, salt, digest, hash_ = row
    # Bytes here are a payload that somebody else wrote: the chain will say so.
    raw = data.encode() if isinstance(data, str) else data
    return Stored(
        head.session_id,
        head.project,
        head.workflow,
        version,
        type_,
        at,
        input_id,
        actor,
        decider,
        raw,
        salt,
        digest,
        hash_,
    )


def statements() -> dict[str, ClauseElement]:
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
