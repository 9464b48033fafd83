"""The statements of the log, run by name on the driver's cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from preflights_es.kernel.ports import Head, Stored
from preflights_es.store.database import Database
from preflights_es.store.frozen import Statement


class Statements:
    """Those of one room, by name; a frozen one on SQLite, else compiled when it is first used."""

    def __init__(self, room: str, database: Database) -> None:
        self._of: Mapping[str, Statement] = database.statements(room)

    def run(self, cursor: Any, which: str, /, **values: Any) -> Any:
        """Run one; the cursor, for what it found."""
        statement = self._of[which]
        cursor.execute(statement.sql, statement.bound(values))
        return cursor

    def many(self, cursor: Any, which: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run one for each row, all together; nothing where there are none."""
        if rows:
            statement = self._of[which]
            cursor.executemany(statement.sql, [statement.bound(row) for row in rows])

    def rows(
        self, cursor: Any, which: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> None:
        """As `many`, for rows without names."""
        if not rows:
            return
        statement = self._of[which]
        if statement.names == tuple(columns):
            cursor.executemany(statement.sql, rows)
        else:
            self.many(cursor, which, [dict(zip(columns, row, strict=True)) for row in rows])


class Looking:
    """A room that looks rows up by statements of its own."""

    def __init__(self, room: str, database: Database) -> None:
        self.database = database
        self._statements = Statements(room, database)

    def _rows(self, which: str, /, **values: Any) -> list[Any]:
        rows: list[Any] = self.database.looked(
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


def event_of(head: Head, row: Sequence[Any]) -> Stored:
    """An event of a session, as the statement `read` finds it."""
    version, type_, at, input_id, actor, decider, data, salt, digest, hash_ = row
    # Bytes here are a payload that another program wrote: the chain will say so.
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
