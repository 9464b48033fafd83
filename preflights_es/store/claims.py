"""What a claim comes to, the same in every store."""

from __future__ import annotations

from preflights_es.core.ports import Claim

UNCLAIMED = ("", 0)
"""Owner and time of a call that nobody has begun."""


def claimed(holder: str, holds_until: int, owner: str, now: int) -> Claim:
    """What an owner's claim of an open call comes to.

    The same owner's counts like another's once it is overdue: nobody knows what became of it.
    """
    if not holder:
        return "taken"
    if holds_until <= now:
        return "overdue"
    return "taken" if holder == owner else "held"
