"""Rows that follow from the log: projections are compared with it, and lost rows of open calls are
made again. Only audits and `admin db` import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from preflights_es.kernel.completions import CompletionRequested
from preflights_es.kernel.errors import (
    AnotherVersion,
    PreflightsError,
    ProjectionDamaged,
    UnreadableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.events import ArtifactDue, OutsideRequest
from preflights_es.kernel.ports import (
    ClaimRow,
    Folded,
    FoldedSession,
    Head,
    KeptRows,
    Row,
    Store,
    Stored,
    Stream,
)
from preflights_es.projections.projection import Projection, ProjectionReader, Read
from preflights_es.runtime.performer import CLAIM_MAX_MS
from preflights_es.runtime.projector import EVENTS, rows_of
from preflights_es.runtime.runner import Runner, head_of
from preflights_es.store.audit_evidence import SqlAuditing
from preflights_es.store.sql_projections import SqlFollowing

PAGE: Final = 100  # sessions whose rows are looked up at once
LOOKS: Final = 10  # at a session that others move meanwhile


class Astray(msgspec.Struct, frozen=True):
    """Something that a projection keeps, and that its log does not say."""

    projection: str
    session_id: str
    found: str


class ProjectionCheck:
    """Folds sessions that verify, one after the other; then compares all rows and marks."""

    def __init__(
        self,
        log: SqlFollowing,
        made: SqlFollowing,
        projections: Sequence[Projection],
        reader: ProjectionReader,
        again: Callable[[str], Stream | None],
    ) -> None:
        """Args:
        made: takes the rows that are made anew; an empty database.
        again: reads and verifies a session once more; None where it does not verify any more.
        """
        self._log = log
        self._made = made
        self._projections = projections
        self._versions = {one.name: one.version for one in projections}
        self._reader = reader
        self._again = again
        self._ids: list[str] = []
        self._unwritten: list[FoldedSession] = []
        self._events = 0  # of those
        self._in_trouble: set[str] = set()
        self.unread = 0
        """Sessions that verify, and that this program cannot fold."""
        self.unknown = 0
        """Sessions that verify, and whose workflow is not here."""
        self.unreadable: list[UnreadableEvent] = []
        """Of sessions that verify: the first event that the code of their workflow cannot read."""
        self.left_out: tuple[str, ...] = ()
        """Projections that were begun and not compared, each with the reason, in words."""
        for name, version in self._versions.items():
            made.begin(name, version)

    def look(self, head: Head, events: Sequence[Stored]) -> Read | None:
        """Fold a session that verifies; one of a newer program is passed over.

        Returns:
            How it was read; None where it cannot be folded.
        """
        try:
            read = self._reader.read(Stream(head, tuple(events)))
        except WorkflowMissing:
            self.unknown += 1
            return None
        except UnreadableEvent as error:
            self.unreadable.append(error)
            return None
        except AnotherVersion:
            self.unread += 1
            return None
        self.unread += read.trouble in ("damaged", "faulted")
        self._ids.append(head.session_id)
        self._unwritten.append(self._folded(read))
        self._events += len(events)
        if self._events >= EVENTS:
            self._write()
        return read if read.sessions else None

    def _folded(self, read: Read) -> FoldedSession:
        if read.trouble in ("damaged", "faulted"):
            self._in_trouble.add(read.head.session_id)
        rows = rows_of(read, self._projections, self._log.unfit)
        return FoldedSession(read.head.session_id, read.version, rows)

    def _write(self) -> None:
        self._made.put(Folded(tuple(self._unwritten)), self._versions)
        self._unwritten, self._events = [], 0

    def differences(self) -> Iterator[Astray]:
        """What differs of the sessions that were looked at, in their order."""
        self._write()
        compared = self._compared()
        for begin in range(0, len(self._ids), PAGE):
            page = self._ids[begin : begin + PAGE]
            suspects = {one.name: self._suspects(one.name, page) for one in compared}
            for session_id in page:
                for one in compared:
                    if session_id not in suspects[one.name]:
                        continue
                    if found := self._difference(one, session_id, suspects[one.name][session_id]):
                        yield Astray(one.name, session_id, found)

    def _compared(self) -> list[Projection]:
        """Those that this version has completed; the others are noted."""
        known = self._log.registered()
        begun = [one for one in self._projections if one.name in known]
        others = [one.name for one in begun if known[one.name].version != one.version]
        rebuilt = [
            one.name for one in begun if one.name not in others and not known[one.name].complete
        ]
        self.left_out = (
            *(f"the projection {name}, which is being rebuilt" for name in rebuilt),
            *(f"the projection {name}, which is of another version" for name in others),
        )
        return [one for one in begun if one.name not in (*rebuilt, *others)]

    def strays(self, project: str | None) -> Iterator[Astray]:
        """Rows of sessions that a project (the log: None) does not have."""
        found = "it has rows, and the log has no such session"
        known = self._log.registered()
        for one in self._projections:
            if one.name not in known or known[one.name].version == one.version:
                for session_id in self._log.strays(one.name, project):
                    yield Astray(one.name, session_id, found)

    def _suspects(self, name: str, page: Sequence[str]) -> dict[str, tuple[int, tuple[Row, ...]]]:
        """Sessions of which mark or rows differ, with those that were made anew."""
        try:
            kept = self._log.marked_rows(name, page)
        except ProjectionDamaged:
            kept = {}  # each is looked at alone
        made = self._made.marked_rows(name, page)
        return {one: made[one] for one in page if kept.get(one) != made[one]}

    def _difference(
        self, projection: Projection, session_id: str, made: tuple[int, tuple[Row, ...]]
    ) -> str:
        """What two looks in a row find: others may record and fold between two reads."""
        seen: tuple[int, KeptRows] | None = None
        for _ in range(LOOKS):
            try:
                kept = self._log.kept(projection.name, session_id)
            except ProjectionDamaged as error:
                return error.found
            found = self._found(projection, session_id, made, kept)
            if not found or seen == (made[0], kept):
                return found
            seen = (made[0], kept)
            stream = self._again(session_id)
            if stream is None:
                return ""
            try:
                folded = self._folded(self._reader.read(stream))
            except AnotherVersion:
                return ""
            made = folded.version, folded.rows[projection.name]
        return ""

    def _found(
        self,
        projection: Projection,
        session_id: str,
        made: tuple[int, tuple[Row, ...]],
        kept: KeptRows,
    ) -> str:
        """The differences between a session's rows and its log; empty without any."""
        version, rows = made
        mark = kept.mark
        if kept.of != projection.version or not kept.complete:
            return ""  # it is begun anew since
        if mark == version:
            theirs, ours = kept.rows, rows
            if projection.words and session_id in self._in_trouble:
                theirs, ours = _wordless(projection, theirs), _wordless(projection, ours)
            return "" if theirs == ours else "its rows are not what its events fold to"
        if mark is not None and (not isinstance(mark, int) or mark > version):
            return f"it is marked as folded up to event {mark!r}, and has {version}"
        if kept.waits:
            return ""  # the next reader of the projection folds it first
        upto = "was never folded" if mark is None else f"was folded up to event {mark} alone"
        return f"it {upto}, and no row of 'outbox' asks to fold the rest"


