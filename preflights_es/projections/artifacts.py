"""`artifacts`: every structured plan that sessions made, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.ports import Row
from preflights_es.projections.projection import (
    VERSIONS,
    Projection,
    Read,
    database_text,
    decode_projected_value,
)
from preflights_es.words.items import Planned


class ArtifactColumns(msgspec.Struct, frozen=True):
    """A plan, with what is asked before it is read."""

    session_id: str
    version: int
    project: str
    id: str
    type: str
    standing: str
    created_at: int
    plan: str


class PlanRow(msgspec.Struct, frozen=True):
    """A plan, and the session that it stands in."""

    session_id: str
    project: str
    planned: Planned
    file: str | None = None
    """The session file that says so, where the log does not."""


def plans(read: Read) -> tuple[Planned, ...]:
    """The plans of a session, oldest first; none of one that cannot be folded."""
    if read.workflow.filed.planned is None or not read.sessions:
        return ()
    return read.workflow.filed.planned(read.folded, read.sessions)


def fold_artifact_rows(read: Read) -> tuple[Row, ...]:
    """One a plan."""
    return tuple(
        (
            read.head.session_id,
            plan.version,
            database_text(read.head.project),
            database_text(plan.id),
            database_text(plan.type),
            plan.standing,
            plan.created_at,
            canonical_json(plan).decode(),
        )
        for plan in plans(read)
    )


ARTIFACTS: Final = Projection(
    name="artifacts",
    version=VERSIONS["artifacts"],
    rows=fold_artifact_rows,
    row=ArtifactColumns,
    key=2,
    index=("project", "session_id", "version", "standing"),
)
PROJECTION: Final = ARTIFACTS


def decode_plan_row(row: Mapping[str, Any]) -> PlanRow:
    """A row, as it was folded.

    Raises:
        ProjectionDamaged: no fold writes such a row.
    """
    planned = decode_projected_value(ARTIFACTS.name, row, "plan", Planned)
    return PlanRow(row["session_id"], row["project"], planned)
