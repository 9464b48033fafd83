"""Lists of sessions: which are wanted, by words, day, model, what came of calls, and cost; and
each as a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import (
    AnotherVersion,
    LogDamaged,
    PreflightsError,
    Refused,
    SessionFaulted,
)
from preflights_es.kernel.ids import iso, milliseconds
from preflights_es.kernel.lead import ResponseRejected
from preflights_es.kernel.ports import Head
from preflights_es.kernel.text import caseless
from preflights_es.projections.usage import COUNTED, Counted, sum_costs
from preflights_es.runtime.features import IMPORTS, WORKFLOWS
from preflights_es.runtime.finder import is_listed
from preflights_es.runtime.runner import Step
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.use.request import Request
from preflights_es.use.results import SessionRow, session_of
from preflights_es.use.usage import price
from preflights_es.words.questions import Refusal
from preflights_es.words.workflow import STATUSES, UNKNOWN, Cost, View

CHUNK: Final = 200  # sessions whose calls are read at once
LISTED: Final = 20  # sessions of a list that is not whole
TROUBLES: Final = ("damaged", "erased", "faulted")
"""Statuses of which the log is asked anew: they may have been mended."""


class SessionSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted; what is empty leaves no session out."""

    words: str = ""
    """Each of them stands in the intention, or begins or ends the session's id."""
    model: str = ""
    """That a call was asked of."""
    prompt: str = ""
    """That a call was asked with."""
    counted: Counted | None = None
    """Calls that there are, as `usage` counts them."""
    refused: bool = False
    """Whether an answer was refused, a model's or a person's."""
    since: int | None = None
    """Microseconds since 1970 UTC: of what happened in a session. An event happened when it was
    recorded, a call of another program when it was made; where calls are meant, of such a call.
    """
    until: int | None = None
    cost_over: float | None = None
    """In any currency."""
    among: Collection[str] | None = None
    """Ids of sessions; None for all."""

    @property
    def is_any(self) -> bool:
        """Whether it leaves no session out."""
        return self == ANY_SESSION

    def fits_words(self, session_id: str, intention: str) -> bool:
        """Whether a session has the words, or the id, that are wanted."""
        if self.among is not None and session_id not in self.among:
            return False
        text = caseless(intention) if self.words else ""
        ends = (session_id.startswith, session_id.endswith)
        words = caseless(self.words).split()
        return all(word in text or any(at(word) for at in ends) for word in words)

    def fits_calls(self, costs: Iterable[Cost], calls: Iterable[dict[str, Any]]) -> bool:
        """Whether its calls are those that are wanted.

        Args:
            calls: rows of the projection `usage`.
        """
        most = self.cost_over
        if most is not None and not any(Decimal(one.amount) > most for one in costs):
            return False
        is_of_calls = self.model or self.prompt or self.counted
        return not is_of_calls or any(map(self._is_meant, calls))

    def _is_meant(self, call: dict[str, Any]) -> bool:
        return (
            self.model in ("", call["model"])
            and self.prompt in ("", call["prompt"])
            and (self.counted is None or COUNTED[self.counted](call))
            and self.is_within(call["at"])
        )

    def is_within(self, first: int, last: int | None = None) -> bool:
        """Whether a time, or a part of one that begins and ends, is of the wanted time."""
        last = first if last is None else last
        return (self.since is None or last >= self.since) and (
            self.until is None or first <= self.until
        )


ANY_SESSION: Final = SessionSearch()


def read_project_sessions(
    request: Request, limit: int | None = None, workflow: str = "", *, all_workflows: bool = False
) -> Iterator[View]:
    """The sessions of the project, newest first; each is read when its turn comes.

    Args:
        workflow, all_workflows: as in `rows`.

    Raises:
        LogDamaged, SessionFaulted: one of them cannot be read.
    """
    process = request.process
    is_meant = _listed_session_filter(request, workflow, all_workflows=all_workflows)
    heads = _newest_session_heads(process.store, process.project, limit, is_meant)
    for head in heads:
        yield session_of(Step(process.runner.load(head.session_id), ()))


