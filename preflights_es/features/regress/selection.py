"""Which sessions are judged: all of the project, those that were named, or a sample of them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.batches import (
    Piece,
    SessionExtent,
    SessionLines,
    extents,
    runs,
    stored_of,
)
from preflights_es.features.regress.run_files import is_of_regress
from preflights_es.kernel.errors import AnotherVersion, LogDamaged, Refused
from preflights_es.kernel.ids import iso
from preflights_es.kernel.ports import Head, Stream
from preflights_es.projections.sessions import SessionColumns, fold_session_rows
from preflights_es.projections.usage import list_session_calls
from preflights_es.providers.capabilities import ALIASES
from preflights_es.runtime.features import FEATURES
from preflights_es.runtime.finder import ANY, LAST
from preflights_es.store.log_rows import head_of
from preflights_es.use.process import build_projection_reader
from preflights_es.use.request import Request
from preflights_es.words.imports import NAME as IMPORTS

ENDINGS: Final = (".jsonl", ".jsonl.gz")
"""Of the files in a folder that hold sessions."""


PAIRS: Final = "pairs"
"""The port by which a feature has its sessions compared."""


def offers_pairs(workflow: str | None) -> bool:
    """Whether the sessions of a workflow are compared by its feature, not by a child."""
    feature = FEATURES.get(workflow) if workflow else None
    return feature is not None and PAIRS in feature.offers


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the sessions; None where nothing is."""

    workflow: str | None = None
    only: str | None = None
    """The id of one session, or how it ends."""
    since: int | None = None
    """Microseconds since 1970 UTC: they have an event from then on, or a call that was made."""
    status: str | None = None
    led_by: str | None = None
    """A provider, a model, or `provider/model`; `mock` for the rules."""
    sample: int | None = None
    any_project: bool = False

    @property
    def looks_inside(self) -> bool:
        """Whether a session must be folded to know whether it is meant."""
        return any(one is not None for one in (self.since, self.status, self.led_by))

    def told(self, named: Sequence[str]) -> str:
        """In words, for a report."""
        scope = "every project of the log" if self.any_project else "the project's log"
        asked = {
            "workflow": self.workflow,
            "only": self.only,
            "since": None if self.since is None else iso(self.since),
            "status": self.status,
            "led by": self.led_by,
        }
        words = (f"{name} {value}" for name, value in asked.items() if value is not None)
        return "; ".join((", ".join(named) or scope, *words))


Place = tuple[str, str | None]
"""A file, and the session that is meant in it; None for all."""


class InFile(NamedTuple):
    """Sessions of a file."""

    path: str
    """As it was given."""
    known: tuple[SessionExtent, ...] | None
    """Those that are meant; None where only a worker can find them."""
    whole: Piece
    """The file as a worker reads it where they are not known."""

    @property
    def sessions(self) -> int:
        """How many; 1 where that is not known."""
        return self.whole.sessions if self.known is None else len(self.known)


class Chosen(NamedTuple):
    """What is judged."""

    heads: tuple[Head, ...]
    """Sessions of the log, in the order of their ids."""
    are_together: bool
    """Few others lie between them."""
    files: tuple[InFile, ...]
    told: str
    """In words."""


def select_judged_sessions(request: Request, named: Sequence[str], selection: Selection) -> Chosen:
    """The sessions that are meant.

    Args:
        named: sessions of the log, files and folders; the project's log where there are none.

    Raises:
        UnknownSession, AmbiguousSession: what was named is no file, and none or several match.
        Refused: nothing is left of it.
    """
    typed, paths = _resolve_named_sessions(request, named, selection.workflow or ANY)
    picking = _Picking(request, selection)
    files = [_in_file(path, only) for path, only in dict.fromkeys(paths)]
    found = picking.of_log(dict.fromkeys(typed) if named else None)
    asked = (selection.workflow, selection.only, selection.sample)
    cuts = selection.looks_inside or any(one is not None for one in asked)
    if cuts:
        found += [one for number, file in enumerate(files) for one in picking.of_file(number, file)]
    told = selection.told(named)
    if selection.sample is not None:
        taken = _sampled(found, selection.sample)
        told += f"; a sample of {len(taken):,} of {len(found):,}"
        found = taken
    if cuts:
        meant: dict[int, set[str]] = defaultdict(set)
        for which in found:
            meant[which.file].add(which.session_id)
        files = [_narrow_to_sessions(file, meant[number]) for number, file in enumerate(files)]
    files = [file for file in files if file.sessions]
    heads = sorted((one.head for one in found if one.head), key=attrgetter("session_id"))
    if not heads and not files:
        raise Refused(f"no session matches: {told}", code="nothing_selected")
    are_together = not heads or 2 * len(heads) >= request.process.store.counts()["sessions"]
    return Chosen(tuple(heads), are_together, tuple(files), told)


