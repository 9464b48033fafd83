"""One of a crowd that writes: `python -m tests.store.crowd DATABASE NAME SESSIONS TIMES`.

It appends so many Inputs to sessions of its choice, again where another process was first, and
takes numbers that others want as well. It prints a line when it is ready and waits for one, and in
the end how many conflicts it met.
"""

from __future__ import annotations

import random
import sys
from contextlib import closing, suppress

from preflights_es.core.errors import Conflict, NumberTaken
from preflights_es.core.ports import Batch
from preflights_es.store.sql import SqlStore
from tests.store.given import at, batch, heard, said, session_id

NUMBERS = 40  # that all of them want


def run(store: SqlStore, name: str, sessions: int, times: int) -> int:
    """How many conflicts were met."""
    choice = random.Random(name)
    conflicts = 0
    for n in range(times):
        numbers = choice.sample(range(1, sessions + 1), min(sessions, 1 + n % 3))
        while True:
            try:
                store.append([_batch(store, number, f"{name}-{n}") for number in numbers])
            except Conflict:
                conflicts += 1
            else:
                break
        with suppress(NumberTaken, Conflict):
            number = choice.choice(numbers)
            holds = choice.randrange(NUMBERS)
            store.append([_batch(store, number, f"{name}-{n}-number", holds)])
    return conflicts


def _batch(store: SqlStore, number: int, name: str, holds: int | None = None) -> Batch:
    head = store.head(session_id(number))
    drafts = (said("x", f"{name}-{number}"), heard("x"))
    return batch(number, *drafts, after=head, holds=holds)


if __name__ == "__main__":
    with closing(at(sys.argv[1])) as opened:
        print("ready", flush=True)
        sys.stdin.readline()
        print(run(opened, sys.argv[2], int(sys.argv[3]), int(sys.argv[4])), flush=True)
