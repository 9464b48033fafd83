"""Pages of the project as a whole: its decisions, as a list, as of a day, and one with what is
behind it; and what models were asked over time. Pages of a session are in `sessions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from itertools import groupby
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from preflights_es.kernel.errors import RecordWithoutSession, Refused
from preflights_es.kernel.ids import format_date_only, format_time_only, iso
from preflights_es.projections.usage import KINDS, Kind, UsageTotals, UsedThen
from preflights_es.surfaces.view.pictures import bars, graph
from preflights_es.surfaces.view.rendering import (
    Page,
    PageRequest,
    address_with_query,
    count,
    filter_moment,
    millis,
    page,
    positive_number,
)
from preflights_es.use.decisions import days, end_of, listing, records_beside
from preflights_es.use.decisions import list_decisions as all_decisions
from preflights_es.use.foreign import ForeignRow, show_foreign_record
from preflights_es.use.results import DecisionRow
from preflights_es.use.usage import HOUR, UsageOverTime, usage_over_time
from preflights_es.words.decisions import OTHER, describe_conflict

if TYPE_CHECKING:
    from preflights_es.use.why_results import Why

ROWS_MAX: Final = 100  # decisions of one page
HELD: Final = 10  # pages whose decisions are held at once
TOPICS_MAX: Final = 200  # that a page offers; the search finds decisions of the others
QUERY_MAX: Final = 400  # characters
BACKWARDS: Final = str.maketrans("0123456789", "9876543210")
"""Makes of times others that sort the other way."""
R = TypeVar("R")


# 1. The list of decisions --------------------------------------------------------------------


def decisions_page(asked: PageRequest) -> Page:
    """Those in force, now or at the end of a day; or all that ever were; or what a search finds."""
    query = asked.query.get("q", "").strip()[:QUERY_MAX]
    day, topic = asked.query.get("as-of", "").strip(), asked.query.get("topic", "")
    everything = bool(asked.query.get("all")) and not day
    at = end_of(day) if day else None
    day = "" if at is None else iso(at).partition("T")[0]  # what was typed may be `2026-1-5`
    found = listing(asked.request, at=at, everything=everything, query=query, drafts=False)
    again = partial(all_decisions, asked.request, at=at, everything=everything, drafts=False)
    known = {"q": query, "as-of": day, "all": "1" if everything else "", "topic": topic}
    typed, foreign = asked.query.get("page", ""), found.head.foreign
    values = decisions_page_values(found.rows, known, typed, again, foreign=foreign)
    counted = days(asked.request)
    left_out = len(found.lost) + found.more + len(found.unread)
    values |= {"days": bars(counted, day) if counted else None, "left_out": left_out}
    if not topic and found.head.matches is not None:
        values["matches"] = found.head.matches + len(foreign)
    conflicts = found.head.conflicts
    same = [one for one in conflicts if not topic or _is_same_topic(one.category, topic)]
    values["conflicts"] = [*map(describe_conflict, same)]
    return Page("decisions.html", values, _decisions_command_line(known))


def decisions_page_values(
    rows: Iterable[DecisionRow],
    known: Mapping[str, str],
    typed: str,
    again: Callable[[], Iterable[DecisionRow]],
    *,
    foreign: Sequence[ForeignRow] = (),
) -> dict[str, Any]:
    """What a page of the list shows.

    Args:
        rows: the decisions of the list; the best match first, where it is of a search.
        known: what was asked for, by the names of the page's address.
        typed: the number of the page, whatever that is.
        again: the same rows once more; a search needs none.
        foreign: records of other tools; they stand on the first page.
    """
    query, topic = known["q"], known["topic"]
    beside = [one for one in foreign if not topic or _is_same_topic(one.category, topic)]
    counts: Counter[str] = Counter()
    shown, number, last = part(
        _rows_of_topic(rows, topic, counts),
        typed,
        None if query else _order,
        lambda: _rows_of_topic(again(), topic, Counter()),
    )
    counts.update(one.category for one in foreign)
    return {
        "title": "Decisions",
        "section": "decisions",
        "known": known,
        "link": lambda **more: address_with_query("/", {**known, **more}),
        "count": sum(n for name, n in counts.items() if not topic or _is_same_topic(name, topic)),
        "groups": _groups(shown, by_rank=bool(query)),
        "topics": most_common_topics(counts),
        "topics_left": max(0, len(counts) - TOPICS_MAX),
        "matches": None,
        "number": number,
        "last": last,
        "days": None,
        "graph": graph(shown),
        "foreign": beside if number == 1 else (),
        "conflicts": (),
        "left_out": 0,
    }


def part(
    rows: Iterable[R],
    typed: str,
    order: Callable[[R], Any] | None,
    again: Callable[[], Iterable[R]],
) -> tuple[list[R], int, int]:
    """The rows of one page, its number, and the number of the last one.

    Args:
        typed: the number that the address says, whatever that is.
        order: None where they are in order.
        again: the rows once more: those before a late page are too many to hold.
    """
    number, total = positive_number(typed, 1), 0

    def counted() -> Iterator[R]:
        nonlocal total
        for total, row in enumerate(rows, 1):  # noqa: B007  it is read below
            yield row

    def places() -> slice:
        nonlocal number
        number = min(number, last())
        return slice((number - 1) * ROWS_MAX, number * ROWS_MAX)

    def last() -> int:
        return max(1, -(-total // ROWS_MAX))

    if order is None or number <= HELD:
        most = number * ROWS_MAX
        held = list(counted()) if order is None else nsmallest(most, counted(), key=order)
        return held[places()], number, last()
    ordered = sorted((order(row), place) for place, row in enumerate(counted()))
    wanted = {place for _, place in ordered[places()]}
    found = [row for place, row in enumerate(again()) if place in wanted]
    return sorted(found, key=order), number, last()


def _rows_of_topic(
    rows: Iterable[DecisionRow], topic: str, counts: Counter[str]
) -> Iterator[DecisionRow]:
    """Those of a topic, or all; every topic is counted."""
    for row in rows:
        counts[row.category] += 1
        if not topic or _is_same_topic(row.category, topic):
            yield row


def most_common_topics(counts: Counter[str]) -> list[tuple[str, int]]:
    """Pairs of a topic and how many decisions it has, by name: those with the most."""
    named = Counter({topic: count for topic, count in counts.items() if topic not in ("", OTHER)})
    return sorted(named.most_common(TOPICS_MAX), key=lambda one: one[0].casefold())


def _is_same_topic(one: str, two: str) -> bool:
    return one.casefold() == two.casefold()


def _order(row: DecisionRow) -> tuple[str, str, str]:
    """By topic and scope, the newest first."""
    at = row.moved_at.translate(BACKWARDS)
    return row.category.casefold(), row.scope.casefold(), at


def _groups(
    rows: Iterable[DecisionRow], *, by_rank: bool
) -> list[tuple[str, str, list[DecisionRow]]]:
    """Topic, scope, and the decisions there; a search has one group, the best match first."""
    if by_rank:
        return [("", "", found)] if (found := list(rows)) else []
    there = groupby(rows, key=lambda one: (one.category, one.scope))
    return [
        ("" if topic == OTHER else topic, scope, list(found)) for (topic, scope), found in there
    ]


def _decisions_command_line(known: Mapping[str, str]) -> str:
    options = {"--at": known["as-of"], "--category": known["topic"], "--query": known["q"]}
    said = [f"{name} {quote(value)}" for name, value in options.items() if value]
    every = ["--all"] if known["all"] else []
    return " ".join(["preflights decisions", *said, *every])


# 2. One decision -----------------------------------------------------------------------------


def decision_page(asked: PageRequest) -> Page:
    """The record as it reads, and where each of its values came from."""
    from preflights_es.use.why import decided_in, trace_origins  # the list needs none of it

    row = decided_in(asked.request, asked.path["id"])
    whys, _ = trace_origins(asked.request, row.session_id)
    head, here = asked.request.reading.find(row.session_id).head, asked.request.process.project
    elsewhere = head.project if head and head.project != here else ""
    document = _decision_document_text(asked, row)
    return build_decision_page(row, whys.values, document, elsewhere=elsewhere)


def build_decision_page(
    row: DecisionRow, whys: Sequence[Why], document: str, written: int = 0, elsewhere: str = ""
) -> Page:
    """A decision with what is behind it.

    Args:
        elsewhere: the project that it is of, where that is another one.
        written: version of the event that has the document's digest; 0 where it is not compared.
    """
    values = {"title": row.title, "section": "decisions", "row": row, "whys": whys}
    values |= {"document": document, "written": written, "elsewhere": elsewhere}
    return Page("decision.html", values, f"preflights why {row.uid[-8:]}")


def _decision_document_text(asked: PageRequest, row: DecisionRow) -> str:
    """The text of its document; empty where none is due, or only a session file has it."""
    from preflights_es.use.upkeep import render

    try:
        return render(asked.request, row.session_id, prints=True)[0].text or ""
    except Refused:
        return ""


def record_page(asked: PageRequest) -> Page:
    """A record of another tool, as its list reads it.

    Raises:
        Refused: no record of the list lies there.
    """
    path, request = asked.path["path"], asked.request
    if path not in (row.path for row in records_beside(request, everything=True).rows):
        raise Refused(f"{path!r} is no record of this project", code="no_decision")
    row = show_foreign_record(request.process, RecordWithoutSession(path, None, (path,)))
    values = {"title": row.title, "section": "decisions", "row": row}
    return Page("record.html", values, f"preflights show {quote(path)}")


DECISION_ROUTES: Final = (
    page("/", decisions_page),
    page("/decisions/{id}", decision_page),
    page("/records/{path:path}", record_page),
)


# 3. Plots of usage ---------------------------------------------------------------------------

SERIES: Final = 6  # kinds that have a colour; the others share the last one
WIDTH: Final = 600.0  # units of a plot; a browser stretches it
HEIGHT: Final = 100.0
ROWS: Final = 500  # of a table on a page
DAY: Final = 24 * HOUR

Number = Callable[[UsageTotals], float | None]


class UsageBar(msgspec.Struct, frozen=True):
    """A part of the bar of a span."""

    x: float
    y: float
    width: float
    height: float
    series: int
    told: str


class Plot(msgspec.Struct, frozen=True):
    """One measure over time."""

    title: str
    total: str
    most: str
    """The value at the top."""
    bars: tuple[UsageBar, ...]


class Axis(msgspec.Struct, frozen=True):
    """The spans of a plot, from the first with a call to the last."""

    first: int
    step: int
    count: int

    @classmethod
    def of(cls, found: UsageOverTime) -> Axis:
        """That of all plots of a page."""
        begins = [one.begins or 0 for one in found.all_kinds]
        first = min(begins, default=0)
        return cls(first, found.step, (max(begins, default=0) - first) // found.step + 1)

    def x(self, begins: int) -> tuple[float, float]:
        """Where the bar of a span begins, and how wide it is."""
        width = WIDTH / max(self.count, 12)
        place = (begins - self.first) // self.step
        return round(place * width + width * 0.1, 2), round(width * 0.8, 2)

    def ends(self, begins: int) -> dict[str, str]:
        """The first and the last moment of a span, as an address says them."""
        last = begins + self.step - 1
        if self.step >= DAY:
            return {"since": format_date_only(begins), "until": format_date_only(last)}
        return {"since": iso(begins)[:16], "until": iso(last)[:23]}

    def told(self, begins: int) -> str:
        """`2026-11-26`; with the hour where spans are shorter than a day."""
        hour = f" {format_time_only(begins)[:5]}" if self.step < DAY else ""
        return f"{format_date_only(begins)}{hour}"


def stacked(
    title: str, axis: Axis, spans: Sequence[UsedThen], series: Sequence[str], number: Number
) -> Plot:
    """Bars of spans, the kinds above each other."""
    sums: dict[int, float] = {}
    for one in spans:
        sums[one.begins or 0] = sums.get(one.begins or 0, 0) + (number(one.used) or 0)
    most = max(sums.values(), default=0)
    tops, bars = dict[int, float](), list[UsageBar]()
    for span in sorted(spans, key=lambda one: _series(series, one.kind)):
        value, begins = number(span.used) or 0, span.begins or 0
        if not value:
            continue
        height = value / most * HEIGHT
        top = tops.get(begins, HEIGHT) - height
        tops[begins] = top
        told = f"{axis.told(begins)}, {span.kind or 'unnamed'}: {_format_usage_value(value)}"
        x, width = axis.x(begins)
        place = _series(series, span.kind)
        bar = UsageBar(x, round(top, 2), width, height=round(height, 2), series=place, told=told)
        bars.append(bar)
    total = _format_usage_value(sum(sums.values()))
    if unknown := sum(number(one.used) is None for one in spans):
        total = "?" if unknown == len(spans) else f"{total} + ?"
    return Plot(title, total, _format_usage_value(most), tuple(bars))


def latencies(axis: Axis, spans: Sequence[UsedThen]) -> Plot:
    """The median as a bar, the longest call as a thin one."""
    most = max((one.used.latency_ms_max or 0 for one in spans), default=0)
    bars = []
    for span in spans:
        used, begins = span.used, span.begins
        median, longest = used.latency_ms_median, used.latency_ms_max
        if median is None or longest is None or begins is None or not most:
            continue
        x, width = axis.x(begins)
        told = f"{axis.told(begins)}: median {millis(median)}, longest {millis(longest)}"
        for height, share in ((longest / most * HEIGHT, 0.15), (median / most * HEIGHT, 1.0)):
            left, top = round(x + width * (1 - share) / 2, 2), round(HEIGHT - height, 2)
            wide, high = round(width * share, 2), round(height, 2)
            bars.append(UsageBar(left, top, wide, height=high, series=0, told=told))
    return Plot("Latency: median and longest", "", millis(most) if bars else "", tuple(bars))


def _series(series: Sequence[str], kind: str) -> int:
    return series.index(kind) if kind in series else SERIES


def _format_usage_value(value: float) -> str:
    return count(round(value)) if value == round(value) else f"{value:,.4f}"


def plots(found: UsageOverTime, axis: Axis, series: Sequence[str]) -> list[Plot]:
    """All of a page."""

    def plot(title: str, number: Number) -> Plot:
        return stacked(title, axis, found.spans, series, number=number)

    currencies = sorted({cost.currency for one in found.totals for cost in one.used.costs})
    return [
        plot("Calls", lambda used: used.calls),
        plot("Tokens in", lambda used: used.input_tokens),
        plot("Tokens out", lambda used: used.output_tokens),
        *(plot(f"Cost, {one}", _costs(one)) for one in currencies),
        latencies(axis, found.all_kinds),
        plot("Refused responses", lambda used: used.rejected),
        plot("Failed calls", lambda used: used.failed),
        plot("Fallbacks to the rules", lambda used: used.fallbacks),
    ]


def _costs(currency: str) -> Number:
    return lambda used: sum(float(one.amount) for one in used.costs if one.currency == currency)


# 4. The page of usage ------------------------------------------------------------------------


def spent(asked: PageRequest) -> Page:
    """The plots and tables of the project."""
    query = asked.query
    of: Kind = next((one for one in KINDS if one == query.get("by")), "workflow")
    known = {name: query.get(name, "").strip() for name in ("since", "until")}
    since, until = filter_moment(known["since"]), filter_moment(known["until"], is_end=True)
    moments = {"since": since, "until": until}
    between = {name: "" if at is None else known[name] for name, at in moments.items()}
    asked.request.finish_pending()
    found = usage_over_time(asked.request, of, since=since, until=until)
    ranked = sorted(found.totals, key=lambda one: (-one.used.calls, one.kind))
    series = [one.kind for one in ranked[:SERIES]]
    axis = Axis.of(found)
    drawn = plots(found, axis, series)
    at = positive_number(query.get("page"), 1)
    values = {
        "title": "Usage",
        "section": "usage",
        "of": of,
        "kinds": KINDS,
        **between,
        "sessions_link": partial(_sessions_link, of, between),
        "ends": axis.ends,
        "found": found,
        "axis": axis,
        "series": series,
        "has_others": len(ranked) > SERIES,
        "ranked": ranked[:ROWS],
        "plots": [plot for plot in drawn if plot.bars],
        "unknown": [plot.title for plot in drawn if not plot.bars and "?" in plot.total],
        "nothing": [plot.title for plot in drawn if not plot.bars and "?" not in plot.total],
        "spans": found.spans[(at - 1) * ROWS : at * ROWS],
        "page": at,
        "has_more": len(found.spans) > at * ROWS,
        "width": WIDTH,
        "height": HEIGHT,
    }
    by = f" --by {of}" if of != "workflow" else ""
    said = "".join(f" --{name} {text}" for name, text in between.items() if text)
    return Page("usage.html", values, f"preflights usage{by}{said}")


def _sessions_link(of: Kind, between: Mapping[str, str], kind: str, **more: str) -> str:
    """The address of the sessions that a number counts."""
    return address_with_query("/sessions", {of: kind, "with": "calls", **between, **more})


USAGE_ROUTES: Final = (page("/usage", spent),)
