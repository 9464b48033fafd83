"""Times: as people type them, and as JSON has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, ParamSpec, TypeVar

import click

from preflights_es.kernel.ids import EPOCH, iso
from preflights_es.kernel.text import late_pattern

P = ParamSpec("P")
R = TypeVar("R")

DAY_LENGTH: Final = 10  # characters of a date such as 2026-11-22

_WEEK: Final = late_pattern(r"\d{4}-?W\d{2}(?!-?\d)")
"""A week without a day: Python takes it for its Monday."""


_DATE: Final = late_pattern(
    r"[0-9]{4}(-?)(?:[0-9]{2}\1[0-9]{2}|W[0-9]{2}\1[0-9])(?P<rest>.*)", re.DOTALL
)
"""A day, and what stands behind it: Python takes any sign there for the one before a time."""


class Moment(click.ParamType[int]):
    """A day, or a time, of UTC unless it says otherwise: microseconds since 1970 UTC.

    A day is its first moment, or its last where `is_end`.
    """

    name = "DATE"

    def __init__(self, *, is_end: bool) -> None:
        self._is_end = is_end

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        text = str(value).strip()
        if _WEEK.match(text):
            self.fail(f"{text!r} is a week: name a day of it, such as 2026-11-22", param, ctx)
        day = _DATE.fullmatch(text)
        try:
            if day is None or day["rest"][:1] not in ("", "T", "t", " "):
                raise ValueError
            found = datetime.fromisoformat(text)
        except ValueError:
            self.fail(
                f"{text!r} is no date: expected 2026-11-22, or 2026-11-22T14:30+01:00", param, ctx
            )
        try:
            aware = found if found.tzinfo else found.replace(tzinfo=UTC)
            at = (aware - EPOCH) // timedelta(microseconds=1)
        except OverflowError:
            self.fail(f"{text!r} is out of the range of dates", param, ctx)
        if self._is_end and len(text) <= DAY_LENGTH:
            return at + timedelta(days=1) // timedelta(microseconds=1) - 1
        return at


def time_range_options(what: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`--since` and `--until`.

    Args:
        what: is limited by them, such as `Calls`.
    """

    def options(command: Callable[P, R]) -> Callable[P, R]:
        for name, is_end in (("until", True), ("since", False)):
            words = f"{what} {name} this day or time (UTC without an offset)."
            moment = Moment(is_end=is_end)
            command = click.option(f"--{name}", type=moment, metavar="DATE", help=words)(command)
        return command

    return options


def refuse_backwards(since: int | None, until: int | None) -> None:
    """Raises:
    UsageError: a time would end before it begins.
    """
    if since is not None and until is not None and since > until:
        message = f"found --since {iso(since)} after --until {iso(until)}: expected an earlier time"
        raise click.UsageError(message)


def format_date_only(at: int | None) -> str:
    """The date alone; empty where there is none."""
    return "" if at is None else iso(at)[:DAY_LENGTH]


def second(at: int) -> str:
    """The time of day alone."""
    return iso(at)[DAY_LENGTH + 1 :][:8]


def minute(text: str) -> str:
    """The same for people, to the minute."""
    return f"{text[:16].replace('T', ' ')} UTC"
