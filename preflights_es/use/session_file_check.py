"""The session files of a clone without a log: whether each holds one session that belongs there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec

from preflights_es.kernel.errors import (
    AnotherVersion,
    PreflightsError,
    UnreadableEvent,
    WorkflowMissing,
)
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Stored
from preflights_es.records.session_files import SIZE_MAX, SessionFolder, name_session_file
from preflights_es.store import jsonl
from preflights_es.store.chain import verified
from preflights_es.store.codec import unambiguous
from preflights_es.system.files import Unreadable
from preflights_es.use.filed_sessions import check_uid
from preflights_es.use.process import Process


class FileDamage(msgspec.Struct, frozen=True):
    """A session file that does not hold, or cannot be read."""

    file: str
    """Relative to the project's root; of a folder that cannot be read, its path."""
    found: str


class CheckedFiles(msgspec.Struct, frozen=True):
    """What was verified."""

    sessions: int
    events: int
    damage: tuple[FileDamage, ...]


def checked_files(process: Process) -> CheckedFiles:
    """Verify the session files of a project; those of other projects are left alone."""
    lengths, damage, seen = list[int](), list[FileDamage](), set[str]()
    for path, content in _contents(process, damage):
        try:
            events = verified(tuple(jsonl.stored(content.splitlines(keepends=True), path)))
            if events and events[0].project != process.project:
                continue
            _check_place(process, path, events)
            if events[0].session_id in seen:
                raise Unreadable(f"session {events[0].session_id} has another file")
        except (Unreadable, PreflightsError) as error:
            damage.append(FileDamage(path, getattr(error, "found", "") or str(error)))
        else:
            seen.add(events[0].session_id)
            lengths.append(len(events))
    return CheckedFiles(len(lengths), sum(lengths), tuple(damage))


def _contents(process: Process, damage: list[FileDamage]) -> Iterator[tuple[str, bytes]]:
    """The path and the bytes of each session file; what cannot be read is added to the damage."""
    for place in process.session_folders:
        try:
            names = place.names()
        except Unreadable as error:
            damage.append(FileDamage(place.path, str(error)))
            continue
        yield from _of_folder(place, names, damage)


def _of_folder(
    place: SessionFolder, names: Sequence[str], damage: list[FileDamage]
) -> Iterator[tuple[str, bytes]]:
    with place.reading() as folder:
        for name in names if folder else ():
            assert folder is not None, "names are of one that is there"
            try:
                yield f"{place.path}/{name}", folder.content(name, SIZE_MAX)
            except (Unreadable, OSError) as error:
                why = getattr(error, "strerror", None) or str(error)
                damage.append(FileDamage(f"{place.path}/{name}", why))


def _check_place(process: Process, path: str, events: Sequence[Stored]) -> None:
    """See that a file holds one session, which belongs there.

    Raises:
        Unreadable: it does not.
        LogDamaged: a reader could take an event for another.
    """
    if not events:
        raise Unreadable("it holds no events")
    for event in events:
        unambiguous(event)
    home, _, name = path.rpartition("/")
    first = events[0]
    if name != name_session_file(decision_uid(first.session_id)):
        raise Unreadable(f"it holds session {first.session_id}, and its name says another")
    try:
        workflow = process.runner.workflow(first.workflow)
    except WorkflowMissing:
        return  # where its sessions lie is not known here
    homes = [one.path for one in process.session_homes(first.workflow)]
    if home not in homes:
        raise Unreadable(f"its place is {homes[0]}")
    with suppress(UnreadableEvent, AnotherVersion):  # another version of the code: no damage
        check_uid(first, process.runner.codec(workflow).decode)