def _wordless(projection: Projection, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows without words that are not the same everywhere."""
    place = projection.row.__struct_fields__.index(projection.words)
    return tuple((*row[:place], *row[place + 1 :]) for row in rows)


class LostCalls(msgspec.Struct, frozen=True):
    """A session with open calls that no row has."""

    session_id: str
    completions: tuple[str, ...]
    """Calls."""
    documents: tuple[ArtifactDue, ...]
    """Those that this log owes."""
    imported: tuple[ArtifactDue, ...]
    """Those that it does not owe: they lack no row."""

    @property
    def calls(self) -> tuple[str, ...]:
        """Those that lack their row."""
        return (*self.completions, *(due.call for due in self.documents))


def find_lost_calls(
    store: Store, session_id: str, calls: Iterable[OutsideRequest], tables: SqlAuditing
) -> LostCalls | None:
    """What of a session's open calls no row has; None where all have one."""
    lacking = list(calls)
    if lacking:
        known = store.calls_of(session_id)
        lacking = [call for call in lacking if call.call not in known]
    if not lacking:
        return None
    elsewhere = tables.imported(session_id)
    completions = tuple(call.call for call in lacking if isinstance(call, CompletionRequested))
    documents = [call for call in lacking if isinstance(call, ArtifactDue)]
    return LostCalls(
        session_id,
        completions,
        tuple(due for due in documents if due.call not in elsewhere),
        tuple(due for due in documents if due.call in elsewhere),
    )


def ends_too_late(row: ClaimRow, now: int) -> bool:
    """Whether a claim ends later than any claim that was made by this clock."""
    return not isinstance(row.until, int) or row.until > now + CLAIM_MAX_MS * 1_000


def reopened(runner: Runner, tables: SqlAuditing) -> Iterator[LostCalls]:
    """Sessions of which open calls had no row; each gets it."""
    for session_id in tables.asking():
        try:
            handle = runner.load(session_id)
        except PreflightsError:
            continue  # `audit verify` says what is wrong with it
        found = find_lost_calls(runner.store, session_id, handle.session.calls, tables)
        if found and found.calls:
            runner.store.reopen(head_of(handle), found.calls)
        if found:
            yield found
