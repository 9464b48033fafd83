"""Whole regression runs: from a log, of many sessions, and on Dask."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from preflights_es.features.regress.batches import Piece, SessionBatch
from preflights_es.features.regress.regress import RunOptions, regress
from preflights_es.features.regress.regression import Job, Opened, dask, processes, scheduled
from preflights_es.features.regress.selection import Selection
from preflights_es.history.replayer import Replayer
from preflights_es.kernel.ports import Access, Arrival, Stored
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.store import jsonl, stored_events
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.use import bootstrap
from preflights_es.use.replays import own_code
from tests.benchmarks import large, replaying
from tests.benchmarks.measure import Figure, Pair, paired

MANY: Final = 50_000  # sessions of the run whose memory is measured
MEMORY_MB: Final = 150
IDLE_S: Final = 3  # that a cluster is watched for what it takes without work
FOLDER: Final = TemporaryDirectory(prefix="preflights-bench-")
WATCHED: Final = """
import sys
from pathlib import Path
from preflights_cli.main import run_command_line
code = run_command_line(sys.argv[1:])
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
raise SystemExit(code)
"""


@cache
def sessions() -> list[list[Stored]]:
    """A thousand sessions by the rules."""
    stored = jsonl.stored(replaying.recorded_lines(), "bench")
    return list(stored_events.group_events_by_session(stored).values())


@cache
def log() -> Path:
    """The same in a log."""
    path = Path(FOLDER.name) / "log.db"
    store = SqlStore(str(path), clock_ids.now, clock_ids.salt)
    assert store.insert_new([Arrival(events) for events in sessions()])
    store.close()
    return path


def figures() -> list[Figure]:
    """CPU seconds, but for the memory."""
    return [_from_log(), _memory(), _on_dask()]


def _from_log() -> Figure:
    pair = paired(_run, _from_memory, 7)
    return _figure("regression run of 1,000 sessions of 19 events from a log", pair, 1.3)


def _run() -> float:
    program = bootstrap.opened_process(Path(FOLDER.name), database=str(log()), access=Access.READ)
    request = program.request()
    began = time.process_time()
    options = RunOptions(jobs=1)
    report = regress(request, selection=Selection(any_project=True), options=options)
    took = time.process_time() - began
    assert report.counts["same"] == len(sessions()), report.verdict
    request.close()
    return took


def _from_memory() -> float:
    replayer = Replayer(WORKFLOWS, own_code())
    began = time.process_time()
    for events in sessions():
        assert replayer.replay(events).status == "identical"
    return time.process_time() - began


# Memory --------------------------------------------------------------------------------------


def _memory() -> Figure:
    import subprocess

    file = Path(FOLDER.name) / "many.jsonl"
    with file.open("wb") as out:
        whole = sessions()
        for number in range(MANY):
            copied = large.copied(whole[number % len(whole)], large.session_id(number))
            out.write(jsonl.encode_event_file(copied))
    words = ("regress", "many.jsonl", "--jobs", "2", "--report", "json=many.json", "--replace")
    command = (sys.executable, "-c", WATCHED, *words)
    done = subprocess.run(command, cwd=FOLDER.name, capture_output=True, text=True, check=True)
    size = int(done.stdout.split()[-1]) / 1_000
    return Figure(
        f"memory of a run of {MANY:,} sessions, in MB of {MEMORY_MB}",
        size / MEMORY_MB,
        1.0,
        None,
        f"{size:.0f} MB",
        f"{MEMORY_MB} MB",
    )


# Dask ----------------------------------------------------------------------------------------


def _on_dask() -> Figure:
    file = Path(FOLDER.name) / "some.jsonl"
    places = []
    with file.open("wb") as out:
        for events in sessions():
            begin = out.tell()
            out.write(jsonl.encode_event_file(events))
            places.append(Piece(str(file), begin, out.tell() - begin))
    half = len(places) // 2
    work = [SessionBatch(pieces=tuple(some)) for some in (places[:half], places[half:])] * 8
    with _cluster() as (address, pids):
        idle = _spent(lambda: time.sleep(IDLE_S), pids) / IDLE_S
        start = _spent(lambda: _scheduled(processes(2), [SessionBatch(), SessionBatch()]))

        def on_dask() -> float:
            began = time.perf_counter()
            spent = _spent(lambda: _scheduled(dask(address), work), pids)
            return spent - idle * (time.perf_counter() - began)

        pair = paired(on_dask, lambda: _spent(lambda: _scheduled(processes(2), work)) - start, 3)
    return _figure("regression run on two Dask workers, against two processes", pair, 1.1, 8_000)


def _scheduled(opened: Opened, work: Sequence[SessionBatch]) -> None:
    for _, found in scheduled(work, Job(), opened, 4):
        assert found is not None


def _spent(work: Callable[[], object], pids: Sequence[int] = ()) -> float:
    """CPU seconds of this process, of its children that end, and of some that go on."""
    psutil: Any = import_module("psutil")  # of Dask

    def spent() -> float:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        running = (psutil.Process(pid).cpu_times() for pid in pids)
        theirs: float = sum(times.user + times.system for times in running)
        return time.process_time() + ended.ru_utime + ended.ru_stime + theirs

    began = spent()
    work()
    return spent() - began


@contextmanager
def _cluster() -> Iterator[tuple[str, list[int]]]:
    distributed: Any = import_module("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as made:
        pids = [worker.pid for worker in made.workers.values()]
        yield made.scheduler_address, pids


def _figure(what: str, pair: Pair, limit: float, sessions: int = 1_000) -> Figure:
    rates = (f"{sessions / seconds:,.0f} sessions/s" for seconds in (pair.ours, pair.floor))
    return Figure(what, pair.ratio, limit, None, *rates)
