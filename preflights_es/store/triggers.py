"""The triggers that guard events, as migrations make them, and what a database has in their place.

A user who may drop a trigger may do everything else. But a missing trigger no longer prevents
mistakes, and a foreign one may write what no command asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, Final

from preflights_es.store.frozen import frozen

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

Look = Callable[[Callable[[Any], Any]], Any]
"""Runs a look-up with a cursor."""

_DROP: Final = "find out who made it, then drop it"
_AGAIN: Final = (
    "find out who did that, then restore the log from a copy, or export it and import it into a "
    "new one"
)


def trouble(dialect: str, look: Look) -> Iterator[str]:
    """What is wrong with the triggers of a log, and what to do."""
    if dialect == "sqlite":
        there = {name: _digest(sql) for name, sql in _rows(look, _SQLITE)}
        yield from _compared(there, ON_SQLITE)
        return
    ours = sorted(frozen().tables)
    rows = _rows(look, _POSTGRESQL, ours)
    there = {
        name: f"{table} {fires} {condition or '-'} {_digest(body)}"
        for name, table, fires, condition, body, _ in rows
    }
    yield from _compared(there, ON_POSTGRESQL)
    for name, *_, enabled in rows:
        if name in ON_POSTGRESQL and enabled not in ("O", b"O", "A", b"A"):
            yield f"the trigger {name!r} is disabled: `ALTER TABLE events ENABLE TRIGGER {name}`"
    for (name,) in _rows(look, _RULES, ours):
        yield f"the rule {name!r} is not of preflights: {_DROP}"


def _compared(there: dict[str, str], expected: dict[str, str]) -> Iterator[str]:
    for name, said in expected.items():
        if name not in there:
            yield f"the trigger {name!r}, which guards events, is missing: {_AGAIN}"
        elif there[name] != said:
            yield f"the trigger {name!r}, which guards events, was changed: {_AGAIN}"
    for name in there:
        if name not in expected:
            yield f"the trigger {name!r} is not of preflights: {_DROP}"


def _rows(look: Look, statement: str, *values: Any) -> list[Any]:
    rows: list[Any] = look(lambda cursor: cursor.execute(statement, values).fetchall())
    return rows


def _digest(said: str | None) -> str:
    return sha256(" ".join((said or "").split()).encode()).hexdigest()
