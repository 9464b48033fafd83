"""The projections that have tables, and how their sessions are written many at a time."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from preflights_es.kernel.events import Whole
from preflights_es.store.frozen import frozen

PREFIX: Final = "projected_"
PROJECTED: Final = {
    table.removeprefix(PREFIX): table for table in frozen().tables if table.startswith(PREFIX)
}
"""The table of each projection, as `make freeze` found them."""

PORTIONS: Final = (64, 8, 1)  # sessions of one statement: three statements, not one a count

_KINDS: Final[dict[str, Any]] = {"text": str, "whole": Whole, "real": float}


@cache
def shape(name: str) -> Any:
    """Lists of a projection's rows, as `msgspec` checks them: what each column holds."""
    columns = frozen().tables[PROJECTED[name]]
    row = tuple(
        _KINDS[column.kind] | None if column.is_nullable else _KINDS[column.kind]
        for column in columns
    )
    return list[tuple.__class_getitem__(row)]  # type: ignore[misc]  # made while it runs
