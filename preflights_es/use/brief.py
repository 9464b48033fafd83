"""The brief of a project, read off projections, cut to few tokens."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Final

from preflights_es.kernel.ids import short
from preflights_es.kernel.signing import IN_SHORT
from preflights_es.kernel.words import begins, canonical
from preflights_es.records.project_brief import Conflict, InForce, Open, listed, told
from preflights_es.records.record_names import MARKDOWN
from preflights_es.runtime.features import FEATURES
from preflights_es.use.decisions import decisions, records_beside
from preflights_es.use.foreign import ForeignRow
from preflights_es.use.inbox import inbox
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow, Result

PENDING: Final = ("ready", "proposed")
"""Standings of a patch that a person may still accept."""


OTHER: Final = "Other"
"""The category of what has no topic: it says nothing, and its values say nothing of each other."""


OPEN_FIELD: Final = "Description"
"""Of what is decided in a person's own words: two of them say nothing of each other."""
TOLD_MAX: Final = 100  # decisions that a brief may have room for: a line has five tokens or more
DAY: Final = len("2026-11-22")


class Brief(Result, frozen=True, kw_only=True, tag_field="format", tag="brief/1"):
    """What a coding agent has to know of a project."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    near: int
    """How many of the decisions, the first ones, concern the task."""
    decisions: tuple[InForce, ...]
    """In force, ours and those of other tools: those near the task, then the newest first."""
    conflicts: tuple[Conflict, ...]
    """Newest first, as the other lists are."""
    proposed: tuple[InForce, ...]
    open: tuple[Open, ...]
    left_out: Mapping[str, int]
    """By list: how many more there are."""
    prompt: str
    """All of it, in fewer than 500 tokens."""


def brief(request: Request, task: str = "") -> Brief:
    """The decisions in force, what collides, and what is proposed or open.

    Args:
        task: what the agent is about to do; decisions that concern it come first, with reasons.
    """
    waiting = inbox(request, deciding=True)
    rows = sorted(decisions(request, everything=True), key=_moved, reverse=True)
    in_force, near, count = _in_force(request, rows, task)
    colliding = [*conflicts(row for row in rows if row.standing == "accepted")]
    proposed = [_told(row) for row in rows if row.standing in PENDING]
    asked = [
        Open(short(one.session_id), one.intention, one.question)
        for one in waiting.waiting
        if one.question is not None
    ]
    found = told(in_force, colliding, proposed, asked, count, waiting.more, near)
    return Brief(
        project=request.process.project,
        behind=bool(request.process.projector.behind),
        near=min(near, found.decisions),
        decisions=tuple(in_force[: found.decisions]),
        conflicts=tuple(colliding[: found.conflicts]),
        proposed=tuple(proposed[: found.proposed]),
        open=tuple(asked[: found.open]),
        left_out={
            "decisions": count - found.decisions,
            "conflicts": len(colliding) - found.conflicts,
            "proposed": len(proposed) - found.proposed,
            "open": len(asked) + waiting.more - found.open,
        },
        prompt=found.text,
    )


def beside(request: Request, session_id: str, task: str, room: float) -> str:
    """The decisions in force for the brief of a session, without its own; empty without any.

    Args:
        task: what the session is about.
        room: estimated tokens that they may have.
    """
    rows = sorted(decisions(request, everything=True), key=_moved, reverse=True)
    found, near, count = _in_force(request, rows, task, without=session_id)
    return listed(found, count, room, near)[0] if found else ""


def _in_force(
    request: Request, rows: Sequence[DecisionRow], task: str, without: str = ""
) -> tuple[list[InForce], int, int]:
    """The decisions and records in force that a brief may tell, those near a task first.

    Also how many of them are near, and how many are in force.
    """
    found: dict[str, DecisionRow | ForeignRow] = {
        row.uid: row for row in rows if row.standing == "accepted" and row.session_id != without
    }
    found |= {row.path: row for row in _foreign(request, rows)}
    order: dict[str, int] = {}
    if found and task.strip():
        places = {uid: (one.scope, one.category) for uid, one in found.items()}
        order = FEATURES.port("near")(request, task, places)
    first = [found[uid] for uid in sorted(order.keys() & found.keys(), key=order.__getitem__)]
    others = [one for uid, one in found.items() if uid not in order]
    chosen = [*first, *sorted(others, key=_day, reverse=True)][:TOLD_MAX]
    by_uid = {row.uid: row for row in rows if row.standing in ("accepted", "superseded")}
    made = [_quoted(row) if isinstance(row, ForeignRow) else _told(row, by_uid) for row in chosen]
    return made, min(len(first), TOLD_MAX), len(found)


def _day(row: DecisionRow | ForeignRow) -> str:
    return (row.date if isinstance(row, ForeignRow) else _moved(row))[:DAY]


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
    found = records_beside(request, everything=False).rows
    return tuple(sorted(found, key=lambda row: row.path, reverse=True))


def _quoted(row: ForeignRow) -> InForce:
    is_known = row.value and (row.scope or row.category)
    # A number that only the title has may be another record's.
    is_numbered = is_known and str(row.number or "-") in row.path.rpartition("/")[2]
    return InForce(
        name=f"ADR-{row.number}" if is_numbered else row.path,
        title=row.title,
        category=row.category,
        scope=row.scope,
        fields=(("", row.value),) if row.value else (),
        date=row.date,
        path=row.path,
        tool=row.tool,
    )


def _moved(row: DecisionRow) -> str:
    return row.accepted_at or row.proposed_at


def _name(number: int | None, uid: str) -> str:
    return short(uid) if number is None else f"ADR-{number}"


def _told(row: DecisionRow, by_uid: Mapping[str, DecisionRow] = MappingProxyType({})) -> InForce:
    return InForce(
        name=_name(row.number, row.uid),
        title=row.title,
        category="" if row.category == OTHER else row.category,
        scope=row.scope,
        fields=row.fields,
        because=row.because.text if row.because else "",
        excludes=tuple(dict.fromkeys(_excluded(row, by_uid))),
        beside=tuple((_name(one.related.number, one.related.uid), one.reason) for one in row.kept),
        date=_day(row),
        path=row.artifact or "",
        file=row.file or "",
        signature=IN_SHORT[row.signature.verdict] if row.signature else "",
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


def conflicts(rows: Iterable[DecisionRow]) -> Iterator[Conflict]:
    """Fields of one place that have two values in force, which no person kept on purpose."""
    alike: dict[tuple[str, str, frozenset[str]], list[DecisionRow]] = {}
    for row in rows:
        begin = begins(row.scope) if row.scope else frozenset[str]()
        for field, _ in row.fields if row.category != OTHER else ():
            if field == OPEN_FIELD:
                continue  # under a label of a person's own
            alike.setdefault((row.category, field, begin), []).append(row)
    for (category, field, _), having in alike.items():
        for place in _places(having) if len(having) > 1 else ():
            values: dict[str, tuple[str, DecisionRow]] = {}
            for row in place:
                value = dict(row.fields)[field]
                values.setdefault(canonical(value), (value, row))
            differing = [row for _, row in values.values()]
            if any(not _are_kept(*pair) for pair in combinations(differing, 2)):
                named = tuple(
                    (value, _name(row.number, row.uid) + (" (file)" if row.file else ""))
                    for value, row in values.values()
                )
                yield Conflict(category, place[0].scope, field, named)


def _places(rows: Sequence[DecisionRow]) -> Iterable[list[DecisionRow]]:
    """Decisions whose scopes begin alike, those of one scope together."""
    by_scope: dict[str, list[DecisionRow]] = {}
    for row in rows:
        by_scope.setdefault(row.scope, []).append(row)
    if len(by_scope) > 1:
        place_of = FEATURES.port("places")(by_scope)
        places: dict[str, list[DecisionRow]] = {}
        for scope, having in by_scope.items():
            places.setdefault(place_of[scope], []).extend(having)
        return places.values()
    return by_scope.values()


def _are_kept(one: DecisionRow, other: DecisionRow) -> bool:
    """Whether a person kept both, for a reason."""
    return any(beside.related.uid == other.uid for beside in one.kept)
