"""Finding what an intention states and leaves open, against the time that it may take."""

from __future__ import annotations

import time
from typing import Final

from preflights_es.workflows.clarification.index import finder_of
from preflights_es.workflows.clarification.pack import STANDARD
from preflights_es.workflows.clarification.topics import find
from tests.benchmarks.measure import Figure, quickest

ALLOWED_S: Final = 0.0002  # CPU seconds of an intention of 1 KB
TIMES: Final = 20
ROUNDS: Final = 25
INTENTION: Final = """\
Since we split the shop, we cannot say where an order got lost. Yesterday a customer wrote that
her parcel never arrived. It took two of us the whole morning to find out that the address service
had returned an empty body, that the order service had swallowed it, and that no mail was sent.

As an accountant I also want to download the full year as one file. Today a click on the button
gives a timeout after a minute, for each of us who has more than some thousand bookings. The file
is put together in memory, then the process is killed and takes the others with it. We run MySQL.

What we expect: a click says that it will take a while, and a mail with a link comes when it is
done. The link works for a week. Two exports at once must not disturb each other, and a restart in
between loses nothing. How do we do this, service by service, with nothing that needs a full time
person, and without a vendor that charges per host? Redis is there already, and we would like to
use PostgreSQL instead of MySQL for what is new.
"""


def figures() -> list[Figure]:
    """One intention of 1 KB, with the index made before."""
    index = finder_of(STANDARD)
    text = INTENTION[:1024]

    def ours() -> float:
        began = time.process_time()
        for _ in range(TIMES):
            find(text, index)
        return (time.process_time() - began) / TIMES

    pair = quickest(ours, lambda: ALLOWED_S, ROUNDS)
    taken, allowed = (f"{seconds * 1_000_000:.0f} us CPU" for seconds in (pair.ours, ALLOWED_S))
    return [Figure("finding what an intention of 1 KB says", pair.ratio, 1.0, None, taken, allowed)]
