"""Spans of time are as short as a plot can show."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from preflights_es.kernel.events import Actor
from preflights_es.use import usage
from preflights_es.use.bootstrap import opened_process
from preflights_es.use.request import Request
from tests.each import each

HOUR = usage.HOUR
DAY = 24 * HOUR


@each(
    ("first", "last", "step"),
    [
        (0, 0, HOUR),
        (0, 59 * HOUR, HOUR),
        (0, 60 * HOUR, 6 * HOUR),
        (0, 59 * DAY, DAY),
        (0, 60 * DAY, 7 * DAY),
        (0, 1_000 * DAY, 28 * DAY),
        (0, 10_000 * DAY, 364 * DAY),
        (0, 1_000_000 * DAY, 364 * DAY),
    ],
)
def test_a_span_is_as_short_as_sixty_allow(first: int, last: int, step: int) -> None:
    assert usage.step_between(first, last) == step


def test_without_a_call_there_is_no_span(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with closing(opened_process(tmp_path).process) as process:
        found = usage.usage_over_time(Request(process, lambda: Actor("user")), "model")
    assert (found.totals, found.spans, found.all_kinds) == ((), (), ())
