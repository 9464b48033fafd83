"""The stored rows of projections, unchanged: `audit verify` compares them with the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from preflights_es.core.errors import LogDamaged, ProjectionDamaged
from preflights_es.core.projection_ports import Kept, Registered, Row
from preflights_es.store.projection_feed import registered_of
from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import Looking

TOGETHER: Final = 32  # sessions that a statement asks for; the last one stands in for those missing
STRAYS: Final = 500  # rows without a session that are read at once


class SqlKeeping(Looking):
    """The promises are those of `core.projection_ports.Keeping`."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("projection_rows", store.database)

    def registered(self) -> dict[str, Registered]:
        return registered_of(self._rows("registered"))

    def kept(self, name: str, session_ids: Sequence[str]) -> dict[str, Kept]:
        try:
            return self._kept(name, session_ids)
        except LogDamaged as error:
            if "UTF-8" not in error.found:
                raise
            raise ProjectionDamaged(name, error.found) from error

    def _kept(self, name: str, session_ids: Sequence[str]) -> dict[str, Kept]:
        marks: dict[str, Any] = {}
        rows: dict[str, list[Row]] = {}
        waiting: set[str] = set()
        for some in _portions(session_ids):
            # What is folded meanwhile moves rows and marks together, and looks like another state.
            marks |= dict(self._rows("marked", of_name=name, **some))
            for row in self._rows(f"rows_{name}", **some):
                rows.setdefault(row[0], []).append(tuple(row))
            waiting |= {row[0] for row in self._rows("waiting", **some)}
        return {
            one: Kept(marks.get(one), tuple(rows.get(one, ())), one in waiting)
            for one in session_ids
        }

    def strays(self, name: str, project: str | None) -> Iterator[str]:
        after = ""
        while True:
            some = self._rows(f"strays_{name}", after=after, at_most=STRAYS)
            for session_id, of_project, known in some:
                # PostgreSQL takes no NUL: a row's project may be spelled otherwise for that alone.
                is_its = isinstance(known, str) and known.replace("\0", "\ufffd") == of_project
                if known is None if project is None else of_project == project and not is_its:
                    yield str(session_id)
            if len(some) < STRAYS:
                return
            after = some[-1][0]


def _portions(session_ids: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """Parameters of statements that ask for so many sessions and no other number."""
    for begin in range(0, len(session_ids), TOGETHER):
        some = session_ids[begin : begin + TOGETHER]
        padded = [*some, *[some[-1]] * (TOGETHER - len(some))]
        yield {f"session_{n}": session_id for n, session_id in enumerate(padded)}
