"""The artifacts of a project: a list with standings, one with its content, and how two differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from preflights_es.features.compiler.domain.state import State
from preflights_es.features.compiler.domain.views import envelope
from preflights_es.features.compiler.use.naming import row_named
from preflights_es.features.compiler.use.plan_files import FileState, PlanFiles
from preflights_es.features.compiler.use.standing import PlanRow, Standings
from preflights_es.kernel.errors import Refused
from preflights_es.kernel.ids import SHORT, iso, iso_or_none
from preflights_es.kernel.items import Cause, Finding
from preflights_es.kernel.json import ABSENT, differences
from preflights_es.use.reading import looking
from preflights_es.use.request import Request
from preflights_es.use.results import Result, WaivedFinding, Who

ENDED: Final = ("rejected", "superseded", "abandoned", "failed")
"""Standings of what no pass and no person can use any more."""
NAMES: Final = ("name", "id", "path")
"""Fields by which an item of a list is the same in two artifacts, the first that all items have."""


class ArtifactRow(Result, frozen=True):
    """An artifact and what became of it; times are ISO 8601, UTC."""

    id: str
    type: str
    subject: str
    """The target of an ImplementationPlan, the goal of a RefactorPlan."""
    standing: str
    depends_on: tuple[str, ...]
    session_id: str
    version: int
    created_at: str
    created_by: str
    changed_at: str | None
    changed_by: Who | None
    superseded_by: str
    reason: str
    findings: tuple[Finding, ...]
    """Where it disagrees with what it was made from."""
    waived: tuple[WaivedFinding, ...]
    artifact: str | None
    """Path of its file."""
    artifact_state: FileState | None
    """How the file compares with what the log says; None where it has none."""
    stale: tuple[Cause, ...]
    """From what changed to what it read; of what has ended, nothing."""
    file: str | None = None
    """The session file that says so, where the log does not."""

    @classmethod
    def of(cls, row: PlanRow, stale: tuple[Cause, ...], files: PlanFiles) -> ArtifactRow:
        """As the projection `artifacts` keeps it, and as its file lies there."""
        one = row.planned
        return cls(
            id=one.id,
            type=one.type,
            subject=one.subject,
            standing=one.standing,
            depends_on=one.depends_on,
            session_id=row.session_id,
            version=one.version,
            created_at=iso(one.created_at),
            created_by=one.created_by,
            changed_at=iso_or_none(one.changed_at),
            changed_by=Who.of(one.changed_by),
            superseded_by=one.superseded_by,
            reason=one.reason,
            findings=one.findings,
            waived=tuple(map(WaivedFinding.of, one.waived)),
            artifact=one.path or None,
            artifact_state=files.state(one),
            stale=() if one.standing in ENDED else stale,
            file=row.file,
        )


class Artifacts(Result, frozen=True, tag_field="format", tag="artifacts/1"):
    """The artifacts of a project."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    strays: tuple[str, ...] = ()
    """Paths of files in the folder of artifacts that no session speaks for."""
    artifacts: tuple[ArtifactRow, ...] = ()


class Listing(Result, frozen=True):
    """The artifacts, and how many more there are."""

    head: Artifacts
    """Without the rows."""
    rows: Iterator[ArtifactRow]
    """Made as they are taken, once."""
    ended: int
    """How many have ended, and are not among them."""


def artifacts(request: Request, *, everything: bool = False) -> Listing:
    """The artifacts that can be approved or are in force, oldest first.

    Args:
        everything: also those that have ended, reports among them.
    """
    found = Standings(request)
    wanted = [row for row in found.rows if everything or row.planned.standing not in ENDED]
    process = request.process
    files = PlanFiles(process.settings.root)
    return Listing(
        head=Artifacts(
            project=process.project,
            behind=bool(process.projector.behind),
            strays=files.strays(row.planned for row in found.rows),
        ),
        rows=(ArtifactRow.of(row, found.causes(row), files) for row in wanted),
        ended=len(found.rows) - len(wanted),
    )


# 1. One artifact -----------------------------------------------------------------------------


class WholeArtifact(Result, frozen=True, tag_field="format", tag="artifact/1"):
    """An artifact, and what it holds."""

    row: ArtifactRow
    envelope: dict[str, Any]
    """As its file holds it, once it is approved."""


def artifact(request: Request, typed: str) -> WholeArtifact:
    """An artifact by its id, or the beginning of it.

    Raises:
        Refused: none or several match.
    """
    found = Standings(request)
    return _told(request, found, row_named(found.rows, typed))


def _told(request: Request, found: Standings, row: PlanRow) -> WholeArtifact:
    handle = looking(request, row.session_id).sessions.load(row.session_id)
    state: State = handle.session.state
    told = envelope(state, row.planned.id)
    files = PlanFiles(request.process.settings.root)
    return WholeArtifact(row=ArtifactRow.of(row, found.causes(row), files), envelope=told)


# 2. Two artifacts ----------------------------------------------------------------------------


class Difference(Result, frozen=True, omit_defaults=True):
    """Where two artifacts differ; a side without a value has none here."""

    at: str
    """A JSON Pointer into the payload; an item of a list stands by its name, id or path."""
    before: Any = msgspec.UNSET
    after: Any = msgspec.UNSET


class Compared(Result, frozen=True, tag_field="format", tag="artifact-diff/1"):
    """How two artifacts of one type differ."""

    type: str
    before: str
    """Its id."""
    after: str
    differences: tuple[Difference, ...]


def compared(request: Request, before: str, after: str) -> Compared:
    """How the payloads of two artifacts differ; the order of named items does not count.

    Raises:
        Refused: none or several match, or they are of different types.
    """
    found = Standings(request)
    rows = [row_named(found.rows, typed) for typed in (before, after)]
    (one, other), types = rows, [row.planned.type for row in rows]
    if types[0] != types[1]:
        which = [f"{row.planned.id[:SHORT]} is a {row.planned.type}" for row in rows]
        raise Refused(f"{which[0]}, {which[1]}: name two of one type", code="other_type")
    a, b = (_told(request, found, row).envelope["payload"] for row in rows)
    return Compared(
        type=types[0],
        before=one.planned.id,
        after=other.planned.id,
        differences=tuple(_differences(a, b)),
    )


def _differences(before: Any, after: Any) -> Iterator[Difference]:
    for at, a, b in differences(*_by_name(before, after)):
        yield Difference(
            at=at,
            before=msgspec.UNSET if a is ABSENT else a,
            after=msgspec.UNSET if b is ABSENT else b,
        )


def _by_name(one: Any, other: Any) -> tuple[Any, Any]:
    """Two values whose lists of named items are objects, by name."""
    if isinstance(one, dict) and isinstance(other, dict):
        shared = {key: _by_name(one[key], other[key]) for key in one if key in other}
        return (
            {key: shared[key][0] if key in shared else value for key, value in one.items()},
            {key: shared[key][1] if key in shared else value for key, value in other.items()},
        )
    if isinstance(one, list) and isinstance(other, list):
        for name in NAMES:
            sides = [_named(side, name) for side in (one, other)]
            if sides[0] is not None and sides[1] is not None:
                return _by_name(*sides)
    return one, other


def _named(items: list[Any], name: str) -> dict[str, Any] | None:
    """The items of a list by a field that every one of them has for itself; else None."""
    keys = [item.get(name) if isinstance(item, dict) else None for item in items]
    named = [key for key in keys if isinstance(key, str)]
    if len(set(named)) < len(items):
        return None
    return dict(zip(named, items, strict=True))
