"""Open calls without a row: it is made again, as the log has it.

A document whose request came with an import has no
row and gets none: importing writes no documents. The log knows which these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.events import ArtifactDue, OutsideRequest
from preflights_es.kernel.ports import ClaimRow, Store
from preflights_es.runtime.performer import CLAIM_MAX_MS
from preflights_es.runtime.runner import Runner, head_of
from preflights_es.store.side_tables import SqlAuditing


class LostCalls(msgspec.Struct, frozen=True):
    """A session with open calls that no row has."""

    session_id: str
    completions: tuple[str, ...]
    """Calls."""
    documents: tuple[ArtifactDue, ...]
    """Those that this log owes."""
    imported: tuple[ArtifactDue, ...]
    """Those that it does not owe: they lack no row."""

    @property
    def calls(self) -> tuple[str, ...]:
        """Those that lack their row."""
        return (*self.completions, *(due.call for due in self.documents))


def find_lost_calls(
    store: Store, session_id: str, calls: Iterable[OutsideRequest], tables: SqlAuditing
) -> LostCalls | None:
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
    return LostCalls(
        session_id,
        completions,
        tuple(due for due in documents if due.call not in elsewhere),
        tuple(due for due in documents if due.call in elsewhere),
    )


def ends_too_late(row: ClaimRow, now: int) -> bool:
    """Whether a claim ends later than any claim that was made by this clock."""
    return not isinstance(row.until, int) or row.until > now + CLAIM_MAX_MS * 1_000


def reopened(runner: Runner, tables: SqlAuditing) -> Iterator[LostCalls]:
    """Sessions of which open calls had no row; each gets it."""
    for session_id in tables.asking():
        try:
            handle = runner.load(session_id)
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        found = find_lost_calls(runner.store, session_id, handle.session.calls, tables)
        if found and found.calls:
            runner.store.reopen(head_of(handle), found.calls)
        if found:
            yield found
