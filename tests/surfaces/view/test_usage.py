"""Plots of what models were asked, and the same numbers as tables."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from preflights_es.projections.usage import UsageTotals, UsedThen, used_over_time
from preflights_es.surfaces.view import project_pages
from preflights_es.surfaces.view.project_pages import (
    HEIGHT,
    SERIES,
    Axis,
    latencies,
    plots,
    stacked,
)
from preflights_es.use.usage import HOUR, UsageOverTime
from tests.cli.program import Project
from tests.projections.test_usage import DAY, call, price
from tests.surfaces.view.conftest import Pages, words

PRICED = [price()]


def over_time(*rows: dict[str, Any], of: Any = "workflow") -> UsageOverTime:
    def summed(step: int | None, kind: Any) -> tuple[UsedThen, ...]:
        return tuple(used_over_time(rows, step, kind, prices=PRICED))

    return UsageOverTime(
        step=DAY,
        behind=False,
        totals=summed(None, of),
        spans=summed(DAY, of),
        all_kinds=summed(DAY, None),
        recorded=(),
    )


# 1. Plots ------------------------------------------------------------------------------------


def test_bars_of_a_span_stand_on_each_other_and_the_highest_fills_the_plot() -> None:
    found = over_time(
        *[call(at=10 * DAY)] * 3,
        call(at=10 * DAY, workflow="planning"),
        call(at=12 * DAY, workflow="planning"),
    )
    axis = Axis.of(found)
    plot = stacked(
        "Calls", axis, found.spans, ["clarification", "planning"], lambda used: used.calls
    )
    assert (axis.first, axis.count) == (10 * DAY, 3)
    assert (plot.total, plot.most) == ("5", "4")
    bottom, top, other = plot.bars
    assert (bottom.series, bottom.y, bottom.height) == (0, HEIGHT / 4, HEIGHT * 3 / 4)
    assert (top.series, top.y, top.height) == (1, 0, HEIGHT / 4)
    assert (other.series, other.y + other.height, other.height) == (1, HEIGHT, HEIGHT / 4)
    assert bottom.x == top.x < other.x
    assert "clarification: 3" in bottom.told


def test_what_is_unknown_is_no_bar_and_said_in_a_sum() -> None:
    unknown = call(input_tokens=None, output_tokens=None, latency_ms=None)
    found = over_time(unknown)
    by_title = {plot.title: plot for plot in plots(found, Axis.of(found), ["clarification"])}
    assert by_title["Calls"].bars
    assert not by_title["Tokens in"].bars
    assert (by_title["Tokens in"].total, by_title["Failed calls"].total) == ("?", "0")
    assert not by_title["Latency: median and longest"].bars
    assert not [title for title in by_title if title.startswith("Cost")]
    found = over_time(call(input_tokens=7), call(workflow="planning", input_tokens=None))
    by_title = {plot.title: plot for plot in plots(found, Axis.of(found), ["clarification"])}
    assert by_title["Tokens in"].total == "7 + ?"
    found = over_time(call(latency_ms=1_000), call(latency_ms=3_000), call(latency_ms=4_000))
    longest, median = latencies(Axis.of(found), found.all_kinds).bars
    assert (longest.height, median.height) == (HEIGHT, HEIGHT * 3 / 4)
    assert longest.width < median.width
    assert longest.told == "1970-01-11: median 3 s, longest 4 s"


def test_costs_have_a_plot_for_each_currency_and_spans_of_hours_say_the_hour() -> None:
    used = over_time(call()).totals[0].used
    assert project_pages._costs("USD")(used) == pytest.approx(0.0045)
    assert project_pages._costs("EUR")(used) == 0
    found = over_time(call())
    titles = [plot.title for plot in plots(found, Axis.of(found), ["clarification"])]
    assert "Cost, USD" in titles
    axis = Axis(0, HOUR, 5)
    assert axis.ends(3 * HOUR) == {"since": "1970-01-01T03:00", "until": "1970-01-01T03:59:59.999"}
    assert Axis(0, DAY, 5).ends(0) == {"since": "1970-01-01", "until": "1970-01-01"}
    assert axis.told(3 * HOUR) == "1970-01-01 03:00"
    assert Axis(0, DAY, 5).told(0) == "1970-01-01"
    kinds = [f"w{n}" for n in range(SERIES + 3)]
    found = over_time(*[call(workflow=kind) for kind in kinds])
    plot = stacked("Calls", Axis.of(found), found.spans, kinds[:SERIES], lambda used: used.calls)
    assert sorted({bar.series for bar in plot.bars}) == [*range(SERIES + 1)]
    assert plot.total == str(SERIES + 3)


# 2. The page ---------------------------------------------------------------------------------


def asked(shop: Project) -> list[UsageTotals]:
    for seed in ("1", "2", "3"):
        shop.call("start", f"Store {seed}", "--provider", "sim", "--seed", seed, "--json")
    shop.call("note", "call Bob at 9", "--provider", "sim", "--seed", "1", "--json")
    found: list[UsageTotals] = shop.call("usage", "--json").json["usage"]
    return found


def test_no_call_is_said_and_hostile_names_stand_as_text(pages: Pages, shop: Project) -> None:
    assert "No model was asked anything." in words(pages.text("/usage"))
    page = pages.text("/usage?since=<script>&by=<script>")
    assert "<script>" not in page


def test_other_programs_calls_stand_apart_as_in_the_command(pages: Pages, shop: Project) -> None:
    line = '{"request": {"model": "m1", "input": "a"}, "response": "b", "time": "2026-03-04"}'
    (shop.folder / "calls.jsonl").write_text(line)
    assert shop.call("calls", "import", "calls.jsonl").code == 0
    told = words(pages.text("/usage?by=model&until=2026-03-04"))
    assert "This program asked no model. Calls of other programs By model" in told
    assert told.split("Cost")[-1].split()[:2] == ["m1", "1"]
    assert "No call fits." in words(pages.text("/usage?until=2026-03-03"))


def test_the_tables_say_what_the_command_says(shop: Project, pages: Pages) -> None:
    recorded: Any = asked(shop)
    calls = sum(one["calls"] for one in recorded)
    tokens = sum(one["input_tokens"] for one in recorded)
    for by, kinds in (("workflow", 2), ("model", 1), ("prompt", len(recorded))):
        page = pages.text(f"/usage?by={by}")
        table = page[page.index("In all") : page.index("Over time")]
        rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", table, re.DOTALL)
        assert len(rows) == kinds
        cells = r'<td class="num">(?:<a [^>]*>)?([^<]*)(?:</a>)?</td>'
        numbers = [re.findall(cells, row) for row in rows]
        assert sum(int(row[0].replace(",", "")) for row in numbers) == calls
        assert sum(int(row[6].replace(",", "")) for row in numbers) == tokens
    assert "preflights usage --by prompt" in page


def test_each_number_leads_to_sessions_and_no_plot_is_empty(shop: Project, pages: Pages) -> None:
    asked(shop)
    for by in ("workflow", "model", "prompt"):
        page = pages.text(f"/usage?by={by}")
        links = re.findall(r'<a href="([^"]*)" aria-label="([0-9]+), calls of', page)
        assert links
        for link, calls in links:
            found = words(pages.text(html.unescape(link)))
            assert int(re.findall("newest first: ([0-9]+) call", found)[0]) >= int(calls)
    page = pages.text("/usage")
    figures = page.split("<figure")[1:]
    assert figures
    assert all('class="bar-of' in figure for figure in figures)
    assert "None: " in words(page)


def test_a_time_without_calls_is_said(shop: Project, pages: Pages) -> None:
    asked(shop)
    assert "No call fits." in words(pages.text("/usage?since=2001-01-01&until=2001-01-02"))
    assert "In all" in words(pages.text("/usage?since=x&until=&by=nothing&page=x"))
