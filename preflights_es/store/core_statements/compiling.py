"""Core statements in the dialect of an engine."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy.engine import Dialect
from sqlalchemy.sql import ClauseElement

from preflights_es.store.core_statements import log, projections, side_tables
from preflights_es.store.frozen import Statement


class Compiled(dict[str, Statement]):
    """The statements of a room by name, each compiled when it is first used."""

    def __init__(self, room: str, dialect: Dialect) -> None:
        super().__init__()
        self._elements = rooms(dialect.name)[room]
        self._dialect = dialect

    def __missing__(self, name: str) -> Statement:
        made = self[name] = compiled(self._elements[name], self._dialect)
        return made


def compiled(element: ClauseElement, dialect: Dialect) -> Statement:
    """A statement as a driver takes it."""
    made: Any = element.compile(dialect=dialect)
    return Statement(
        " ".join(str(made).split()),
        None if made.positiontup is None else tuple(map(str, made.positiontup)),
        {str(name): value for name, value in made.params.items() if value is not None},
    )


@cache
def rooms(dialect: str) -> dict[str, dict[str, ClauseElement]]:
    """All statements, by the room that runs them and by name."""
    return {
        "log": log.statements(),
        "projections": projections.statements(dialect),
        "projects": log.project_statements(),
        "side_tables": side_tables.statements(),
    }
