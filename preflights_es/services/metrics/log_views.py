"""The tables that questions about a log may read; docs/metrics.md promises their columns."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from preflights_es.store.projected import PROJECTED
from preflights_es.workflows.metrics.values import Dialect, Table

_DAY: Final[dict[Dialect, str]] = {
    "sqlite": "date({} / 1000000 + {}, 'unixepoch')",
    "postgres": "to_char(to_timestamp({} / 1000000 + {}) AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
}
"""The day of a time in microseconds, where the clock is so many seconds before UTC."""

_SCHEMA: Final[dict[Dialect, str]] = {"sqlite": "main.", "postgres": ""}
"""In front of a table: in SQLite a later WITH of the same name would take its place."""

_COLUMNS: Final[dict[str, dict[str, str]]] = {
    "sessions": {
        **{
            name: name
            for name in (
                *("session_id", "workflow", "status", "progress", "turns", "provider", "model"),
                *("fell_back", "intention"),
            )
        },
        "began_on": "day:began_at",
        "moved_on": "day:moved_at",
    },
    "decisions": {
        "uid": "uid",
        "session_id": "session_id",
        "standing": "standing",
        "category": "category",
        "accepted_on": "day:accepted_at",
        "superseded_on": "day:superseded_at",
    },
    "usage": {
        **{
            name: name
            for name in (
                *("session_id", "workflow", "provider", "model", "prompt", "attempt", "outcome"),
                *("judged", "fell_back", "input_tokens", "output_tokens", "latency_ms"),
            )
        },
        "called_on": 'day:"at"',
    },
    "items": {
        **{
            name: name
            for name in (
                *("session_id", "number", "type", "status", "title", "importance", "energy"),
                *("due", "duration_min", "duration_max", "start_time", "end_time"),
            )
        },
        "noted_on": "substr(noted_at, 1, 10)",
    },
}
"""By table: each column, and what it is of the projection's; `day:` is the day of a time."""

_IS_ACCEPTED: Final = "CASE WHEN {these} AND {was} = 'accepted' THEN 'proposed' ELSE {was} END"
_PROPOSED: Final = {
    "sessions": {"status": _IS_ACCEPTED},
    "decisions": {
        "standing": _IS_ACCEPTED,
        "accepted_on": "CASE WHEN {these} THEN NULL ELSE {was} END",
    },
}
"""By table: what columns say instead of sessions that an agent imported."""


def tables() -> tuple[Table, ...]:
    """What a query may read: those whose projection this log has."""
    return tuple(
        Table(name, tuple(columns)) for name, columns in _COLUMNS.items() if name in PROJECTED
    )


def read() -> frozenset[str]:
    """The tables of the database behind them."""
    return frozenset(PROJECTED[one.name] for one in tables())


def definitions(
    dialect: Dialect, project: str | None, ahead_s: int = 0, proposed: Collection[str] = ()
) -> str:
    """Each table in front of a query, with the rows of one project alone.

    Args:
        project: None for the rows of all projects.
        ahead_s: seconds by which the clock of its days is before UTC.
        proposed: sessions that an agent imported and no person confirmed.
    """
    these = ", ".join(map(_literal, sorted(proposed)))
    made = (_definition(one.name, dialect, project, ahead_s, these) for one in tables())
    return ", ".join(made)


def _definition(
    name: str, dialect: Dialect, project: str | None, ahead_s: int, proposed: str
) -> str:
    sources = {
        column: _source(source, dialect, ahead_s) for column, source in _COLUMNS[name].items()
    }
    for column, instead in _PROPOSED.get(name, {}).items() if proposed else ():
        was = sources[column]
        sources[column] = instead.format(these=f"session_id IN ({proposed})", was=was)
    columns = ", ".join(f"{source} AS {column}" for column, source in sources.items())
    where = "" if project is None else f" WHERE project = {_literal(project)}"
    return f"{name} AS (SELECT {columns} FROM {_SCHEMA[dialect]}{PROJECTED[name]}{where})"  # noqa: S608  ours alone


def _source(source: str, dialect: Dialect, ahead_s: int) -> str:
    kind, _, column = source.partition(":")
    return _DAY[dialect].format(column, ahead_s) if kind == "day" else source


def _literal(text: str) -> str:
    quoted = text.replace("\0", "").replace("'", "''")
    return f"'{quoted}'"
