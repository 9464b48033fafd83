"""The brief of a project, read off projections, cut to few tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from preflights_es.kernel.ids import short_session
from preflights_es.records.project_brief import (
    BriefDecision,
    Open,
    UnclearRecord,
    compose_project_brief,
    list_decisions_in_force,
)
from preflights_es.records.record_list import record_files
from preflights_es.records.record_names import numbered_name
from preflights_es.runtime.features import FEATURES
from preflights_es.use.conflicts import as_conflict, find_clashes
from preflights_es.use.decisions import list_decisions, records_beside
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, Result
from preflights_es.use.turned_down import former_of, turned_down_by
from preflights_es.words.decisions import OTHER, DecisionConflict, Related
from preflights_es.words.signing import IN_SHORT

PENDING: Final = ("ready", "proposed")
"""Standings of a patch that a person may still accept."""

TOLD_MAX: Final = 100  # decisions that a brief may have room for: a line has five tokens or more
DAY: Final = 10  # characters of a date such as 2026-11-22


class ProjectBrief(Result, frozen=True, kw_only=True, tag_field="format", tag="brief/1"):
    """What a coding agent has to know of a project."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    near: int
    """How many of the decisions, the first ones, concern the task."""
    decisions: tuple[BriefDecision, ...]
    """In force, ours and those of other tools: those near the task, then the newest first."""
    conflicts: tuple[DecisionConflict, ...]
    """Newest first, as the other lists are."""
    unclear: tuple[UnclearRecord, ...]
    """Records of other tools whose status is not understood."""
    proposed: tuple[BriefDecision, ...]
    open: tuple[Open, ...]
    left_out: Mapping[str, int]
    """By list: how many more there are."""
    prompt: str
    """All of it, in fewer than 500 tokens."""


def compose_brief(request: Request, task: str = "") -> ProjectBrief:
    """The decisions in force, what collides, and what is proposed or open.

    Args:
        task: what the agent is about to do; decisions that concern it come first, with reasons.
    """
    from preflights_es.use.inbox import inbox  # the brief of a session needs none

    waiting = inbox(request, deciding=True)
    rows = _list_newest_decisions(request)
    accepted = [row for row in rows if row.standing == "accepted"]
    foreign, unclear = _foreign_records_in_force(request, rows)
    others, in_conflict = _parted(request, [*accepted, *foreign])
    in_force, near, count = _select_brief_decisions(request, others, rows, task)
    proposed = [_quote_decision_row(row) for row in rows if row.standing in PENDING]
    asked = [
        Open(short_session(one.session_id), one.intention, one.question)
        for one in waiting.waiting
        if one.question is not None
    ]
    found = compose_project_brief(
        in_force,
        in_conflict,
        proposed,
        asked,
        total=count,
        more_open=waiting.more,
        near=near,
        unclear=unclear,
    )
    return ProjectBrief(
        project=request.process.project,
        behind=bool(request.process.projector.behind),
        near=min(near, found.decisions),
        decisions=tuple(in_force[: found.decisions]),
        conflicts=tuple(in_conflict[: found.conflicts]),
        unclear=unclear[: found.unclear],
        proposed=tuple(proposed[: found.proposed]),
        open=tuple(asked[: found.open]),
        left_out={
            "decisions": count - found.decisions,
            "conflicts": len(in_conflict) - found.conflicts,
            "unclear": len(unclear) - found.unclear,
            "proposed": len(proposed) - found.proposed,
            "open": len(asked) + waiting.more - found.open,
        },
        prompt=found.text,
    )


def list_decisions_beside_session(request: Request, session_id: str, task: str, room: float) -> str:
    """The decisions in force for the brief of a session, without its own, and what collides.

    Empty without any.

    Args:
        task: what the session is about.
        room: estimated tokens that they may have.
    """
    rows = _list_newest_decisions(request)
    accepted = [row for row in rows if row.standing == "accepted"]
    foreign, _ = _foreign_records_in_force(request, rows)
    others, conflicts = _parted(request, [*accepted, *foreign])
    others = [r for r in others if r.session_id != session_id]
    found, near, count = _select_brief_decisions(request, others, rows, task)
    if not (found or conflicts):
        return ""
    return list_decisions_in_force(found, count, room, near, conflicts=conflicts)[0]


