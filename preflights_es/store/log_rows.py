"""The rows that appends, imports and erasures write: heads, events, the outbox and open calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import asdict

from preflights_es.kernel.errors import DuplicateInput
from preflights_es.kernel.ports import Arrival, Claim, Head, Numbered, Row, Stored
from preflights_es.store.database import Statements
from preflights_es.store.frozen import AT_ONCE, CLEAR, PROJECTED, columns

UNCLAIMED = ("", 0)
"""Owner and time of a call that no process has claimed."""


class Calls:
    """The table `claims`."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def moved(self, cursor: Any, head: Head, opens: Iterable[str], closes: Iterable[str]) -> None:
        """What events have opened and answered."""
        for call in opens:
            self._statements.run(cursor, "insert_claim", **_unclaimed(head, call))
        for call in closes:
            self._statements.run(cursor, "delete_claim", in_session=head.session_id, of_call=call)

    def are(self, cursor: Any, head: Head, calls: set[str]) -> None:
        """Those of a session as a whole, whatever was known of them."""
        known = self.of(cursor, head)
        self.moved(cursor, head, sorted(calls - known), sorted(known - calls))

    def of(self, cursor: Any, head: Head) -> set[str]:
        """Those of a session that are known."""
        found = self._statements.run(cursor, "session_calls", in_session=head.session_id)
        return {row[0] for row in found.fetchall()}

    def claim(
        self, cursor: Any, session_id: str, call: str, owner: str, now: int, until: int
    ) -> Claim:
        """Compare and set."""
        row = self._claimed(cursor, session_id, call)
        if row is None:
            return "not_open"
        found = claimed(row[0], row[1], owner, now)
        if found == "held" or self._set(cursor, session_id, call, row, after=(owner, until)):
            return found
        return "held"

    def give_back(self, cursor: Any, session_id: str, call: str, owner: str) -> None:
        """Give a claim back, as if it was never made."""
        row = self._claimed(cursor, session_id, call)
        if row is not None and row[0] == owner:
            self._set(cursor, session_id, call, row, after=UNCLAIMED)

    def _claimed(self, cursor: Any, session_id: str, call: str) -> Any:
        found = self._statements.run(cursor, "claimed", in_session=session_id, of_call=call)
        return found.fetchone()

    def _set(
        self,
        cursor: Any,
        session_id: str,
        call: str,
        before: tuple[str, int],
        after: tuple[str, int],
    ) -> bool:
        """Whether it was still as it was read; in SQLite it is, whose one writer this is."""
        self._statements.run(
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


def claimed(holder: str, holds_until: int, owner: str, now: int) -> Claim:
    """What an owner's claim of an open call comes to.

    An overdue claim of the same owner counts like another's: its result is unknown.
    """
    if not holder:
        return "taken"
    if holds_until <= now:
        return "overdue"
    return "taken" if holder == owner else "held"


def insert_all(run: Statements, cursor: Any, arrivals: Sequence[Arrival]) -> None:
    """Rows of sessions that have none; whatever is in the way, the driver says."""
    pairs = [(head_of(one.events), one) for one in arrivals]
    heads = [(h.session_id, h.project, h.workflow, h.version, h.hash) for h, _ in pairs]
    _insert(run, cursor, "heads", heads)
    _insert(run, cursor, "events", [event_row(e) for one in arrivals for e in one.events])
    _insert(run, cursor, "outbox", [(head.session_id, head.version) for head, _ in pairs])
    calls = [_unclaimed(head, call) for head, one in pairs for call in one.open_calls]
    run.many(cursor, "insert_claim", calls)
    for head, one in pairs:
        insert_imported(run, cursor, head.session_id, one.imported)
    numbers = [
        {"project": head.project, "session_id": head.session_id, **asdict(one.number)}
        for head, one in pairs
        if one.number is not None
    ]
    run.many(cursor, "insert_free_number", numbers)


def in_folder(number: Numbered) -> dict[str, Any]:
    """How a statement looks for who holds a number."""
    return {"of_folder": number.folder, "of_number": number.number}


def insert_imported(run: Statements, cursor: Any, session_id: str, calls: Iterable[str]) -> None:
    """Remember that this log does not owe some documents of a session."""
    run.many(cursor, "insert_imported", [{"session_id": session_id, "call": c} for c in calls])


def _insert(run: Statements, cursor: Any, table: str, rows: Sequence[Row]) -> None:
    """Many with each statement, which is a fifth sooner than one by one."""
    whole = len(rows) // AT_ONCE * AT_ONCE
    many = [tuple(chain(*rows[n : n + AT_ONCE])) for n in range(0, whole, AT_ONCE)]
    names = columns(table)
    each = [f"{name}_{n}" for n in range(AT_ONCE) for name in names]
    run.rows(cursor, f"insert_many {table}", each, many)
    run.rows(cursor, f"insert_one {table}", names, rows[whole:])


def head_of(events: Sequence[Stored]) -> Head:
    """Where a session stands behind its last event."""
    last = events[-1]
    return Head(last.session_id, last.project, last.workflow, last.version, hash=last.hash)


def event_row(e: Stored) -> Row:
    """The values of the columns of `events`."""
    assert e.data is not None or e.salt is None, "an erased payload has no salt"
    # Of whatever is `bytes` the driver of SQLite first looks for an adapter, raising errors inside.
    return (
        e.session_id,
        e.version,
        e.input_id,
        e.type,
        e.recorded_at,
        e.actor_kind,
        e.decider,
        None if e.data is None else e.data.decode(),
        None if e.salt is None else bytearray(e.salt),
        bytearray(e.digest),
        bytearray(e.hash),
    )


def _unclaimed(head: Head, call: str) -> dict[str, Any]:
    row = {"session_id": head.session_id, "call": call, "project": head.project}
    return {**row, "owner": UNCLAIMED[0], "until": UNCLAIMED[1]}


def none_twice(input_ids: Iterable[str | None]) -> None:
    """The ids of one append differ.

    Raises:
        DuplicateInput: they do not.
    """
    met: set[str] = set()
    for input_id in input_ids:
        if input_id in met:
            raise DuplicateInput(input_id)
        if input_id is not None:
            met.add(input_id)


def settle(
    statements: Statements, cursor: Any, head: Head, before: int, clear: Sequence[str] = ()
) -> None:
    """Drop what stands in front of an erasure that is recorded, in its transaction.

    The last row of the outbox stays, so that projections fold what is left. Whatever they were
    about to write of an earlier version comes too late: each has a mark, old or new, and the
    rows go behind it, so that a fold which was there first is waited for and its rows go too.
    """
    run = statements.run
    run(cursor, "drop_payloads", in_session=head.session_id, before=before)
    run(cursor, "forget_calls", in_session=head.session_id)
    run(cursor, "forget_outbox", in_session=head.session_id, before=head.version)
    mark = {"in_session": head.session_id, "to_version": head.version - 1}
    for name in PROJECTED:
        run(cursor, "set_mark", of_name=name, **mark)
    run(cursor, "set_marks", **mark)  # those that only a newer program knows
    for name in clear:
        run(cursor, f"{CLEAR}{name}", in_session=head.session_id)
