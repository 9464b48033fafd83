"""What two runs have in common when they are the same."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from preflights_es.replay.divergence import Encoded


def trace(events: Sequence[Encoded]) -> str:
    """SHA-256 over type and payload of every event, in hexadecimal."""
    found = sha256()
    for tag, data in events:
        found.update(b"%d:%s%d:" % (len(tag), tag.encode(), len(data)) + data)
    return found.hexdigest()
