"""The Python API for a running event loop: every method of `api.Preflights` as a coroutine."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from preflights_es.surfaces.api import Preflights
from preflights_es.surfaces.api import open as opened

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 8  # calls that are under way at once; the others wait


def _threaded(
    call: Callable[Concatenate[Preflights, P], R],
) -> Callable[Concatenate[AsyncPreflights, P], Coroutine[Any, Any, R]]:
    """The same method as a coroutine, which runs in a thread."""

    @wraps(call)
    async def called(self: AsyncPreflights, /, *args: P.args, **more: P.kwargs) -> R:
        return await self._run(partial(call, self.log, *args, **more))

    return called


class AsyncPreflights:
    """The same for a running event loop: every method is a coroutine.

    The calls run in threads of their own, so that neither the database nor a provider holds the
    loop up.
    """

    def __init__(self, log: Preflights, threads: int = THREADS) -> None:
        """Args:
        threads: how many calls are under way at once; the others wait their turn.
        """
        from concurrent.futures import ThreadPoolExecutor

        self.log = log
        self._pool: ThreadPoolExecutor = ThreadPoolExecutor(threads, "preflights")

    async def _run(self, call: Callable[[], R]) -> R:
        import asyncio

        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    # <!-- methods: `python -m tests.house.api_page` writes these -->

    start = _threaded(Preflights.start)
    answer = _threaded(Preflights.answer)
    accept = _threaded(Preflights.accept)
    approve = _threaded(Preflights.approve)
    abandon = _threaded(Preflights.abandon)
    resume = _threaded(Preflights.resume)
    show = _threaded(Preflights.show)
    sessions = _threaded(Preflights.sessions)
    decisions = _threaded(Preflights.decisions)
    holds = _threaded(Preflights.holds)
    brief = _threaded(Preflights.brief)
    inbox = _threaded(Preflights.inbox)
    why = _threaded(Preflights.why)
    why_artifact = _threaded(Preflights.why_artifact)
    recall = _threaded(Preflights.recall)
    replay = _threaded(Preflights.replay)
    diff = _threaded(Preflights.diff)
    trail = _threaded(Preflights.trail)
    facts = _threaded(Preflights.facts)
    usage = _threaded(Preflights.usage)
    export = _threaded(Preflights.export)

    # <!-- end of methods -->

    async def close(self) -> None:
        """Give the log back once every call has ended."""
        await self._run(int)
        self._pool.shutdown(wait=True)
        self.log.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def open_async(folder: str | Path = ".", **how: Any) -> AsyncPreflights:
    """The same for a running event loop; the arguments are those of `open`."""
    return AsyncPreflights(opened(folder, **how))
