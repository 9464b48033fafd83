"""A crowd that writes: `python -m tests.store.crowd DATABASE RIVALS SESSIONS TIMES`.

Each of its processes appends so many Inputs to sessions of its choice, again where another one was
first, and takes numbers that others want as well. It prints how many conflicts it met. All of them
have read where the log stands before one appends: with one session a conflict is certain.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
from contextlib import closing, suppress
from importlib import import_module
from threading import Barrier
from typing import cast

from preflights_es.kernel.errors import Conflict, NumberTaken
from preflights_es.kernel.ports import AppendBatch
from preflights_es.store.sql import SqlStore
from tests.store.given import at, batch, heard, said, session_id

NUMBERS = 40  # that all of them want


def run(store: SqlStore, name: str, sessions: int, times: int, all_have_read: Barrier) -> int:
    """How many conflicts were met."""
    choice = random.Random(name)
    conflicts = 0
    for n in range(times):
        numbers = choice.sample(range(1, sessions + 1), min(sessions, 1 + n % 3))
        while True:
            batches = [_batch(store, number, f"{name}-{n}") for number in numbers]
            if n == conflicts == 0:
                all_have_read.wait()
            try:
                store.append(batches)
            except Conflict:
                conflicts += 1
            else:
                break
        with suppress(NumberTaken, Conflict):
            number = choice.choice(numbers)
            holds = choice.randrange(NUMBERS)
            store.append([_batch(store, number, f"{name}-{n}-number", holds)])
    return conflicts


def _batch(store: SqlStore, number: int, name: str, holds: int | None = None) -> AppendBatch:
    head = store.head(session_id(number))
    drafts = (said("x", f"{name}-{number}"), heard("x"))
    return batch(number, *drafts, after=head, holds=holds)


if __name__ == "__main__":
    database, (rivals, sessions_, times_) = sys.argv[1], map(int, sys.argv[2:])
    import_module("preflights_es.store.postgres")  # before the forks, not in every process
    barrier = cast("Barrier", multiprocessing.Barrier(rivals))
    rival = 0
    while rival < rivals and os.fork():
        rival += 1
    if rival < rivals:
        with closing(at(database)) as opened:
            told = run(opened, f"rival{rival}", sessions_, times_, barrier)
        os.write(1, f"{told}\n".encode())  # in one piece, as others write too
    else:
        sys.exit(any(os.wait()[1] for _ in range(rivals)))
