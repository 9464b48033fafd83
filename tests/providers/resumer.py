"""Begin and resume sessions, as they are told: `python -m tests.providers.resumer IN:OUT...`.

For each pair of file descriptors there is a child, which has forgotten everything but its imports.
Each line that comes in is a verb and its words; each line that goes out says what came of it. The
first is the child's process id: it is there to be killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TextIO

from preflights_es.kernel.errors import PreflightsError
from preflights_es.providers.apis import OpenAIProvider
from preflights_es.runtime.runner import Runner
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from tests import toy
from tests.fixed import PROJECT, SECOND

TIMEOUT_S = 20.0  # seconds for one call
AHEAD_S = 60  # seconds: a claim of such a call is overdue after 35


class Resumer:
    """One process, with a clock that can be set ahead."""

    def __init__(self, log: str, url: str) -> None:
        self._url = url
        self._ahead = 0
        self._runner = Runner(
            SqlStore(log, self._now, clock_ids.salt),
            {"toy": toy.WORKFLOW},
            self._now,
            clock_ids.new_id,
        )

    def _now(self) -> int:
        return clock_ids.now() + self._ahead

    def ask(self, session_id: str) -> str:
        """Begin a session whose call is due; its request is durable when this returns."""
        first = toy.asked("why?", self._now())
        self._runner.open(toy.WORKFLOW, PROJECT, first, session_id, self._runner.new_id())
        return "asked"

    def ahead(self) -> str:
        """From now on, it is a minute later."""
        self._ahead += AHEAD_S * SECOND
        return "later"

    def resume(self, session_id: str) -> str:
        """Make the calls that are due."""
        return asyncio.run(self._settled(session_id))

    async def _settled(self, session_id: str) -> str:
        provider = OpenAIProvider("a-key", base_url=self._url, timeout_s=TIMEOUT_S)
        async with provider:
            try:
                await self._runner.settle(self._runner.load(session_id), provider)
            except PreflightsError as error:
                return type(error).__name__
        return "settled"


def obey(orders: TextIO, reports: TextIO) -> None:
    """Until the orders end; the first says which log and which server."""
    print(os.getpid(), file=reports, flush=True)
    log, url = orders.readline().split()
    resumer = Resumer(log, url)
    print("ready", file=reports, flush=True)
    for line in orders:
        match line.split():
            case ["ask", session_id]:
                found = resumer.ask(session_id)
            case ["resume", session_id]:
                found = resumer.resume(session_id)
            case _:
                found = resumer.ahead()
        print(found, file=reports, flush=True)


def main(pairs: list[str]) -> None:
    """One child a pair; done when all of them are."""
    OpenAIProvider("a-key", base_url="http://127.0.0.1:9/v1").sdk()  # imported once
    for pair in pairs:
        if os.fork() == 0:
            into, out = map(int, pair.split(":"))
            with os.fdopen(into) as orders, os.fdopen(out, "w") as reports:
                obey(orders, reports)
            os._exit(0)
    with contextlib.suppress(ChildProcessError):
        while True:  # a killed process is gone at once
            os.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
