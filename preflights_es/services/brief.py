"""The brief of a project, read off projections, cut to few tokens."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final

from preflights_es.artifacts.project_brief import Conflict, InForce, Open, Quoted, told
from preflights_es.artifacts.record_names import MARKDOWN
from preflights_es.core.artifacts import Related
from preflights_es.core.ids import short
from preflights_es.services.decisions import decisions, records_beside
from preflights_es.services.foreign_row import ForeignRow
from preflights_es.services.inbox import inbox
from preflights_es.services.request import Request
from preflights_es.services.results import DecisionRow, Result

PENDING: Final = ("ready", "proposed")
"""Standings of a patch that a person may still accept."""


class Brief(Result, frozen=True, kw_only=True, tag_field="format", tag="brief/1"):
    """What a coding agent has to know of a project; lists are newest first."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    decisions: tuple[InForce, ...]
    foreign: tuple[ForeignRow, ...]
    """Records without a session: those in force, then those that were superseded."""
    conflicts: tuple[Conflict, ...]
    proposed: tuple[InForce, ...]
    open: tuple[Open, ...]
    left_out: Mapping[str, int]
    """By list: how many more there are."""
    prompt: str
    """All of it, in fewer than 500 tokens."""


def brief(request: Request) -> Brief:
    """The decisions in force, what collides, and what is proposed or open."""
    waiting = inbox(request)
    rows = sorted(decisions(request, everything=True), key=_moved, reverse=True)
    accepted = [row for row in rows if row.standing == "accepted"]
    by_uid = {row.uid: row for row in rows if row.standing in ("accepted", "superseded")}
    in_force = [_in_force(row, by_uid) for row in accepted]
    conflicts = [*_conflicts(accepted)]
    proposed = [_in_force(row, by_uid) for row in rows if row.standing in PENDING]
    asked = [
        Open(short(one.session_id), one.intention, one.question)
        for one in waiting.waiting
        if one.question is not None
    ]
    foreign = _foreign(request, rows)
    found = told(in_force, conflicts, proposed, asked, waiting.more, [*map(_quoted, foreign)])
    return Brief(
        project=request.process.project,
        behind=bool(request.process.projector.behind),
        decisions=tuple(in_force[: found.decisions]),
        foreign=foreign[: found.foreign],
        conflicts=tuple(conflicts[: found.conflicts]),
        proposed=tuple(proposed[: found.proposed]),
        open=tuple(asked[: found.open]),
        left_out={
            "decisions": len(in_force) - found.decisions,
            "foreign": len(foreign) - found.foreign,
            "conflicts": len(conflicts) - found.conflicts,
            "proposed": len(proposed) - found.proposed,
            "open": len(asked) + waiting.more - found.open,
        },
        prompt=found.text,
    )


def _foreign(request: Request, rows: Iterable[DecisionRow]) -> tuple[ForeignRow, ...]:
    """Records of other tools; read only where a file lies there that no session here wrote."""
    settings = request.process.settings
    try:
        names = os.listdir(settings.root / settings.decisions)
    except OSError:
        return ()
    there = {f"{settings.decisions}/{name}" for name in names if name.endswith(MARKDOWN)}
    if there <= {row.artifact for row in rows}:
        return ()
    found = sorted(
        records_beside(request, everything=True).rows,
        key=lambda row: (row.date, row.path),
        reverse=True,
    )
    held = tuple(row for row in found if row.is_held)
    return held + tuple(row for row in found if row.status == "superseded")


def _quoted(row: ForeignRow) -> Quoted:
    by = f" by {row.superseded_by}" if row.superseded_by else ""
    return Quoted(row.title, f"{row.status}{by}", row.date, row.path)


def _moved(row: DecisionRow) -> str:
    return row.accepted_at or row.proposed_at


def _name(row: DecisionRow) -> str:
    return short(row.uid) if row.number is None else f"ADR-{row.number:04}"


def _known_as(related: Related) -> str:
    return short(related.uid) if related.number is None else f"ADR-{related.number:04}"


def _in_force(row: DecisionRow, by_uid: Mapping[str, DecisionRow]) -> InForce:
    return InForce(
        name=_name(row),
        category=row.category,
        fields=row.fields,
        because=row.because.text if row.because else "",
        excludes=tuple(dict.fromkeys(_excluded(row, by_uid))),
        beside=tuple((_known_as(one.related), one.reason) for one in row.kept),
        date=_moved(row)[: len("2026-11-22")],
        path=row.artifact or "",
        imported=row.filed,
        file=row.file or "",
    )


def _excluded(row: DecisionRow, by_uid: Mapping[str, DecisionRow]) -> Iterable[str]:
    """What it was chosen over, and the values that it replaced."""
    yield from (one.name for one in row.alternatives)
    for one in (row.supersedes, *row.also_supersedes):
        if one is None:
            continue
        former = by_uid.get(one.uid)
        if former is None:  # of another clone, or erased
            yield one.title
            continue
        yield from (value for name, value in former.fields if (name, value) not in row.fields)


def _conflicts(rows: Iterable[DecisionRow]) -> Iterable[Conflict]:
    """Fields of one category that have two values in force, which no person kept on purpose."""
    values: dict[tuple[str, str], dict[str, DecisionRow]] = {}
    for row in rows:
        for field, value in row.fields:
            of_field = values.setdefault((row.category, field), {})
            of_field.setdefault(value, row)
    for (category, field), of_field in values.items():
        if any(not _are_kept(*pair) for pair in combinations(of_field.values(), 2)):
            named = tuple(
                (value, _name(row) + (" (file)" if row.file else ""))
                for value, row in of_field.items()
            )
            yield Conflict(category, field, named)


def _are_kept(one: DecisionRow, other: DecisionRow) -> bool:
    """Whether a person kept both, for a reason."""
    return any(beside.related.uid == other.uid for beside in one.kept)
