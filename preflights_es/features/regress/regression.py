"""What today's code, or a change, does to a recorded session, and to batches of them: here, by
processes of this machine, or by any other `concurrent.futures.Executor`. What a session is, damaged
or not, becomes a `Case`: only a bug of ours raises. A worker that is lost costs its batch, which is
tried once more alone; then the batch is named.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.batches import SessionBatch, read_batch
from preflights_es.features.regress.cases import (
    CANNOT_READ,
    ERASED,
    Made,
    begin_session_case,
    strict_case,
)
from preflights_es.features.regress.change import RunChange
from preflights_es.features.regress.children import Runs
from preflights_es.features.regress.results import UNREADABLE, Case, SessionLeftOut
from preflights_es.history.recording import Code, recording
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.errors import (
    DuplicateInput,
    ExtraMissing,
    LogDamaged,
    LogFromFuture,
    SessionFaulted,
    SettingsError,
    StoreUnavailable,
    UnreadableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.ports import Access, Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.file import PriceTable
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.system import clock_ids
from preflights_es.system.interpreter import collecting_seldom
from preflights_es.use.replays import own_code
from preflights_es.use.usage import price
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


T = TypeVar("T")


def judge_or_say_why(judging: Callable[[], T], made: Made) -> T | Case | str:
    """What judging a session comes to; a case where it is damaged, and why it is left out where
    its code is not here.
    """
    try:
        return judging()
    except WorkflowMissing as error:
        return f"the workflow {error.name} ({error.why}) is not here"
    except UnreadableEvent as error:
        return f"{CANNOT_READ}{error.tag} ({error.why})"
    except (LogDamaged, LogFromFuture, DuplicateInput) as error:
        return made(outcome="damaged", causes=(UNREADABLE,), message=str(error))


class Regression:
    """Judges sessions, one after the other."""

    def __init__(
        self, workflows: Mapping[str, Workflow[Any]], code: Code, runs: Runs | None = None
    ) -> None:
        """Args:
        runs: with a change; None for a strict run of today's code.
        """
        self._workflows = workflows
        self._replayer = Replayer(workflows, code)
        self._runs = runs

    def case(
        self, stored: Sequence[Stored], head: bytes | None = None, source: str = "log"
    ) -> Case | SessionLeftOut:
        """One session.

        Args:
            head: the hash that the session's head bears, where there is one to compare with.
            source: where it lies, as a report names it.
        """
        made = begin_session_case(stored, source)
        found = judge_or_say_why(lambda: self._judged(stored, head, made), made)
        if isinstance(found, Case):
            differs = found.outcome not in ("same", "damaged")
            return replace(found, intention=self._intention(stored)) if differs else found
        return SessionLeftOut(session_id=stored[0].session_id, source=source, why=found)

    def _intention(self, stored: Sequence[Stored]) -> str:
        """What a session is about; empty where today's code cannot say it."""
        try:
            read = recording(self._workflows, stored, None)
        except (LogDamaged, LogFromFuture, SessionFaulted):
            return ""
        return read.workflow.shown.view(read.session.state).intention

    def calls(self, stored: Sequence[Stored], head: bytes | None = None) -> int:
        """Calls of a model that judging a session takes at most, both sides counted."""
        assert self._runs is not None, "a strict run asks no model"
        from preflights_es.features.regress.cases import calls_of

        return calls_of(self._runs, self._runs.recording(stored, head))

    def __enter__(self) -> Regression:
        return self

    def __exit__(self, *_: object) -> None:
        """Give back what models hold."""
        if self._runs is not None:
            self._runs.close()

    def _judged(self, stored: Sequence[Stored], head: bytes | None, made: Made) -> Case | str:
        if self._runs is not None:
            from preflights_es.features.regress.cases import judge_changed_session

            return judge_changed_session(self._runs, self._replayer, stored, head, made=made)
        replay = self._replayer.replay(stored, head)
        if replay.status == "erased":
            return ERASED
        return strict_case(replay, stored, made)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """All that a worker needs besides its batches."""

    change: RunChange | None = None
    prices: tuple[PriceTable, ...] = ()
    database: str = ""
    """Of the log; empty where a worker reads none."""
    code: bytes = b""
    """Digest of our code, which a worker elsewhere must have too."""


