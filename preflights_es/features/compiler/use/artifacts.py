"""The artifacts of a project: where they stand, by which name, in which files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from preflights_es.features.compiler.domain.decide import IN_FORCE
from preflights_es.features.compiler.domain.state import CompilerState
from preflights_es.features.compiler.domain.views import FILE, FOLDER, envelope
from preflights_es.kernel import ids
from preflights_es.kernel.errors import ArtifactOutside, Refused
from preflights_es.kernel.ids import iso, iso_or_none
from preflights_es.kernel.text import escaped_text, one_line
from preflights_es.projections.artifacts import PlanRow, decode_plan_row
from preflights_es.records.files import checked_folder, found_hash
from preflights_es.runtime.finding import LAST
from preflights_es.use.process import Process
from preflights_es.use.request import Request
from preflights_es.use.results import Result, Who
from preflights_es.words.items import Planned, ReadFileDigest


def plan_rows(request: Request) -> tuple[PlanRow, ...]:
    """The plans of a project, oldest first, those of session files among them."""
    return tuple(request.reading.rows(_read_logged_plan_rows))


def _read_logged_plan_rows(process: Process) -> Iterator[PlanRow]:
    """Those of one log."""
    return map(decode_plan_row, process.projector.rows("artifacts", process.project))


def plans_in_force(rows: Iterable[PlanRow]) -> list[PlanRow]:
    """Those that are approved or locked, the one that was approved last behind.

    Of a type there may be several: a locked TestPlan beside an approved one, an ImplementationPlan
    for every target.
    """
    found = [row for row in rows if row.planned.standing in IN_FORCE]
    return sorted(found, key=lambda row: (row.planned.changed_at or 0, row.session_id))


DIGITS: Final = frozenset("0123456789abcdef-")
NAMED_MAX: Final = 5  # artifacts that a message names


def plan_named(request: Request, typed: str) -> str:
    """The session of the artifact that is meant, which the log must have.

    Raises:
        Refused: none or several are, or it is a report.
    """
    row = row_named(plan_rows(request), typed)
    if row.file is not None:
        message = f"only {row.file} has the {row.planned.type} {short_id(row.planned.id)}"
        raise Refused(message, code="only_in_file", path=row.file)
    if row.planned.type == "FailureReport":
        message = f"{short_id(row.planned.id)} is a FailureReport: nothing of it can be approved"
        raise Refused(message, code="is_report", id=row.planned.id)
    return row.session_id


def row_named(rows: Iterable[PlanRow], typed: str) -> PlanRow:
    """The artifact whose id is, or begins with, what was typed; `last` is the newest.

    The id of its session, or the end of that, means it as well: `inbox` and `sessions` show those.

    Raises:
        Refused: none or several.
    """
    wanted, rows = typed.strip().lower(), tuple(rows)
    if wanted == LAST and rows:
        return rows[-1]
    fits = len(wanted) >= ids.TYPED_MIN and set(wanted) <= DIGITS
    found = [row for row in rows if fits and row.planned.id.startswith(wanted)]
    found = found or [row for row in rows if fits and row.session_id.endswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        message = f"no artifact matches {escaped_text(one_line(typed))!r}"
        message = "this project has no artifact" if wanted == LAST else message
        raise Refused(message, code="unknown_artifact", typed=typed)
    named = ", ".join(f"{row.planned.id} ({row.planned.type})" for row in found[:NAMED_MAX])
    more = f" and {len(found) - NAMED_MAX} more" if len(found) > NAMED_MAX else ""
    message = f"{wanted!r} matches {len(found)} artifacts: {named}{more}"
    raise Refused(message, code="ambiguous_artifact", typed=typed)


def short_id(id_: str) -> str:
    """The beginning of an id, by which people call an artifact."""
    return id_[: ids.SHORT]


FileState = Literal["same", "edited", "missing"]

FILED: Final = ("approved", "locked", "superseded")
"""Standings from which a file follows."""


class PlanFiles:
    """The folder of artifacts as it lies there now."""

    def __init__(self, root: Path) -> None:
        """Args:
        root: of the project.
        """
        try:
            self._folder = checked_folder(root, FOLDER)
            self._names = frozenset(filter(_NAME.fullmatch, os.listdir(self._folder)))
        except (OSError, ArtifactOutside):
            self._names = frozenset()

    def state(self, one: Planned) -> FileState | None:
        """How the file of an artifact compares with what the log says; None where it has none.

        A `.new` file beside an edited one counts for nothing: the edited one is named.
        """
        name = _artifact_file_name(one)
        if not name:
            return None
        lies = found_hash(self._folder / name) if name in self._names else None
        if lies is None:
            return "missing"
        return "same" if lies == one.sha256 else "edited"

    def strays(self, known: Iterable[Planned]) -> tuple[str, ...]:
        """Paths of files that look like artifacts, of which no session that verifies says so.

        They come with a branch, by hand, or stay behind when their session is erased.
        """
        return tuple(
            f"{FOLDER}/{name}" for name in sorted(self._names - {*map(_artifact_file_name, known)})
        )


_NAME: Final = re.compile(FILE)


def _artifact_file_name(one: Planned) -> str:
    """What the file of an artifact is called; empty of one that has none."""
    name = f"{one.type}-{one.id}.json"
    return name if one.standing in FILED and _NAME.fullmatch(name) else ""


ENDED: Final = ("rejected", "superseded", "abandoned", "failed")
"""Standings of what no pass and no person can use any more."""


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
    artifact: str | None
    """Path of its file."""
    artifact_state: FileState | None
    """How the file compares with what the log says; None where it has none."""
    documents: tuple[ReadFileDigest, ...]
    """The versions of the documents that it was made from."""
    file: str | None = None
    """The session file that says so, where the log does not."""

    @classmethod
    def of(cls, row: PlanRow, files: PlanFiles) -> ArtifactRow:
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
            artifact=one.path or None,
            artifact_state=files.state(one),
            documents=one.files,
            file=row.file,
        )


class ProjectArtifacts(Result, frozen=True, tag_field="format", tag="artifacts/1"):
    """The artifacts of a project."""

    project: str
    behind: bool
    """Whether it may be older than the log, because another process was writing."""
    strays: tuple[str, ...] = ()
    """Paths of files in the folder of artifacts that no session speaks for."""
    artifacts: tuple[ArtifactRow, ...] = ()


class ArtifactListing(Result, frozen=True):
    """The artifacts, and how many more there are."""

    head: ProjectArtifacts
    """Without the rows."""
    rows: Iterator[ArtifactRow]
    """Made as they are taken, once."""
    ended: int
    """How many have ended, and are not among them."""


def artifacts(request: Request, *, everything: bool = False) -> ArtifactListing:
    """The artifacts that can be approved or are in force, oldest first.

    Args:
        everything: also those that have ended, reports among them.
    """
    rows = plan_rows(request)
    wanted = [row for row in rows if everything or row.planned.standing not in ENDED]
    process = request.process
    files = PlanFiles(process.settings.root)
    return ArtifactListing(
        head=ProjectArtifacts(
            project=process.project,
            behind=bool(process.projector.behind),
            strays=files.strays(row.planned for row in rows),
        ),
        rows=(ArtifactRow.of(row, files) for row in wanted),
        ended=len(rows) - len(wanted),
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
    row = row_named(plan_rows(request), typed)
    handle = request.reading.session(row.session_id).load()
    state: CompilerState = handle.session.state
    told = envelope(state, row.planned.id)
    files = PlanFiles(request.process.settings.root)
    return WholeArtifact(row=ArtifactRow.of(row, files), envelope=told)
