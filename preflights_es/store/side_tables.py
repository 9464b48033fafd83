"""What no chain covers: a verification looks at it, and a rebuild sets it right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from preflights_es.kernel.ports import ClaimRow
from preflights_es.store import triggers
from preflights_es.store.database import Race
from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import Looking, Statements

PAGE: Final = 500  # rows that are read at once
NAMED_MAX: Final = 1_000  # stray rows of a table that are named; those behind are not


class SqlAuditing(Looking):
    """Each repair is a transaction, and changes no row that another process changed meanwhile."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("side_tables", store.database)
        self._dialect = store.database.dialect
        self._log = Statements("log", store.database)

    def guards(self) -> Iterator[str]:
        return triggers.trouble(self._dialect, self.database.looked)

    def untyped(self, project: str | None) -> Iterator[tuple[str, int]]:
        if self._dialect != "sqlite":
            return  # PostgreSQL keeps to the type of a column
        for session_id, version, of in self._rows("untyped", at_most=NAMED_MAX):
            if project in (None, of):
                yield str(session_id), version if isinstance(version, int) else 0

    def strays(self, project: str | None) -> Iterator[tuple[str, str, str]]:
        for table in ("marks", "outbox", "claims"):
            for session_id, version, of, head in self._rows(f"strays_{table}", at_most=NAMED_MAX):
                if of is None:
                    yield str(session_id), table, f"a row of {table!r} is of no session of this log"
                elif project in (None, of):
                    found = f"a row of {table!r} says {version!r}, and the session has {head!r}"
                    yield str(session_id), table, found
        for (name,) in self._rows("unknown_marks", at_most=NAMED_MAX):
            yield (
                "",
                "",
                f"rows of 'marks' are of {str(name)!r}, which is no projection of this log",
            )

    def newer(self, versions: Mapping[str, int]) -> Iterator[tuple[str, Any]]:
        for name, version in self._rows("registered"):
            if not isinstance(version, int) or version > versions.get(name, 0):
                yield str(name), version

    def moved(self, project: str) -> tuple[str, ...]:
        """Sessions that rows name as a project's, and of which the head names another project."""
        return tuple(str(row[0]) for row in self._rows("moved", of_project=project))

    def claimed(self) -> Iterator[str]:
        return self._ids("claimed")

    def asking(self) -> Iterator[str]:
        return self._ids("asking")

    def claims(self, session_id: str) -> tuple[ClaimRow, ...]:
        """The rows of a session's open calls, as they lie there."""
        rows = self._rows("session_claims", of_session=session_id)
        return tuple(ClaimRow(*row) for row in rows)

    def imported(self, session_id: str) -> frozenset[str]:
        """Documents of a session that this log does not owe, by their calls."""
        return frozenset(str(row[0]) for row in self._rows("imported", of_session=session_id))

    def _ids(self, which: str) -> Iterator[str]:
        after = ""
        while rows := self._rows(which, after=after, at_most=PAGE):
            yield from (str(row[0]) for row in rows)
            after = rows[-1][0]

    def count_numbers(self, project: str | None) -> int:
        rows = self._rows("count_numbers")
        return sum(count for of, holders, count in rows if project in (None, of, holders))

    def numbers(self, project: str | None) -> Iterator[tuple[str, str, int]]:
        place: dict[str, Any] = {"after_project": "", "after_number": -1}
        while rows := self._rows("held_numbers", at_most=PAGE, **place):
            for of, number, session_id, holders in rows:
                if project in (None, of, holders):
                    yield str(session_id), str(of), number
            place = {"after_project": rows[-1][0], "after_number": rows[-1][1]}

    def holder(self, project: str, number: int) -> str | None:
        """The session that was given a number, which no other one can take then."""
        rows = self._rows("given", of_project=project, of_number=number)
        return str(rows[0][0]) if rows else None

    def gone(self) -> Iterator[tuple[str, int, str]]:
        """Project, number and session of what was given to a session that is not there."""
        for project, number, session_id in self._rows("gone"):
            yield str(project), number, str(session_id)

    def mend_claim(self, session_id: str, was: ClaimRow, to: ClaimRow) -> None:
        """Set the project and the end of a claim; its owner stays."""
        values = {"was_project": was.project, "was_until": was.until}
        values |= {"to_project": to.project, "to_until": to.until}
        of = {"of_session": session_id, "of_call": was.call}
        self.database.wrote(
            lambda cursor: self._statements.run(cursor, "mend_claim", **of, **values)
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
            except self.database.taken as error:
                raise Race from error

        self.database.wrote(work)