def _resolve_named_sessions(
    request: Request, named: Sequence[str], of: str
) -> tuple[list[Head], list[Place]]:
    """Sessions of the log and places in files; without names what only session files have.

    Args:
        of: the workflow that `last` is of.
    """
    heads: list[Head] = []
    places: list[Place] = []
    if not named and (filed := request.reading.filed) is not None:
        places = [(_here(request, file.path), None) for file in filed.files.values()]
    for one in named:
        if found := _list_typed_files(one):
            places += [(path, None) for path in found]
            continue
        session = request.reading.session(one, of)
        if session.file is not None:
            places.append((_here(request, session.file), session.session_id))
        elif (head := session.head) is not None:
            heads.append(head)
    return heads, places


def find_workflow_of_pairs(request: Request, named: Sequence[str]) -> str | None:
    """The workflow of all sessions that are named, if its feature compares their pairs.

    Raises:
        UnknownSession, AmbiguousSession, Refused: as `select_judged_sessions` says.
    """
    workflow = None
    for one in named:
        for found in _list_workflows(request, one):
            if not offers_pairs(found) or workflow not in (None, found):
                return None
            workflow = found
    return workflow


def _list_workflows(request: Request, typed: str) -> Iterator[str]:
    """Of the sessions that can be read."""
    files = _list_typed_files(typed)
    if not files and (head := request.reading.find(typed).head):
        yield head.workflow
    for run in chain.from_iterable(runs(Piece(path)) for path in files):
        with suppress(LogDamaged, AnotherVersion):
            yield head_of(stored_of(run)).workflow


# 1. Files ------------------------------------------------------------------------------------


def _list_typed_files(typed: str) -> list[str]:
    """A file, or those of a folder; none where it is neither.

    Raises:
        Refused: a folder has none, or nothing is named.
    """
    if not typed.strip():
        raise Refused("a file or session is named by an empty text: leave it out, or name one")
    path = Path(typed)
    if typed == LAST:
        return []
    try:
        if path.is_dir():
            return session_files(typed)
        if os.path.lexists(path):
            return [typed]
    except (OSError, ValueError):
        return []
    if typed.endswith(ENDINGS):
        raise Refused(f"{typed} does not exist")
    return []


def session_files(folder: str) -> list[str]:
    """Files of sessions below a folder, without those that this feature writes.

    Raises:
        Refused: there are none.
    """
    found = sorted(path for path in _walk_session_files(folder) if not is_of_regress(path))
    if not found:
        raise Refused(f"{folder} holds no file that ends with {' or '.join(ENDINGS)}")
    return found


def _walk_session_files(folder: str) -> Iterator[str]:
    """Files of sessions at any depth; no link, which may lead out of a clone."""
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.name.endswith(ENDINGS) and not entry.is_symlink():
                        yield entry.path
        except OSError:
            continue  # it may not be read, or its name is too long for any system call


def _here(request: Request, path: str) -> str:
    """A path below the project's root, from the current folder on."""
    return os.path.relpath(os.path.join(request.process.settings.root, path))


def _in_file(path: str, only: str | None) -> InFile:
    wanted = None if only is None else frozenset({only})
    found = extents(path)
    if found is None:
        return InFile(path, None, Piece(path, only=wanted))
    known = tuple(one for one in found if only in (None, one.session_id))
    return InFile(path, known, Piece(path, sessions=len(known), only=wanted))