class BatchJudge:
    """Judges batches; what is damaged is named, and the rest goes on."""

    def __init__(self, job: Job, log: SqlFollowing | None = None) -> None:
        """Args:
        log: the log, where it is open already.

        Raises:
            SettingsError: another version of this program runs here.
        """
        if job.code and job.code != code_digest():
            raise SettingsError(
                "a worker runs other code than this: install the same version there"
            )
        runs = None
        if job.change is not None:
            prices = [price(table) for table in job.prices]
            runs = Runs(WORKFLOWS, own_code(), job.change, prices)
        self._regression = Regression(WORKFLOWS, own_code(), runs)
        self._database = job.database
        self._log = log

    def judged(self, batch: SessionBatch) -> list[Case | SessionLeftOut]:
        """What comes of each session, in the order of the batch."""
        case = self._regression.case
        return [
            one if isinstance(one, Case) else case(one.events, one.head, one.source)
            for one in read_batch(batch, self._opened)
        ]

    def _opened(self) -> SqlFollowing:
        if self._log is None:
            self._log = SqlFollowing(
                SqlStore(self._database, clock_ids.now, clock_ids.salt, Access.READ)
            )
        return self._log


PACKAGE: Final = Path(__file__).parents[2]
"""Our code."""


def code_digest() -> bytes:
    """Of every file of the package that may change what is decided, by name and content."""
    found = sha256()
    for path in sorted(_walk_package_files(PACKAGE)):
        content = Path(path).read_bytes()
        name = os.fsencode(os.path.relpath(path, PACKAGE))
        found.update(b"%d:%s%d:" % (len(name), name, len(content)))
        found.update(content)
    return found.digest()


def _walk_package_files(folder: Path) -> Iterator[str]:
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (os.path.join(at, name) for name in files if not name.endswith(".pyc"))


# In a process of its own -----------------------------------------------------------------------


@lru_cache(maxsize=1)
def judge(job: bytes) -> BatchJudge:
    """Of a job that traveled; made once a process."""
    return BatchJudge(msgspec.msgpack.decode(job, type=Job))


def judged_elsewhere(job: bytes, batch: SessionBatch) -> bytes:
    """As `Judge.judged`, by a worker: pickled, since Dask looks into every list that it passes."""
    with collecting_seldom():
        return pickle.dumps(judge(job).judged(batch))


CONNECT_S: Final = 5  # seconds to reach a scheduler

Done = tuple[SessionBatch, list[Case | SessionLeftOut] | None]
"""A batch, and what came of its sessions; None where its worker was lost twice."""
Opened = Callable[[], "AbstractContextManager[Executor]"]
"""Makes the workers, and makes them anew where they were lost."""


def _end_with_parent() -> None:
    """For a process that was just started: it ends with the other, also where that is killed."""
    from multiprocessing import parent_process

    def wait() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def processes(jobs: int) -> Opened:
    """Processes of this machine."""
    from concurrent.futures import ProcessPoolExecutor  # one process needs none of it
    from multiprocessing import get_context

    @contextmanager
    def opened() -> Iterator[Executor]:
        # Not forked: a connection of SQLite must not be carried into another process.
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_end_with_parent)
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
        ExtraMissing: the extra is not installed.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise ExtraMissing("--scheduler", "distributed") from error

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
    batches: Iterable[SessionBatch],
    job: Job,
    opened: Opened,
    ahead: int,
    ready: Callable[[SessionBatch], SessionBatch] = lambda batch: batch,
    judged: Callable[[bytes, SessionBatch], bytes] = judged_elsewhere,
) -> Iterator[Done]:
    """Every batch with its results, as they come.

    Args:
        ahead: batches that wait for workers, or are judged.
        ready: makes of a batch what a worker can use, just before it goes there.
        judged: what a worker runs.
    """
    from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
    from concurrent.futures.process import BrokenProcessPool

    distributed: Any = sys.modules.get("distributed")
    losses = (BrokenProcessPool, *((distributed.KilledWorker,) if distributed else ()))
    told = msgspec.msgpack.encode(job)
    waiting, lost = deque(batches), deque[SessionBatch]()
    while waiting or lost:
        source, at_once = (lost, 1) if lost else (waiting, ahead)
        is_last_try = bool(lost)
        with opened() as pool:
            flying: dict[Future[bytes], SessionBatch] = {}
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
                    except losses as error:
                        # Of processes, one takes all others with it.
                        is_broken |= isinstance(error, BrokenProcessPool)
                        if is_last_try:
                            yield batch, None
                        else:
                            lost.append(batch)
                    except CancelledError as error:
                        raise StoreUnavailable("the scheduler was lost") from error
            lost.extend(flying.values())
