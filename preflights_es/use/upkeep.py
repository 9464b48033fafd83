"""The projections of a log: how far they are, and folding them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from preflights_es.kernel.events import ArtifactDue
from preflights_es.projections.decisions import DECISIONS, decision
from preflights_es.records.documents import Borne, given_again
from preflights_es.runtime.lost_calls import reopened
from preflights_es.runtime.projector import State
from preflights_es.store.side_tables import SqlAuditing
from preflights_es.use.decisions import is_unfolded
from preflights_es.use.progress import Drawn, undrawn
from preflights_es.use.request import Request
from preflights_es.use.results import Result


class Kept(Result, frozen=True):
    """How one projection stands."""

    name: str
    version: int
    folded_version: int | None
    state: str
    """`complete`, `being rebuilt`, `of another version` or `never built`."""
    sessions: int
    """Folded so far."""


class Projections(Result, frozen=True, tag_field="format", tag="projections/1"):
    """How all of them stand."""

    sessions: int
    """In the log, of every project."""
    waiting: int
    """Appends that no projection has folded yet."""
    projections: tuple[Kept, ...]


class Rebuilt(Result, frozen=True, tag_field="format", tag="projections-rebuild/1"):
    """What a rebuild did, and how large the log is."""

    rebuilt: tuple[str, ...]
    reopened: int
    """Open calls that no row of `claims` had, or a wrong one."""
    numbers: int
    """Numbers of records that no row of `numbers` had."""
    sessions: int
    events: int
    waiting: int


class Followed(Result, frozen=True, tag_field="format", tag="projections-follow/1"):
    """What a follower folded since the time before."""

    at: str
    sessions: int


class Mended(Result, frozen=True):
    """What a rebuild found beside the projections."""

    calls: int
    """Open calls that no row had."""
    wrong: int
    """Rows of open calls that were wrong."""
    owed: tuple[ArtifactDue, ...]
    """Documents that were never written."""
    unfolded: int
    """Sessions that could not be folded, as far as the projection `sessions` knows all."""


def projections(request: Request) -> Projections:
    """How far each projection is; no session is folded."""
    process = request.process
    counts = process.following.counts()
    return Projections(
        sessions=counts["sessions"],
        waiting=counts["waiting"],
        projections=tuple(map(_kept, process.projector.states())),
    )


def _kept(one: State) -> Kept:
    known, state = one.registered, "complete"
    if known is None:
        state = "never built"
    elif known.version != one.version:
        state = "of another version"
    elif not known.complete:
        state = "being rebuilt"
    return Kept(
        name=one.name,
        version=one.version,
        folded_version=known.version if known else None,
        state=state,
        sessions=one.sessions,
    )


def rebuild(
    request: Request,
    names: Sequence[str] = (),
    drawn: Drawn = undrawn,
) -> tuple[Rebuilt, Mended]:
    """Fold every session again, for all or some projections; others may record meanwhile."""
    process = request.process
    names = tuple(dict.fromkeys(names)) or tuple(s.name for s in process.projector.states())
    with drawn(process.following.counts()["sessions"]) as update:
        process.projector.rebuild(names, update)
    process.projector.follow()
    tables = SqlAuditing(process.store)
    lost = list(reopened(process.runner, tables))
    numbers = sum(1 for _ in given_again(process.runner, _borne(request), tables))
    mended = Mended(
        calls=sum(len(one.calls) for one in lost),
        wrong=sum(len(one.mended) for one in lost),
        owed=tuple(due for one in lost for due in one.documents),
        unfolded=_unfolded(request),
    )
    counts = process.following.counts()
    reopens = mended.calls + mended.wrong
    return Rebuilt(rebuilt=names, reopened=reopens, numbers=numbers, **counts), mended


def _borne(request: Request) -> Iterator[Borne]:
    """Numbers of records, as far as the projection `decisions` knows all; oldest session first."""
    if not _is_current(request, DECISIONS.name):
        return
    for one in map(decision, request.process.following.rows(DECISIONS.name, None)):
        if one.decided.number is not None:
            yield Borne(one.session_id, one.project, one.decided.number)


def _unfolded(request: Request) -> int:
    if not _is_current(request, "sessions"):
        return 0
    return sum(map(is_unfolded, request.process.following.rows("sessions", None, "unfolded")))


def _is_current(request: Request, name: str) -> bool:
    states = request.process.projector.states()
    return any(state.name == name and state.is_current for state in states)
