"""What no chain covers: a verification looks at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from preflights_es.kernel.ports import ClaimRow, Numbered
from preflights_es.store.database import Look, Looking, Statements
from preflights_es.store.frozen import frozen
from preflights_es.store.log_rows import in_folder
from preflights_es.store.sql import SqlStore

PAGE: Final = 500  # rows that are read at once
NAMED_MAX: Final = 1_000  # stray rows of a table that are named; those behind are not


class SqlAuditing(Looking):
    """Reads the tables beside the chains."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("side_tables", store.database)
        self._dialect = store.database.dialect
        self._log = Statements("log", store.database)

    def guards(self) -> Iterator[str]:
        return trigger_trouble(self._dialect, self.database.looked)

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
            found = f"rows of 'marks' are of {str(name)!r}, which is no projection of this log"
            yield "", "", found

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

    def numbers(self, project: str | None) -> Iterator[tuple[str, str, Numbered]]:
        place: dict[str, Any] = {"after_project": "", "after_folder": "", "after_number": -1}
        while rows := self._rows("held_numbers", at_most=PAGE, **place):
            for of, folder, number, session_id, holders in rows:
                if project in (None, of, holders):
                    yield str(session_id), str(of), Numbered(folder, number)
            place = dict(zip(place, rows[-1], strict=False))

    def holder(self, project: str, number: Numbered) -> str | None:
        """The session that was given a number, which no other one can take then."""
        rows = self._rows("given", of_project=project, **in_folder(number))
        return str(rows[0][0]) if rows else None

    def gone(self) -> Iterator[tuple[str, int, str]]:
        """Project, number and session of what was given to a session that is not there."""
        for project, number, session_id in self._rows("gone"):
            yield str(project), number, str(session_id)


# Triggers that guard events -----------------------------------------------------------------

# A user who may drop a trigger may do everything else. But a missing trigger no longer prevents
# mistakes, and a foreign one may write what no command asked for.

# By name: what each trigger says, white space aside; a test compares them with the migrations.
ON_SQLITE: Final = {
    "events_are_kept": "7340c8375c460156c6eaec5d7cf3bb19cf79c2eaf67da1a1004cc5508c0807cd",
    "events_are_immutable": "d3245b82e8507fc525776f4e3bb1e42393cdd3833b8f9a47e8d64fe9e5a92a03",
    "events_are_not_replaced": "ed3ef8d5525425ca986e31092e6727e8db9f705134f676e767d0171274d46d4a",
}
_KEPT: Final = "aae9b8a60cb92851b04f37f87439c74f54e6dce8980582e1dfbb38befb41b6a7"
_GUARD: Final = "f8582d72cc503af2dc6e1c81fe55da598d6f15d503566a66c70103d843b1da93"
ON_POSTGRESQL: Final = {
    "events_are_not_emptied": f"events 34 - {_KEPT}",
    "events_are_kept": f"events 11 - {_KEPT}",
    "events_are_immutable": f"events 19 - {_GUARD}",
}
"""Table, when it fires (`pg_trigger.tgtype`), a condition, and its function's body."""

_SQLITE: Final = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
_POSTGRESQL: Final = """
SELECT t.tgname, k.relname, t.tgtype, coalesce(t.tgqual::text, t.tgattr::text), p.prosrc,
  t.tgenabled
FROM pg_catalog.pg_trigger AS t
JOIN pg_catalog.pg_class AS k ON k.oid = t.tgrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid = k.relnamespace
JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
WHERE NOT t.tgisinternal AND n.nspname = current_schema() AND k.relname = ANY(%s)
ORDER BY t.tgname
"""
_RULES: Final = """
SELECT rulename FROM pg_catalog.pg_rules
WHERE schemaname = current_schema() AND tablename = ANY(%s) ORDER BY rulename
"""

_DROP: Final = "find out who made it, then drop it"
_AGAIN: Final = (
    "find out who did that, then restore the log from a copy, or export it and import it into a "
    "new one"
)


def trigger_trouble(dialect: str, look: Look) -> Iterator[str]:
    """What is wrong with the triggers of a log, and what to do."""
    if dialect == "sqlite":
        there = {name: _digest_trigger_text(sql) for name, sql in _looked_up(look, _SQLITE)}
        yield from _compare_triggers(there, ON_SQLITE)
        return
    ours = sorted(frozen().tables)
    rows = _looked_up(look, _POSTGRESQL, ours)
    there = {
        name: f"{table} {fires} {condition or '-'} {_digest_trigger_text(body)}"
        for name, table, fires, condition, body, _ in rows
    }
    yield from _compare_triggers(there, ON_POSTGRESQL)
    for name, *_, enabled in rows:
        if name in ON_POSTGRESQL and enabled not in ("O", b"O", "A", b"A"):
            yield f"the trigger {name!r} is disabled: `ALTER TABLE events ENABLE TRIGGER {name}`"
    for (name,) in _looked_up(look, _RULES, ours):
        yield f"the rule {name!r} is not of preflights: {_DROP}"


def _compare_triggers(there: dict[str, str], expected: dict[str, str]) -> Iterator[str]:
    for name, said in expected.items():
        if name not in there:
            yield f"the trigger {name!r}, which guards events, is missing: {_AGAIN}"
        elif there[name] != said:
            yield f"the trigger {name!r}, which guards events, was changed: {_AGAIN}"
    for name in there:
        if name not in expected:
            yield f"the trigger {name!r} is not of preflights: {_DROP}"


def _looked_up(look: Look, statement: str, *values: Any) -> list[Any]:
    rows: list[Any] = look(lambda cursor: cursor.execute(statement, values).fetchall())
    return rows


def _digest_trigger_text(said: str | None) -> str:
    return sha256(" ".join((said or "").split()).encode()).hexdigest()
