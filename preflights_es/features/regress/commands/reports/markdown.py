"""Markdown for a comment on a pull request, and for the summary of a job.

Text of sessions stands in code spans alone: there a host makes no link, mention or HTML of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from preflights_cli.progress import counted
from preflights_cli.replay import value
from preflights_es.features.regress.commands.reports.wording import (
    by_gravity,
    cause,
    more_differences,
    name,
)
from preflights_es.features.regress.engine.results import Case, Difference, PairedTest, Report
from preflights_es.kernel.text import one_line, shortened, shown

MARKER: Final = "<!-- preflights regress -->"
"""The first line: a later run finds its comment by it."""
COMMENT_MAX: Final = 65_000  # bytes; GitHub takes 65,536 characters
SUMMARY_MAX: Final = 1_000_000  # bytes; GitHub takes 1 MiB a step
SPAN_MAX: Final = 160  # characters of one text from outside
COMMAND_MAX: Final = 1_000  # characters of a command that is to be repeated
LISTED_MAX: Final = 20  # changes, and kinds of what was not judged
DIFFERENCES_MAX: Final = 3  # of one session
ENDS_MAX: Final = 200  # bytes that end a list of sessions
_TICKS: Final = re.compile("`+")


def render(report: Report, limit: int = COMMENT_MAX) -> str:
    """At most `limit` bytes: the gravest sessions first, and how many were left out."""
    head = "\n".join(_head(report))
    groups = [
        (outcome, list(cases))
        for outcome, cases in groupby(by_gravity(report), key=lambda case: case.outcome)
    ]
    room = limit - _size(head) - ENDS_MAX * (len(groups) + 1)
    parts = [head]
    left_out = 0
    for outcome, cases in groups:
        items = list(_fitting(cases, frozenset(report.new), room))
        room -= sum(map(_size, items))
        left_out += len(cases) - len(items)
        parts.append(_folded(f"{len(cases):,} {outcome}", items, len(cases)))
    if left_out:
        parts.append(
            f"Left out here, for want of room: {counted(left_out, 'session')} of"
            f" {sum(len(cases) for _, cases in groups):,} that differ."
        )
    return "\n\n".join(parts) + "\n"


def _head(report: Report) -> Iterator[str]:
    verdict = report.verdict
    yield MARKER
    yield f"## Preflights regress: {verdict.word}"
    yield ""
    yield verdict.why
    yield ""
    yield from _list("Change", report.changes)
    yield f"- Selection: {span(report.selection)}"
    yield f"- {counted(report.sessions, 'session')}: {_counts(report.counts)}"
    if report.cause_counts:
        yield f"- Causes: {_counts(report.cause_counts)}"
    if report.new:
        yield f"- New since the baseline: {counted(len(report.new), 'session')}"
    if report.live_calls:
        yield f"- {counted(report.live_calls, 'call')} of a model"
    if verdict.noise is not None:
        yield (
            f"- Noise, in {counted(verdict.noise.runs, 'run')} of the unchanged side:"
            f" {_percent(verdict.noise.agreement)} of sessions differ in agreement,"
            f" {_percent(verdict.noise.validity)} in validity"
        )
    yield from _list("Not judged", report.left_out)
    if verdict.tests:
        yield ""
        yield "| Measure | Pairs | Worse | Better | p (Holm) | Loss | Loss at most |"
        yield "| --- | --: | --: | --: | --: | --: | --: |"
        yield from map(_row, verdict.tests)


def _list(what: str, texts: Sequence[str]) -> Iterator[str]:
    for text in texts[:LISTED_MAX]:
        yield f"- {what}: {span(text)}"
    if len(texts) > LISTED_MAX:
        yield f"- {what}: {len(texts) - LISTED_MAX:,} more"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count) or "none"


def _row(test: PairedTest) -> str:
    cells = (
        *(test.measure, f"{test.pairs:,}", f"{test.worse:,}", f"{test.better:,}"),
        *(f"{test.p_adjusted:.2g}", _percent(test.loss), _percent(test.loss_bound)),
    )
    return f"| {' | '.join(cells)} |"


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _fitting(cases: Sequence[Case], new: frozenset[str], room: int) -> Iterator[str]:
    """The first ones, as long as they fit."""
    for case in cases:
        item = "\n".join(_item(case, is_new=case.session_id in new))
        room -= _size(item)
        if room < 0:
            return
        yield item


def _item(case: Case, *, is_new: bool) -> Iterator[str]:
    also = "".join((f": {', '.join(case.measures)}" * bool(case.measures), ", **new**" * is_new))
    yield f"- {span(name(case))}{also}"
    if case.message:
        yield f"  - {span(case.message)}"
    for found in case.causes:
        yield f"  - Cause: {span(cause(found))}"
    for difference in case.differences[:DIFFERENCES_MAX]:
        yield f"  - {_difference(difference)}"
    if more := more_differences(case):
        yield f"  - {more}"
    if case.repeat:
        yield f"  - Repeat with {span(case.repeat, COMMAND_MAX)}"


def _difference(one: Difference) -> str:
    at = f"version {one.version}, " if one.version else ""
    where = span(one.pointer) if one.pointer else "the whole event"
    return f"{at}{where}: expected {span(value(one.expected))}, actual {span(value(one.actual))}"


def _folded(title: str, items: list[str], of: int) -> str:
    more = of - len(items)
    body = "\n".join(items + [f"- {counted(more, 'more session')}"] * bool(more))
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def span(text: str, width: int = SPAN_MAX) -> str:
    """As code, on one line: its fence is longer than any run of backticks within."""
    said = shortened(shown(one_line(text)), width) or " "
    fence = "`" * (1 + max(map(len, _TICKS.findall(said)), default=0))
    pad = " " if said.startswith("`") or said.endswith("`") else ""
    return f"{fence}{pad}{said}{pad}{fence}"


def _size(text: str) -> int:
    return len(text.encode()) + 1
