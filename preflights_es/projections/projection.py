"""The shape of every projection."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from preflights_es.core.ports import Row
from preflights_es.projections.reading import Read


class Projection(msgspec.Struct, frozen=True, kw_only=True):
    """A function from one session to rows, and its version."""

    name: str
    version: int
    """One more whenever the function says something else: then every session is folded again."""
    rows: Callable[[Read], tuple[Row, ...]]
    """Pure; in the order of the table's columns."""


def text(value: str) -> str:
    """As a database can hold it: PostgreSQL takes no NUL."""
    return value.replace("\0", "\ufffd")
