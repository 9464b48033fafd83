"""Batches go to any `concurrent.futures.Executor`: processes of this machine, or Dask.

A worker that is lost costs its batch, which is tried once more alone; then the batch is named.
"""

from __future__ import annotations

import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from multiprocessing import get_context
from threading import current_thread, main_thread
from typing import Any, Final

import msgspec

from preflights_es.features.regress.use.batches import Batch
from preflights_es.features.regress.use.judging import Job, judged_elsewhere
from preflights_es.features.regress.use.kept_results import Judged
from preflights_es.kernel.errors import SettingsError, StoreUnavailable
from preflights_es.system import worker

CONNECT_S: Final = 5  # seconds to reach a scheduler

Done = tuple[Batch, list[Judged] | None]
"""A batch, and what came of its sessions; None where its worker was lost twice."""
Opened = Callable[[], AbstractContextManager[Executor]]
"""Makes the workers, and makes them anew where they were lost."""


def processes(jobs: int) -> Opened:
    """Processes of this machine."""

    @contextmanager
    def opened() -> Iterator[Executor]:
        # Not forked: a connection of SQLite must not be carried into another process.
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=worker.begun)
        try:
            with _deaf():
                for _ in range(jobs):  # each starts one, as long as none is idle
                    pool.submit(int)
            yield pool
        except BaseException:  # also Ctrl-C; raised on
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    return opened


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C, which a terminal sends to all."""
    if current_thread() is not main_thread():  # only there may a signal be set
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def dask(scheduler: str) -> Opened:
    """The workers of a Dask scheduler, by its address.

    Raises:
        SettingsError: the extra is not installed.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        what = "--scheduler needs the extra 'distributed': pip install 'preflights-es[distributed]'"
        raise SettingsError(what) from error

    @contextmanager
    def opened() -> Iterator[Executor]:
        try:
            client = distributed.Client(scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise StoreUnavailable(
                f"the scheduler {scheduler} cannot be reached: {error}"
            ) from error
        with client:
            yield client.get_executor(pure=False)

    return opened


def scheduled(
    batches: Iterable[Batch],
    job: Job,
    opened: Opened,
    ahead: int,
    ready: Callable[[Batch], Batch] = lambda batch: batch,
    judged: Callable[[bytes, Batch], bytes] = judged_elsewhere,
) -> Iterator[Done]:
    """Every batch with its results, as they come.

    Args:
        ahead: batches that wait for workers, or are judged.
        ready: makes of a batch what a worker can use, just before it goes there.
        judged: what a worker runs.
    """
    told = msgspec.msgpack.encode(job)
    waiting, lost = deque(batches), deque[Batch]()
    while waiting or lost:
        source, at_once = (lost, 1) if lost else (waiting, ahead)
        is_last_try = bool(lost)
        with opened() as pool:
            flying: dict[Future[bytes], Batch] = {}
            is_broken = False
            while (source or flying) and not is_broken:
                while source and len(flying) < at_once:
                    batch = source.popleft()
                    flying[pool.submit(judged, told, ready(batch))] = batch
                for future in wait(flying, return_when=FIRST_COMPLETED).done:
                    batch = flying.pop(future)
                    try:
                        found = future.result()
                        yield batch, pickle.loads(found)  # noqa: S301  executors do the same
                    except _losses() as error:
                        # Of processes, one takes all others with it.
                        is_broken |= isinstance(error, BrokenProcessPool)
                        if is_last_try:
                            yield batch, None
                        else:
                            lost.append(batch)
                    except CancelledError as error:
                        raise StoreUnavailable("the scheduler was lost") from error
            lost.extend(flying.values())


def _losses() -> tuple[type[BaseException], ...]:
    """What a lost worker raises."""
    distributed: Any = sys.modules.get("distributed")
    return (BrokenProcessPool, *((distributed.KilledWorker,) if distributed else ()))
