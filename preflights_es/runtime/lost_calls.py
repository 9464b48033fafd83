"""Open calls without a row, or with a wrong one: the rows are set right, as the log has them.

A row of `claims` is made again from the log. A document whose request came with an import has no
row and gets none: importing writes no documents. The log knows which these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import ArtifactDue, Request
from preflights_es.kernel.ports import ClaimRow, Store
from preflights_es.runtime.performer import CLAIM_MAX_MS
from preflights_es.runtime.runner import Handle, Runner, head_of
from preflights_es.store.side_tables import SqlAuditing

OVER: Final = 0
"""The end of a claim that has ended: its call counts as made, and its response as lost."""


class Lost(msgspec.Struct, frozen=True):
    """A session with open calls that no row has."""

    session_id: str
    completions: tuple[str, ...]
    """Calls."""
    documents: tuple[ArtifactDue, ...]
    """Those that this log owes."""
    imported: tuple[ArtifactDue, ...]
    """Those that it does not owe: they lack no row."""
    mended: tuple[str, ...] = ()
    """Calls with a wrong row."""

    @property
    def calls(self) -> tuple[str, ...]:
        """Those that lack their row."""
        documents = (due.call for due in self.documents if due.call not in self.mended)
        return (*self.completions, *documents)


def lost(
    store: Store, session_id: str, calls: Iterable[Request], tables: SqlAuditing
) -> Lost | None:
    """What of a session's open calls no row has; None where all have one."""
    lacking = list(calls)
    if lacking:
        known = store.calls_of(session_id)
        lacking = [call for call in lacking if call.call not in known]
    if not lacking:
        return None
    elsewhere = tables.imported(session_id)
    completions = tuple(call.call for call in lacking if isinstance(call, CompletionRequested))
    documents = [call for call in lacking if isinstance(call, ArtifactDue)]
    return Lost(
        session_id,
        completions,
        tuple(due for due in documents if due.call not in elsewhere),
        tuple(due for due in documents if due.call in elsewhere),
    )


def ends_too_late(row: ClaimRow, now: int) -> bool:
    """Whether a claim ends later than any claim that was made by this clock."""
    return not isinstance(row.until, int) or row.until > now + CLAIM_MAX_MS * 1_000


def mended(row: ClaimRow, project: str, now: int) -> ClaimRow:
    """The row of an open call as it should be."""
    return replace(row, project=project, until=OVER if ends_too_late(row, now) else row.until)


def reopened(runner: Runner, tables: SqlAuditing) -> Iterator[Lost]:
    """Sessions of which open calls had no row, or a wrong one; the rows are set right."""
    for session_id in tables.asking():
        try:
            handle = runner.load(session_id)
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        calls = handle.session.calls
        wrong = _mended(runner, handle, tables) if calls else {}
        found = lost(runner.store, session_id, calls, tables)
        if found and found.calls:
            runner.store.reopen(head_of(handle), found.calls)
        if found or wrong:
            found = found or Lost(session_id, (), (), ())
            due = [call for call in calls if isinstance(call, ArtifactDue) and call.call in wrong]
            yield replace(found, documents=(*found.documents, *due), mended=tuple(wrong))


def _mended(runner: Runner, handle: Handle, tables: SqlAuditing) -> dict[str, ClaimRow]:
    """Rows of a session's open calls that were wrong, by their calls."""
    calls = {call.call for call in handle.session.calls}
    wrong = {}
    for row in tables.claims(handle.session_id):
        right = mended(row, handle.project, runner.now())
        if row.call in calls and right != row:
            tables.mend_claim(handle.session_id, row, right)
            wrong[row.call] = right
    return wrong
