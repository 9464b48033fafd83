"""The numbers of records as they lie there: for whoever holds them against the log."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import bindparam, select
from sqlalchemy.sql import ClauseElement

from preflights_es.store import tables
from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import Looking


class SqlNumbering(Looking):
    """The promises are those of `core.ports.Numbering`."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__(store.database, _statements())

    def holder(self, project: str, number: int) -> str | None:
        rows = self._rows("given", of_project=project, of_number=number)
        return str(rows[0][0]) if rows else None

    def gone(self) -> Iterator[tuple[str, int, str]]:
        for project, number, session_id in self._rows("gone"):
            yield str(project), number, str(session_id)


def _statements() -> dict[str, ClauseElement]:
    h, n = tables.heads.c, tables.numbers.c
    return {
        "given": select(n.session_id).where(
            n.project == bindparam("of_project"), n.number == bindparam("of_number")
        ),
        "gone": select(n.project, n.number, n.session_id)
        .where(~select(h.session_id).where(h.session_id == n.session_id).exists())
        .order_by(n.project, n.number),
    }