def list_session_rows(
    request: Request,
    *,
    everything: bool = False,
    any_project: bool = False,
    status: str | None = None,
    workflow: str = "",
    all_workflows: bool = False,
    search: SessionSearch = ANY_SESSION,
) -> tuple[Iterator[SessionRow], bool]:
    """The sessions as a list, newest first, and whether older ones were left out.

    Args:
        everything: not the newest alone.
        any_project: of every project of the log.
        status: of one status alone.
        workflow: of one workflow alone; else of those that decide.
        all_workflows: of every workflow.
        search: what else a session has to be; then older ones are not left out.
    """
    request.finish_pending()
    process = request.process
    if search.refused:
        found = process.store.sessions_with(_refusing_tags())
        among = found if search.among is None else found.intersection(search.among)
        search = replace(search, refused=False, among=among)
    project = None if any_project else process.project
    is_meant = _listed_session_filter(request, workflow, all_workflows=all_workflows)
    heads = _newest_session_heads(process.store, project, LISTED + 1, is_meant)
    are_many = len(heads) > LISTED
    more = are_many and not everything and not status and search.is_any
    listed: Iterable[tuple[Head, dict[str, Any] | None]]
    if are_many and not more:  # from the projection: folding every one of many would take long
        newest = process.projector.newest(project)
        listed = ((head, row) for head, row in newest if is_meant(head))
    else:
        listed = ((head, None) for head in heads[:LISTED])
    rows = _search_listed_sessions(request, listed, search)
    return (row for row in rows if status in (None, row.status)), more


def _refusing_tags() -> list[str]:
    """Of the events by which an answer or a change does not count, a model's or a person's."""
    events = {one for workflow in WORKFLOWS.values() for one in workflow.decider.events}
    return [one.tag for one in events if issubclass(one, Refusal | ResponseRejected)]


def _search_listed_sessions(
    request: Request, listed: Iterable[tuple[Head, dict[str, Any] | None]], search: SessionSearch
) -> Iterator[SessionRow]:
    """The rows of sessions that are wanted, with what their calls came to."""
    process = request.process
    turns = (turn for turn in listed if _may_fit(search, *turn))
    prices = [price(one) for one in process.settings.prices]
    while some := [*islice(turns, CHUNK)]:
        ids = [head.session_id for head, kept in some if kept is not None]
        called = process.following.rows_of_sessions("usage", ids) if ids else {}
        for head, kept in some:
            found, calls = ([kept] if kept else []), called.get(head.session_id, [])
            if kept is None or kept["version"] != head.version:
                found, calls = process.projector.folded(head, "sessions", "usage")
            dated = kept or (found[0] if found else None)
            began = dated["began_at"] if dated else milliseconds(head.session_id) * 1_000
            moved = found[0]["moved_at"] if found else began
            times = [call["at"] for call in calls]
            row = replace(
                _session_list_row(request, head, found[0] if found else None, began),
                began_at=iso(began),
                models=tuple(dict.fromkeys(one["model"] for one in calls)),
                calls=sum(map(COUNTED["calls"], calls)),
                costs=sum_costs(calls, prices) if calls else (),
            )
            if (
                search.fits_words(row.session_id, row.intention)
                and search.fits_calls(row.costs, calls)
                and _happened_within(request, search, head, (began, moved, *times))
            ):
                yield row


def _happened_within(
    request: Request, search: SessionSearch, head: Head, times: Sequence[int]
) -> bool:
    """Whether something happened in a session at the wanted time.

    Args:
        times: of its first and last event, and of its calls.
    """
    if any(map(search.is_within, times)):
        return True
    began, moved, *_ = times
    if not search.is_within(began, moved):
        return False
    read = request.process.store.read(head.session_id)
    dated: list[Any] = [one.recorded_at for one in read]  # of a damaged log these may be anything
    return any(isinstance(at, int) and search.is_within(at) for at in dated)


