"""Whether projections hold what the log folds to: only this check finds a row written by hand.

Rows are operational: they have no chain, and a user who may write events may write them. So
sessions that were read and verified anyway are folded once more, and compared with their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from preflights_es.core.errors import LogFromFuture, ProjectionDamaged, WorkflowMissing
from preflights_es.core.ports import Head, Stored
from preflights_es.core.projection_ports import Keeping, Kept, Registered, Row, Stream
from preflights_es.projections.folding import Read, Reader
from preflights_es.projections.projection import Projection
from preflights_es.projections.projector import rows_of

PAGE: Final = 64  # sessions compared with their rows at once
LOOKS: Final = 10  # at a session that others move meanwhile


class Astray(msgspec.Struct, frozen=True):
    """Something that a projection keeps, and that its log does not say."""

    projection: str
    session_id: str
    """Empty where it is no matter of one session."""
    found: str


class _Folded(msgspec.Struct, frozen=True):
    """A session as it was read, and what projections would keep of it."""

    session_id: str
    version: int
    rows: Mapping[str, tuple[Row, ...]]
    is_whole: bool
    """Whether it could be folded to its end."""


class Holding:
    """Holds sessions against projections, some at a time; memory does not grow with the log."""

    def __init__(
        self,
        log: Keeping,
        projections: Sequence[Projection],
        reader: Reader,
        unfit: Callable[[str, Sequence[Row]], str],
        again: Callable[[str], Stream | None],
    ) -> None:
        """Args:
        unfit: as for `projector.rows_of`.
        again: reads and verifies a session once more; None where it does not verify any more.
        """
        self._log = log
        self._projections = projections
        self._reader = reader
        self._unfit = unfit
        self._again = again
        self._page: list[_Folded] = []
        self._astray: list[Astray] = []
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
        self._page.append(self._rows(read))
        if len(self._page) >= PAGE:
            self._settle()
        return read if read.sessions else None

    def result(self) -> tuple[Astray, ...]:
        """What was found in the sessions that were looked at."""
        self._settle()
        return tuple(self._astray)

    def strays(self, project: str | None) -> tuple[Astray, ...]:
        """Rows of sessions that a project (the log: None) does not have."""
        found = "it has rows, and the log has no such session"
        known = self._log.registered()
        return tuple(
            Astray(one.name, session_id, found)
            for one in self._projections
            if _is_ours(one, known.get(one.name))
            for session_id in self._log.strays(one.name, project)
        )

    def _read(self, stream: Stream) -> Read | None:
        try:
            return self._reader.read(stream)
        except LogFromFuture:
            return None

    def _rows(self, read: Read) -> _Folded:
        rows = rows_of(read, self._projections, self._unfit)
        is_whole = read.trouble in ("", "erased")
        return _Folded(read.head.session_id, read.version, rows, is_whole)

    def _settle(self) -> None:
        known = self._log.registered()
        ids = [one.session_id for one in self._page]
        for projection in self._projections:
            registered = known.get(projection.name)
            if not ids or not _is_ours(projection, registered):
                continue
            try:
                kept = self._log.kept(projection.name, ids)
            except ProjectionDamaged as error:
                self._astray.append(Astray(projection.name, "", error.found))
                continue
            for one in self._page:
                found = _differs(projection, registered, one, kept[one.session_id])
                if found:
                    self._look_again(projection, one, kept[one.session_id])
        self._page = []

    def _look_again(self, projection: Projection, one: _Folded, kept: Kept) -> None:
        """Found is what two looks in a row find: others may record and fold between two reads."""
        seen = (one.version, kept)
        for _ in range(LOOKS):
            stream = self._again(one.session_id)
            read = self._read(stream) if stream is not None else None
            if read is None:
                return
            folded = self._rows(read)
            kept = self._log.kept(projection.name, [one.session_id])[one.session_id]
            registered = self._log.registered().get(projection.name)
            if not _is_ours(projection, registered):
                return
            found = _differs(projection, registered, folded, kept)
            if not found:
                return
            if seen == (folded.version, kept):
                self._astray.append(Astray(projection.name, one.session_id, found))
                return
            seen = (folded.version, kept)


def _is_ours(projection: Projection, registered: Registered | None) -> bool:
    """Whether its rows are of this version; those of another are no matter of this program."""
    return registered is None or registered.version == projection.version


def _differs(
    projection: Projection, registered: Registered | None, one: _Folded, kept: Kept
) -> str:
    """The differences between a session's rows and its log; empty without any."""
    mark = kept.mark
    if mark == one.version:
        is_same = _told(projection, one, kept.rows) == _told(
            projection, one, one.rows[projection.name]
        )
        return "" if is_same else "its rows are not what its events fold to"
    if mark is not None and (not isinstance(mark, int) or mark > one.version):
        return f"it is marked as folded up to event {mark!r}, and has {one.version}"
    is_due = kept.waits or registered is None or not registered.complete
    if is_due:
        return ""  # the next reader of the projection folds it first
    upto = "was never folded" if mark is None else f"was folded up to event {mark} alone"
    return f"it {upto}, and no row of 'outbox' asks to fold the rest"


def _told(projection: Projection, one: _Folded, rows: Sequence[Row]) -> list[Row]:
    """Rows without texts that differ between machines."""
    place = projection.words
    if place is None or one.is_whole:
        return list(rows)
    return [(*row[:place], *row[place + 1 :]) for row in rows]
