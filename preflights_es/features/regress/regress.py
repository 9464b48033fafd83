"""One regression run: the sessions, what a change does to them, and the report of it."""

from __future__ import annotations

import os
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from time import monotonic
from typing import Final, get_args

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.batches import (
    BYTES,
    EVENTS,
    LOG,
    ReadSession,
    SessionBatch,
    group_by_weight,
    group_into_pieces,
    pack_batch_for_worker,
    read_batch,
)
from preflights_es.features.regress.change import RunChange, describe_change
from preflights_es.features.regress.children import Runs
from preflights_es.features.regress.paired import PairedRun
from preflights_es.features.regress.regression import (
    BatchJudge,
    Done,
    Job,
    Regression,
    code_digest,
    dask,
    processes,
    scheduled,
)
from preflights_es.features.regress.results import (
    OUTCOMES,
    Case,
    CauseKind,
    Report,
    SessionLeftOut,
    Verdict,
)
from preflights_es.features.regress.run_files import (
    accept_group,
    accepted_differences,
    with_acceptance,
)
from preflights_es.features.regress.selection import Chosen, Selection, select_judged_sessions
from preflights_es.features.regress.verdict import (
    MARGIN,
    compute_verdict,
    describe_power,
    shows_difference,
)
from preflights_es.kernel import __version__
from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.lead import Lead
from preflights_es.kernel.ports import Provider
from preflights_es.kernel.text import count_in_words
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.settings.file import PriceTable
from preflights_es.settings.load import cached
from preflights_es.store.urls import SqliteFile, address
from preflights_es.system import clock_ids
from preflights_es.system.interpreter import children_are_safe
from preflights_es.system.kept_lines import KeptLines
from preflights_es.use.leads import Leads
from preflights_es.use.replays import own_code
from preflights_es.use.request import Request
from preflights_es.use.results import Drawn, undrawn
from preflights_es.use.usage import price
from preflights_es.words.pairs import PairsAsked, PairsPlan

CAUSES: Final = get_args(CauseKind)
LOST: Final = "a worker was lost twice with "
NOT_THERE: Final = "is not here"
"""How what was left out begins, or ends, where the environment failed."""
SURE: Final[frozenset[CauseKind]] = frozenset(("data", "code or data"))
"""Causes that no chance brings about."""

AHEAD: Final = 2  # batches that wait for each worker, or are judged
BATCHES_A_WORKER: Final = 4  # at least, where there is work for more than one
CHILD: Final = 4  # a session that runs again takes so many times the time of a strict replay
DASK_WORKERS: Final = 16  # that a scheduler is taken to have
JOBS_UNASKED: Final = 4  # processes, unless a person asks for more
SESSIONS_A_JOB: Final = 2_000  # what a process has to do to be worth its start
TOGETHER: Final = 500  # sessions that are read again at once


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a run goes."""

    jobs: int | None = None
    """Processes; None for as many as are worth their start."""
    scheduler: str = ""
    """Address of a Dask scheduler, in place of processes."""
    resumes: bool = False
    """Whether what models answered in an interrupted run is not asked again."""
    is_live: bool = False
    """Whether a model may be asked, which costs money."""
    calls_max: int | None = None
    """Of models; None without a limit."""
    margin: float = MARGIN
    """The loss that is too small to matter."""
    repeat: int = 1
    """How often a model is asked for each side; odd, since most runs decide."""
    is_recorded: bool = False
    """Whether the recording is the other side of what a model is asked."""
    repeating: tuple[str, ...] = ()
    """The change, as options of the command that repeats a case."""


class Announced(msgspec.Struct, frozen=True):
    """What models will be asked, at most."""

    sessions: int
    calls: int
    cost: float | None
    """As the recorded calls cost, in the currency of the settings; None where no price is set."""
    currency: str
    pairs: int = 0
    """Of another program's calls."""
    power: str = ""
    """What so many pairs of another program's calls could find: a person confirms their cost."""
    is_anew: bool = False
    """Whether --resume found no answer of an earlier run."""


