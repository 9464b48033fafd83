"""What a claim comes to, the same in every store."""

from __future__ import annotations

from preflights_es.core.ports import Claim

UNCLAIMED = ("", 0)
"""Owner and time of a call that no process has claimed."""


def claimed(holder: str, holds_until: int, owner: str, now: int) -> Claim:
    """What an owner's claim of an open call comes to.

    An overdue claim of the same owner counts like another's: its result is unknown.
    """
    if not holder:
        return "taken"
    if holds_until <= now:
        return "overdue"
    return "taken" if holder == owner else "held"
