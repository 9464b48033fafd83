"""The clock on the wall, from minutes since the day began."""

from __future__ import annotations

from preflights_es.features.planning.domain.values import DAY_MINUTES, Situation


def clock(situation: Situation, at: int) -> str:
    """HH:MM; the end of a day is 24:00."""
    shown = at + sum(shift.by for shift in situation.shifts if shift.at <= at)
    shown = shown if shown == DAY_MINUTES else shown % DAY_MINUTES
    return f"{shown // 60:02d}:{shown % 60:02d}"
