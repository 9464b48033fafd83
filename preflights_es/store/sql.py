"""The log in a database: SQLite or PostgreSQL.

Statements of SQLAlchemy Core run on the driver's own connection (docs/decisions/0004, 0017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict

from preflights_es.kernel.errors import Conflict, DuplicateInput, LogDamaged, NumberTaken
from preflights_es.kernel.ids import SHORT_AT, TYPED_MIN
from preflights_es.kernel.ports import Access, AppendBatch, Arrival, Claim, Head, Numbered, Stored
from preflights_es.store import frozen, log_rows, opening
from preflights_es.store.database import Looking, Race, T, encode_value_list, event_of, together
from preflights_es.store.log_rows import Calls, event_row, head_of
from preflights_es.store.stored_events import can_follow_head, erased_before, sealed
from preflights_es.store.urls import parse_log_address, shown_url

_ALL: Final = 2**31 - 1  # rows, without a limit of the caller: every engine accepts it


class _EventPlaceTaken(Exception):
    """An event cannot be inserted where it belongs; why, is asked when nothing is open."""

    def __init__(self, events: Sequence[Stored]) -> None:
        super().__init__()
        self.events = events


class SqlStore(Looking):
    """Every acknowledged append is durable; the promises are those of `kernel.ports.Store`."""

    def __init__(
        self,
        url: str,
        now: Callable[[], int],
        salt: Callable[[], bytes],
        access: Access = Access.CREATE,
        *,
        lasts: bool = True,
    ) -> None:
        """Opens the log, creating or upgrading it where needed.

        Args:
            lasts: whether a file is to survive a power cut.

        Raises:
            SettingsError: the address is invalid, or of an engine that is not supported.
            NoLog: there is none, and the caller did not ask to create one.
            LogFromFuture: a newer version of this program made the tables.
            LogDamaged: the file is no database, or its tables are not ours.
            StoreUnavailable: it cannot be opened.
        """
        self.url = parse_log_address(url)
        self.lasts = lasts
        self._now = now
        self._salt = salt
        super().__init__("log", opening.database_at(self.url, lasts=lasts))
        self._calls = Calls(self._statements)
        try:
            opening.make_current(self.database, access)
        except BaseException:  # only this function can close the connection; raised on
            self.close()
            raise

    # 1. Opening ------------------------------------------------------------------------------

    def schema(self) -> str | None:
        """The revision of the tables; None where there are none.

        Raises:
            LogDamaged: the tables are another program's, or say no schema, or several.
        """
        return opening.read_table_revision(self.database)

    def close(self) -> None:
        """Give connections back."""
        self.database.close()

    # 2. Writing ------------------------------------------------------------------------------

    def append(self, batches: Sequence[AppendBatch]) -> tuple[Head, ...]:
        log_rows.none_twice(draft.input_id for batch in batches for draft in batch.events)

        # In one order everywhere, so that no two appends wait for each other's sessions.
        in_order = sorted(batches, key=lambda b: b.session_id) if len(batches) > 1 else batches

        def work(cursor: Any) -> list[Head]:
            numbered = enumerate(in_order)
            return [self._append(cursor, one, begins=number == 0) for number, one in numbered]

        heads = self._wrote(work, begins=not batches)
        if in_order is batches:
            return tuple(heads)
        found = {head.session_id: head for head in heads}
        return tuple(found[batch.session_id] for batch in batches)

    def _wrote(self, work: Callable[[Any], T], *, begins: bool = True) -> T:
        try:
            return self.database.wrote(work, begins=begins)
        except _EventPlaceTaken as taken:
            for event in taken.events:
                if event.input_id is not None and self.session_of_input(event.input_id) is not None:
                    raise DuplicateInput(event.input_id) from taken.__cause__
            where, version = f"session {taken.events[0].session_id}", taken.events[0].version
            found = "it lies behind the session's head: the head was set back"
            raise LogDamaged(where, version, found) from taken.__cause__

    def _append(self, cursor: Any, batch: AppendBatch, *, begins: bool = False) -> Head:
        """Where the session stands then.

        Args:
            begins: whether this is the first of its transaction.
        """
        if not batch.events:
            return self._unmoved(cursor, batch, begins=begins)
        stored = sealed(batch, self._now(), self._salt)
        head = head_of(stored)
        conflict = partial(Conflict, batch.session_id, batch.expected_version)
        moved = cursor.connection.cursor()  # its count is asked for when all have run
        try:
            with together(cursor):
                if begins:
                    self.database.begun(cursor)
                if batch.expected_version == 0:
                    self._insert_head(moved, head)
                else:
                    self._moved(moved, head, batch.expected_version, batch.expected_hash)
                self._insert_events(cursor, stored)
                self._calls.moved(cursor, head, batch.opens, batch.closes)
        except self.database.taken as error:
            # The head comes first: what stands behind it elsewhere is in the way of the rest.
            raise (_EventPlaceTaken(stored) if moved.rowcount == 1 else conflict()) from error
        if moved.rowcount != 1:
            raise conflict()
        if batch.number is not None:
            self._take_number(cursor, batch)
        return head

    def _unmoved(self, cursor: Any, batch: AppendBatch, *, begins: bool) -> Head:
        """Where the session stands, and stays until the transaction ends."""
        if begins:
            self.database.begun(cursor)
        version, hash_ = batch.expected_version, batch.expected_hash
        head = Head(batch.session_id, batch.project, batch.workflow, version, hash=hash_)
        if not self._moved(cursor, head, version, hash_):
            raise Conflict(batch.session_id, version)
        return head

    def _moved(self, cursor: Any, head: Head, version: int, hash_: bytes) -> bool:
        """Whether the head was still where it was, and has moved."""
        self._statements.run(
            cursor,
            "move_head",
            in_session=head.session_id,
            expected_version=version,
            expected_hash=bytearray(hash_),
            to_version=head.version,
            to_hash=bytearray(head.hash),
        )
        return bool(cursor.rowcount == 1)

    def _insert_head(self, cursor: Any, head: Head) -> None:
        self._statements.run(
            cursor,
            "insert_head",
            session_id=head.session_id,
            project=head.project,
            workflow=head.workflow,
            version=head.version,
            head_hash=bytearray(head.hash),
        )

    def _take_number(self, cursor: Any, batch: AppendBatch) -> None:
        assert batch.number is not None, "asked for by the caller"
        held = log_rows.in_folder(batch.number)
        self._statements.run(cursor, "number", of_project=batch.project, **held)
        holder = cursor.fetchone()
        if holder is None:
            self._insert_number(cursor, batch.project, batch.number, batch.session_id)
        elif holder[0] != batch.session_id:
            raise NumberTaken(batch.project, batch.number.number)

    def _insert_number(self, cursor: Any, project: str, number: Numbered, session_id: str) -> None:
        row = {"project": project, "session_id": session_id, **asdict(number)}
        try:
            self._statements.run(cursor, "insert_number", **row)
        except self.database.taken as error:
            raise Race from error  # looked for and not found: another writer took it since

    def _insert_events(self, cursor: Any, stored: Sequence[Stored]) -> None:
        rows = [*map(event_row, stored)]
        self._statements.rows(cursor, "insert_event", frozen.columns("events"), rows)
        last = stored[-1]
        self._statements.run(
            cursor, "insert_outbox", session_id=last.session_id, version=last.version
        )

    def insert(
        self,
        events: Sequence[Stored],
        *,
        open_calls: Sequence[str] | None = None,
        number: Numbered | None = None,
        clear: Sequence[str] = (),
        imported: Sequence[str] = (),
    ) -> None:
        first, head = events[0], head_of(events)
        log_rows.none_twice(event.input_id for event in events)

        def work(cursor: Any) -> None:
            self._statements.run(cursor, "head", in_session=first.session_id)
            row = cursor.fetchone()
            before = Head(*row) if row else None
            version = before.version if before else 0
            if not can_follow_head(first, before.hash if before else None, version):
                raise Conflict(first.session_id, first.version - 1)
            self._place_head(cursor, before, head)
            try:
                self._insert_events(cursor, events)
            except self.database.taken as error:
                raise _EventPlaceTaken(events) from error
            if number is not None:
                held = log_rows.in_folder(number)
                self._statements.run(cursor, "number", of_project=head.project, **held)
                if cursor.fetchone() is None:
                    self._insert_number(cursor, head.project, number, head.session_id)
            if open_calls is not None:
                self._calls.are(cursor, head, set(open_calls))
            log_rows.insert_imported(self._statements, cursor, head.session_id, imported)
            covered = version + erased_before(events)
            has_any = any(e.data is not None for e in events if e.version < covered)
            # Who may not drop payloads can take over a session that has none left.
            if covered > version and (before is not None or has_any):
                log_rows.settle(self._statements, cursor, head, covered, clear=clear)

        self._wrote(work)

    def insert_new(self, arrivals: Sequence[Arrival]) -> bool:
        # In one order everywhere, as in `append`.
        in_order = sorted(arrivals, key=lambda one: one.events[0].session_id)

        def work(cursor: Any) -> None:
            try:
                with together(cursor):
                    self.database.begun(cursor)
                    log_rows.insert_all(self._statements, cursor, in_order)
            except self.database.taken as error:
                raise _EventPlaceTaken(()) from error

        try:
            self.database.wrote(work, begins=False)
        except _EventPlaceTaken:
            return False
        return True

    def erase(self, batch: AppendBatch, clear: Sequence[str] = ()) -> Head:

        def work(cursor: Any) -> Head:
            head = self._append(cursor, batch)
            log_rows.settle(self._statements, cursor, head, batch.expected_version + 1, clear=clear)
            return head

        return self._wrote(work)

    def scrubbed(self) -> bool:
        return self.database.scrubbed()

    def _place_head(self, cursor: Any, before: Head | None, head: Head) -> None:
        """Where the head was a moment ago; the events in hand may not follow any more."""
        if before is None:
            try:
                self._insert_head(cursor, head)
            except self.database.taken as error:
                raise Race from error
            return
        if not self._moved(cursor, head, before.version, before.hash):
            raise Race

    def claim(self, session_id: str, call: str, owner: str, now: int, until: int) -> Claim:
        return self._wrote(
            lambda cursor: self._calls.claim(cursor, session_id, call, owner, now=now, until=until)
        )

    def give_back(self, session_id: str, call: str, owner: str) -> None:
        self._wrote(lambda cursor: self._calls.give_back(cursor, session_id, call, owner))

    def reopen(self, head: Head, calls: Sequence[str]) -> None:
        def work(cursor: Any) -> None:
            # The head is held meanwhile: no call is put back while another process answers it.
            if self._moved(cursor, head, head.version, head.hash):
                known = self._calls.of(cursor, head)
                self._calls.moved(cursor, head, sorted(set(calls) - known), ())

        self._wrote(work)

    # 3. Reading ------------------------------------------------------------------------------

    def read(self, session_id: str, after: int = 0) -> tuple[Stored, ...]:
        head = self.head(session_id)
        return () if head is None else self._events(head, after)

    def stream(self, session_id: str) -> tuple[Head, tuple[Stored, ...]] | None:
        head = self.head(session_id)
        return None if head is None else (head, self._events(head))

    def _events(self, head: Head, after: int = 0) -> tuple[Stored, ...]:
        rows = self._rows("read", in_session=head.session_id, after=after)
        return tuple(map(partial(event_of, head), rows))

    def head(self, session_id: str) -> Head | None:
        rows = self._rows("head", in_session=session_id)
        return Head(*rows[0]) if rows else None

    def heads_of(self, session_ids: Sequence[str]) -> dict[str, Head]:
        rows = self._rows("heads_among", ids=encode_value_list(session_ids)) if session_ids else []
        return {row[0]: Head(*row) for row in rows}

    def heads(self, project: str | None, limit: int | None = None) -> tuple[Head, ...]:
        at_most = _ALL if limit is None else min(limit, _ALL)
        if project is None:
            rows = self._rows("heads", at_most=at_most)
        else:
            rows = self._rows("project_heads", of_project=project, at_most=at_most)
        return tuple(Head(*row) for row in rows)

    def heads_in(self, workflow: str) -> tuple[Head, ...]:
        """Sessions of one workflow, of any project, oldest first."""
        return tuple(Head(*row) for row in self._rows("workflow_heads", of_workflow=workflow))

    def sessions_with(self, tags: Sequence[str]) -> frozenset[str]:
        """Sessions of any project that have an event with one of these tags."""
        rows = self._rows("sessions_with", ids=encode_value_list(tags))
        return frozenset(row[0] for row in rows)

    def headless(self) -> tuple[str, ...]:
        return tuple(row[0] for row in self._rows("headless"))

    def matching(self, typed: str) -> tuple[str, ...]:
        if len(typed) < TYPED_MIN or not set(typed) <= set("0123456789abcdef-"):
            return ()
        shown = f"{'_' * SHORT_AT}{typed}%"
        rows = self._rows("matching", beginning=f"{typed}%", shown=shown, ending=f"%{typed}")
        return tuple(row[0] for row in rows)

    def session_of_input(self, input_id: str) -> str | None:
        rows = self._rows("session_of_input", of_input=input_id)
        return rows[0][0] if rows else None

    def open_calls(self, project: str) -> tuple[tuple[str, str], ...]:
        return tuple((row[0], row[1]) for row in self._rows("open_calls", of_project=project))

    def claimed_until(self, session_id: str, call: str) -> int:
        rows = self._rows("claimed", in_session=session_id, of_call=call)
        return next((until for _, until in rows if isinstance(until, int)), 0)

    def calls_of(self, session_id: str) -> frozenset[str]:
        return frozenset(row[0] for row in self._rows("session_calls", in_session=session_id))

    def numbers(self, project: str) -> dict[Numbered, str]:
        rows = self._rows("numbers", of_project=project)
        if odd := [number for _, number, _ in rows if not isinstance(number, int)]:
            raise LogDamaged("the table `numbers`", 0, f"{odd[0]!r} is no number")
        return {Numbered(folder, number): session_id for folder, number, session_id in rows}

    def counts(self) -> dict[str, int]:
        """How many sessions and events the log holds, and how many calls are open."""
        names = ("sessions", "events", "open_calls")
        return {name: self._rows(f"count_{name}")[0][0] for name in names}

    def log_id(self) -> str:
        """What the log calls itself: 32 hexadecimal digits by chance; a copy of it has the same.

        No two logs give one id to two Inputs.

        Raises:
            LogDamaged: it was removed.
            StoreUnavailable: it cannot be read.
        """
        rows = self.database.looked(lambda cursor: cursor.execute("SELECT id FROM log").fetchall())
        if len(rows) != 1:
            found = f"it says {len(rows)} ids, expected one" if rows else "it does not say its id"
            raise LogDamaged(shown_url(self.url), 0, found)
        return str(rows[0][0])

    def check(self) -> None:
        """Ask the engine whether its file is whole.

        Raises:
            LogDamaged: it is not.
        """
        self.database.check()


@contextmanager
def temporary_log(now: Callable[[], int], salt: Callable[[], bytes]) -> Iterator[SqlStore]:
    """A log that goes with all that it holds."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="preflights-") as folder:
        log = SqlStore(str(Path(folder, "log.db")), now, salt, lasts=False)
        try:
            yield log
        finally:
            log.close()


@contextmanager
def empty_log(now: Callable[[], int], salt: Callable[[], bytes]) -> Iterator[SqlStore]:
    """An empty log, so that every command says in its own words that there is nothing."""
    with temporary_log(now, salt) as empty:
        yield empty
        # What was recorded in a log that is thrown away would be lost without a word.
        assert not empty.heads(None, 1), "a command recorded something that may not make the log"
