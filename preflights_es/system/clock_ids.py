"""The one place that asks the machine for time and chance; everything else is handed them."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

from preflights_es.core import ids


def now() -> int:
    """Microseconds since 1970 UTC."""
    return time.time_ns() // 1_000


def local(microseconds: int) -> tuple[str, str]:
    """A time as the clock on the wall says it: ISO 8601 to the minute, and the zone's name."""
    moment = datetime.fromtimestamp(microseconds / 1e6, UTC).astimezone()
    return moment.isoformat(timespec="minutes"), os.environ.get("TZ", "") or str(moment.tzinfo)


def new_id() -> str:
    """A UUIDv7."""
    return ids.uuid7(time.time_ns() // 1_000_000, os.urandom(10))


def salt() -> bytes:
    """What keeps a payload's digest from being guessed after an erasure."""
    return os.urandom(ids.SALT_BYTES)
