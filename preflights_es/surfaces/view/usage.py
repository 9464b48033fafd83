"""What models were asked over time: plots, and the same numbers as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from preflights_es.kernel.ids import EPOCH
from preflights_es.projections.usage import KINDS, Kind, UsageTotals, UsedThen
from preflights_es.surfaces.view.rendering import Page, PageRequest, page
from preflights_es.surfaces.view.words import clock, count, date, millis
from preflights_es.use.usage import HOUR, UsageOverTime, usage_over_time

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

    def told(self, begins: int) -> str:
        """`26 Nov 2026`; with the hour where spans are shorter than a day."""
        hour = f" {clock(begins)[:5]}" if self.step < DAY else ""
        return f"{date(begins)}{hour}"


# 1. Plots ------------------------------------------------------------------------------------


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
        bars.append(
            UsageBar(x, round(top, 2), width, height=round(height, 2), series=place, told=told)
        )
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
        if not median or not longest or begins is None:
            continue
        x, width = axis.x(begins)
        told = f"{axis.told(begins)}: median {millis(median)}, longest {millis(longest)}"
        for height, share in ((longest / most * HEIGHT, 0.15), (median / most * HEIGHT, 1.0)):
            left, top = round(x + width * (1 - share) / 2, 2), round(HEIGHT - height, 2)
            bars.append(
                UsageBar(
                    left, top, round(width * share, 2), height=round(height, 2), series=0, told=told
                )
            )
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


# 2. The page ---------------------------------------------------------------------------------


def spent(asked: PageRequest) -> Page:
    """The plots and tables of the project."""
    query = asked.query
    of: Kind = next((one for one in KINDS if one == query.get("by")), "workflow")
    since, until = (
        _parse_day_start(query.get("since", "")),
        _parse_day_start(query.get("until", "")),
    )
    last = None if until is None else until + DAY - 1
    asked.request.finish_pending()
    found = usage_over_time(asked.request, of, since=since, until=last)
    ranked = sorted(found.totals, key=lambda one: (-one.used.calls, one.kind))
    series = [one.kind for one in ranked[:SERIES]]
    axis = Axis.of(found)
    number = query.get("page", "1")
    at = max(int(number), 1) if number.isdecimal() and len(number) < 10 else 1
    values = {
        "title": "Usage",
        "section": "usage",
        "of": of,
        "kinds": KINDS,
        "since": "" if since is None else query["since"],
        "until": "" if until is None else query["until"],
        "found": found,
        "axis": axis,
        "series": series,
        "has_others": len(ranked) > SERIES,
        "ranked": ranked[:ROWS],
        "plots": plots(found, axis, series),
        "spans": found.spans[(at - 1) * ROWS : at * ROWS],
        "page": at,
        "has_more": len(found.spans) > at * ROWS,
        "width": WIDTH,
        "height": HEIGHT,
    }
    by = f" --by {of}" if of != "workflow" else ""
    between = "".join(f" --{name} {values[name]}" for name in ("since", "until") if values[name])
    return Page("usage.html", values, f"preflights usage{by}{between}")


def _parse_day_start(text: str) -> int | None:
    """The beginning of a day that is written `2026-11-26`; None of anything else."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return (day - EPOCH) // timedelta(microseconds=1)


USAGE_ROUTES: Final = (page("/usage", spent),)
