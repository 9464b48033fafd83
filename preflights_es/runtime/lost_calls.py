"""Open calls of which no row tells any more: they are put back, as the log has them.

A row of `claims` is made again from the log. A document whose request came with an import has no
row and gets none: importing writes no documents. The log knows which these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from preflights_es.core.artifacts import ArtifactDue
from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import PreflightsError
from preflights_es.core.events import Request
from preflights_es.core.ports import Store
from preflights_es.runtime.runner import Runner, head_of

Imported = Callable[[str], frozenset[str]]
"""Calls of a session's documents that this log does not owe."""


class Lost(msgspec.Struct, frozen=True):
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


def lost(
    store: Store, session_id: str, calls: Iterable[Request], imported: Imported
) -> Lost | None:
    """What of a session's open calls no row has; None where all have one."""
    lacking = list(calls)
    if lacking:
        known = store.calls_of(session_id)
        lacking = [call for call in lacking if call.call not in known]
    if not lacking:
        return None
    elsewhere = imported(session_id)
    completions = tuple(call.call for call in lacking if isinstance(call, CompletionRequested))
    documents = [call for call in lacking if isinstance(call, ArtifactDue)]
    return Lost(
        session_id,
        completions,
        tuple(due for due in documents if due.call not in elsewhere),
        tuple(due for due in documents if due.call in elsewhere),
    )


def reopened(runner: Runner, asking: Iterable[str], imported: Imported) -> Iterator[Lost]:
    """Sessions of which open calls have no row; the rows that are lost are put back.

    Args:
        asking: ids of sessions that may have a call open.
    """
    for session_id in asking:
        try:
            handle = runner.load(session_id)
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        if found := lost(runner.store, session_id, handle.session.calls, imported):
            if found.calls:
                runner.store.reopen(head_of(handle), found.calls)
            yield found