def _narrow_to_sessions(file: InFile, wanted: set[str]) -> InFile:
    """A file, of which some sessions are meant."""
    known = file.known and tuple(one for one in file.known if one.session_id in wanted)
    whole = replace(file.whole, only=frozenset(wanted), sessions=len(wanted))
    return InFile(file.path, known, whole)


# 2. What is asked of a session ---------------------------------------------------------------


class _SelectedSession(NamedTuple):
    """A session that is meant."""

    session_id: str
    head: Head | None = None
    """None in a file."""
    file: int = -1


class _Picking:
    """Looks at sessions; one that cannot be read is meant, so that a report names it."""

    def __init__(self, request: Request, selection: Selection) -> None:
        self._process = request.process
        self._asked = selection
        self._reader = build_projection_reader()

    def of_log(self, named: Iterable[Head] | None) -> list[_SelectedSession]:
        """Sessions of the log that are meant: of the named ones, or of the project (None)."""
        asked, process = self._asked, self._process
        # Its project is written in the log, which a run of files alone does not need.
        project = None if asked.any_project or named is not None else process.project
        if named is None and asked.looks_inside:
            pairs = process.projector.newest(project)
            known = ((head, SessionColumns(**row) if row else None) for head, row in pairs)
        else:
            heads = process.store.heads(project) if named is None else named
            known = ((head, None) for head in heads)
        found = []
        for head, kept in known:
            if asked.workflow not in (None, head.workflow) or head.workflow == IMPORTS:
                continue
            if named is None and asked.workflow is None and offers_pairs(head.workflow):
                continue  # many, and none of them is ours: they are judged where they are named
            if not head.session_id.endswith(asked.only or ""):
                continue
            rows = [kept] if kept and not offers_pairs(head.workflow) else []
            if asked.looks_inside and not rows:
                rows = self._rows(process.following.stream(head))
            if self._is_meant(rows):
                found.append(_SelectedSession(head.session_id, head))
        return found

    def of_file(self, number: int, file: InFile) -> Iterator[_SelectedSession]:
        """Sessions of a file that are meant."""
        for run in runs(file.whole):
            if run.session_id.endswith(self._asked.only or "") and self._is_run_meant(run):
                yield _SelectedSession(run.session_id, file=number)

    def _is_run_meant(self, run: SessionLines) -> bool:
        asked = self._asked
        if not asked.looks_inside and asked.workflow is None:
            return True
        try:
            stored = stored_of(run)
        except (LogDamaged, AnotherVersion):
            return True
        head = head_of(stored)
        rows = self._rows(Stream(head, tuple(stored))) if asked.looks_inside else []
        return asked.workflow in (None, head.workflow) and self._is_meant(rows)

    def _rows(self, stream: Stream) -> list[SessionColumns]:
        """What is looked at: of another program's calls each; none where it is unreadable."""
        try:
            read = self._reader.read(stream)
            row = SessionColumns(*fold_session_rows(read)[0])
        except AnotherVersion:
            return []
        calls = list_session_calls(read) if offers_pairs(row.workflow) else []
        made = (
            replace(row, provider=call.provider, model=call.model, moved_at=call.at)
            for call in calls
        )
        return [*made] or [row]

    def _is_meant(self, rows: Iterable[SessionColumns]) -> bool:
        known = [self._fits(row) for row in rows]
        return not known or any(known)

    def _fits(self, row: SessionColumns) -> bool:
        asked = self._asked
        led_by = (row.provider, row.model, f"{row.provider}/{row.model}")
        return (
            (asked.since is None or row.moved_at >= asked.since)
            and asked.status in (None, row.status)
            and (asked.led_by is None or ALIASES.get(asked.led_by, asked.led_by) in led_by)
        )


def _sampled(found: Iterable[_SelectedSession], number: int) -> list[_SelectedSession]:
    """So many of them, by digests of their ids: a larger sample holds a smaller one."""

    def drawn(one: _SelectedSession) -> bytes:
        return sha256(f"{one.session_id} {one.file}".encode()).digest()

    return sorted(found, key=drawn)[:number]
