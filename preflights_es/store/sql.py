"""The log in a database: SQLite today, through SQLAlchemy Core.

Statements are written in Core, compiled once a dialect, and run on the DBAPI connection: an
append costs what its statements cost (docs/decisions/0004).
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from preflights_es.core.errors import (
    CommitUnknown,
    Conflict,
    DuplicateInput,
    LogDamaged,
    LogFromFuture,
    NumberTaken,
)
from preflights_es.core.ids import TYPED_MIN
from preflights_es.core.ports import Batch, Claim, Head, Stored
from preflights_es.store import tables
from preflights_es.store.chain import follows, sealed
from preflights_es.store.claims import UNCLAIMED, claimed
from preflights_es.store.engines import engine, file_of, parsed, shown_url, translated
from preflights_es.store.statements import Statement, statements

_TABLES: Final = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^'"
)
_OURS: Final = {"alembic_version", "events", "heads"}
_NOTHING_COMMITTED = ("SQLITE_FULL", "SQLITE_BUSY")


class SqlStore:
    """Every acknowledged append is durable; the promises are those of `core.ports.Store`."""

    def __init__(self, url: str, now: Callable[[], int], salt: Callable[[], bytes]) -> None:
        """Opens the log, creating or upgrading it where needed.

        Raises:
            SettingsError: the address is none, or of an engine that is not supported.
            LogFromFuture: a newer version of this program made the tables.
            LogDamaged: the file is no database, or its tables are not ours.
            StoreUnavailable: it cannot be opened.
        """
        self.url = parsed(url)
        self._now = now
        self._salt = salt
        self._engine = engine(self.url)
        self._elements = statements()
        self._compiled: dict[str, Statement] = {}
        self._raw: Any = None
        self._make_current()

    # 1. Opening ------------------------------------------------------------------------------

    def _make_current(self) -> None:
        found = self.schema()
        if found is not None and found > tables.SCHEMA and found.isdigit():
            raise LogFromFuture(
                f"the log {shown_url(self.url)} has schema {found}, this version knows "
                f"{tables.SCHEMA}: upgrade preflights"
            )
        if found != tables.SCHEMA:
            from preflights_es.store import migrate

            self.close()
            with translated():
                migrate.upgrade(self.url)

    def schema(self) -> str | None:
        """The revision of the tables; None where there are none.

        Raises:
            LogDamaged: the tables are another program's.
        """
        with translated():
            if (path := file_of(self.url)) and not path.exists():
                return None
            cursor = self._cursor()
            # One statement, so that an upgrade in another process is seen whole or not at all.
            names = {row[0] for row in cursor.execute(_TABLES)}
            if not names:
                return None
            if not names >= _OURS:
                raise LogDamaged(shown_url(self.url), 0, "it is another program's database")
            row = cursor.execute("SELECT version_num FROM alembic_version").fetchone()
        if row is None or not row[0]:
            raise LogDamaged(shown_url(self.url), 0, "it does not say its schema")
        return str(row[0])

    def _cursor(self) -> Any:
        if self._raw is None:
            self._raw = self._engine.raw_connection()
        return self._raw.cursor()

    def _statement(self, name: str) -> Statement:
        if name not in self._compiled:
            self._compiled[name] = Statement(self._elements[name], self._engine)
        return self._compiled[name]

    def close(self) -> None:
        """Give the connection back."""
        if self._raw is not None:
            self._raw.close()
            self._raw = None
        self._engine.dispose()

    # 2. Writing ------------------------------------------------------------------------------

    def append(self, batches: Sequence[Batch]) -> tuple[Head, ...]:
        with self._transaction() as cursor:
            # In one order everywhere, so that no two appends wait for each other's sessions.
            heads = {
                batch.session_id: self._append(cursor, batch)
                for batch in sorted(batches, key=lambda b: b.session_id)
            }
        return tuple(heads[batch.session_id] for batch in batches)

    def _append(self, cursor: Any, batch: Batch) -> Head:
        stored = sealed(batch, self._now(), self._salt)
        head = Head(
            batch.session_id, batch.project, batch.workflow, stored[-1].version, stored[-1].hash
        )
        self._move_head(cursor, batch, head)
        if batch.number is not None:
            self._take_number(cursor, batch)
        self._insert_events(cursor, stored)
        self._run(cursor, "insert_outbox", session_id=head.session_id, version=head.version)
        for call in batch.opens:
            self._open_call(cursor, head, call)
        for call in batch.closes:
            self._run(cursor, "delete_claim", in_session=head.session_id, of_call=call)
        return head

    def _move_head(self, cursor: Any, batch: Batch, head: Head) -> None:
        if batch.expected_version == 0:
            try:
                self._insert_head(cursor, head)
            except sqlite3.IntegrityError as error:
                raise Conflict(batch.session_id, 0) from error
            return
        self._run(
            cursor,
            "move_head",
            in_session=batch.session_id,
            expected_version=batch.expected_version,
            expected_hash=batch.expected_hash,
            to_version=head.version,
            to_hash=head.hash,
        )
        if cursor.rowcount != 1:
            raise Conflict(batch.session_id, batch.expected_version)

    def _insert_head(self, cursor: Any, head: Head) -> None:
        self._run(
            cursor,
            "insert_head",
            session_id=head.session_id,
            project=head.project,
            workflow=head.workflow,
            version=head.version,
            head_hash=head.hash,
        )

    def _take_number(self, cursor: Any, batch: Batch) -> None:
        assert batch.number is not None, "asked for by the caller"
        self._run(cursor, "number", of_project=batch.project, of_number=batch.number)
        holder = cursor.fetchone()
        if holder is None:
            self._insert_number(cursor, batch.project, batch.number, batch.session_id)
        elif holder[0] != batch.session_id:
            raise NumberTaken(batch.project, batch.number)

    def _insert_number(self, cursor: Any, project: str, number: int, session_id: str) -> None:
        self._run(cursor, "insert_number", project=project, number=number, session_id=session_id)

    def _open_call(self, cursor: Any, head: Head, call: str) -> None:
        self._run(
            cursor,
            "insert_claim",
            session_id=head.session_id,
            call=call,
            project=head.project,
            owner=UNCLAIMED[0],
            until=UNCLAIMED[1],
        )

    def _insert_events(self, cursor: Any, stored: Sequence[Stored]) -> None:
        statement = self._statement("insert_event")
        rows = [statement.bound(_row(e)) for e in stored]
        try:
            cursor.executemany(statement.sql, rows)
        except sqlite3.IntegrityError as error:
            for event in stored:
                if event.input_id is None:
                    continue
                self._run(cursor, "session_of_input", of_input=event.input_id)
                # Those in front of the duplicate are in the table already.
                if cursor.fetchone() not in (None, (event.session_id, event.version)):
                    raise DuplicateInput(event.input_id) from error
            # The head has just moved to these versions, and yet one of them is taken.
            raise LogDamaged(
                f"session {stored[0].session_id}",
                stored[0].version,
                "it lies behind the session's head: the head was set back",
            ) from error

    def insert(
        self,
        events: Sequence[Stored],
        *,
        open_calls: Sequence[str] | None = None,
        number: int | None = None,
    ) -> None:
        """Take over a session, or the tail it lacks here, verified before, byte for byte.

        Args:
            open_calls: those of the session as a whole; None leaves what is known of them.
            number: the one that the session holds; left to another session that holds it here.

        Raises:
            Conflict: the events do not follow the head that the session has here.
            DuplicateInput: an Input of theirs stands in another session.
        """
        first, last = events[0], events[-1]
        head = Head(last.session_id, last.project, last.workflow, last.version, last.hash)
        with self._transaction() as cursor:
            self._run(cursor, "head", in_session=first.session_id)
            row = cursor.fetchone()
            before = Head(*row) if row else None
            version = before.version if before else 0
            if not follows(first, before.hash if before else None, version):
                raise Conflict(first.session_id, first.version - 1)
            if before is None:
                self._insert_head(cursor, head)
            else:
                self._run(
                    cursor,
                    "move_head",
                    in_session=before.session_id,
                    expected_version=before.version,
                    expected_hash=before.hash,
                    to_version=head.version,
                    to_hash=head.hash,
                )
            self._insert_events(cursor, events)
            self._run(cursor, "insert_outbox", session_id=head.session_id, version=head.version)
            if number is not None:
                self._run(cursor, "number", of_project=head.project, of_number=number)
                if cursor.fetchone() is None:
                    self._insert_number(cursor, head.project, number, head.session_id)
            if open_calls is not None:
                self._set_calls(cursor, head, set(open_calls))

    def _set_calls(self, cursor: Any, head: Head, calls: set[str]) -> None:
        self._run(cursor, "session_calls", in_session=head.session_id)
        known = {row[0] for row in cursor.fetchall()}
        for call in sorted(known - calls):
            self._run(cursor, "delete_claim", in_session=head.session_id, of_call=call)
        for call in sorted(calls - known):
            self._open_call(cursor, head, call)

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> Claim:
        with self._transaction() as cursor:
            self._run(cursor, "claimed", in_session=session_id, of_call=call)
            row = cursor.fetchone()
            if row is None:
                return "not_open"
            found = claimed(row[0], row[1], owner, now)
            if found == "held" or self._move_claim(cursor, session_id, call, row, (owner, until)):
                return found
            return "held"

    def give_back(self, session_id: str, call: str, owner: str) -> None:
        with self._transaction() as cursor:
            self._run(cursor, "claimed", in_session=session_id, of_call=call)
            row = cursor.fetchone()
            if row is not None and row[0] == owner:
                self._move_claim(cursor, session_id, call, row, UNCLAIMED)

    def _move_claim(
        self,
        cursor: Any,
        session_id: str,
        call: str,
        before: tuple[str, int],
        after: tuple[str, int],
    ) -> bool:
        """Whether it was still as it was read; in SQLite it is, whose one writer this is."""
        self._run(
            cursor,
            "move_claim",
            in_session=session_id,
            of_call=call,
            of_owner=before[0],
            was_until=before[1],
            to_owner=after[0],
            to_until=after[1],
        )
        return bool(cursor.rowcount == 1)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        """IMMEDIATE: a deferred one that reads and then writes fails at once, whatever it waits."""
        with translated():
            cursor = self._cursor()
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
            except BaseException:
                self._roll_back()
                raise
            self._commit(cursor)

    def _commit(self, cursor: Any) -> None:
        try:
            cursor.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            if getattr(error, "sqlite_errorname", "") in _NOTHING_COMMITTED:
                raise
            self.close()
            raise CommitUnknown(f"the commit failed: {error}") from error

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._cursor().execute("ROLLBACK")

    def _run(self, cursor: Any, name: str, **values: Any) -> None:
        statement = self._statement(name)
        cursor.execute(statement.sql, statement.bound(values))

    # 3. Reading ------------------------------------------------------------------------------

    def _rows(self, name: str, **values: Any) -> list[Any]:
        with translated():
            cursor = self._cursor()
            self._run(cursor, name, **values)
            rows: list[Any] = cursor.fetchall()
            return rows

    def read(self, session_id: str, after: int = 0) -> tuple[Stored, ...]:
        head = self.head(session_id)
        if head is None:
            return ()
        return tuple(
            Stored(
                session_id,
                head.project,
                head.workflow,
                row[0],
                row[1],
                row[2],
                row[3],
                row[4],
                row[5],
                # Bytes here are a payload that somebody else wrote: the chain will say so.
                row[6].encode() if isinstance(row[6], str) else row[6],
                row[7],
                row[8],
                row[9],
            )
            for row in self._rows("read", in_session=session_id, after=after)
        )

    def head(self, session_id: str) -> Head | None:
        rows = self._rows("head", in_session=session_id)
        return Head(*rows[0]) if rows else None

    def heads(self, project: str | None, limit: int | None = None) -> tuple[Head, ...]:
        at_most = -1 if limit is None else limit
        if project is None:
            rows = self._rows("heads", at_most=at_most)
        else:
            rows = self._rows("project_heads", of_project=project, at_most=at_most)
        return tuple(Head(*row) for row in rows)

    def matching(self, typed: str) -> tuple[str, ...]:
        if len(typed) < TYPED_MIN or not set(typed) <= set("0123456789abcdef-"):
            return ()
        rows = self._rows("matching", beginning=f"{typed}%", ending=f"%{typed}")
        return tuple(row[0] for row in rows)

    def session_of_input(self, input_id: str) -> str | None:
        rows = self._rows("session_of_input", of_input=input_id)
        return rows[0][0] if rows else None

    def open_calls(self, project: str) -> tuple[tuple[str, str], ...]:
        return tuple((row[0], row[1]) for row in self._rows("open_calls", of_project=project))

    def numbers(self, project: str) -> dict[int, str]:
        return {row[0]: row[1] for row in self._rows("numbers", of_project=project)}

    def counts(self) -> dict[str, int]:
        """How many sessions and events the log holds, and how many calls are open."""
        names = ("sessions", "events", "open_calls")
        return {name: self._rows(f"count_{name}")[0][0] for name in names}

    def check(self) -> None:
        """Ask the engine whether its file is whole.

        Raises:
            LogDamaged: it is not.
        """
        with translated():
            found = self._cursor().execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise LogDamaged(shown_url(self.url), 0, found)


def _row(e: Stored) -> dict[str, Any]:
    assert e.data is not None or e.salt is None, "an erased payload has no salt"
    return {
        "session_id": e.session_id,
        "version": e.version,
        "input_id": e.input_id,
        "type": e.type,
        "recorded_at": e.recorded_at,
        "actor_kind": e.actor_kind,
        "decider": e.decider,
        "data": None if e.data is None else e.data.decode(),
        "salt": e.salt,
        "digest": e.digest,
        "hash": e.hash,
    }
