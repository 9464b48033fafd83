"""What projections need of the log: what moved, sessions to fold, and a place for their rows.

On PostgreSQL, rows of the outbox are taken with `SKIP LOCKED`, so that followers in parallel share
the work. SQLite has one writer: there, sessions are folded before the transaction begins, so that
nobody who records waits for a fold. Both may fold a session twice at the same time; the mark lets
one of them write (docs/decisions/0011).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec import structs
from sqlalchemy import (
    BigInteger,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.sql import ClauseElement

from preflights_es.core.errors import LogDamaged, NewerProjection
from preflights_es.core.events import ERASED_TAG
from preflights_es.core.ports import Fold, Folded, Head, Registered, Row, Stored, Stream, Turn
from preflights_es.store import tables
from preflights_es.store.chain import verified
from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import Statement

ROWS_PAGE: Final = 1_000  # sessions whose rows are read at once

Look = Callable[[Callable[[Any], Any]], Any]
"""Hands a cursor to whoever looks something up."""


class SqlFollowing:
    """The promises are those of `core.ports.Following`."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._database = store._database
        self._compiled: dict[str, Statement] = {}

    @cached_property
    def _elements(self) -> dict[str, ClauseElement]:
        return _statements(self._database.engine.dialect.name)

    def _statement(self, name: str) -> Statement:
        if name not in self._compiled:
            self._compiled[name] = Statement(self._elements[name], self._database.engine)
        return self._compiled[name]

    def _run(self, cursor: Any, which: str, /, **values: Any) -> Any:
        statement = self._statement(which)
        cursor.execute(statement.sql, statement.bound(values))
        return cursor

    def _many(self, cursor: Any, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            statement = self._statement(name)
            cursor.executemany(statement.sql, [statement.bound(row) for row in rows])

    def _rows(self, which: str, /, **values: Any) -> list[Any]:
        rows: list[Any] = self._database.looked(
            lambda cursor: self._run(cursor, which, **values).fetchall()
        )
        return rows

    # 1. Which there are ----------------------------------------------------------------------

    def registered(self) -> dict[str, Registered]:
        return _registered(self._rows("registered"))

    def begin(self, name: str, version: int) -> None:
        def work(cursor: Any) -> None:
            found = _registered(self._run(cursor, "registered_alone").fetchall()).get(name)
            if found is None:
                self._run(cursor, "register", name=name, version=version, generation=1, complete=0)
                return
            _refuse_newer({name: found}, {name: version})
            if found.version == version and not found.complete:
                return
            generation = found.generation + 1
            self._run(cursor, "begin", of_name=name, version=version, generation=generation)
            self._run(cursor, "empty_marks", of_name=name)
            self._run(cursor, f"empty_{name}")

        self._database.wrote(work)

    def finish(self, name: str, generation: int) -> bool:
        return bool(
            self._database.wrote(
                lambda cursor: (
                    self._run(cursor, "finish", of_name=name, of_generation=generation).rowcount
                )
            )
        )

    # 2. Following ----------------------------------------------------------------------------

    def follow(
        self, after: tuple[str, int], limit: int, versions: Mapping[str, int], fold: Fold
    ) -> tuple[str, int] | None:
        def taken(cursor: Any) -> list[tuple[str, int]]:
            place = {"after_session": after[0], "after_version": after[1], "at_most": limit}
            return [(row[0], row[1]) for row in self._run(cursor, "take", **place).fetchall()]

        def folded(look: Look, pairs: Sequence[tuple[str, int]]) -> Folded:
            ids = dict.fromkeys(session_id for session_id, _ in pairs)
            heads = [found for one in ids if (found := self._head(look, one)) is not None]
            # Where a rebuild came first, there is nothing to do.
            current = {head.session_id: head.version for head, is_folded in heads if is_folded}
            fresh = (self._stream(look, head) for head, is_folded in heads if not is_folded)
            return structs.replace(fold(fresh), current=current)

        def work(cursor: Any) -> tuple[str, int] | None:
            pairs = taken(cursor)
            if not pairs:
                return None
            self._write(cursor, folded(lambda look: look(cursor), pairs), versions, pairs)
            return pairs[-1]

        if self._database.engine.dialect.name != "sqlite":
            return self._database.wrote(work)
        pairs: list[tuple[str, int]] = self._database.looked(taken)
        if not pairs:
            return None
        done = folded(self._database.looked, pairs)
        self._database.wrote(lambda cursor: self._write(cursor, done, versions, pairs))
        return pairs[-1]

    def write(self, heads: Sequence[Head], versions: Mapping[str, int], fold: Fold) -> None:
        done = fold(self._stream(self._database.looked, head) for head in heads)
        self._database.wrote(lambda cursor: self._write(cursor, done, versions, ()))

    def _write(
        self,
        cursor: Any,
        done: Folded,
        versions: Mapping[str, int],
        pairs: Sequence[tuple[str, int]],
    ) -> None:
        found = _registered(self._run(cursor, "registered_shared").fetchall())
        _refuse_newer(found, versions)
        # One that is of an older version here is begun anew by whoever reads it next.
        names = [
            name for name in versions if name in found and found[name].version == versions[name]
        ]
        gone: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        rows: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        # In one order everywhere, so that no two followers wait for each other's marks.
        for turn in sorted(done.turns, key=lambda turn: turn.session_id):
            if self._run(
                cursor, "erased", in_session=turn.session_id, upto=turn.version
            ).fetchone():
                continue  # since it was read: what it held must not come back
            for name in self._marked(cursor, turn, names):
                columns = self.columns(name)
                gone[name].append({"in_session": turn.session_id})
                rows[name] += (dict(zip(columns, row, strict=True)) for row in turn.rows[name])
        for name in names:
            self._many(cursor, f"delete_{name}", gone[name])
            self._many(cursor, f"insert_{name}", rows[name])
        self._settle(cursor, done, pairs)

    def _marked(self, cursor: Any, turn: Turn, names: Sequence[str]) -> list[str]:
        """Those of the projections that had not folded the session as far."""
        if not names:
            return []
        values = {f"name_{n}": name for n, name in enumerate(names)}
        of = {"in_session": turn.session_id, "to_version": turn.version}
        rows = self._run(cursor, f"mark_{len(names)}", **values, **of).fetchall()
        return [row[0] for row in rows]

    def _settle(self, cursor: Any, done: Folded, pairs: Sequence[tuple[str, int]]) -> None:
        """The outbox: what was folded goes, what somebody else must fold stays."""
        upto = {**done.current, **{turn.session_id: turn.version for turn in done.turns}}
        seen = [
            {"in_session": session_id, "of_version": version}
            for session_id, version in pairs
            if version <= upto.get(session_id, -1)
        ]
        self._many(cursor, "delete_outbox", seen)
        if not pairs:
            kept = [{"session_id": session_id, "version": 0} for session_id in done.left]
            self._many(cursor, "keep_outbox", kept)

    # 3. Reading sessions ---------------------------------------------------------------------

    def page(self, after: str, limit: int) -> tuple[Head, ...]:
        return tuple(Head(*row) for row in self._rows("page", after=after, at_most=limit))

    def nth(self, number: int) -> str:
        rows = self._rows("nth", before=number)
        return str(rows[0][0]) if rows else ""

    def marks(self, name: str, first: str, last: str) -> dict[str, int]:
        return dict(self._rows("marks", of_name=name, first=first, last=last))

    def stream(self, head: Head) -> Stream:
        return self._stream(self._database.looked, head)

    def _head(self, look: Look, session_id: str) -> tuple[Head, bool] | None:
        """A session's head, and whether every projection has folded it as far."""
        rows = look(lambda cursor: self._run(cursor, "head", in_session=session_id).fetchall())
        return (Head(*rows[0][:-1]), rows[0][-1] == len(PROJECTED)) if rows else None

    def _stream(self, look: Look, head: Head) -> Stream:
        of = head.session_id
        rows = look(lambda cursor: self._run(cursor, "read", in_session=of).fetchall())
        events = tuple(
            Stored(
                of,
                head.project,
                head.workflow,
                row[0],
                row[1],
                row[2],
                row[3],
                row[4],
                row[5],
                row[6].encode() if isinstance(row[6], str) else row[6],
                row[7],
                row[8],
                row[9],
            )
            for row in rows
        )
        try:
            verified(events, head.hash)
        except LogDamaged as damage:
            return Stream(head, events, str(damage))
        return Stream(head, events)

    # 4. Reading rows -------------------------------------------------------------------------

    def columns(self, name: str) -> tuple[str, ...]:
        return tuple(PROJECTED[name].c.keys())

    def rows(self, name: str, project: str | None) -> Iterator[dict[str, Any]]:
        columns = self.columns(name)
        after = ""
        while True:
            if project is None:
                some = self._rows(f"any_{name}", after=after, at_most=ROWS_PAGE)
            else:
                page = {"of_project": project, "after": after, "at_most": ROWS_PAGE}
                some = self._rows(f"some_{name}", **page)
            if not some:
                return
            after = some[-1][0]
            last = self._rows(f"last_{name}", in_session=after)
            # A session's rows are not torn apart by the end of a page.
            whole: list[Row] = [row for row in some if row[0] != after] + last
            yield from (dict(zip(columns, row, strict=True)) for row in whole)

    def counts(self) -> dict[str, int]:
        names = ("sessions", "events", "waiting")
        return {name: self._rows(f"count_{name}")[0][0] for name in names}

    def folded(self, name: str) -> int:
        count: int = self._rows("count_marks", of_name=name)[0][0]
        return count


PROJECTED: Final[dict[str, Table]] = {
    "sessions": tables.projected_sessions,
    "decisions": tables.projected_decisions,
    "usage": tables.projected_usage,
}


def _registered(rows: Sequence[Any]) -> dict[str, Registered]:
    return {row[0]: Registered(row[0], row[1], row[2], bool(row[3])) for row in rows}


def _refuse_newer(found: Mapping[str, Registered], versions: Mapping[str, int]) -> None:
    """Whoever does not know a projection must not take what it has not seen yet.

    Raises:
        NewerProjection: a newer version of this program keeps one.
    """
    for name, one in found.items():
        if one.version > versions.get(name, 0 if name not in PROJECTED else one.version):
            raise NewerProjection(name)


def _statements(dialect: str) -> dict[str, ClauseElement]:
    if dialect == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as upsert
    else:
        from sqlalchemy.dialects.postgresql import insert as upsert  # type: ignore[assignment]  # a twin
    p, m, o = tables.projections.c, tables.marks.c, tables.outbox.c
    h, e = tables.heads.c, tables.events.c
    head = select(h.session_id, h.project, h.workflow, h.version, h.head_hash)
    registered = select(p.name, p.version, p.generation, p.complete)
    named = p.name == bindparam("of_name")

    def mark(count: int) -> ClauseElement:
        of: dict[str, Any] = {
            "session_id": bindparam("in_session"),
            "version": bindparam("to_version"),
        }
        names = [{"projection": bindparam(f"name_{n}"), **of} for n in range(count)]
        made = upsert(tables.marks).values(names)
        return made.on_conflict_do_update(
            index_elements=[m.projection, m.session_id],
            set_={"version": made.excluded.version},
            where=m.version < made.excluded.version,
        ).returning(m.projection)

    made: dict[str, ClauseElement] = {
        "registered": registered,
        "registered_alone": registered.with_for_update(),
        "registered_shared": registered.with_for_update(read=True),
        # Two may be the first at the same time.
        "register": upsert(tables.projections).on_conflict_do_nothing(),
        "begin": update(tables.projections)
        .where(named)
        .values(version=bindparam("version"), generation=bindparam("generation"), complete=0),
        "finish": update(tables.projections)
        .where(named, p.generation == bindparam("of_generation"))
        .values(complete=1),
        "empty_marks": delete(tables.marks).where(m.projection == bindparam("of_name")),
        **{f"mark_{count}": mark(count) for count in range(1, len(PROJECTED) + 1)},
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
        "delete_outbox": delete(tables.outbox).where(
            o.session_id == bindparam("in_session"), o.version == bindparam("of_version")
        ),
        "keep_outbox": upsert(tables.outbox).on_conflict_do_nothing(),
        "page": head.where(h.session_id > bindparam("after"))
        .order_by(h.session_id)
        .limit(bindparam("at_most")),
        "nth": select(h.session_id).order_by(h.session_id).limit(1).offset(bindparam("before")),
        "head": head.add_columns(
            select(func.count())
            .where(
                or_(*(m.projection == literal_column(f"'{name}'") for name in PROJECTED)),
                m.session_id == h.session_id,
                m.version >= h.version,
            )
            .scalar_subquery()
        ).where(h.session_id == bindparam("in_session")),
        "read": select(
            *(e.version, e.type, e.recorded_at, e.input_id, e.actor_kind),
            *(e.decider, e.data, e.salt, e.digest, e.hash),
        )
        .where(e.session_id == bindparam("in_session"))
        .order_by(e.version),
        "erased": select(e.version)
        .where(
            e.session_id == bindparam("in_session"),
            e.version > bindparam("upto"),
            e.type == literal_column(f"'{ERASED_TAG}'"),
        )
        .limit(1),
        "count_sessions": select(func.count()).select_from(tables.heads),
        "count_events": select(func.count()).select_from(tables.events),
        "count_waiting": select(func.count()).select_from(tables.outbox),
    }
    for name, table in PROJECTED.items():
        made |= _of_table(name, table)
    return made


def _of_table(name: str, table: Table) -> dict[str, ClauseElement]:
    """The statements of one projection's rows; its first column is the session's id."""
    session_id, project = table.c.session_id, table.c.project
    some = (
        select(*table.c)
        .where(session_id > bindparam("after"))
        .order_by(*table.primary_key.columns)
        .limit(bindparam("at_most"))
    )
    return {
        f"empty_{name}": delete(table),
        f"delete_{name}": delete(table).where(session_id == bindparam("in_session")),
        f"insert_{name}": insert(table),
        f"any_{name}": some,
        f"some_{name}": some.where(project == bindparam("of_project")),
        f"last_{name}": select(*table.c)
        .where(session_id == bindparam("in_session"))
        .order_by(*table.primary_key.columns),
    }
