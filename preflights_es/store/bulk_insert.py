"""Taking over many new sessions at once: a few statements, each for all of them, in one trip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from preflights_es.kernel.errors import DuplicateInput
from preflights_es.kernel.ports import Arrival, Head, Row, Stored
from preflights_es.store.calls import UNCLAIMED
from preflights_es.store.frozen import columns
from preflights_es.store.statements import Statements

AMONG: Final = 100  # ids that one statement looks for: a number that every engine takes
AT_ONCE: Final = 20  # rows that one statement inserts: SQLite once took 999 values at most


def among(session_ids: Sequence[str]) -> Iterator[dict[str, str]]:
    """Values for `heads_among`, as often as it has to be run; the last id fills what is left."""
    for first in range(0, len(session_ids), AMONG):
        some = session_ids[first : first + AMONG]
        filled = [*some, *[some[-1]] * (AMONG - len(some))]
        yield {f"id_{n}": session_id for n, session_id in enumerate(filled)}


def insert_all(run: Statements, cursor: Any, arrivals: Sequence[Arrival]) -> None:
    """Rows of sessions that have none; whatever is in the way, the driver says."""
    pairs = [(head_of(one.events), one) for one in arrivals]
    heads = [(h.session_id, h.project, h.workflow, h.version, h.hash) for h, _ in pairs]
    _insert(run, cursor, "heads", heads)
    _insert(run, cursor, "events", [event_row(e) for one in arrivals for e in one.events])
    _insert(run, cursor, "outbox", [(head.session_id, head.version) for head, _ in pairs])
    calls = [_claim(head, call) for head, one in pairs for call in one.open_calls]
    run.many(cursor, "insert_claim", calls)
    for head, one in pairs:
        insert_imported(run, cursor, head.session_id, one.imported)
    numbers = [
        {"project": head.project, "number": one.number, "session_id": head.session_id}
        for head, one in pairs
        if one.number is not None
    ]
    run.many(cursor, "insert_free_number", numbers)


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
    return Head(last.session_id, last.project, last.workflow, last.version, last.hash)


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


def _claim(head: Head, call: str) -> dict[str, Any]:
    return {
        "session_id": head.session_id,
        "call": call,
        "project": head.project,
        "owner": UNCLAIMED[0],
        "until": UNCLAIMED[1],
    }


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
