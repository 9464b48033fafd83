"""What models cost, from which day on: the table `[[prices]]` of a settings file."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Final

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import NAME_MAX, late_pattern

PRICE_MAX: Final = 1_000_000  # of a million tokens: one a token is a slip of the keyboard

_CURRENCY: Final = late_pattern("[A-Z]{3}")


class PriceTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model costs from a day on, until a later entry for it says otherwise."""

    provider: str
    model: str
    """As it is asked for."""
    since: dt.date = msgspec.field(name="from")
    """The first day, UTC."""
    input_per_million: float | int
    output_per_million: float | int
    currency: str
    """Three capital letters, ISO 4217."""


def check_prices(tables: tuple[PriceTable, ...], refused: Callable[[str], SettingsError]) -> None:
    """See that each entry makes sense.

    Raises:
        SettingsError: names the first that does not.
    """
    seen: set[tuple[str, str, dt.date]] = set()
    for number, one in enumerate(tables, 1):
        if found := _trouble(one, seen):
            raise refused(f"entry {number}: {found}")
        seen.add((one.provider, one.model, one.since))


def _trouble(one: PriceTable, seen: set[tuple[str, str, dt.date]]) -> str | None:
    for name in ("provider", "model"):
        if not 0 < len(getattr(one, name).strip()) <= NAME_MAX:
            return f"{name} is empty or too long"
    for name in ("input_per_million", "output_per_million"):
        value = getattr(one, name)
        if not math.isfinite(value) or not 0 <= value <= PRICE_MAX:
            return f"{name}: found {value!r}, expected a number from 0 to {PRICE_MAX:,}"
    if not _CURRENCY.fullmatch(one.currency):
        return f"currency: found {one.currency[:20]!r}, expected three capital letters such as EUR"
    if (one.provider, one.model, one.since) in seen:
        return f"a second price of {one.model!r} from {one.since} on"
    return None
