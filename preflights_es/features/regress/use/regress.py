"""One regression run: the sessions, what a change does to them, and the report of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from time import monotonic
from typing import Final, get_args

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.engine.change import Change, words
from preflights_es.features.regress.engine.results import (
    OUTCOMES,
    Case,
    CauseKind,
    LeftOut,
    Report,
    Verdict,
)
from preflights_es.features.regress.engine.verdict import MARGIN, require_statistics, verdict
from preflights_es.features.regress.use.baseline import (
    attributed,
    differing,
    differing_in,
    is_unattributed,
)
from preflights_es.features.regress.use.judging import UNREAD
from preflights_es.features.regress.use.live import Announce, Announced, Live
from preflights_es.features.regress.use.revisions import Revision, revision
from preflights_es.features.regress.use.run import Going, Run
from preflights_es.features.regress.use.selection import Chosen, Selection, chosen
from preflights_es.kernel import __version__
from preflights_es.kernel.errors import Refused
from preflights_es.settings.load import kept_results, surroundings
from preflights_es.use.progress import Drawn, undrawn
from preflights_es.use.request import Request

CAUSES: Final = get_args(CauseKind)
LOST: Final = "a worker was lost twice with "
NOT_THERE: Final = ("is not here", UNREAD)
"""How what was left out begins, or ends, where the environment failed."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a run goes, and what it is held against."""

    jobs: int | None = None
    """Processes; None for as many as are worth their start."""
    scheduler: str = ""
    """Address of a Dask scheduler, in place of processes."""
    is_fresh: bool = False
    """Whether no kept result is used."""
    resumes: bool = False
    """Whether kept results do where a model would be asked."""
    code: str = ""
    """A folder or revision whose code decides; empty for ours."""
    against: str = ""
    """A folder or revision with the code that recorded the sessions."""
    baseline: str = ""
    """File of an earlier report in JSON."""
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


def untold(_announced: Announced) -> None:
    """Says nothing."""


def regress(
    request: Request,
    named: Sequence[str] = (),
    selection: Selection = Selection(),  # noqa: B008  frozen
    change: Change | None = None,
    options: Options = Options(),  # noqa: B008  frozen
    drawn: Drawn = undrawn,
    announce: Announce = untold,
) -> Report:
    """Run recorded sessions again with today's code, or with a change, and judge the result.

    Args:
        named: sessions of the log, files and folders; all of the project where there are none.
        announce: takes what models will be asked, before they are.

    Raises:
        UnknownSession, AmbiguousSession, Refused: as `chosen` says.
        SettingsError: something that the change or the options need is not here.
        StoreUnavailable: the log, a scheduler, or other code cannot be reached.
    """
    began = monotonic()
    _check(change, options)
    known = differing(options.baseline) if options.baseline else None
    code, recorder = (_revision(request, typed) for typed in (options.code, options.against))
    picked = chosen(request, named, selection)
    going = Going(
        jobs=options.jobs,
        scheduler=options.scheduler,
        is_fresh=options.is_fresh,
        revision=code,
        repeating=options.repeating,
    )
    run = Run(request, picked, change, going)
    with run.kept:
        run.judge(drawn)
        if change is not None and options.is_live:
            is_recorded, repeat = options.is_recorded, options.repeat
            live = Live(
                *(request.leads, change, options.calls_max, repeat), keeps_recording=is_recorded
            )
            with run.keeping(f"live {repeat}{' recorded' * is_recorded}") as kept:
                live.judge(run, announce, kept, resumes=options.resumes)
        if recorder is not None:
            unknown = filter(is_unattributed, run.cases)
            run.instead(list(attributed(run.again(list(unknown)), recorder)))
    cases = sorted(map(_told, run.cases), key=lambda one: (one.session_id, one.source, one.head))
    margin = None if change is None else options.margin
    pairs = cases if margin is None else list(_once(run.cases))
    judged = verdict(pairs, margin, chance_is_loss=options.is_recorded)
    new = () if known is None else sorted({*differing_in(cases)} - known)
    changes = (*(words(change) if change else ()), *((f"code of {code.name}",) if code else ()))
    return _report(run, cases, judged, picked, changes, tuple(new), monotonic() - began)


def _check(change: Change | None, options: Options) -> None:
    """Before anything takes long.

    Raises:
        Refused: the options contradict each other.
        ProviderMissing: scipy is not here, and a verdict is due.
    """
    if options.repeat < 1 or not options.repeat % 2:
        raise Refused(f"--repeat: found {options.repeat}, expected an odd number, such as 3")
    if not options.is_live and (options.is_recorded or options.repeat > 1):
        raise Refused("--recorded and --repeat say how --live asks: give --live, too")
    if change is None:
        if options.is_live:
            raise Refused("only a change asks a model: name one, such as --prompt clarify=v2")
        return
    if options.code:
        raise Refused("--code says who decides, a change what is asked: name one of them")
    require_statistics()


def _revision(request: Request, typed: str) -> Revision | None:
    if not typed:
        return None
    cache = kept_results()
    if cache is None:
        raise Refused("no folder can keep the code of another revision: set XDG_CACHE_HOME")
    return revision(typed, request.process.settings.root, cache, surroundings())


def _report(
    run: Run,
    cases: Sequence[Case],
    judged: Verdict,
    picked: Chosen,
    changes: tuple[str, ...],
    new: tuple[str, ...],
    seconds: float,
) -> Report:
    outcomes = Counter(case.outcome for case in cases)
    causes = Counter(kind for case in cases for kind in {one.kind for one in case.causes})
    return Report(
        preflights=__version__,
        changes=changes,
        selection=_utf8(picked.told),
        sessions=len(cases),
        counts={name: outcomes[name] for name in OUTCOMES},
        cause_counts={name: causes[name] for name in CAUSES if causes[name]},
        cases=tuple(cases),
        verdict=judged,
        new=new,
        left_out=tuple(_left_out(run.left, run.lost)),
        live_calls=sum(case.live_calls for case in cases),
        seconds=round(seconds, 3),
    )


def _once(cases: Sequence[Case]) -> Iterable[Case]:
    """One of the copies of each session."""
    return {(case.session_id, case.head): case for case in cases}.values()


def _told(case: Case) -> Case:
    """As a report can hold it: the name of a file may be no UTF-8."""
    return replace(case, source=_utf8(case.source), message=_utf8(case.message))


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _left_out(left: Sequence[LeftOut], lost: Sequence[str]) -> Iterator[str]:
    """Sessions by what keeps them from being judged, and batches whose worker was lost."""
    for why, number in sorted(Counter(one.why for one in left).items()):
        yield f"{number:,} session{'' if number == 1 else 's'}: {why}"
    yield from (f"{LOST}{_utf8(one)}" for one in sorted(lost))