Announce = Callable[[Announced], None]


def regress(
    request: Request,
    named: Sequence[str] = (),
    selection: Selection = Selection(),  # noqa: B008  frozen
    change: RunChange | PairsAsked | None = None,
    options: RunOptions = RunOptions(),  # noqa: B008  frozen
    drawn: Drawn = undrawn,
    announce: Announce = lambda _: None,
) -> Report:
    """Run recorded sessions again with today's code, or with a change, and judge the result.

    Args:
        named: sessions of the log, files and folders; all of the project where there are none.
        change: for the pairs of a feature, `PairsAsked`.
        announce: takes what models will be asked, before they are.

    Raises:
        UnknownSession, AmbiguousSession, Refused: as `chosen` says.
        SettingsError: something that the change or the options need is not here.
        StoreUnavailable: the log or a scheduler cannot be reached.
    """
    began = monotonic()
    _check_run_options(change, options)
    accepted = accepted_differences(request.process.settings.root)
    picked = select_judged_sessions(request, named, selection)
    paired: PairedRun | None = None
    if isinstance(change, PairsAsked):
        paired = PairedRun(request, selection.workflow or "", change)
        run = RegressionRun(request, picked, None, options)
        run.take(paired.read(run.sessions()))
        plan = paired.pairs.plan()
        if options.is_live:
            announce(_announced_pairs(request, plan, options.margin))
        with drawn(plan.pairs) as update:
            run.take(paired.judged(update))
        changes = tuple(words for _, words in paired.pairs.changes)
    else:
        run = RegressionRun(request, picked, change, options)
        run.judge(drawn)
        if change is not None and options.is_live:
            Live(request.leads, change, options).judge(run, announce)
        changes = describe_change(change) if change else ()
    margin = None if change is None else options.margin
    copies = {(case.session_id, case.call, case.head): case for case in run.cases}
    pairs = run.cases if margin is None else list(copies.values())
    is_right_by_construction = options.is_recorded and paired is None
    judged = compute_verdict(pairs, margin, chance_is_loss=is_right_by_construction)
    told = (
        _case_in_utf8(with_acceptance(case, accepted))
        for case in explained_cases(run.cases, judged)
    )
    cases = sorted(told, key=lambda one: (one.session_id, one.source, one.head))
    report = _build_run_report(
        run, cases, judged, picked=picked, changes=changes, seconds=monotonic() - began
    )
    return report if paired is None else paired.finished(report)


def _announced_pairs(request: Request, plan: PairsPlan, margin: float) -> Announced:
    currency = _currency(request.process.settings.prices)
    return Announced(
        plan.sessions,
        plan.calls,
        plan.cost,
        currency,
        pairs=plan.pairs,
        power=describe_power(plan.pairs, margin),
        is_anew=plan.is_anew,
    )


def _currency(prices: Iterable[PriceTable]) -> str:
    return "/".join(sorted({table.currency for table in prices}))


def accept_report_group(request: Request, report: Report, group: str, by: str, why: str) -> Report:
    """The report, once a person accepted the differences of one of its groups.

    Raises:
        Refused: as `accept_group` says.
    """
    root, at = request.process.settings.root, clock_ids.now()
    cases = accept_group(root, group, report.cases, by=by, at=at, why=why)
    return replace(report, cases=cases, accepted=_count_accepted_by_person(cases))


def _count_accepted_by_person(cases: Iterable[Case]) -> dict[str, int]:
    persons = Counter(case.accepted_by for case in cases if case.accepted_by)
    return dict(sorted(persons.items()))


def _check_run_options(change: RunChange | PairsAsked | None, options: RunOptions) -> None:
    """Before anything takes long.

    Raises:
        Refused: a model is asked for no change.
    """
    if change is None and options.is_live:
        raise Refused("only a change asks a model: name one, such as --prompt clarify=new.md")


