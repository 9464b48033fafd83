"""Numbers that collided when branches were merged, and what mends them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import msgspec

from preflights_es.features.clarification.domain.state import State, related_to
from preflights_es.features.clarification.use.clarifications import (
    Clarifications,
    clarifications_of,
)
from preflights_es.kernel.errors import PreflightsError, Refused, StoreUnavailable
from preflights_es.projections.decisions import DECISIONS, decision
from preflights_es.records import files
from preflights_es.records.documents import Documents
from preflights_es.records.files import Front, front_of
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.system.files import Unreadable
from preflights_es.use.request import Request
from preflights_es.use.results import Result


class Move(msgspec.Struct, frozen=True):
    """A record that gets another number."""

    path: str = msgspec.field(name="from")
    """Relative to the project's root, as it was."""
    to: str
    session_id: str = ""
    """Empty when the record was made elsewhere: its file is renamed, no event recorded."""


class Renumbered(Result, frozen=True, tag_field="format", tag="renumber/1"):
    """What was done, or would be."""

    moves: tuple[Move, ...]


class _Entry(msgspec.Struct, frozen=True):
    path: Path
    front: Front


def renumber(request: Request, *, write: bool) -> Renumbered:
    """Give records of this project whose numbers collide new ones.

    Raises:
        Refused: a record is of a session that a session file knows better than the log.
        StoreUnavailable: a file cannot be read or renamed.
    """
    process = request.process
    process.documents.check_folders()
    moved = partial(
        mended,
        process.runner,
        clarifications_of(request),
        process.documents,
        process.record_places.new,
        _second(request),
    )
    moves = moved(write=False)
    filed = process.file_log.files
    for move in moves if filed else ():
        session_id = move.session_id or front_of(process.settings.root / move.path).session
        if session_id in filed:
            message = f"{move.path} is of a session that the log does not have as its file does"
            raise Refused(message, code="sync_first", path=move.path)
    return Renumbered(moves=tuple(moved(write=True) if write else moves))


def _second(request: Request) -> list[str]:
    """Sessions of this project that bear a number which the log gave to another one."""
    process = request.process
    given = process.store.numbers(process.project)
    rows = process.projector.rows(DECISIONS.name, process.project)
    return [
        one.session_id
        for one in map(decision, rows)
        if one.decided.number is not None
        and given.get(one.decided.number, one.session_id) != one.session_id
    ]


def mended(
    runner: Runner,
    sessions: Clarifications,
    documents: Documents,
    folder: str,
    second: Iterable[str] = (),
    *,
    write: bool,
) -> list[Move]:
    """Give every record but the oldest of its number the next free one.

    The order is that of date and session (whose id begins with the time), so that two people who
    merge the same branches come to the same names.

    Args:
        second: sessions of which another one holds the number; those whose document has the path
            of another session's get a new number too.

    Raises:
        StoreUnavailable: a file cannot be read or renamed.
    """
    found = files.numbered(files.checked_folder(documents.root, folder))
    colliding = [
        entry
        for paths in found.values()
        if len(paths) > 1
        for entry in sorted(filter(None, map(_entry, paths)), key=_age)[1:]
    ]
    number = sessions.next_number()
    moves: list[Move] = []
    for entry in colliding:
        moves.append(_moved(runner, sessions, documents, folder, entry, number, write=write))
        number += 1
    moved = {move.session_id for move in moves}
    for session_id in second:
        handle = None if session_id in moved else _without_place(runner, documents, session_id)
        if handle is not None:
            path = documents.text(session_id)[0].path
            moves.append(Move(path, _renamed(path, number), session_id))
            if write:
                _told(runner, sessions, documents, handle, number)
            number += 1
    return moves


def _without_place(runner: Runner, documents: Documents, session_id: str) -> Handle | None:
    """The session, where the document of another one lies in the place of its own."""
    try:
        handle = runner.load(session_id)
        other = documents.other_at(session_id, documents.text(session_id)[0].path)
    except PreflightsError:
        return None
    return handle if other and isinstance(handle.session.state, State) else None


def _renamed(path: str, number: int) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/" * bool(folder) + re.sub(r"^\d+", f"{number:04d}", name)


def _entry(path: Path) -> _Entry | None:
    """None of a link, a folder or a fifo: no number of theirs collides."""
    if path.is_symlink() or not path.is_file():
        return None
    try:
        return _Entry(path, front_of(path))
    except Unreadable as error:
        raise StoreUnavailable(f"{path.name} cannot be read: {error}") from error


def _age(entry: _Entry) -> tuple[str, str, str]:
    """Oldest first; a record without a date comes last."""
    return (entry.front.date or "9", entry.front.session, entry.path.name)


def _moved(
    runner: Runner,
    sessions: Clarifications,
    documents: Documents,
    folder: str,
    entry: _Entry,
    number: int,
    *,
    write: bool,
) -> Move:
    name = _renamed(entry.path.name, number)
    path, to = f"{folder}/{entry.path.name}", f"{folder}/{name}"
    handle = _ours(sessions, documents, entry, path)
    move = Move(path, to, handle.session_id if handle else "")
    if not write:
        return move
    if handle is None:
        files.renamed(documents.root, entry.path, name)
        return move
    is_edited = files.found_hash(entry.path) not in documents.hashes(handle.session_id)
    edited = (entry.path, name) if is_edited else None
    _told(runner, sessions, documents, handle, number, edited)
    return move


def _told(
    runner: Runner,
    sessions: Clarifications,
    documents: Documents,
    handle: Handle,
    number: int,
    edited: tuple[Path, str] | None = None,
) -> None:
    """Record the number, and write the documents that have it.

    Args:
        edited: a file that a person edited, and its new name: the edits move along.
    """
    step = sessions.renumber(handle, number)
    if edited:
        files.renamed(documents.root, *edited)
    documents.finish(step.handle)
    for related in _related(runner, handle.session.state):
        told = sessions.renumber_reference(related, handle.session.state.uid, number)
        documents.finish(told.handle)


def _ours(
    sessions: Clarifications, documents: Documents, entry: _Entry, path: str
) -> Handle | None:
    """The session behind a record, where this log holds it and wrote that file."""
    if not entry.front.uid:
        return None
    try:
        handle = sessions.load(entry.front.uid)
    except PreflightsError:
        return None
    written = handle.view.written
    is_there = written is not None and written.path == path
    is_there = is_there and isinstance(handle.session.state, State)  # others take no new number
    return handle if is_there and path in documents.paths(handle.session_id) else None


def _related(runner: Runner, state: State) -> list[Handle]:
    """Sessions of this log whose documents name this one's number."""
    ids = [one.session_id for one in related_to(state)]
    here = (runner.load(i) for i in ids if i and runner.store.head(i) is not None)
    return [handle for handle in here if handle.session.closed != "erased"]
