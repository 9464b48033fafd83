"""Whether the log is what was recorded: every chain, what a checkpoint remembers of it, and the
tables beside the chains: numbers, open calls, stray rows, guards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.history.imports import said_by
from preflights_es.kernel.errors import LogDamaged, PreflightsError
from preflights_es.kernel.events import OutsideRequest
from preflights_es.kernel.ports import Archive, Head, Numbered, Store, Stored
from preflights_es.projections.projection import Read
from preflights_es.runtime.derived_rows import Astray, ends_too_late, find_lost_calls
from preflights_es.runtime.performer import CLAIM_MAX_MS
from preflights_es.runtime.runner import Runner
from preflights_es.store.audit_evidence import Checkpoint, SqlAuditing, Tip, checkpoint
from preflights_es.store.stored_events import erased_before, unambiguous, verified
from preflights_es.words.workflow import numbered

_LOG_ID: Final = re.compile(r"[0-9a-f]{32}")
_RESTORE: Final = "restore the table 'log' from a copy, else keys (`--key`) are recorded again"


class Broken(msgspec.Struct, frozen=True, omit_defaults=True):
    """A session that does not verify."""

    session_id: str
    version: int
    """The version of the first bad event; 0 if unknown."""
    found: str
    code: str = ""
    """What it is, in snake case, where more can be said than that it does not verify."""


class Unwritten(msgspec.Struct, frozen=True):
    """A document that is due and that this log does not owe: its request came with an import."""

    session_id: str
    path: str


class Verified(msgspec.Struct, frozen=True):
    """What came of walking through chains."""

    sessions: int = 0
    """The number of sessions that were checked."""
    events: int = 0
    erased: int = 0
    """Sessions whose payloads are gone, as an erasure allows."""
    broken: tuple[Broken, ...] = ()
    projections: tuple[Astray, ...] = ()
    """Rows of projections that differ from what a verified session folds to."""
    skipped: tuple[str, ...] = ()
    """What was not checked, in words."""
    unwritten: tuple[Unwritten, ...] = ()
    """Nothing is wrong with them: a person may have them written."""


def walked(
    store: Store,
    heads: Iterable[Head],
    comparison: Comparison | None = None,
    folded: Callable[[Head, Sequence[Stored]], Read | None] = lambda *_: None,
    beside: Callable[[Head, Read], Iterable[Broken]] = lambda *_: (),
) -> Verified:
    """Every chain from its first event to its head, one session after the other.

    Args:
        comparison: looks at every session on the way.
        folded: folds a session that verifies; None where it cannot be folded.
        beside: says what is wrong beside a session that was folded for that.

    Raises:
        LogDamaged: the database as a whole cannot be read.
    """
    sessions = events = erased = 0
    broken: list[Broken] = []
    for head in heads:
        sessions += 1
        try:
            stored = verify_session_events(store, head)
        except LogDamaged as error:
            broken.append(Broken(head.session_id, error.version, error.found))
            if comparison:
                comparison.look(head, _readable(store, head), is_broken=True)
            continue
        if comparison:
            comparison.look(head, stored)
        if read := folded(head, stored):
            broken += beside(head, read)
        events += len(stored)
        erased += bool(erased_before(stored))
    return Verified(sessions, events, erased, tuple(broken))


def verify_session_events(store: Store, head: Head) -> Sequence[Stored]:
    """A session's events; every link holds, and the head is where they end.

    Raises:
        LogDamaged: names the first event that does not fit.
    """
    where = f"session {head.session_id}"
    events = store.read(head.session_id)
    if not events:
        raise LogDamaged(where, 1, "missing: only the head is left")
    verified(events, head.hash)
    for event in events:
        unambiguous(event)
    # Read after the events, the head can be ahead of them and never behind: they do not shrink.
    now = store.head(head.session_id)
    if now is None:
        raise LogDamaged(where, len(events), "the session's head is gone")
    version: Any = now.version  # a database keeps what it is given
    if not isinstance(version, int) or version < 1:
        raise LogDamaged(where, 1, f"the session's head is at version {version!r}")
    if version <= len(events) and events[version - 1].hash != now.hash:
        raise LogDamaged(where, version, "its hash differs from the hash of the session's head")
    if version < len(events):
        raise LogDamaged(where, version + 1, "it lies behind the session's head")
    return events


def _readable(store: Store, head: Head) -> Sequence[Stored]:
    """What can be read of a session that does not verify."""
    try:
        return store.read(head.session_id)
    except LogDamaged:
        return ()


def told_if_moved(store: Store, broken: Broken, project: str | None) -> Broken:
    """What is wrong with a session, told as what it is where its head alone left a project."""
    head = store.head(broken.session_id)
    if broken.version != 1 or head is None or project in (None, head.project):
        return broken
    try:
        verified([replace(event, project=project) for event in _readable(store, head)], head.hash)
    except LogDamaged:
        return broken
    todo = "set 'project' right in its row of 'heads', or restore the log from a copy"
    found = f"its events are of the project {project!r}, and its head says {head.project!r}: {todo}"
    return replace(broken, found=found)


def headless(store: Archive) -> tuple[Broken, ...]:
    """Sessions with events but without a head."""
    found = "its events are there, and its head is not: part of the session was removed"
    return tuple(Broken(session_id, 0, found) for session_id in store.headless())


def unnamed(log_id: Callable[[], str]) -> tuple[Broken, ...]:
    """What is wrong with what the log calls itself."""
    try:
        found = log_id()
    except LogDamaged as error:
        return (Broken("", 0, error.found),)
    if _LOG_ID.fullmatch(found):
        return ()
    return (Broken("", 0, f"its id is {found!r}, expected 32 hexadecimal digits: {_RESTORE}"),)


# Checkpoints ---------------------------------------------------------------------------------


class CheckpointDifference(msgspec.Struct, frozen=True):
    """A session that is not what a checkpoint remembers of it."""

    session_id: str
    kind: Literal["missing", "cut", "recomputed"]
    remembered: int
    """The version that the checkpoint has."""
    version: int
    """The one that it has here; 0 where it is missing."""


class Appended(msgspec.Struct, frozen=True):
    """An event behind the one that a checkpoint remembers."""

    version: int
    type: str
    recorded_at: int
    """Microseconds since 1970 UTC, by the clock of the log that recorded it."""
    actor_kind: str | None
    """The kind of an Input's actor; null for a Decision and for an erased payload."""
    actor_name: str | None
    """The name in the event; it is not verified."""


