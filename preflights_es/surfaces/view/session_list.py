"""The list of sessions: all of them, or those that are looked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from shlex import quote
from typing import Final

import msgspec

from preflights_es.projections.usage import COUNTED, add_costs
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.surfaces.view.rendering import (
    Page,
    PageRequest,
    address_with_query,
    filter_moment,
    page,
    positive_number,
)
from preflights_es.use.inbox import inbox
from preflights_es.use.results import SessionRow
from preflights_es.use.session_lists import SessionSearch, list_session_rows, statuses
from preflights_es.words.workflow import Cost

ROWS: Final = 100  # sessions of a page
SUMMED: Final = 1_000  # sessions that a page looks at for its sums
SOUGHT_MAX: Final = 400  # characters of a field of the search
WAITS: Final = "waits"
REFUSED: Final = "refused"
FIELDS: Final = ("q", "workflow", "status", "with", "model", "prompt", "since", "until", "cost")
"""What the list is searched by."""
HAPPENED: Final[Mapping[str, str]] = {
    "calls": "a model was asked",
    "retries": "a model was asked again",
    "failed": "a call of a model failed",
    REFUSED: "an answer was refused, a model's or a person's",
    "rejected": "an answer of a model was refused",
    "fallbacks": "the rules took over",
    "late": "an answer came too late",
    WAITS: "something waits for me",
}
"""What sessions are found by, beside their words: counts of `usage`, and the inbox."""


def sessions_page(asked: PageRequest) -> Page:
    """Sessions of the project, newest first: all, or those that are looked for."""
    query = asked.query
    known = {name: query.get(name, "").strip()[:SOUGHT_MAX] for name in FIELDS}
    status, happened = known["status"], known["with"]
    number = positive_number(query.get("page"), 1)
    waiting = inbox(asked.request) if happened == WAITS else None
    search = SessionSearch(
        words=known["q"],
        model=known["model"],
        prompt=known["prompt"],
        counted=next((name for name in COUNTED if name == happened), None),
        refused=happened == REFUSED,
        since=filter_moment(known["since"]),
        until=filter_moment(known["until"], is_end=True),
        cost_over=_amount(known["cost"]),
        among=None if waiting is None else {one.session_id for one in waiting.waiting},
    )
    rows, _ = list_session_rows(
        asked.request,
        everything=True,
        status=status or None,
        workflow=known["workflow"],
        all_workflows=not known["workflow"],
        search=search,
    )
    known_statuses = statuses(asked.request, status)
    values = {
        "title": f"Sessions: {known['q']}" if known["q"] else "Sessions",
        "reports": FEATURES.port("reports")(asked.request.process.settings.root),
        "section": "sessions",
        "found": _take_page(rows, number),
        "page": number,
        "more": waiting.more if waiting else 0,
        "known": known,
        "is_searched": any(known.values()),
        "link": lambda **more: address_with_query("/sessions", {**known, **more}),
        "workflows": sorted(WORKFLOWS),
        "statuses": sorted(known_statuses),
        "happened": HAPPENED,
    }
    command = _sessions_command_line(known, is_status=status in known_statuses)
    return Page("sessions.html", values, command)


class SessionsShown(msgspec.Struct, kw_only=True):
    """The rows of a page, and the sums of all that were looked at."""

    rows: list[SessionRow] = []
    count: int = 0
    calls: int = 0
    costs: tuple[Cost, ...] = ()
    has_unknown_costs: bool = False
    """Whether the cost of a session with calls is not known."""
    has_more: bool = False
    """Whether there are rows behind those of the page."""
    is_whole: bool = True
    """Whether the sums are of all sessions, not of the newest alone."""


def _take_page(rows: Iterable[SessionRow], number: int) -> SessionsShown:
    found, first = SessionsShown(), (number - 1) * ROWS
    for row in rows:
        if found.count >= max(first + ROWS, SUMMED):
            found.is_whole, found.has_more = False, True
            break
        if first <= found.count < first + ROWS:
            found.rows.append(row)
        found.has_more = found.count >= first + ROWS
        found.count += 1
        found.calls += row.calls
        found.has_unknown_costs |= row.calls > 0 and not row.costs
        if row.costs:
            found.costs = add_costs((*found.costs, *row.costs))
    return found


def _amount(text: str) -> float | None:
    """A number of an address, at least 0."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found < inf else None


def _sessions_command_line(known: Mapping[str, str], *, is_status: bool) -> str:
    if known["with"] == WAITS:
        return "preflights inbox"
    options = {
        "--workflow": known["workflow"],
        "--status": known["status"] if is_status else "",
        "--query": known["q"],
        "--model": known["model"],
        "--with": known["with"] if known["with"] in (*COUNTED, REFUSED) else "",
        "--cost-over": known["cost"] if _amount(known["cost"]) is not None else "",
        **{f"--{n}": known[n] if filter_moment(known[n]) else "" for n in ("since", "until")},
    }
    said = " ".join(f"{name} {quote(value)}" for name, value in options.items() if value)
    every = "" if known["workflow"] else " --all-workflows"
    return f"preflights sessions --all{every} {said}".rstrip()


ROUTES: Final = (page("/sessions", sessions_page),)