def explained_cases(cases: Iterable[Case], judged: Verdict) -> list[Case]:
    """Cases whose causes may be named: of two sides that were asked, chance explains some.

    What today's code does of itself is no chance.
    """
    cases = list(cases)
    if judged.margin is None or shows_difference(cases):
        return cases
    return [
        replace(case, causes=tuple(one for one in case.causes if one.kind in SURE))
        if case.recorded is not None and case.recorded.asked
        else case
        for case in cases
    ]


def _build_run_report(
    run: RegressionRun,
    cases: Sequence[Case],
    judged: Verdict,
    picked: Chosen,
    changes: tuple[str, ...],
    seconds: float,
) -> Report:
    outcomes = Counter(case.outcome for case in cases)
    causes = Counter(kind for case in cases for kind in {one.kind for one in case.causes})
    return Report(
        preflights=__version__,
        changes=changes,
        selection=_utf8(picked.told),
        # A session that cannot be read has no id.
        sessions=len({(case.source, case.session_id) if case.call else id(case) for case in cases}),
        unit="pair" if any(case.call for case in cases) else "session",
        counts={name: outcomes[name] for name in OUTCOMES},
        cause_counts={name: causes[name] for name in CAUSES if causes[name]},
        cases=tuple(cases),
        verdict=judged,
        accepted=_count_accepted_by_person(cases),
        drifted=sum(case.drift == "both" for case in cases),
        left_out=tuple(_summarize_left_out(run.left, run.lost)),
        live_calls=sum(case.live_calls for case in cases),
        seconds=round(seconds, 3),
    )


def _case_in_utf8(case: Case) -> Case:
    """As a report can hold it: the name of a file may be no UTF-8."""
    return replace(case, source=_utf8(case.source), message=_utf8(case.message))


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _summarize_left_out(left: Sequence[SessionLeftOut], lost: Sequence[str]) -> Iterator[str]:
    """Sessions by what keeps them from being judged, and batches whose worker was lost."""
    for why, number in sorted(Counter(one.why for one in left).items()):
        yield f"{count_in_words(number, 'session')}: {why}"
    yield from (f"{LOST}{_utf8(one)}" for one in sorted(lost))


# Judging -------------------------------------------------------------------------------------


