"""What is decided, in the log and in records of other tools, now or as it stood on another day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from preflights_es.kernel.errors import ArtifactOutside, PreflightsError, ProjectionDamaged, Refused
from preflights_es.kernel.events import INT_MAX
from preflights_es.kernel.ids import DAY_LENGTH, EPOCH, iso, iso_or_none
from preflights_es.kernel.ports import Choice
from preflights_es.kernel.text import caseless
from preflights_es.projections.decisions import (
    PatchRow,
    decode_patch_row,
    filter_decisions_in_force,
)
from preflights_es.records.record_list import UnreadRecord
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.use.conflicts import list_conflicts
from preflights_es.use.foreign import Foreign, ForeignRow, number_clashes_of, read_foreign_records
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, KeptOut, Result
from preflights_es.use.turned_down import find_successor
from preflights_es.words.decisions import DecisionConflict

DAY: Final = 86_400_000_000  # microseconds
BEST_MAX: Final = 50  # decisions that a search lists
COMPARED_MAX: Final = 2_000  # decisions of a list that are held against each other
LOST_MAX: Final = 5  # sessions that are named each, where they could not be folded


class Decisions(Result, frozen=True, tag_field="format", tag="decisions/1"):
    """The decisions of a project; times are ISO 8601, UTC."""

    project: str
    at: str | None
    """The moment that was asked for; None is now."""
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    foreign: tuple[ForeignRow, ...]
    """Records without a session; of a moment those that were in force then by their dates."""
    path: str | None = None
    """The file that was asked for; then only what says that it holds for it is listed."""
    everywhere: int | None = None
    """How many others hold without a pattern, where a file was asked for."""
    turned_down: tuple[KeptOut, ...] = ()
    """What is kept out of the file that was asked for."""
    conflicts: tuple[DecisionConflict, ...] = ()
    """Two values in force at one place; none of a part of the list, or of more than
    `COMPARED_MAX` decisions."""
    matches: int | None = None
    """How many decisions a search found, of which at most the best `BEST_MAX` are listed."""
    decisions: tuple[DecisionRow, ...] = ()


class LostSession(Result, frozen=True):
    """A session that may have decided something, and could not be folded."""

    session_id: str
    status: str
    is_mended: bool
    """Whether it can be folded now: then a rebuild brings its decisions back."""


class DecisionListing(Result, frozen=True):
    """The decisions, and what that list cannot tell."""

    head: Decisions
    """Without the rows."""
    rows: Iterable[DecisionRow]
    """Read as they are taken, once."""
    categories: tuple[str, ...]
    """Those that there are, where no decision is of the category that was asked for."""
    unread: tuple[UnreadRecord, ...]
    """Records that cannot be read."""
    doubtful: tuple[ForeignRow, ...]
    """Records that are not in force although a person may think so."""
    undated: int
    """Records in force that name no day, where a moment was asked for: they are left out."""
    lost: tuple[LostSession, ...]
    """The first `LOST_MAX` sessions that could not be folded."""
    more: int
    """How many others were lost."""
    erased: int
    """Sessions that were erased, and may have decided something by then."""
    damage: ProjectionDamaged | None
    """Why the sessions cannot be listed; None where they can."""


def listing(
    request: Request,
    *,
    at: int | None = None,
    category: str | None = None,
    everything: bool = False,
    query: str = "",
    path: str = "",
    drafts: bool = True,
) -> DecisionListing:
    """As `decisions`, with what is left out.

    Args:
        query: words by which memory finds decisions and records; then the best match is first.
        path: a file, relative to the root; only what says that it holds for it is listed.
        drafts: with `everything`, also what no person ever accepted.
    """
    process = request.process
    found = list_decisions(request, at=at, category=category, everything=everything, drafts=drafts)
    ranks: dict[str, int] | None = FEATURES.port("ranks")(request, query) if query else None
    matches = None
    if ranks is not None:
        matching = (one for one in found if one.uid in ranks)
        best = sorted(matching, key=lambda one: ranks[one.uid])
        matches, found = len(best), iter(best[:BEST_MAX])
    first = list(islice(found, COMPARED_MAX + 1))
    left_out = _find_lost_sessions(request, at)
    behind = bool(process.projector.behind)
    is_whole = at is None and category is None
    records = records_beside(request, everything=everything or at is not None)
    rows, undated = records.rows, 0
    if at is not None:
        undated = sum(one.is_held and not one.date for one in rows)
        rows = tuple(_list_records_held_then(request, rows, iso(at)[:DAY_LENGTH]))
    if category is not None:
        rows = tuple(one for one in rows if caseless(one.category) == caseless(category))
    is_some = bool(first or rows or query)
    there = () if category is None or is_some else _other_categories(request, category)
    conflicts: tuple[DecisionConflict, ...] = ()
    if not (everything or query or path or category is not None or len(first) > COMPARED_MAX):
        conflicts = list_conflicts(process, [*reversed(first), *rows])
    if ranks is not None:
        rows = tuple(
            sorted((one for one in rows if one.path in ranks), key=lambda one: ranks[one.path])
        )[:BEST_MAX]
    everywhere = None
    if path:
        from preflights_es.use.work_tree import WorkTree

        tree, every = WorkTree(process.settings.root), [*first, *found]
        everywhere = sum(not one.paths for one in every) + sum(not one.paths for one in rows)
        first, rows = [], tuple(one for one in rows if tree.matched(one.paths, path))
        found = (one for one in every if tree.matched(one.paths, path))
    if is_whole:
        notice_clashes(request)
    head = Decisions(project=process.project, at=iso_or_none(at), behind=behind, foreign=rows)
    head = replace(head, conflicts=conflicts, matches=matches)
    if path:
        kept_out = FEATURES.port("kept_out")(request, path) if is_whole else ()
        head = replace(head, path=path, everywhere=everywhere, turned_down=kept_out)
    found = chain(first, found)
    return DecisionListing(
        head=head,
        rows=found,
        categories=there,
        unread=records.unread if is_whole else (),
        doubtful=records.doubtful if is_whole else (),
        undated=undated,
        **left_out,
    )


def end_of(day: str) -> int:
    """The last microsecond of a day, UTC.

    Raises:
        Refused: it is no day.
    """
    try:
        begins = datetime.strptime(day.strip(), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise Refused(f"as_of: {day!r} is no day: expected 2026-11-23", code="no_day") from error
    return (begins - EPOCH) // timedelta(microseconds=1) + DAY - 1


def days(request: Request) -> tuple[tuple[str, int], ...]:
    """Pairs of a day, UTC, and how many decisions were accepted on it, oldest first.

    Records of other tools in force count, by the day that they name.
    """
    rows = request.process.projector.rows("decisions", request.process.project)
    found = Counter(row["accepted_at"] // DAY for row in rows if row["accepted_at"] is not None)
    by_day = Counter({iso(day * DAY)[:DAY_LENGTH]: count for day, count in found.items()})
    records = records_beside(request, everything=False).rows
    by_day.update(one.date[:DAY_LENGTH] for one in records if one.date)
    return tuple(sorted(by_day.items()))


def _list_records_held_then(
    request: Request, records: Iterable[ForeignRow], day: str
) -> Iterator[ForeignRow]:
    """The records that were in force at the end of a day, as far as dates tell."""
    known = [one for one in records if one.is_held or one.status == "superseded"]
    accepted = list_decisions(request, everything=True) if known else ()
    own = [row for row in accepted if row.number and row.accepted_at]
    for one in known:
        if not one.date or one.date[:DAY_LENGTH] > day:
            continue
        if one.is_held:
            yield one
        elif later := find_successor(one, known, own):
            since = later.date if isinstance(later, ForeignRow) else later.accepted_at or ""
            if since[:DAY_LENGTH] > day:
                yield replace(one, status="accepted", superseded_by="", is_one_sided=False)


def list_decisions(
    request: Request,
    *,
    at: int | None = None,
    category: str | None = None,
    everything: bool = False,
    drafts: bool = True,
) -> Iterator[DecisionRow]:
    """The decisions in force, oldest first; or every patch.

    Args:
        at: the moment, in microseconds since 1970 UTC; None is now.
        category: of one category alone, in any case.
        everything: also what is not in force.
        drafts: with `everything`, also what no person ever accepted.
    """
    how: dict[str, Any] = {"category": category, "everything": everything, "drafts": drafts}
    return request.reading.rows(lambda process: log_decisions(process, at=at, **how))


def log_decisions(
    process: Process,
    *,
    at: int | None = None,
    category: str | None = None,
    everything: bool = False,
    drafts: bool = True,
) -> Iterator[DecisionRow]:
    """The same of one log."""
    choice: Choice = "all" if everything else "in_force"
    then = INT_MAX if at is None else at
    rows = process.projector.rows("decisions", process.project, choice, then)
    if not drafts:
        rows = (row for row in rows if row["accepted_at"] is not None)
    for one in map(decode_patch_row, rows) if everything else filter_decisions_in_force(rows, at):
        if category is None or caseless(one.decided.category) == caseless(category):
            yield row_of(process, one)


def row_of(process: Process, one: PatchRow) -> DecisionRow:
    """A decision as it is kept, with what its signature proves."""
    row, decided = DecisionRow.of(one), one.decided
    if decided.recorded is None or row.accepted_at is None or decided.key is UNSET:
        return row
    found = process.signatures.of_decision(process.runner, one.session_id, decided)
    return replace(row, signature=found)


def records_beside(request: Request, *, everything: bool) -> Foreign:
    """Records without a session; a folder that cannot be used is told by what writes there."""
    try:
        return read_foreign_records(request.process, everything=everything)
    except ArtifactOutside:
        return Foreign(rows=())


def notice_clashes(request: Request, path: str = "") -> None:
    """Name the numbers that several records of a folder bear.

    Args:
        path: of a record, where only its own number is meant.
    """
    for one in number_clashes_of(request.process):
        if not path or path in one.paths:
            request.notice("number_clash", one.text, paths=one.paths)


def _other_categories(request: Request, category: str) -> tuple[str, ...]:
    """The categories of this project, in force or not; none where it has this one."""
    rows = request.process.projector.rows("decisions", request.process.project)
    there = {decode_patch_row(row).decided.category for row in rows}
    has_it = caseless(category) in map(caseless, there)
    return () if has_it else tuple(sorted(there))


def _find_lost_sessions(request: Request, at: int | None) -> dict[str, Any]:
    """Sessions that cannot be folded, and how many were erased.

    Their statuses are read off the projection, so that no session is folded for it once more, but
    where nothing may be written.
    """
    process = request.process
    lost: list[tuple[str, str]] = []
    more = erased = 0
    damage: ProjectionDamaged | None = None
    try:
        for row in process.projector.rows("sessions", process.project, "unfolded"):
            known = WORKFLOWS.get(row["workflow"])
            if known is not None and known.filed.decided is None:
                continue
            erased += row["status"] == "erased" and (at is None or row["began_at"] <= at)
            if is_unfolded(row) and len(lost) < LOST_MAX:
                lost.append((row["session_id"], row["status"]))
            else:
                more += is_unfolded(row)
    except ProjectionDamaged as error:
        damage = error  # what is decided is kept elsewhere
    named = tuple(
        LostSession(session_id=i, status=s, is_mended=_folds(request, i)) for i, s in lost
    )
    return {"lost": named, "more": more, "erased": erased, "damage": damage}


def _folds(request: Request, session_id: str) -> bool:
    try:
        request.process.runner.load(session_id)
    except PreflightsError:
        return False
    return True


def is_unfolded(row: Mapping[str, Any]) -> bool:
    """Whether a session could not be folded, by its row of the projection `sessions`.

    One whose last Input is undecided is faulted as well; it has a view, and so a progress.
    """
    return row["status"] in ("damaged", "faulted") and row["progress"] is None