def _list_newest_decisions(request: Request) -> list[DecisionRow]:
    rows = list_decisions(request, everything=True)
    return sorted(rows, key=attrgetter("moved_at"), reverse=True)


def _parted(
    request: Request, in_force: Sequence[DecisionRow | ForeignRow]
) -> tuple[list[DecisionRow | ForeignRow], list[DecisionConflict]]:
    """What is in force without what is in conflict, and that."""
    clashes = find_clashes(request.process, in_force)
    apart = {one.row.uid for place in clashes for one in place}
    return [row for row in in_force if row.uid not in apart], [*map(as_conflict, clashes)]


def _select_brief_decisions(
    request: Request,
    holding: Iterable[DecisionRow | ForeignRow],
    rows: Iterable[DecisionRow],
    task: str,
) -> tuple[list[BriefDecision], int, int]:
    """The decisions and records in force that a brief may tell, those near a task first.

    Also how many of them are near, and how many are in force.

    Args:
        rows: all decisions, also those that were superseded.
    """
    found = {row.uid: row for row in holding}
    order: dict[str, int] = {}
    if found and task.strip():
        order = FEATURES.port("ranks")(request, task, is_task=True)
    first = [found[uid] for uid in sorted(order.keys() & found.keys(), key=order.__getitem__)]
    others = [one for uid, one in found.items() if uid not in order]
    chosen = [*first, *sorted(others, key=_brief_row_day, reverse=True)][:TOLD_MAX]
    former = former_of(rows)
    made = [
        _quote_foreign_row(row) if isinstance(row, ForeignRow) else _quote_decision_row(row, former)
        for row in chosen
    ]
    shared = _shared_names(request)
    made = [replace(one, name=one.path) if one.name in shared else one for one in made]
    return made, min(len(first), TOLD_MAX), len(found)


def _shared_names(request: Request) -> set[str]:
    """Names that records of several folders bear, in force or not, so that they name none."""
    process = request.process
    there = record_files(process.settings.root, process.record_places.folders)
    names = (numbered_name(file.path.rpartition("/")[2]) for file in there)
    return {name for name, count in Counter(one.label for one in names if one).items() if count > 1}


def _brief_row_day(row: DecisionRow | ForeignRow) -> str:
    return (row.date if isinstance(row, ForeignRow) else row.moved_at)[:DAY]


def _foreign_records_in_force(
    request: Request, rows: Iterable[DecisionRow]
) -> tuple[tuple[ForeignRow, ...], tuple[UnclearRecord, ...]]:
    """Records of other tools in force, and those whose status is not understood.

    They are read only where a file lies there that no session here wrote.
    """
    process = request.process
    there = record_files(process.settings.root, process.record_places.folders)
    if {file.path for file in there} <= {row.artifact for row in rows}:
        return (), ()
    found = records_beside(request, everything=False)
    unknown = (row for row in found.doubtful if row.status == "unknown")
    return (
        tuple(sorted(found.rows, key=lambda row: row.path, reverse=True)),
        tuple(UnclearRecord(row.path, row.title, row.status_text) for row in unknown),
    )


def _quote_foreign_row(row: ForeignRow) -> BriefDecision:
    is_known = row.value and (row.scope or row.category)
    # A number that only the title has may be another record's.
    is_numbered = is_known and str(row.number or "-") in row.path.rpartition("/")[2]
    return BriefDecision(
        name=row.label if is_numbered else row.path,
        title=row.title,
        category=row.category,
        scope=row.scope,
        fields=(("", row.value),) if row.value else (),
        date=row.date,
        path=row.path,
        tool=row.tool,
        is_partly_superseded=row.status == "partly_superseded",
    )


def _beside_name(one: Related) -> str:
    return one.name if one.uid else one.path or one.title


def _quote_decision_row(
    row: DecisionRow, former: Mapping[str, DecisionRow] = MappingProxyType({})
) -> BriefDecision:
    return BriefDecision(
        name=row.name,
        title=row.title,
        category="" if row.category == OTHER else row.category,
        scope=row.scope,
        fields=row.fields,
        because=row.reason,
        excludes=tuple(one.name for one in turned_down_by(row, former)),
        beside=tuple((_beside_name(one.related), one.reason) for one in row.kept),
        date=_brief_row_day(row),
        path=row.artifact or "",
        file=row.file or "",
        signature=IN_SHORT[row.signature.verdict] if row.signature else "",
    )
