"""Two sessions side by side: which other one, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from preflights_es.history.alignment import EventPair, ValueDifference
from preflights_es.history.whatif import Misused
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.text import one_line, shortened
from preflights_es.surfaces.view.recorded_session import CHANGES, DivergenceSide, sides
from preflights_es.surfaces.view.rendering import Answer, Elsewhere, Page, PageRequest, page
from preflights_es.use.session_lists import list_session_rows

PAIRS_MAX: Final = 300  # rows of a page


def comparison_choice(asked: PageRequest) -> Answer:
    """The newest sessions of the same workflow, what is left of erased ones last; or the one that
    the form names.
    """
    found = asked.request.reading.session(asked.path["a"])
    if other := asked.query.get("with", "").strip():
        other_id = asked.request.reading.session(other).session_id
        return Elsewhere(f"/diff/{found.session_id}/{other_id}")
    head = found.head_there
    rows, _ = list_session_rows(asked.request, workflow=head.workflow)
    others = (row for row in rows if row.session_id != found.session_id)
    values = {
        "title": f"Compare session {short_session(found.session_id)}",
        "section": "sessions",
        "a": found.session_id,
        "workflow": head.workflow,
        "rows": sorted(others, key=lambda row: row.status == "erased"),
    }
    return Page("compare.html", values, f"preflights diff {short_session(found.session_id)} OTHER")


def comparison_page(asked: PageRequest) -> Page:
    """Both sessions, event by event; the first difference stands on top."""
    from preflights_es.use.replays import compare_sessions  # looking needs none of it

    try:
        found = compare_sessions(asked.request, asked.path["a"], asked.path["b"])
    except Misused as error:
        raise Refused(str(error)) from error
    names = short_session(found.a), short_session(found.b)
    about = [_intention(asked, one) for one in (found.a, found.b)]
    values = {
        "title": " and ".join(text or name for text, name in zip(about, names, strict=True)),
        "section": "sessions",
        "found": found,
        "about": about,
        "rows": _rows(found.events[:PAIRS_MAX]),
        "more": max(len(found.events) - PAIRS_MAX, 0),
    }
    return Page("diff.html", values, f"preflights diff {names[0]} {names[1]}")


def _intention(asked: PageRequest, session: str) -> str:
    """Cut; empty where it was erased."""
    return shortened(one_line(asked.request.reading.session(session).load().view.intention), 60)


def _rows(pairs: Iterable[EventPair]) -> Iterator[dict[str, Any]]:
    """A row for each pair that differs, and one for each run of pairs that are the same."""
    for differ, run in groupby(pairs, lambda pair: bool(pair.differences)):
        if not differ:
            yield {"same": [*run]}
            continue
        for pair in run:
            shown = pair.differences[:CHANGES]
            yield {"same": (), "pair": pair, "values": [*map(_difference_row, shown)]}


def _difference_row(one: ValueDifference) -> tuple[str, DivergenceSide, DivergenceSide]:
    return one.place, *sides(one.a, one.b, one.pointer)


ROUTES: Final = (page("/diff/{a}", comparison_choice), page("/diff/{a}/{b}", comparison_page))
