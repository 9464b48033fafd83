"""Sessions judged, and judged again where more is asked of them: what a run has found so far."""

from __future__ import annotations

import os
import shlex
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.engine.change import Change
from preflights_es.features.regress.engine.results import Case, LeftOut
from preflights_es.features.regress.use.batches import (
    BYTES,
    EVENTS,
    Batch,
    OfFiles,
    OfLog,
    of_files,
    of_log,
    pieces,
)
from preflights_es.features.regress.use.judging import Job, Judge
from preflights_es.features.regress.use.kept_results import (
    Judged,
    KeptResults,
    code_digest,
    key_of,
)
from preflights_es.features.regress.use.reading import LOG, Read, read, sent
from preflights_es.features.regress.use.revisions import Revision
from preflights_es.features.regress.use.selection import Chosen, InFile
from preflights_es.kernel.ports import Head
from preflights_es.settings.load import kept_results
from preflights_es.store.urls import SqliteFile, address
from preflights_es.system import clock_ids
from preflights_es.system.interpreter import children_are_safe
from preflights_es.use.progress import Drawn
from preflights_es.use.request import Request

if TYPE_CHECKING:
    from preflights_es.features.regress.use.scheduling import Done

FORMAT: Final = 1  # of kept results
AHEAD: Final = 2  # batches that wait for each worker, or are judged
BATCHES_A_WORKER: Final = 4  # at least, where there is work for more than one
CHILD: Final = 4  # a session that runs again takes so many times the time of a strict replay
DASK_WORKERS: Final = 16  # that a scheduler is taken to have
JOBS_UNASKED: Final = 4  # processes, unless a person asks for more
SESSIONS_A_JOB: Final = 2_000  # what a process has to do to be worth its start
TOGETHER: Final = 500  # sessions that are read again at once


class Going(msgspec.Struct, frozen=True, kw_only=True):
    """How a run goes."""

    jobs: int | None = None
    """Processes; None for as many as are worth their start."""
    scheduler: str = ""
    """Address of a Dask scheduler, in place of processes."""
    is_fresh: bool = False
    """Whether no kept result is used."""
    revision: Revision | None = None
    """Whose code decides; None for ours."""
    repeating: tuple[str, ...] = ()
    """The change, as options of the command that repeats a case."""


