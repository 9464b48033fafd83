"""Which imports brought a session into this log, and as what it counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from preflights_es.kernel.events import Actor
from preflights_es.kernel.ids import iso
from preflights_es.kernel.imports import (
    NAME,
    ProposalConfirmed,
    ProposalTaken,
    SessionsTaken,
    TakenSession,
    accepted_by,
    origin_of,
)
from preflights_es.projections.projection import Read
from preflights_es.use.process import Process
from preflights_es.use.results import Result


class ImportedBy(Result, frozen=True):
    """One import of a session, or the confirmation of one; times are ISO 8601, UTC."""

    session_id: str
    """Of the import's own session."""
    by: Actor
    at: str
    source: str
    """The file, as it was named; empty of a confirmation."""
    before: int
    """The version of the session here before it."""
    version: int
    """Of the last event that came with it."""
    standing: str
    """`as_said`, `proposed` or `confirmed`: what an acceptance in it counts for."""
    accepted_by: str | None = None
    """The person who accepted the session, as the file says; None where no person did."""

    @property
    def told(self) -> str:
        """`imported by claude-code; accepted by Ada, as the file says`."""
        return origin_of(self.by, self.accepted_by)

    def brought(self, version: int) -> bool:
        """Whether an event of the session came with it."""
        return self.before < version <= self.version


def imports_of(process: Process, read: Read) -> tuple[ImportedBy, ...]:
    """All of one session, oldest first; none of a session that began here."""
    return named(read, [one for _, one in imports(process, read.head.session_id)])


def named(read: Read, came: Sequence[ImportedBy]) -> tuple[ImportedBy, ...]:
    """Imports of a session, with the person who accepted it."""
    by = accepted_by(read.workflow, read.stored) if came else None
    return tuple(replace(one, accepted_by=by) for one in came)


def imports(process: Process, only: str = "") -> Iterator[tuple[str, ImportedBy]]:
    """Pairs of an imported session and an import of it, oldest import first.

    Args:
        only: of this session alone.
    """
    reader, store = process.projector.reader, process.following
    for head in process.store.heads_in(NAME):
        for session, one in _imports(reader.read(store.stream(head))):
            if only in ("", session.session_id):
                yield session.session_id, one


def _imports(read: Read) -> Iterator[tuple[TakenSession, ImportedBy]]:
    for event in read.events:
        match event:
            case SessionsTaken():
                taken, source, standing = event.sessions, event.source, "as_said"
            case ProposalTaken():
                taken, source, standing = (event.session,), event.source, "proposed"
            case ProposalConfirmed():
                taken, source, standing = (event.session,), "", "confirmed"
            case _:
                continue
        by, at = event.actor, iso(event.at)
        for one in taken:
            of = (one.before, one.version, standing)
            yield one, ImportedBy(read.head.session_id, by, at, source, *of)
