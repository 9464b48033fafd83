"""Erasing: what would go, and what went."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import asdict, replace

from preflights_es.history.erasure import Doomed, Quote, Quotes
from preflights_es.kernel.errors import ErasedSession, PreflightsError
from preflights_es.use.filed_sessions import FiledSessions
from preflights_es.use.request import Request
from preflights_es.use.results import Result
from preflights_es.use.stand_in import refuse_erasing
from preflights_es.use.sync import erased_files, take_new


class ErasurePlan(Result, frozen=True):
    """What is to be erased, and what quotes it."""

    doomed: tuple[Doomed, ...]
    others: tuple[Doomed, ...]
    """The sessions that quote those, as far as they can be erased."""
    quotes: Quotes
    reason: str
    """As it will be recorded."""
    kept: tuple[PreflightsError, ...]
    """Why sessions that quote cannot be."""


class Stated(Quote, frozen=True, kw_only=True):
    """A session that quotes another one."""

    stays: bool
    """False where it is erased as well."""


class Erased(Result, frozen=True, tag_field="format", tag="erase/1"):
    """What went; of a dry run, what would go."""

    erased: bool
    sessions: tuple[Doomed, ...]
    quotes: tuple[Stated, ...]
    unread: tuple[str, ...]
    """Sessions that could not be looked at, and may quote."""
    scrubbed: bool | None
    """Whether the database's journal is empty of it; None where nothing was erased."""


def resolve_erasure_targets(
    request: Request, named: Sequence[str], *, looks: bool
) -> tuple[Request, list[str]]:
    """The ids of sessions, and the request that can erase them.

    The log first takes over every session that only files have, since each may quote what goes.
    What a branch brought back of one that is erased goes again.

    Args:
        looks: whether nothing will be erased, and so nothing is taken over.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
        ReadOnlyLog: the text would stay in a log that cannot be written.
    """
    if looks:
        if len(named) != 1 and request.reading.filed is not None:
            text = "session files say more than the log: erasing takes over what only they have"
            request.notice("files_not_listed", text)
        if len(named) != 1:
            return request, [request.sessions.resolved(one) for one in named]
        found = request.reading.find(named[0])
        return request.at(found.process), [found.session_id]
    refuse_erasing(request.process.settings)
    for one in named:
        request.reading.find(one)
    take_new(request)
    ids = [*dict.fromkeys(request.sessions.resolved(one) for one in named)]
    for session_id in ids:
        file = FiledSessions(request.process).file_of(session_id)
        if file is not None and file.compared == "restored":
            _erase_files(request, [session_id])
    return request, ids


def _erase_files(request: Request, session_ids: Sequence[str]) -> None:
    """Take the text out of the files of sessions, and say what that does not reach."""
    paths: list[str] = []
    for session_id in session_ids:
        try:
            paths.extend(erased_files(request.process, session_id))
        except PreflightsError as error:
            request.notice("session_file_stays", str(error), session=session_id)
    if paths:
        more = f" and {len(paths) - 1:,} more session files" if paths[1:] else ""
        text = f"{paths[0]}{more} erased: commit this. Git's history keeps the text"
        request.notice("session_files_erased", text, paths=paths)


def plan_erasure(request: Request, named: Sequence[str], reason: str = "") -> ErasurePlan:
    """What erasing means for the named sessions.

    Raises:
        UnknownSession, ErasedSession, LogDamaged: one cannot be erased.
        Refused: likewise; or the reason repeats what is to be erased.
    """
    erasure = request.erasure
    ids = dict.fromkeys(request.sessions.resolved(one) for one in named)
    doomed = tuple(erasure.doomed(session_id) for session_id in ids)
    quotes = erasure.quoting(doomed)
    quoting = dict.fromkeys(quote.session_id for quote in quotes.found)
    each = list(erasure.each_doomed(quoting))
    others = tuple(one for one in each if isinstance(one, Doomed))
    return ErasurePlan(
        doomed=doomed,
        others=others,
        quotes=quotes,
        reason=erasure.reason(reason, [*doomed, *others]),
        kept=tuple(one for one in each if isinstance(one, PreflightsError)),
    )


def erase(
    request: Request,
    planned: ErasurePlan,
    doomed: Sequence[Doomed],
    tell: Callable[[Doomed | PreflightsError], None] = lambda _: None,
) -> Erased:
    """Erase sessions of a plan for good.

    Args:
        tell: takes each session that went, or why it did not: another process was first.
    """
    gone: list[Doomed] = []
    for one in doomed:
        try:
            request.erasure.erase(one.session_id, planned.reason)
        except ErasedSession as error:
            tell(error)
            continue
        gone.append(one)
        tell(one)
    _erase_files(request, [one.session_id for one in gone])
    untitled = [replace(one, title=None) for one in gone]
    return report_erasure(planned, untitled, scrubbed=request.process.store.scrubbed())


def report_erasure(
    planned: ErasurePlan, doomed: Sequence[Doomed], scrubbed: bool | None = None
) -> Erased:
    """What went; where nothing was scrubbed, what would go."""
    quotes = planned.quotes
    ids = {one.session_id for one in doomed}
    return Erased(
        erased=scrubbed is not None,
        sessions=tuple(doomed),
        quotes=tuple(Stated(**asdict(q), stays=q.session_id not in ids) for q in quotes.found),
        unread=quotes.unread,
        scrubbed=scrubbed,
    )
