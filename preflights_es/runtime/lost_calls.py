"""Open calls of which no row tells any more: completions come back, documents are named.

A row of `claims` can be made again from the log, but for one thing: that a session was imported,
and so owes no document here. So no document becomes due by itself; a person resumes its session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from preflights_es.core.artifacts import ArtifactDue
from preflights_es.core.completions import CompletionRequested
from preflights_es.core.errors import PreflightsError
from preflights_es.core.events import Request
from preflights_es.core.ports import Store
from preflights_es.runtime.runner import Runner, head_of


class Lost(msgspec.Struct, frozen=True):
    """A session with open calls that no row has."""

    session_id: str
    completions: tuple[str, ...]
    documents: tuple[str, ...]
    """Paths."""


def lost(store: Store, session_id: str, calls: Iterable[Request]) -> Lost | None:
    """What of a session's open calls no row has; None where nothing is lost."""
    lacking = list(calls)
    if lacking:
        known = store.calls_of(session_id)
        lacking = [call for call in lacking if call.call not in known]
    if not lacking:
        return None
    completions = tuple(call.call for call in lacking if isinstance(call, CompletionRequested))
    documents = tuple(call.path for call in lacking if isinstance(call, ArtifactDue))
    return Lost(session_id, completions, documents)


def reopened(runner: Runner, asking: Iterable[str]) -> Iterator[Lost]:
    """Sessions with lost rows; those of completions are put back.

    Args:
        asking: ids of sessions that may have a call open.
    """
    for session_id in asking:
        try:
            handle = runner.load(session_id)
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        if found := lost(runner.store, session_id, handle.session.calls):
            runner.store.reopen(head_of(handle), found.completions)
            yield found
