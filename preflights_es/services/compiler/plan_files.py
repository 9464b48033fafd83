"""Files of artifacts on this disk, held against the log; none of them counts by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final, Literal

from preflights_es.artifacts.files import checked_folder, found_hash
from preflights_es.core.errors import ArtifactOutside
from preflights_es.core.plan_record import Planned
from preflights_es.projections.artifacts import PlanRow, plan
from preflights_es.services.process import Process
from preflights_es.workflows.compiler import WORKFLOW
from preflights_es.workflows.compiler.views import FILE, FOLDER

FileState = Literal["same", "edited", "missing"]

FILED: Final = ("approved", "locked", "superseded")
"""Standings from which a file follows."""


def file_state(process: Process, row: PlanRow) -> FileState | None:
    """How the file of an artifact compares with what the log says was written; None without one.

    A `.new` file beside an edited one counts for nothing: the edited one is named.
    """
    path = _path(row.planned)
    if not path:
        return None
    try:
        lies = found_hash(process.documents.target(path, WORKFLOW.filing))
    except ArtifactOutside:
        return "missing"
    if lies is None:
        return "missing"
    return "same" if lies == row.planned.sha256 else "edited"


def stray_plan_files(process: Process) -> tuple[str, ...]:
    """Paths of files that look like artifacts, of which no session that verifies says so.

    They come with a branch, by hand, or stay behind when their session is erased.
    """
    known = {_path(row.planned) for row in _rows(process)}
    return tuple(path for path in _lying(process) if path not in known)


def _path(planned: Planned) -> str:
    """Where the file of an artifact belongs; empty of one that has none."""
    name = f"{planned.type}-{planned.id}.json"
    has_one = planned.standing in FILED and re.fullmatch(FILE, name)
    return f"{FOLDER}/{name}" if has_one else ""


def _rows(process: Process) -> Iterator[PlanRow]:
    """The artifacts of the log, and those that session files say more."""
    logs = (process,) if process.file_log.is_empty else (process, process.file_log)
    for log in logs:
        yield from map(plan, log.projector.rows("artifacts", process.project))


def _lying(process: Process) -> list[str]:
    """Paths of the files that lie in the folder under the name of an artifact."""
    try:
        names = os.listdir(checked_folder(process.settings.root, FOLDER))
    except (OSError, ArtifactOutside):
        return []
    return sorted(f"{FOLDER}/{name}" for name in names if re.fullmatch(FILE, name))
