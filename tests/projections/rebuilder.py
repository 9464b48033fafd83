"""Rebuilds until it is killed: `python -m tests.projections.rebuilder` reads a DATABASE."""

from __future__ import annotations

from preflights_es.runtime import entropy
from preflights_es.store.sql import SqlStore
from tests.projections.given import following
from tests.store.mortal import acknowledge, serve


def run(database: str) -> None:
    """Rebuild for ever; each time, something moved meanwhile."""
    projections = following(SqlStore(database, entropy.now, entropy.salt))
    while True:
        acknowledge("begins")
        projections.rebuild()


if __name__ == "__main__":
    serve(lambda words: run(words[0]))
