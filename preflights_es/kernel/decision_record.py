"""What sessions have decided, and where each value came from, as their logs have it."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from preflights_es.kernel.artifacts import Beside, Related, Written
from preflights_es.kernel.events import Actor, RecordNumber, Value, Whole
from preflights_es.kernel.rationale import Rationale

Standing = Literal["ready", "replaced", "proposed", "accepted", "superseded", "abandoned"]
"""Where a patch stands.

`ready`: it waits to be accepted. `replaced`: the session went on, and it counts no more.
`proposed`: a script or an agent accepted it; a person has not. `superseded`: it was accepted, and
another decision took its place.
"""


class Origin(Value, frozen=True):
    """Where one value of a patch came from; numbers are versions of the session's events."""

    key: str
    """The question it answers."""
    field: str
    """`Category`, or the field's name in the patch."""
    value: str
    source: str
    """`detected`, `stated`, `chosen`, `custom`, `typed`, or `suggested` by a model."""
    by: Actor
    """The actor who gave it; an agent without a name for a model."""
    at: Whole
    """When it was said, in microseconds since 1970 UTC."""
    version: int
    """The version of the Decision that made it count."""
    input: int
    """The version of the Input that holds it: answer, intention or provider's response."""
    asked: int | None = None
    """The version of the question, if one was asked."""
    response: int | None = None
    """The version of the provider's response that gave the value or worded its question."""


class Stood(Value, frozen=True):
    """What was so of a decision until it changed; the times go by the clock of who changed it."""

    until: Whole
    """The end, in microseconds since 1970 UTC: a later decision changed it."""
    number: RecordNumber | None
    supersedes: Related | None
    written: Written | None
    kept: tuple[Beside, ...] = ()


class Learned(Value, frozen=True):
    """Words by which a decision of another session is found, besides its own."""

    uid: str
    """Of the decision."""
    words: tuple[str, ...]


class Decided(Value, frozen=True, kw_only=True):
    """One patch, and what became of it."""

    version: int
    """The version of the event that proposed it."""
    uid: str
    title: str
    """What is decided, in a few words; the intention in sessions of the first rules."""
    category: str
    fields: tuple[tuple[str, str], ...]
    """Pairs of field name and value, in the order of the table."""
    origins: tuple[Origin, ...]
    """The category's first."""
    standing: Standing
    kind: str
    """`adr` or `task`."""
    number: RecordNumber | None
    proposed_at: Whole
    """All times are in microseconds since 1970 UTC, by the clock of who recorded the Input."""
    response: int | None = None
    """Version of the provider's response that it follows from."""
    recorded: int | None = None
    """Version of the Decision by which its acknowledgement counts."""
    acknowledged_at: Whole | None = None
    acknowledged_by: Actor | None = None
    """A person only where it is, or was, accepted."""
    relayed_by: Actor | None = None
    """The actor who passed that person's word on; None if the person gave it directly."""
    rationale: Rationale = Rationale()
    """What speaks for it, and what was not chosen."""
    superseded_at: Whole | None = None
    supersedes: Related | None = None
    superseded_by: Related | None = None
    written: Written | None = None
    """Its document."""
    also_supersedes: tuple[Related, ...] = ()
    """Others that the same acceptance replaced."""
    kept: tuple[Beside, ...] = ()
    """Decisions that stay in force beside it, although their values differ."""
    imported_by: Actor | UnsetType = UNSET
    """The agent whose import brought it, while no person of this log has confirmed it; then
    `acknowledged_by` is what the file says."""
    scope: str | UnsetType = UNSET
    """What it is for; not written where that is the whole project."""
    asked_by: Actor | UnsetType = UNSET
    """The actor who began the session; it is added where projections read the session."""
    former: tuple[Stood, ...] = ()
    """What its number, its document and the decision before it were since it was acknowledged."""

    def stood(self, at: int) -> Decided:
        """The record at the end of a microsecond in which it was in force."""
        then = next((former for former in self.former if at < former.until), self)
        return replace(
            self,
            standing=self.standing if self.imported_by else "accepted",
            number=then.number,
            supersedes=then.supersedes,
            written=then.written,
            kept=then.kept,
            superseded_at=None,
            superseded_by=None,
            former=(),
        )
