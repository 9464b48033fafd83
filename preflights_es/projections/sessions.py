"""`sessions`: where each stands, how far it is, who leads it."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.events import Input
from preflights_es.kernel.lead import FellBack, LeadTaken, NamesLead, setup_of
from preflights_es.kernel.ports import Row
from preflights_es.projections.projection import (
    VERSIONS,
    Projection,
    Read,
    database_integer,
    database_text,
)
from preflights_es.words.questions import Answers
from preflights_es.words.workflow import compute_session_status


class SessionColumns(msgspec.Struct, frozen=True):
    """Where a session stands."""

    session_id: str
    project: str
    workflow: str
    status: str
    progress: float | None
    turns: int
    provider: str
    model: str
    fell_back: str
    intention: str
    version: int
    began_at: int
    moved_at: int


def fold_session_rows(read: Read) -> tuple[Row, ...]:
    """One a session; of a session in trouble, what it is called in place of its intention."""
    head = read.head
    status, progress, intention = _session_status_columns(read)
    provider, model, fell_back = _last_lead_of_session(read)
    return (
        (
            head.session_id,
            database_text(head.project),
            database_text(head.workflow),
            status,
            progress,
            sum(map(_is_answer, map(type, read.events))),
            database_text(provider),
            database_text(model),
            database_text(fell_back),
            database_text(intention),
            read.version,
            *_span(read),
        ),
    )


def _span(read: Read) -> tuple[int, int]:
    """When its first and its last event were recorded; not in their order, for clocks step back."""
    times = [database_integer(one.recorded_at) for one in read.stored]
    return min(times, default=0), max(times, default=0)


@cache
def _is_answer(kind: type[Any]) -> bool:
    """A few classes are asked for again and again."""
    return issubclass(kind, Answers)


def _session_status_columns(read: Read) -> tuple[str, float | None, str]:
    if read.trouble:
        return read.trouble, None, "" if read.trouble == "erased" else read.why
    session = read.sessions[-1]
    view = read.view
    return (compute_session_status(read.workflow, session, view), view.progress, view.intention)


@cache
def _moves_lead(kind: type[Any]) -> bool:
    return issubclass(kind, NamesLead | FellBack)


def _last_lead_of_session(read: Read) -> tuple[str, str, str]:
    """Provider, model, and why the reference took over, as the events say it last."""
    provider = model = fell_back = ""
    setup = setup_of(read.events[0]) if read.events else None
    if setup is not None:
        provider, model = setup.provider, setup.lead.model if setup.lead else ""
    if not any(map(_moves_lead, {*map(type, read.events)})):
        return provider, model, ""
    named: NamesLead | None = None
    for event in read.events:
        if isinstance(event, Input):
            named = event if isinstance(event, NamesLead) else None
        elif named is not None and isinstance(event, LeadTaken | CompletionRequested):
            lead, named, fell_back = named.lead, None, ""
            provider, model = (lead.provider, lead.model) if lead else ("mock", "")
        elif isinstance(event, FellBack):
            fell_back = event.reason
    return provider, model, fell_back


SESSIONS: Final = Projection(
    name="sessions",
    version=VERSIONS["sessions"],
    rows=fold_session_rows,
    row=SessionColumns,
    # In the order in which rows are read, with all that is asked before a row is: a row has texts.
    index=("project", "session_id", "status", "began_at", "moved_at"),
    words="intention",
)
PROJECTION: Final = SESSIONS
