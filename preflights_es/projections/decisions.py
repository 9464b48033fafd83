"""`decisions`: every patch, and where each of its values came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.ports import Row
from preflights_es.projections.projection import (
    VERSIONS,
    Projection,
    Read,
    database_text,
    decode_projected_value,
)
from preflights_es.words.decisions import DecidedPatch


class DecisionColumns(msgspec.Struct, frozen=True):
    """A patch, with what is asked before it is read."""

    session_id: str
    version: int
    project: str
    uid: str
    standing: str
    category: str
    accepted_at: int | None
    superseded_at: int | None
    decided: str


class PatchRow(msgspec.Struct, frozen=True):
    """A patch, and the session that it stands in."""

    session_id: str
    decided: DecidedPatch


def accepted_at(patch: DecidedPatch) -> int | None:
    """When a person accepted it, in microseconds since 1970 UTC."""
    return patch.acknowledged_at if patch.standing in ("accepted", "superseded") else None


def fold_decision_rows(read: Read) -> tuple[Row, ...]:
    """One a patch."""
    return tuple(
        (
            read.head.session_id,
            patch.version,
            database_text(read.head.project),
            database_text(patch.uid),
            patch.standing,
            database_text(patch.category),
            accepted_at(patch),
            patch.superseded_at,
            canonical_json(patch).decode(),
        )
        for patch in read.patches
    )


DECISIONS: Final = Projection(
    name="decisions",
    version=VERSIONS["decisions"],
    rows=fold_decision_rows,
    row=DecisionColumns,
    key=2,
    index=("project", "session_id", "version", "accepted_at", "superseded_at"),
)
PROJECTION: Final = DECISIONS


def decode_patch_row(row: Mapping[str, Any]) -> PatchRow:
    """A row, as it was folded.

    Raises:
        ProjectionDamaged: no fold writes such a row.
    """
    decided = decode_projected_value(DECISIONS.name, row, "decided", DecidedPatch)
    return PatchRow(row["session_id"], decided)


def filter_decisions_in_force(
    rows: Iterable[Mapping[str, Any]], at: int | None = None
) -> Iterator[PatchRow]:
    """The architecture: decisions that a person had accepted and no later one had superseded.

    Args:
        at: at the end of this microsecond; None is now.
    """
    for row in rows:
        began, ended = row["accepted_at"], row["superseded_at"]
        if began is None or (at is None and ended is not None):
            continue
        if at is not None and (began > at or (ended is not None and ended <= at)):
            continue
        one = decode_patch_row(row)
        yield one if at is None else replace(one, decided=one.decided.stood(at))