class Run:
    """What was judged so far."""

    def __init__(
        self, request: Request, picked: Chosen, change: Change | None, options: Going
    ) -> None:
        self._process = request.process
        self._change = change
        self._options = options
        self._code = code_digest()
        self._picked = picked
        prices = self._process.settings.prices if change is not None else ()
        self._job = Job(change=change, prices=prices, revision=options.revision)
        self.cases: list[Case] = []
        self.left: list[LeftOut] = []
        self.lost: list[str] = []
        """Batches whose worker was lost twice."""
        self.kept = self.keeping("")

    def keeping(self, what: str) -> KeptResults:
        """Results of earlier runs of the same.

        Args:
            what: keeps them apart from others.
        """
        options, code = self._options, self._code
        if options.revision is not None:
            code += code_digest(Path(options.revision.folder, "preflights_es"))
        version = ".".join(map(str, sys.version_info[:3]))
        parts = {"format": FORMAT, "code": code, "python": version, "job": self._job, "of": what}
        folder = None if options.is_fresh else kept_results()
        return KeptResults(folder, key_of(parts), clock_ids.now())

    # 1. Judging ------------------------------------------------------------------------------

    def judge(self, drawn: Drawn) -> None:
        """Every session once."""
        picked = self._picked
        total = len(picked.heads) + sum(file.sessions for file in picked.files)
        with drawn(total) as update:
            heads, files = self._unknown_heads(), list(map(self._unknown, picked.files))
            left = len(heads) + sum(file.sessions for file in files)
            update(total - left)
            workers = self._workers(left)
            slower = 1 if self._change is None else CHILD
            batches = _batches(heads, files, workers, slower, picked)
            for batch, found in self._judged(batches, workers, reads_log=bool(heads)):
                if found is None:
                    self.lost.append(_named(batch))
                else:
                    self._take(found)
                    self.kept.keep(found)
                update(batch.sessions)

    def _unknown_heads(self) -> Sequence[Head]:
        """Sessions of the log of which no result is kept."""
        heads = self._picked.heads
        known = self.kept.known([head.hash for head in heads])
        self._take((b"", replace(case, source=LOG)) for case in known.values())
        return [head for head in heads if head.hash not in known] if known else heads

    def _unknown(self, file: InFile) -> InFile:
        """The same of a file."""
        if file.known is None:
            return file
        known = self.kept.known([one.digest for one in file.known])
        found = (known[one.digest] for one in file.known if one.digest in known)
        self._take((b"", replace(case, source=file.path)) for case in found)
        return file._replace(known=tuple(o for o in file.known if o.digest not in known))

    def _workers(self, sessions: int) -> int:
        """How many processes, or as many as a scheduler may have; 1 for this process alone."""
        if self._options.scheduler:
            return DASK_WORKERS
        return self._options.jobs or jobs_for(sessions) if children_are_safe() else 1

    def _judged(self, batches: Sequence[Batch], workers: int, *, reads_log: bool) -> Iterable[Done]:
        options, process = self._options, self._process
        log = process.following if reads_log else None
        if not options.scheduler and (workers == 1 or len(batches) < 2):
            judge = Judge(self._job, log)
            return ((batch, judge.judged(batch)) for batch in batches)
        from preflights_es.features.regress.use.scheduling import dask, processes, scheduled

        is_server = reads_log and not isinstance(process.store.url, SqliteFile)
        job = self._job
        if reads_log and (is_server or not options.scheduler):
            job, log = replace(job, database=address(process.store.url)), None
        if not options.scheduler:
            return scheduled(batches, job, processes(workers), AHEAD * workers)
        job = replace(job, code=self._code)
        ready = partial(sent, log=log)
        return scheduled(batches, job, dask(options.scheduler), AHEAD * workers, ready)

    def _take(self, found: Iterable[Judged]) -> None:
        for _, one in found:
            if isinstance(one, LeftOut):
                self.left.append(one)
            else:
                self.cases.append(self._repeatable(one))

    def _repeatable(self, case: Case) -> Case:
        """With the command that repeats it alone."""
        if case.source == LOG:
            what: tuple[str, ...] = (case.session_id,)
        else:
            path = f"./{case.source}" if case.source.startswith("-") else case.source
            what = (path, "--only", case.session_id) if case.session_id else (path,)
        words = ("preflights", "regress", *what, *self._options.repeating)
        return replace(case, repeat=" ".join(map(_quoted, words)))

    # 2. Again --------------------------------------------------------------------------------

    def again(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Read]]:
        """The sessions of cases, read once more."""
        wanted = {(case.source, case.session_id): case for case in cases}
        for batch in self._with(wanted):
            for one in read(batch, lambda: self._process.following):
                if isinstance(one, Read):
                    yield wanted[one.source, one.events[0].session_id], one

    def _with(self, wanted: Collection[tuple[str, str]]) -> Iterator[Batch]:
        heads = [head for head in self._picked.heads if (LOG, head.session_id) in wanted]
        for at in range(0, len(heads), TOGETHER):
            yield OfLog(tuple(heads[at : at + TOGETHER]), are_together=False)
        ids: dict[str, set[str]] = defaultdict(set)
        for source, session_id in wanted:
            ids[source].add(session_id)
        for file in self._picked.files:
            if file.path in ids:
                yield OfFiles((replace(file.whole, only=frozenset(ids[file.path])),))

    def instead(self, cases: Iterable[Case]) -> None:
        """Put what came of judging again in the place of what came first."""
        anew = {(case.source, case.session_id): self._repeatable(case) for case in cases}
        self.cases = [anew.get((case.source, case.session_id), case) for case in self.cases]


def _quoted(word: str) -> str:
    """For a shell, on one line and in UTF-8, whatever a file's name holds."""
    if word.isprintable():
        return shlex.quote(word)
    said = word.encode("utf-8", "surrogateescape")
    plain = (chr(b) if 32 <= b < 127 and b not in b"'\\" else f"\\{b:03o}" for b in said)
    return f"$'{''.join(plain)}'"


def _batches(
    heads: Sequence[Head], files: Sequence[InFile], workers: int, slower: int, picked: Chosen
) -> list[Batch]:
    """About a second's work each, or less, so that every worker has some."""
    least = BATCHES_A_WORKER * workers if workers > 1 else 1
    events = min(EVENTS // slower, sum(head.version for head in heads) // least + 1)
    size = min(
        BYTES // slower, sum(one.size for file in files for one in file.known or ()) // least + 1
    )
    are_together = picked.are_together and 2 * len(heads) >= len(picked.heads)
    cut = (
        piece
        for file in files
        for piece in ((file.whole,) if file.known is None else pieces(file.path, file.known, size))
    )
    return [*of_log(heads, events, are_together=are_together), *of_files(cut, size)]


def jobs_for(sessions: int) -> int:
    """How many processes are worth their start."""
    ours = getattr(os, "sched_getaffinity", None)  # of this process; macOS and Windows lack it
    processors = len(ours(0)) if ours else os.cpu_count() or 1
    return min(1 + sessions // SESSIONS_A_JOB, processors, JOBS_UNASKED)


def _named(batch: Batch) -> str:
    """A batch, by what it begins and ends with."""
    match batch:
        case OfLog():
            ends = [batch.heads[0].session_id, batch.heads[-1].session_id]
        case OfFiles():
            ends = [f"{one.path}, line {one.line}" for one in (batch.pieces[0], batch.pieces[-1])]
        case _:
            raise AssertionError("batches are named as they were made")
    return f"{batch.sessions:,} sessions, from {ends[0]} to {ends[1]}"
