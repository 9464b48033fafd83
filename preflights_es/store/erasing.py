"""What an erasure does to the tables, besides recording that it was one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from preflights_es.kernel.events import ERASED_TAG
from preflights_es.kernel.ports import Head, Stored
from preflights_es.store.projected import PROJECTED

CLEAR: Final = "clear "  # before the name of a projection's table, in the name of its statement
Run = Callable[..., None]
"""Runs a statement by its name: takes a cursor, the name and the values by name."""


def erased_at(events: Sequence[Stored]) -> int:
    """The version of the last erasure among events; 0 where there is none."""
    return max((event.version for event in events if event.type == ERASED_TAG), default=0)


def covers_any(events: Sequence[Stored], covered: int) -> bool:
    """Whether a payload in front of an erasure is still there."""
    return any(event.data is not None for event in events if event.version < covered)


def settle(run: Run, cursor: Any, head: Head, before: int, clear: Sequence[str] = ()) -> None:
    """Drop what stands in front of an erasure that is recorded, in its transaction.

    The last row of the outbox stays, so that projections fold what is left. Whatever they were
    about to write of an earlier version comes too late: each has a mark, old or new, and the
    rows go behind it, so that a fold which was there first is waited for and its rows go too.
    """
    run(cursor, "drop_payloads", in_session=head.session_id, before=before)
    run(cursor, "forget_calls", in_session=head.session_id)
    run(cursor, "forget_outbox", in_session=head.session_id, before=head.version)
    mark = {"in_session": head.session_id, "to_version": head.version - 1}
    for name in PROJECTED:
        run(cursor, "set_mark", of_name=name, **mark)
    run(cursor, "set_marks", **mark)  # those that only a newer program knows
    for name in clear:
        run(cursor, f"{CLEAR}{name}", in_session=head.session_id)