class Grown(msgspec.Struct, frozen=True):
    """A session that went on from where a checkpoint remembers it."""

    session_id: str
    remembered: int
    """The version that the checkpoint has."""
    events: tuple[Appended, ...]


class CheckpointComparison(msgspec.Struct, frozen=True):
    """The log against a checkpoint."""

    sessions: int
    """The number of sessions in the checkpoint."""
    same: int
    grown: int
    """The number of these that continue from their recorded head."""
    new: int
    """Sessions of the same scope that began since."""
    erased: tuple[str, ...]
    """Sessions that were erased since, which leaves their chain as it was."""
    differences: tuple[CheckpointDifference, ...]
    grew: tuple[Grown, ...] = ()
    """What was appended since to those that grew."""


def make_verified_checkpoint(
    store: Store, project: str | None, heads: Iterable[Head], log: str
) -> Checkpoint:
    """A checkpoint of sessions that verify.

    Raises:
        LogDamaged: one of them does not.
    """
    last = (verify_session_events(store, head)[-1] for head in heads)
    tips = (Tip(event.session_id, event.version, event.hash.hex()) for event in last)
    return checkpoint(project, tips, log)


class Comparison:
    """Looks at sessions one by one, and at last at those that are not there."""

    def __init__(self, against: Checkpoint) -> None:
        self._project = against.project
        self._tips = {tip.session_id: tip for tip in against.tips}
        self._sessions = len(against.tips)
        self._counts = {"same": 0, "grown": 0, "new": 0}
        self._erased: list[str] = []
        self._differences: list[CheckpointDifference] = []
        self._grew: list[Grown] = []

    def look(self, head: Head, events: Sequence[Stored], *, is_broken: bool = False) -> None:
        """A session that is there; one that is broken is neither as it was nor grown."""
        tip = self._tips.pop(head.session_id, None)
        if tip is None:
            self._counts["new"] += self._project in (None, head.project)
            return
        versions = {event.version: event for event in events}
        then = versions.get(tip.version)
        if then is None:
            self._differ(tip, "cut", len(events))
        elif then.hash != bytes.fromhex(tip.hash):
            self._differ(tip, "recomputed", len(events))
        elif not is_broken:
            is_same = len(events) == tip.version
            self._counts["same" if is_same else "grown"] += 1
            if not is_same:
                self._grew.append(_grown(tip, events))
            if erased_before(events) > tip.version:
                self._erased.append(tip.session_id)

    def _differ(
        self, tip: Tip, kind: Literal["missing", "cut", "recomputed"], version: int
    ) -> None:
        self._differences.append(CheckpointDifference(tip.session_id, kind, tip.version, version))

    def result(self) -> CheckpointComparison:
        """The result; sessions of the checkpoint that were not read count as missing."""
        for tip in self._tips.values():
            self._differ(tip, "missing", 0)
        self._tips = {}
        differences = tuple(sorted(self._differences, key=lambda d: d.session_id))
        return CheckpointComparison(
            sessions=self._sessions,
            erased=tuple(self._erased),
            differences=differences,
            grew=tuple(sorted(self._grew, key=lambda grown: grown.session_id)),
            **self._counts,
        )


