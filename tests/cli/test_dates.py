"""Times as people type them."""

from __future__ import annotations

from datetime import UTC, datetime

import click
import pytest

from preflights_cli.table import Moment
from preflights_es.kernel.ids import EPOCH, iso
from tests.cli.program import Project
from tests.each import each


def typed(text: str, *, is_end: bool = False) -> str:
    """What is understood of it."""
    return iso(Moment(is_end=is_end).convert(text, None, None))


@each("text", ["2026-11-22", "20261122", "2026-W47-7", "2026W477"])
def test_a_day_is_its_first_moment_or_its_last(text: str) -> None:
    assert typed(text) == "2026-11-22T00:00:00.000000Z"
    assert typed(text, is_end=True) == "2026-11-22T23:59:59.999999Z"


@each("is_end", [False, True])
def test_a_time_without_an_offset_is_of_utc(is_end: bool) -> None:
    assert typed("2026-11-22T14:30", is_end=is_end) == "2026-11-22T14:30:00.000000Z"
    assert typed("2026-11-22 14:30+01:00", is_end=is_end) == "2026-11-22T13:30:00.000000Z"
    at = (datetime(2026, 11, 22, 14, 30, tzinfo=UTC) - EPOCH).total_seconds()
    assert Moment(is_end=is_end).convert("2026-11-22T14:30Z", None, None) == at * 1_000_000


@each(
    "text",
    ["2026-11-22+01:00", "2026-11-22-05:00", "20261122-05:00", "2026-W47-7+01", "2026-11-22x10:00"],
)
def test_a_day_with_a_zone_is_no_time(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no date: expected 2026-11-22, or"):
        typed(text)


@pytest.mark.parametrize("text", ["2026-W47", "2026W47", "2026-W47T10:00", "2026W47T10"])
@pytest.mark.parametrize("is_end", [False, True])
def test_a_week_is_no_day(text: str, is_end: bool) -> None:
    with pytest.raises(click.BadParameter, match="is a week: name a day of it"):
        typed(text, is_end=is_end)


@each("words", ["decisions --at", "audit trail --until", "usage --since"])
def test_a_week_is_refused_in_one_line_and_the_help_says_which_zone(
    house: Project, words: str
) -> None:
    *command, option = words.split()
    done = house.call(*command, option, "2026-W47")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "'2026-W47' is a week: name a day of it, such as 2026-11-22" in done.err
    (_, after) = " ".join(house.call(*command, "--help").out.split()).split(f"{option} DATE")
    assert "UTC" in after.split(" --")[0]


LATE = """
import time
def late():
    raise OverflowError("timestamp too large to convert to C _PyTime_t")
time.time = time.time_ns = late
from preflights_cli.main import main
main()
"""
"""The program on a machine whose clock Python cannot count, as from the year 2262 on."""


@each("words", [("check",), ("show", "last")])
def test_a_clock_that_cannot_be_counted_is_to_be_set(shop: Project, words: tuple[str, ...]) -> None:
    done = shop.run(*words, program=("python", "-c", LATE))
    assert (done.code, done.err.strip().endswith(": set it")) == (5, True), done
