"""Times, spans and numbers as pages say them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from preflights_es.kernel.ids import EARLIEST, EPOCH, LATEST
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.text import shortened
from preflights_es.projections.usage import Cost, ProviderCall, UsageTotals

VALUE_MAX: Final = 300  # characters of a value beside others
UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def moment(at: int) -> datetime:
    """A time in microseconds since 1970 UTC; what no date can have is the nearest one."""
    return EPOCH + timedelta(microseconds=min(max(at, EARLIEST), LATEST))


def clock(at: int | None) -> str:
    """`14:02:11`, UTC."""
    return "" if at is None else f"{moment(at):%H:%M:%S}"


def date(at: int | None) -> str:
    """`26 Nov 2026`, UTC."""
    if at is None:
        return ""
    found = moment(at)
    return f"{found.day} {found:%b} {found.year}"


def stamp(at: int | None) -> str:
    """`2026-11-26 14:02:11.042`, UTC."""
    if at is None:
        return ""
    return moment(at).isoformat(" ", "milliseconds").removesuffix("+00:00")


def span(seconds: float) -> str:
    """`2 h 10 min`, `1.2 s`, `340 ms`: two units at most."""
    if seconds < 1:
        return f"{round(seconds * 1_000)} ms"
    if seconds < 59.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    left, said = round(seconds), list[str]()
    for unit, size in UNITS:
        if left >= size and len(said) < 2:
            said.append(f"{left // size} {unit}")
            left %= size
        elif said:
            break
    return " ".join(said)


def millis(took: int | None) -> str:
    """The same of milliseconds; `?` where it was not measured."""
    return "?" if took is None else span(took / 1_000)


def count(number: float | None) -> str:
    """`1,204`; `?` of what is not known."""
    return "?" if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """`50 %`."""
    return "" if share is None else f"{round(share * 100)} %"


def value(found: Any) -> str:
    """A JSON value on one line."""
    text = found if isinstance(found, str) else canonical_json(found).decode()
    return shortened(text, VALUE_MAX)


def tokens(call: ProviderCall | UsageTotals) -> str:
    """`1,204 → 56`: what a call, or several, read and wrote."""
    return f"{count(call.input_tokens)} → {count(call.output_tokens)}"


def cost(costs: Iterable[Cost]) -> str:
    """`0.5 EUR, 1 USD`."""
    return ", ".join(f"{one.amount} {one.currency}" for one in costs)


def spaced(name: str) -> str:
    """`needs_answers` as `needs answers`."""
    return name.replace("_", " ")


def tone(status: str) -> str:
    """The class of a badge that says how a session stands."""
    if status in ("faulted", "damaged", "failed"):
        return "bad"
    if status in ("needs_answers", "waiting", "ready", "proposed"):
        return "doubt"
    return "good" if status in ("accepted", "done", "approved", "locked", "answered") else ""


WORDS: Final = {
    one.__name__: one
    for one in (clock, date, stamp, span, millis, count, percent, value, tokens, cost, spaced, tone)
}
"""Filters of templates, by name."""