def _grown(tip: Tip, events: Sequence[Stored]) -> Grown:
    appended = []
    for one in events[tip.version :]:
        kind, name = said_by(one) or (None, None)
        appended.append(Appended(one.version, one.type, one.recorded_at, kind, actor_name=name))
    return Grown(tip.session_id, tip.version, tuple(appended))


CURES: Final = {
    "": "delete them, nothing needs them",
    "outbox": "events may be gone, compare with a copy or a checkpoint",
    "claims": "delete it, nothing needs it",
}
"""What to do, by the table that has a stray row."""


class SideTableCheck:
    """Looks at sessions that were folded, then at what belongs to none of them."""

    def __init__(
        self,
        runner: Runner,
        auditing: SqlAuditing,
        read: Callable[[Head], Read],
        versions: Mapping[str, int],
    ) -> None:
        """Args:
        read: reads a session and folds it.
        versions: of the projections that this program keeps, by name.
        """
        self._runner = runner
        self._auditing = auditing
        self._read = read
        self._versions = versions
        self.unwritten: list[Unwritten] = []
        """Documents of the sessions that were looked at, which this log does not owe."""
        self._borne = 0
        """Numbers of which the session that holds them says that it bears, or bore, them."""

    def look(self, head: Head, read: Read) -> Iterator[Broken]:
        """What is wrong beside one session."""
        session = read.sessions[-1]
        borne = _borne(read)
        holders = {number: self._auditing.holder(head.project, number) for number in borne}
        self._borne += sum(holder == head.session_id for holder in holders.values())
        number = numbered(read.workflow, session.state)
        if number is not None and holders[number] is None:
            found = f"its record bears the number {number.number}"
            found += ", which the log does not know as given"
            yield Broken(head.session_id, 0, found, "number_not_given")
        yield from self._calls(head, session.calls)

    def _calls(self, head: Head, calls: Sequence[OutsideRequest]) -> Iterator[Broken]:
        """Open calls of a session that have no row, or a wrong one."""
        if calls:
            yield from self._wrong(head, {call.call for call in calls})
        found = find_lost_calls(self._runner.store, head.session_id, calls, self._auditing)
        if found is None:
            return
        waits = [f"it waits for {call!r}" for call in found.completions]
        owes = [f"it owes the document {due.path!r}" for due in found.documents]
        for one in (*waits, *owes):
            said = f"{one}, which no row of 'claims' has"
            yield Broken(head.session_id, 0, said, "call_without_row")
        self.unwritten += [Unwritten(head.session_id, due.path) for due in found.imported]

    def _wrong(self, head: Head, calls: Container[str]) -> Iterator[Broken]:
        """Rows of open calls that say what no command writes."""
        for row in self._auditing.claims(head.session_id):
            if row.call not in calls:
                continue  # `rest` names it
            said = f"the row of 'claims' for {row.call!r} says"
            if row.project != head.project:
                found = f"{said} the project {row.project!r}, expected {head.project!r}"
                yield Broken(head.session_id, 0, found, "call_of_other_project")
            if ends_too_late(row, self._runner.now()):
                found = f"{said} that a process has it until {row.until!r}"
                most = f"expected at most {CLAIM_MAX_MS // 1_000} seconds from now"
                yield Broken(head.session_id, 0, f"{found}, {most}", "claim_too_long")

    def rest(self, project: str | None) -> Iterator[Broken]:
        """What is wrong with the log, whatever its sessions are, once they were looked at.

        Args:
            project: None for all of them.
        """
        for found in self._auditing.guards():
            yield Broken("", 0, found)
        for session_id, version in self._auditing.untyped(project):
            found = "its payload is stored as another kind than text: restore it from a copy"
            yield Broken(session_id, version, found)
        for session_id, table, found in self._auditing.strays(project):
            said = f"{found}: {CURES[table]}" if table in CURES else found
            yield Broken(session_id, 0, said, f"stray_{table}" if table else "stray")
        yield from self._claims(project)
        for name, version in self._auditing.newer(self._versions):
            ours = self._versions.get(name)
            code = "unknown_projection" if ours is None else "newer_projection_row"
            yield Broken("", 0, _newer(name, version, ours), code)
        yield from self._numbers(project)

    def _claims(self, project: str | None) -> Iterator[Broken]:
        store = self._runner.store
        for session_id in self._auditing.claimed():
            head = store.head(session_id)
            if head is None or project not in (None, head.project):
                continue
            try:
                calls = self._runner.load(session_id).session.calls
            except PreflightsError:
                continue  # it is named already, or is of a newer program
            for call in sorted(store.calls_of(session_id) - {call.call for call in calls}):
                found = f"a row of 'claims' has {call!r}, which the session does not have open"
                yield Broken(session_id, 0, f"{found}: delete it, nothing needs it")

    def gone(self, project: str | None) -> Iterator[Broken]:
        """Sessions of a project (of all: None) that were given numbers, and are not there."""
        for of, number, session_id in self._auditing.gone():
            if project in (None, of):
                found = f"it was given the number {number} of {of}, and is gone: it was removed"
                yield Broken(session_id, 0, found)

    def _numbers(self, project: str | None) -> Iterator[Broken]:
        """Numbers that a session was given and never bore; asked for one by one only if any is."""
        if self._auditing.count_numbers(project) == self._borne:
            return
        for session_id, of, number in self._auditing.numbers(project):
            head = self._runner.store.head(session_id)
            try:
                read = self._read(head) if head is not None else None
            except PreflightsError:
                continue  # it is named already, or is of a newer program
            if read and read.sessions and (number not in _borne(read) or read.head.project != of):
                found = f"the number {number.number} of {of} is given to it"
                found += ", and its record never had it"
                yield Broken(session_id, 0, f"{found}: delete the row of 'numbers'")


def _borne(read: Read) -> set[Numbered]:
    """The numbers that a session's record ever bore."""
    numbers = (numbered(read.workflow, session.state) for session in read.sessions)
    return {number for number in numbers if number is not None}


def _newer(name: str, version: Any, ours: int | None) -> str:
    found = f"the projection {name!r} is of version {version!r}"
    if ours is None:
        known, cure = "this program does not know it", "delete its row of 'projections'"
    else:
        known = f"this program knows {ours}"
        cure = f"set it to {ours} in 'projections'"
    return f"{found}, {known}: upgrade preflights; where no newer version was ever used, {cure}"
