"""Open calls and who performs them: rows beside the log, written within its transactions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from preflights_es.kernel.ports import Claim, Head
from preflights_es.store.statements import Statements

UNCLAIMED = ("", 0)
"""Owner and time of a call that no process has claimed."""


class Calls:
    """The table `claims`."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def moved(self, cursor: Any, head: Head, opens: Iterable[str], closes: Iterable[str]) -> None:
        """What events have opened and answered."""
        for call in opens:
            self._statements.run(
                cursor,
                "insert_claim",
                session_id=head.session_id,
                call=call,
                project=head.project,
                owner=UNCLAIMED[0],
                until=UNCLAIMED[1],
            )
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
        if found == "held" or self._set(cursor, session_id, call, row, (owner, until)):
            return found
        return "held"

    def give_back(self, cursor: Any, session_id: str, call: str, owner: str) -> None:
        """Give a claim back, as if it was never made."""
        row = self._claimed(cursor, session_id, call)
        if row is not None and row[0] == owner:
            self._set(cursor, session_id, call, row, UNCLAIMED)

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
