"""Times as JSON and people have them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST: Final = -62_135_596_800_000_000
LATEST: Final = 253_402_300_799_999_999
"""The first and the last microsecond that a date can have: of the years 1 and 9999."""


def iso(at: int) -> str:
    """ISO 8601, UTC, to the microsecond; what no date can have is written as the nearest one."""
    moment = EPOCH + timedelta(microseconds=min(max(at, EARLIEST), LATEST))
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def iso_or_none(at: int | None) -> str | None:
    """The same of a time that may not be known."""
    return None if at is None else iso(at)
