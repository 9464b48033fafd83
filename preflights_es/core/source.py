"""What one session reads of another: it enters as an Input that names its source."""

from __future__ import annotations

from typing import Literal

import msgspec

from preflights_es.core.events import Count, Value


class Source(Value, frozen=True):
    """Another session, as it was read; stands beside what was taken from it."""

    session_id: str
    version: Count
    """Of the last event that was read."""
    hash: str
    """Of the chain at that version, in hexadecimal; it holds after an erasure, too."""


class Quoted(msgspec.Struct, frozen=True):
    """Words of another session that an event holds; it names them by the first that it has."""

    how: Literal["known", "supersedes", "superseded_by"]
    source: Source | None
    session_id: str = ""
    words: Value | None = None
    """The words themselves, as the workflow's `words` has them of the other session."""
