"""What a session planned, as its log has it: one artifact or more.

An artifact here is a structured plan with a standing. The files that a session owes stand in
`core.artifacts`.
"""

from __future__ import annotations

from typing import Literal

from preflights_es.kernel.events import Actor, Value, Whole
from preflights_es.kernel.ids import SHORT, short
from preflights_es.kernel.source import Source
from preflights_es.kernel.text import shown

PlanStanding = Literal[
    "draft", "proposed", "approved", "locked", "rejected", "superseded", "abandoned", "failed"
]
"""`failed`: a FailureReport. `proposed`: a script or an agent approved it; it satisfies no pass."""


class ReadFile(Value, frozen=True):
    """A file that was read, and the one digest that it had."""

    path: str
    sha256: str


class ReadRecord(Value, frozen=True):
    """Something of another session that was read."""

    kind: Literal["plan", "decision"]
    id: str
    """An artifact's id, or a decision's uid."""
    source: Source


class Cause(Value, frozen=True):
    """Why an artifact is stale: from what changed to the artifact that was read, in words of ids.

    The first is a document's path, an artifact's id or a decision's uid; the last one was read.
    """

    kind: Literal["document", "plan", "decision"]
    path: tuple[str, ...]
    what: Literal["changed", "gone", "replaced", "erased"]


def path_of(cause: Cause) -> str:
    """Why something is stale, from what changed to what was read, in words."""
    first, *read = cause.path
    shortened = {"document": first, "plan": first[:SHORT], "decision": short(first)}
    names = (shortened[cause.kind], *(id_[:SHORT] for id_ in read))
    return f"{' -> '.join(map(shown, names))} ({cause.what})"


FindingKind = Literal["name", "file", "layer", "test", "requirement", "decision", "more"]
"""What a plan disagrees about. `more`: there are too many to name, and none of those is waived."""


class Finding(Value, frozen=True):
    """Where a plan disagrees with what was read: it blocks, unless a person waives it."""

    name: str
    """The kind and six hexadecimal digits: the same for the same words at the same place."""
    kind: FindingKind
    pointer: str
    """A JSON Pointer into the payload."""
    message: str


class Waived(Value, frozen=True):
    """A finding that a person waived, and who that was."""

    finding: Finding
    reason: str
    by: Actor
    at: Whole
    """In microseconds since 1970 UTC."""
    relayed_by: Actor | None = None


class Planned(Value, frozen=True, kw_only=True):
    """One artifact, and what became of it."""

    version: int
    """The version of the event that made it."""
    id: str
    type: str
    """As the specification calls it: `ProjectPlan`, `FailureReport`, ..."""
    subject: str = ""
    """Target or goal: one artifact in force for each type and subject."""
    standing: PlanStanding
    created_at: Whole
    """All times are in microseconds since 1970 UTC, by the clock of who recorded the Input."""
    created_by: Literal["human", "llm", "system"]
    depends_on: tuple[str, ...] = ()
    files: tuple[ReadFile, ...] = ()
    """What was read from the disk."""
    records: tuple[ReadRecord, ...] = ()
    """What was read of other sessions."""
    changed_at: Whole | None = None
    """When its standing changed last."""
    changed_by: Actor | None = None
    superseded_by: str = ""
    """The id of the artifact that took its place."""
    reason: str = ""
    """Of a rejection; of a report, its summary."""
    findings: tuple[Finding, ...] = ()
    """Where it disagrees with what it was made from."""
    waived: tuple[Waived, ...] = ()
    """Findings that persons waived: these, and those of an approval."""
    path: str = ""
    """Of its file, once it was written."""
    sha256: str = ""
    """Of the file's bytes."""