class RegressionRun:
    """What was judged so far."""

    def __init__(
        self, request: Request, picked: Chosen, change: RunChange | None, options: RunOptions
    ) -> None:
        self._process = request.process
        self._change = change
        self._options = options
        self._picked = picked
        prices = self._process.settings.prices if change is not None else ()
        self._job = Job(change=change, prices=prices)
        self.cases: list[Case] = []
        self.left: list[SessionLeftOut] = []
        self.lost: list[str] = []
        """Batches whose worker was lost twice."""

    @property
    def identity(self) -> str:
        """What is judged, and with which change: another run has another one."""
        return repr((self._job, self._process.settings.root, self._picked.told))

    # 1. Judging ------------------------------------------------------------------------------

    def judge(self, drawn: Drawn) -> None:
        """Every session once."""
        picked = self._picked
        total = len(picked.heads) + sum(file.sessions for file in picked.files)
        with drawn(total) as update:
            workers = self._workers(total)
            slower = 1 if self._change is None else CHILD
            batches = _batches(picked, workers, slower)
            for batch, found in self._judged(batches, workers, reads_log=bool(picked.heads)):
                if found is None:
                    self.lost.append(_describe_batch(batch))
                else:
                    self.take(found)
                update(batch.sessions)

    def _workers(self, sessions: int) -> int:
        """How many processes, or as many as a scheduler may have; 1 for this process alone."""
        if self._options.scheduler:
            return DASK_WORKERS
        return self._options.jobs or jobs_for(sessions) if children_are_safe() else 1

    def _judged(
        self, batches: Sequence[SessionBatch], workers: int, *, reads_log: bool
    ) -> Iterable[Done]:
        options, process = self._options, self._process
        log = process.following if reads_log else None
        if not options.scheduler and (workers == 1 or len(batches) < 2):
            judge = BatchJudge(self._job, log)
            return ((batch, judge.judged(batch)) for batch in batches)
        is_server = reads_log and not isinstance(process.store.url, SqliteFile)
        job = self._job
        if reads_log and (is_server or not options.scheduler):
            job, log = replace(job, database=address(process.store.url)), None
        if not options.scheduler:
            return scheduled(batches, job, processes(workers), AHEAD * workers)
        job = replace(job, code=code_digest())
        ready = partial(pack_batch_for_worker, log=log)
        return scheduled(batches, job, dask(options.scheduler), AHEAD * workers, ready=ready)

    def take(self, found: Iterable[Case | SessionLeftOut]) -> None:
        """Add what came of sessions."""
        for result in found:
            if isinstance(result, SessionLeftOut):
                self.left.append(result)
            else:
                self.cases.append(self._repeatable(result))

    def sessions(self) -> Iterator[ReadSession | Case]:
        """Every session, one after the other, in this process."""
        for batch in _batches(self._picked, 1, 1):
            yield from read_batch(batch, lambda: self._process.following)

    def _repeatable(self, case: Case) -> Case:
        """With the command that repeats it alone."""
        if case.source == LOG:
            what: tuple[str, ...] = (case.session_id,)
        else:
            path = f"./{case.source}" if case.source.startswith("-") else case.source
            what = (path, "--only", case.session_id) if case.session_id else (path,)
        words = ("preflights", "regress", *what, *self._options.repeating)
        return replace(case, repeat=" ".join(map(_quote_for_shell, words)))

    # 2. Again --------------------------------------------------------------------------------

    def again(self, cases: Iterable[Case]) -> Iterator[tuple[Case, ReadSession]]:
        """The sessions of cases, read once more."""
        wanted = {(case.source, case.session_id): case for case in cases}
        for batch in self._with(wanted):
            for one in read_batch(batch, lambda: self._process.following):
                if isinstance(one, ReadSession):
                    yield wanted[one.source, one.events[0].session_id], one

    def _with(self, wanted: Collection[tuple[str, str]]) -> Iterator[SessionBatch]:
        heads = [head for head in self._picked.heads if (LOG, head.session_id) in wanted]
        for some in group_by_weight(heads, lambda _: 1, TOGETHER):
            yield SessionBatch(heads=some, are_together=False)
        ids: dict[str, set[str]] = defaultdict(set)
        for source, session_id in wanted:
            ids[source].add(session_id)
        for file in self._picked.files:
            if file.path in ids:
                yield SessionBatch(pieces=(replace(file.whole, only=frozenset(ids[file.path])),))

    def instead(self, cases: Iterable[Case]) -> None:
        """Put what came of judging again in the place of what came first."""
        anew = {(case.source, case.session_id): self._repeatable(case) for case in cases}
        self.cases = [anew.get((case.source, case.session_id), case) for case in self.cases]


def _quote_for_shell(word: str) -> str:
    """For a shell, on one line and in UTF-8, whatever a file's name holds."""
    if word.isprintable():
        return shlex.quote(word)
    said = word.encode("utf-8", "surrogateescape")
    plain = (chr(b) if 32 <= b < 127 and b not in b"'\\" else f"\\{b:03o}" for b in said)
    return f"$'{''.join(plain)}'"


