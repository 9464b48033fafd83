"""Appends until it is killed: `python -m tests.store.writer` reads DATABASE and PREFIX from stdin.

Each line that it prints names an Input whose append has returned. Every append opens a call and
closes the one before, so that the calls of a session tell how far it came; every third moves a
second session along, which must not come apart from the first.
"""

from __future__ import annotations

import random
from importlib import import_module

from preflights_es.kernel.ports import AppendBatch, Head
from preflights_es.store.sql import SqlStore
from tests.store.given import at, batch, heard, said
from tests.store.mortal import acknowledge, serve

SESSIONS = 5


def run(store: SqlStore, prefix: str) -> None:
    """Append for ever."""
    heads = {int(head.session_id[-12:], 16): head for head in store.heads(None)}
    choice = random.Random(prefix)
    step = 0
    while True:
        step += 1
        numbers = choice.sample(range(1, SESSIONS + 1), 2 if step % 3 == 0 else 1)
        ids = [f"{prefix}-{step}-{number}" for number in numbers]
        batches = [
            _batch(number, input_id, heads.get(number), choice.randrange(4_000))
            for number, input_id in zip(numbers, ids, strict=True)
        ]
        heads |= zip(numbers, store.append(batches), strict=True)
        acknowledge(*ids)


def _batch(number: int, input_id: str, head: Head | None, length: int) -> AppendBatch:
    version = head.version if head else 0
    return batch(
        number,
        said("x" * length, input_id),
        heard("x" * length),
        after=head,
        opens=(f"call-{version + 2}",),
        closes=(f"call-{version}",),
        holds=number,
    )


if __name__ == "__main__":
    import_module("preflights_es.store.postgres")  # before the fork, not in every child
    serve(lambda words: run(at(words[0]), words[1]))
