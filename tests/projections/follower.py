"""Follows until it is killed: `python -m tests.projections.follower` reads a DATABASE."""

from __future__ import annotations

from typing import Any

from preflights_es.runtime.projector import Follower
from preflights_es.store.projection_feed import SqlFollowing
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.use.projections import projector
from tests.store.mortal import acknowledge, serve

EVERY_S = 0.01


class Acknowledging(SqlFollowing):
    """A log that acknowledges every transaction that is about to fold."""

    def follow(self, *of: Any) -> tuple[str, int] | None:
        acknowledge("begins")
        return super().follow(*of)

    def write(self, *of: Any) -> None:
        acknowledge("begins")
        super().write(*of)


def run(database: str) -> None:
    """Follow for ever."""
    store = SqlStore(database, clock_ids.now, clock_ids.salt)
    follower = Follower(EVERY_S, acknowledge, acknowledge)
    follower.follow(projector(Acknowledging(store), follower.folded).catch_up)


if __name__ == "__main__":
    serve(lambda words: run(words[0]))
