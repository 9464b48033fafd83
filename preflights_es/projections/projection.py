"""The shape of every projection.

A projection is one module of this folder that declares a `PROJECTION`, and a migration that makes
its table. `make freeze` registers it; what stores, follows, rebuilds, erases and verifies its rows
follows from the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from preflights_es.kernel.errors import ProjectionDamaged
from preflights_es.kernel.events import INT_MAX
from preflights_es.kernel.imports import Proposal
from preflights_es.kernel.ports import Row
from preflights_es.projections.folding import Read

T = TypeVar("T")


class Projection(msgspec.Struct, frozen=True, kw_only=True):
    """A function from one session to rows, its version, and the table of the rows."""

    name: str
    version: int
    """One more whenever the function says something else: then every session is folded again."""
    rows: Callable[[Read], tuple[Row, ...]]
    """Pure; in the order of the table's columns."""
    row: type[msgspec.Struct]
    """Its fields are the columns of the table `projected_NAME`: `str`, `int` or `float`, perhaps or
    None. The first is `session_id`; another is `project`."""
    key: int = 1
    """How many of the first columns tell one row from the others."""
    index: tuple[str, ...] = ("project", "session_id")
    """Columns by which rows of a project are found, with those that a choice of rows asks for."""
    proposed: Callable[[dict[str, Any], Proposal], dict[str, Any]] | None = None
    """A row of a session that an agent imported and no person confirmed, as it counts here: rows
    are kept as the session itself says them."""
    words: str = ""
    """The column that says what is wrong with a session, in words that may differ between versions
    of Python and of libraries."""


def kept(name: str, row: Mapping[str, Any], column: str, kind: type[T]) -> T:
    """The value that a projection keeps as JSON in a column, as it was folded.

    Raises:
        ProjectionDamaged: no fold writes such a row.
    """
    try:
        return msgspec.json.decode(row[column], type=kind)
    except (ValueError, RecursionError) as error:
        raise ProjectionDamaged(name, f"session {row['session_id']}: {error}") from error


def whole(value: object) -> int:
    """As a database can hold it; 0 for what is no number: a damaged log may have anything."""
    return value if isinstance(value, int) and -INT_MAX - 1 <= value <= INT_MAX else 0


def text(value: str) -> str:
    """As a database can hold it: PostgreSQL takes no NUL."""
    return value.replace("\0", "\ufffd")
