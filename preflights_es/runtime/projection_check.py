"""Whether projections hold what the log folds to: only this check finds a row written by hand.

Rows are operational: they have no chain, and a user who may write events may write them. So
sessions that were read and verified anyway are folded once more, and compared with their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from preflights_es.kernel.errors import LogFromFuture, ProjectionDamaged, WorkflowMissing
from preflights_es.kernel.ports import Head, KeptRows, Row, Stored, Stream
from preflights_es.projections.folding import Read, Reader
from preflights_es.projections.projection import Projection
from preflights_es.runtime.projector import rows_of
from preflights_es.store.projection_feed import SqlFollowing

LOOKS: Final = 10  # at a session that others move meanwhile


class Astray(msgspec.Struct, frozen=True):
    """Something that a projection keeps, and that its log does not say."""

    projection: str
    session_id: str
    found: str


class Holding:
    """Holds sessions against projections, one after the other."""

    def __init__(
        self,
        log: SqlFollowing,
        projections: Sequence[Projection],
        reader: Reader,
        again: Callable[[str], Stream | None],
    ) -> None:
        """Args:
        again: reads and verifies a session once more; None where it does not verify any more.
        """
        self._log = log
        self._projections = projections
        self._reader = reader
        self._again = again
        self.astray: list[Astray] = []
        """What was found in the sessions that were looked at."""
        self.unread = 0
        """Sessions that verify, and that this program cannot fold."""
        self.unknown = 0
        """Sessions that verify, and whose workflow is not here."""

    def look(self, head: Head, events: Sequence[Stored]) -> Read | None:
        """A session that verifies; one of a newer program is passed over.

        Returns:
            How it was read; None where it cannot be folded.
        """
        try:
            read = self._reader.read(Stream(head, tuple(events)))
        except WorkflowMissing:
            self.unknown += 1
            return None
        except LogFromFuture:
            self.unread += 1
            return None
        self.unread += read.trouble in ("damaged", "faulted")
        rows = self._folded(read)
        for one in self._projections:
            if found := self._difference(one, read, rows):
                self.astray.append(Astray(one.name, head.session_id, found))
        return read if read.sessions else None

    def strays(self, project: str | None) -> tuple[Astray, ...]:
        """Rows of sessions that a project (the log: None) does not have."""
        found = "it has rows, and the log has no such session"
        known = self._log.registered()
        return tuple(
            Astray(one.name, session_id, found)
            for one in self._projections
            if one.name not in known or known[one.name].version == one.version
            for session_id in self._log.strays(one.name, project)
        )

    def _folded(self, read: Read) -> Mapping[str, tuple[Row, ...]]:
        return rows_of(read, self._projections, self._log.unfit)

    def _difference(
        self, projection: Projection, read: Read, rows: Mapping[str, tuple[Row, ...]]
    ) -> str:
        """What two looks in a row find: others may record and fold between two reads."""
        seen: tuple[int, KeptRows] | None = None
        for _ in range(LOOKS):
            try:
                kept = self._log.kept(projection.name, read.head.session_id)
            except ProjectionDamaged as error:
                return error.found
            found = _differs(projection, read, rows[projection.name], kept)
            if not found or seen == (read.version, kept):
                return found
            seen = (read.version, kept)
            stream = self._again(read.head.session_id)
            try:
                again = self._reader.read(stream) if stream is not None else None
            except LogFromFuture:
                again = None
            if again is None:
                return ""
            read, rows = again, self._folded(again)
        return ""


def _differs(projection: Projection, read: Read, rows: Sequence[Row], kept: KeptRows) -> str:
    """The differences between a session's rows and its log; empty without any."""
    mark = kept.mark
    if kept.of not in (None, projection.version):
        return ""  # rows of another version are no matter of this program
    if mark == read.version:
        is_same = _told(projection, read, kept.rows) == _told(projection, read, rows)
        return "" if is_same else "its rows are not what its events fold to"
    if mark is not None and (not isinstance(mark, int) or mark > read.version):
        return f"it is marked as folded up to event {mark!r}, and has {read.version}"
    if kept.waits or not kept.complete:
        return ""  # the next reader of the projection folds it first
    upto = "was never folded" if mark is None else f"was folded up to event {mark} alone"
    return f"it {upto}, and no row of 'outbox' asks to fold the rest"


def _told(projection: Projection, read: Read, rows: Sequence[Row]) -> list[Row]:
    """Rows without words that are not the same everywhere."""
    if not projection.words or read.trouble in ("", "erased"):
        return list(rows)
    place = projection.row.__struct_fields__.index(projection.words)
    return [(*row[:place], *row[place + 1 :]) for row in rows]
