"""Whether the log is what was recorded: every chain, and what a checkpoint remembers of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from preflights_es.history.imports import said_by
from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.ports import Archive, Head, Store, Stored
from preflights_es.projections.projection import Read
from preflights_es.runtime.projection_check import Astray
from preflights_es.store.chain import erased_before, verified
from preflights_es.store.checkpoint import Checkpoint, Tip, checkpoint
from preflights_es.store.codec import unambiguous

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
    found = (
        f"its events are of the project {project!r}, and its head says {head.project!r}: set "
        "'project' right in its row of 'heads', or restore the log from a copy"
    )
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
