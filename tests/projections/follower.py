"""Follows until it is killed: `python -m tests.projections.follower` reads a DATABASE."""

from __future__ import annotations

from contextlib import closing

from preflights_es.projections.follower import Follower
from preflights_es.services.projections import projector
from preflights_es.store.listening import Listener
from preflights_es.store.sql import SqlStore
from preflights_es.store.watched import WatchedFollowing
from preflights_es.system import clock_ids
from tests.store.mortal import acknowledge, serve

EVERY_S = 0.01


def run(database: str) -> None:
    """Follow for ever; acknowledge every transaction that is about to begin."""
    store = SqlStore(database, clock_ids.now, clock_ids.salt)
    with closing(Listener(store.database)) as listener:
        follower = Follower(listener, EVERY_S, acknowledge, acknowledge)

        def before() -> None:
            acknowledge("begins")
            follower.before()

        log = WatchedFollowing(store, before, follower.after)
        follower.follow(projector(log).catch_up)


if __name__ == "__main__":
    serve(lambda words: run(words[0]))
