"""Rebuilds until it is killed: `python -m tests.projections.rebuilder` reads a DATABASE."""

from __future__ import annotations

from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from tests.projections.given import following
from tests.store.mortal import acknowledge, serve


def run(database: str) -> None:
    """Rebuild for ever; each time, something moved meanwhile."""
    projections = following(SqlStore(database, clock_ids.now, clock_ids.salt))
    while True:
        acknowledge("begins")
        projections.rebuild()


if __name__ == "__main__":
    serve(lambda words: run(words[0]))
