"""Rows beside the chains that a rebuild sets right."""

from __future__ import annotations

from typing import Any

from preflights_es.core.projection_ports import ClaimRow
from preflights_es.store.database import Race
from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import Looking, Statements


class SqlRepairs(Looking):
    """Each repair is a transaction, and changes no row that another process changed meanwhile."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("side_tables", store.database)
        self._log = Statements("log", store.database)

    def mend_claim(self, session_id: str, was: ClaimRow, to: ClaimRow) -> None:
        """Set the project and the end of a claim; its owner stays."""
        self._database.wrote(
            lambda cursor: self._statements.run(
                cursor,
                "mend_claim",
                of_session=session_id,
                of_call=was.call,
                was_project=was.project,
                was_until=was.until,
                to_project=to.project,
                to_until=to.until,
            )
        )

    def give_number(self, project: str, number: int, session_id: str) -> None:
        """Give a project's number to a session, unless another session has it."""

        def work(cursor: Any) -> None:
            self._log.run(cursor, "number", of_project=project, of_number=number)
            if cursor.fetchone() is not None:
                return
            values = {"project": project, "number": number, "session_id": session_id}
            try:
                self._log.run(cursor, "insert_number", **values)
            except self._database.taken as error:
                raise Race from error

        self._database.wrote(work)
