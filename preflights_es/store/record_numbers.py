"""The stored numbers of records, unchanged: `audit verify` compares them with the log."""

from __future__ import annotations

from collections.abc import Iterator

from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import Looking


class SqlNumbering(Looking):
    """The promises are those of `core.ports.Numbering`."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("record_numbers", store.database)

    def holder(self, project: str, number: int) -> str | None:
        rows = self._rows("given", of_project=project, of_number=number)
        return str(rows[0][0]) if rows else None

    def gone(self) -> Iterator[tuple[str, int, str]]:
        for project, number, session_id in self._rows("gone"):
            yield str(project), number, str(session_id)