def _may_fit(search: SessionSearch, head: Head, kept: dict[str, Any] | None) -> bool:
    """Whether a session has to be looked at: what moved or was in trouble may be otherwise now."""
    if kept is None or kept["version"] != head.version or kept["status"] in TROUBLES:
        return True
    workflow = WORKFLOWS.get(head.workflow)
    is_dated = workflow is None or workflow.shown.made_calls is None  # else its calls have times
    return search.fits_words(head.session_id, kept["intention"]) and (
        not is_dated or search.is_within(kept["began_at"], kept["moved_at"])
    )


def _listed_session_filter(
    request: Request, workflow: str, *, all_workflows: bool
) -> Callable[[Head], bool]:
    """Which sessions are listed; never those that only say what was imported.

    Raises:
        Refused: there is no such workflow.
    """
    runner = request.process.runner
    if workflow and workflow not in {*WORKFLOWS}:
        in_log = {head.workflow for head in request.process.store.heads(None)} - {IMPORTS}
        if workflow not in in_log:
            known = ", ".join(sorted(in_log.union(WORKFLOWS)))
            message = f"no workflow is called {workflow!r}: expected one of {known}"
            raise Refused(message, code="unknown_workflow", workflow=workflow)
    if all_workflows:
        return lambda head: head.workflow != IMPORTS
    return lambda head: is_listed(runner, head, workflow)


def _newest_session_heads(
    store: SqlStore, project: str | None, wanted: int | None, is_meant: Callable[[Head], bool]
) -> list[Head]:
    """The newest sessions that are meant."""
    at_most = wanted
    while True:
        heads = store.heads(project, at_most)
        found = [head for head in heads if is_meant(head)]
        if wanted is None or at_most is None or len(found) >= wanted or len(heads) < at_most:
            return found[:wanted]
        at_most *= 2


def statuses(request: Request, wanted: str) -> set[str]:
    """The statuses that a session can have; those of other packages where the wanted one is new."""
    known = _statuses()
    if wanted not in known:
        # Workflows of other packages are looked for by the names that the log has.
        for name in dict.fromkeys(head.workflow for head in request.process.store.heads(None)):
            WORKFLOWS.get(name)
        known = _statuses()
    return known


def _statuses() -> set[str]:
    of_all = {*STATUSES, "damaged", UNKNOWN}
    return of_all.union(*(one.shown.statuses for one in WORKFLOWS.values()))


def _session_list_row(
    request: Request, head: Head, row: dict[str, Any] | None, began: int
) -> SessionRow:
    """One session of the list; a damaged one is listed as such, and hides no other."""
    age = max((clock_ids.now() - began) // 1_000_000, 0)
    if row is None or row["status"] in TROUBLES:
        return SessionRow(head.session_id, age, *_reload_session_summary(request, head))
    shown = {
        name: row[name] for name in ("session_id", "workflow", "status", "progress", "intention")
    }
    return SessionRow(age_seconds=age, **shown)


def _reload_session_summary(request: Request, head: Head) -> tuple[str, str, float | None, str]:
    """Its workflow, status, progress and intention; what is wrong with it may have been mended."""
    try:
        handle = request.process.runner.load(head.session_id)
    except PreflightsError as error:
        if isinstance(error, LogDamaged) and error.version == 0:
            raise  # the database as a whole, not one session of it
        name = "" if isinstance(error, LogDamaged) else head.workflow
        return name, _status_of(error), None, str(error)
    return handle.workflow.name, handle.status, handle.view.progress, handle.view.intention


def _status_of(error: PreflightsError) -> str:
    match error:
        case AnotherVersion():
            return UNKNOWN
        case SessionFaulted():
            return "faulted"
        case _:
            return "damaged"