def _batches(picked: Chosen, workers: int, slower: int) -> list[SessionBatch]:
    """About a second's work each, or less, so that every worker has some."""
    heads, files = picked.heads, picked.files
    least = BATCHES_A_WORKER * workers if workers > 1 else 1
    events = min(EVENTS // slower, sum(head.version for head in heads) // least + 1)
    size = min(
        BYTES // slower, sum(one.size for file in files for one in file.known or ()) // least + 1
    )
    cut = (
        piece
        for file in files
        for piece in (
            (file.whole,) if file.known is None else group_into_pieces(file.path, file.known, size)
        )
    )
    return [
        *(
            SessionBatch(heads=some, are_together=picked.are_together)
            for some in group_by_weight(heads, lambda head: head.version, events)
        ),
        *(
            SessionBatch(pieces=some)
            for some in group_by_weight(cut, lambda one: one.size if one.size >= 0 else BYTES, size)
        ),
    ]


def jobs_for(sessions: int) -> int:
    """How many processes are worth their start."""
    ours = getattr(os, "sched_getaffinity", None)  # of this process; macOS and Windows lack it
    processors = len(ours(0)) if ours else os.cpu_count() or 1
    return min(1 + sessions // SESSIONS_A_JOB, processors, JOBS_UNASKED)


def _describe_batch(batch: SessionBatch) -> str:
    """A batch, by what it begins and ends with."""
    ends = [head.session_id for head in (*batch.heads[:1], *batch.heads[-1:])]
    ends += [f"{one.path}, line {one.line}" for one in (*batch.pieces[:1], *batch.pieces[-1:])]
    return f"{batch.sessions:,} sessions, from {ends[0]} to {ends[1]}"


# Models --------------------------------------------------------------------------------------


class Live:
    """Asks models what the recording does not say: of both sides, unless the recording is one."""

    def __init__(self, leads: Leads, change: RunChange, options: RunOptions) -> None:
        self._leads = leads
        self._change = change
        self._options = options
        prices = [price(table) for table in leads.settings.prices]
        runs = Runs(
            WORKFLOWS,
            own_code(),
            change,
            prices,
            models=self._model,
            calls_max=options.calls_max,
            repeat=options.repeat,
            keeps_recording=options.is_recorded,
        )
        self._regression = Regression(WORKFLOWS, own_code(), runs)

    def judge(self, run: RegressionRun, announce: Announce) -> None:
        """Judge again what is open for want of a model."""
        paid = self._paid(run)
        with self._regression:
            reads = list(run.again([case for case in run.cases if case.calls_needed]))
            kept = {case.head: case for case in paid.read()} if self._options.resumes else {}
            asked = [one for case, one in reads if case.head not in kept]
            told = self._announced(run.cases, asked)
            if told.calls:
                announce(told)
            again = (case for case, _ in reads if case.head in kept)
            run.instead([replace(kept[case.head], source=case.source) for case in again])
            run.instead(self._asked(paid, asked))
        if not any(case.calls_needed for case in run.cases):
            paid.forget()

    def _paid(self, run: RegressionRun) -> KeptLines[Case]:
        """Of the same run: another change, selection or code has answers of its own."""
        options = self._options
        identity = repr((code_digest(), options.repeat, options.is_recorded, run.identity))
        return KeptLines(cached("regress"), identity, Case, clock_ids.now() / 1_000_000)

    def _asked(self, paid: KeptLines[Case], sessions: Iterable[ReadSession]) -> Iterator[Case]:
        for session in sessions:
            case = self._regression.case(session.events, session.head, session.source)
            if isinstance(case, Case):
                if not case.calls_needed:  # else it waits for a model, and is not paid yet
                    paid.keep(replace(case, source="", repeat=""))
                yield case

    def _announced(self, cases: Sequence[Case], asked: Sequence[ReadSession]) -> Announced:
        calls = sum(self._regression.calls(one.events, one.head) for one in asked)
        sides = [case.recorded for case in cases if case.recorded is not None]
        known = [side for side in sides if side.cost is not None and side.calls]
        made = sum(side.calls for side in known)
        cost = sum(side.cost or 0.0 for side in known) / made * calls if made else None
        return Announced(len(asked), calls, cost, _currency(self._leads.settings.prices))

    def _model(self, request: CompletionRequested) -> Provider:
        leads, provider = self._leads, request.provider
        address = self._change.address if provider == self._change.provider else ""
        address = address or leads.address_for(None, provider)
        lead = Lead(provider, request.model, request.parameters, address=address)
        return leads.provider_for(lead)
