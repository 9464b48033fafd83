"""Records golden sessions: `python -m tests.projections.writer DATABASE WRITERS EVENTS`.

Importing the program takes a second, so it is imported once and the writers are forked. Several
sessions of a writer move in turn, so that each is folded again and again while it grows.
"""

from __future__ import annotations

import os
import random
import sys
from typing import Final

from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from tests.projections.recording import Recording, goldens

AT_ONCE: Final = 10  # sessions that grow in turn


def run(database: str, first: int, events: int) -> None:
    """Record at least so many events."""
    store = SqlStore(database, clock_ids.now, clock_ids.salt)
    choice = random.Random(first)
    number, recorded = first, 0
    growing: list[Recording] = []
    while recorded < events or growing:
        while len(growing) < AT_ONCE and recorded < events:
            growing.append(Recording(choice.choice(goldens()), number, inputs=2))
            number += 1
        some = choice.sample(growing, min(6, len(growing)))
        batches = [batch for one in some if (batch := one.next()) is not None]
        recorded += sum(len(batch.events) for batch in batches)
        for one, head in zip(some, store.append(batches), strict=True):
            one.appended(head)
        growing = [one for one in growing if one.next() is not None]
    store.close()


def forked(database: str, writers: int, events: int) -> None:
    """All of them at once; fails where one of them does."""
    goldens()
    children = []
    for writer in range(writers):
        if (child := os.fork()) == 0:
            run(database, 1 + writer * 1_000_000, events // writers)
            os._exit(0)
        children.append(child)
    codes = [os.waitpid(child, 0)[1] for child in children]
    assert not any(codes), "a writer failed; its traceback stands on stderr"


if __name__ == "__main__":
    forked(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
