"""What sessions have decided, and where each value came from, as their logs have it."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from preflights_es.core.artifacts import Related, Written
from preflights_es.core.events import Actor, RecordNumber, Value, Whole

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
    """Who said it; an agent without a name where a model did."""
    at: Whole
    """When it was said, in microseconds since 1970 UTC."""
    version: int
    """Of the Decision that made it count."""
    input: int
    """Of the Input that said it: an answer, an intention, or a provider's response."""
    asked: int | None = None
    """Of the question, where one was asked."""
    response: int | None = None
    """Of the provider's response that said the value, or worded its question."""


class Stood(Value, frozen=True):
    """What was so of a decision until it changed; the times go by the clock of who changed it."""

    until: Whole
    """In microseconds since 1970 UTC: from then on it was otherwise."""
    number: RecordNumber | None
    supersedes: Related | None
    written: Written | None


class Decided(Value, frozen=True, kw_only=True):
    """One patch, and what became of it."""

    version: int
    """Of the event that proposed it."""
    uid: str
    title: str
    """The intention."""
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
    """Who passed that person's word on; None where the person gave it."""
    superseded_at: Whole | None = None
    supersedes: Related | None = None
    superseded_by: Related | None = None
    written: Written | None = None
    """Its document."""
    former: tuple[Stood, ...] = ()
    """What its number, its document and the decision before it were since it was acknowledged."""

    def stood(self, at: int) -> Decided:
        """As it was at the end of a microsecond in which it was in force."""
        then = next((former for former in self.former if at < former.until), self)
        return replace(
            self,
            standing="accepted",
            number=then.number,
            supersedes=then.supersedes,
            written=then.written,
            superseded_at=None,
            superseded_by=None,
            former=(),
        )
