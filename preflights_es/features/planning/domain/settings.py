"""The table `[planning]` of a settings file: when the day ends."""

from __future__ import annotations

from typing import Any

import msgspec

from preflights_es.features.planning.domain.values import UNTIL
from preflights_es.kernel.ports import SettingsSource, SettingsTable
from preflights_es.kernel.text import late_pattern

CLOCK = late_pattern(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00")
"""A time of day as people write it; the end of a day is 24:00."""


class PlanningTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Its keys."""

    until: str = UNTIL


def table() -> SettingsTable:
    """What the table comes to: the time as HH:MM."""
    return SettingsTable(PlanningTable, _until, UNTIL)


def _until(source: SettingsSource, given: Any) -> str:
    until: str = given.until
    if not CLOCK.fullmatch(until):
        raise source.wrong(("planning", "until"), f"found {until!r}, expected a time such as 18:00")
    return until
