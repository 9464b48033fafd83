"""The shape of every projection."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from preflights_es.core.events import INT_MAX
from preflights_es.core.projection_ports import Row
from preflights_es.projections.folding import Read


class Projection(msgspec.Struct, frozen=True, kw_only=True):
    """A function from one session to rows, and its version."""

    name: str
    version: int
    """One more whenever the function says something else: then every session is folded again."""
    rows: Callable[[Read], tuple[Row, ...]]
    """Pure; in the order of the table's columns."""
    words: int | None = None
    """Place of the column that says what is wrong with a session, in words that may differ between
    versions of Python and of libraries."""


def whole(value: object) -> int:
    """As a database can hold it; 0 for what is no number: a damaged log may have anything."""
    return value if isinstance(value, int) and -INT_MAX - 1 <= value <= INT_MAX else 0


def text(value: str) -> str:
    """As a database can hold it: PostgreSQL takes no NUL."""
    return value.replace("\0", "\ufffd")
