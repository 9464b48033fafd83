"""The decisions of the project: the list, as of a day, and one of them with what is behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from shlex import quote
from typing import Any, Final
from urllib.parse import urlencode

from preflights_es.kernel.errors import Refused
from preflights_es.surfaces.view.drawing import Bars, bars, graph
from preflights_es.surfaces.view.rendering import Asked, Page
from preflights_es.surfaces.view.server import page
from preflights_es.use.decisions import Listing, days, end_of, listing
from preflights_es.use.results import DecisionRow

ROWS_MAX: Final = 100  # decisions of one page
QUERY_MAX: Final = 400  # characters

# 1. The list ---------------------------------------------------------------------------------


def decided(asked: Asked) -> Page:
    """Those in force, now or at the end of a day; or every one; or what a search finds."""
    query = asked.query.get("q", "").strip()[:QUERY_MAX]
    day, topic = asked.query.get("as-of", "").strip(), asked.query.get("topic", "")
    everything = bool(asked.query.get("all")) and not day
    at = end_of(day) if day else None
    found = listing(asked.request, at=at, everything=everything, query=query)
    every = tuple(found.rows)
    rows = [one for one in every if not topic or one.category.casefold() == topic.casefold()]
    if not query:
        rows.sort(key=lambda one: one.accepted_at or one.proposed_at, reverse=True)
        rows.sort(key=lambda one: (one.category.casefold(), one.scope.casefold()))
    shown, number, last = part(rows, asked.query.get("page", ""))
    known = {"q": query, "as-of": day, "all": "1" if everything else "", "topic": topic}
    counts = Counter(one.category for one in every)
    values = {
        "title": "Decisions",
        "section": "decisions",
        "known": known,
        "link": lambda **more: link("/", {**known, **more}),
        "count": len(rows),
        "groups": _groups(shown, by_rank=bool(query)),
        "topics": sorted(counts.items(), key=lambda one: one[0].casefold()),
        "number": number,
        "last": last,
        "days": _days(asked, day),
        "graph": graph(shown),
        "foreign": found.head.foreign if number == 1 and not topic else (),
        "left_out": _left_out(found),
    }
    return Page("decisions.html", values, _command(known))


def link(path: str, query: Mapping[str, str]) -> str:
    """An address with what of its query is not empty."""
    said = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(said)}" if said else path


def part(rows: list[DecisionRow], typed: str) -> tuple[list[DecisionRow], int, int]:
    """The rows of one page, its number, and the number of the last one."""
    last = max(1, -(-len(rows) // ROWS_MAX))
    is_number = typed.isascii() and typed.isdigit() and len(typed) < len("1000000")
    number = min(max(int(typed) if is_number else 1, 1), last)
    return rows[(number - 1) * ROWS_MAX : number * ROWS_MAX], number, last


def _groups(
    rows: Iterable[DecisionRow], *, by_rank: bool
) -> list[tuple[str, str, list[DecisionRow]]]:
    """Topic, scope, and the decisions there; a search has one group, the best match first."""
    if by_rank:
        return [("", "", found)] if (found := list(rows)) else []
    there = groupby(rows, key=lambda one: (one.category, one.scope))
    return [(topic, scope, list(found)) for (topic, scope), found in there]


def _days(asked: Asked, day: str) -> Bars | None:
    counted = days(asked.request)
    return bars(counted, day) if counted else None


def _left_out(found: Listing) -> int:
    return len(found.lost) + found.more + len(found.unread)


def _command(known: Mapping[str, str]) -> str:
    options = {"--at": known["as-of"], "--category": known["topic"], "--query": known["q"]}
    said = [f"{name} {quote(value)}" for name, value in options.items() if value]
    every = ["--all"] if known["all"] else []
    return " ".join(["preflights decisions", *said, *every])


# 2. One of them ------------------------------------------------------------------------------


def one(asked: Asked) -> Page:
    """The record as it reads, and where each of its values came from."""
    from preflights_es.use.why import decided_in, why  # the list needs none of it

    row = decided_in(asked.request, asked.path["id"])
    whys, _ = why(asked.request, row.session_id)
    values: dict[str, Any] = {
        "title": row.title,
        "section": "decisions",
        "row": row,
        "whys": whys.values,
        "document": _document(asked, row),
    }
    return Page("decision.html", values, f"preflights why {row.uid[-8:]}")


def _document(asked: Asked, row: DecisionRow) -> str:
    """The text of its document; empty where none is due, or only a session file has it."""
    from preflights_es.use.upkeep import render

    try:
        return render(asked.request, row.session_id, prints=True)[0].text or ""
    except Refused:
        return ""


ROUTES: Final = (page("/", decided), page("/decisions/{id}", one))
