"""Numbers that collided when branches were merged, and what mends them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import msgspec

from preflights_es.features.clarification.clarifications import Clarifications, clarifications_of
from preflights_es.features.clarification.domain.state import (
    ClarificationState,
    as_related,
    related_to,
)
from preflights_es.kernel.errors import PreflightsError, Refused, StoreUnavailable
from preflights_es.kernel.ids import iso
from preflights_es.projections.decisions import DECISIONS, decode_patch_row
from preflights_es.records import files
from preflights_es.records.documents import Documents
from preflights_es.records.foreign_records import record_header
from preflights_es.records.record_edits import NewPlace, pointing_at, with_links, with_title_number
from preflights_es.records.record_names import (
    RECORD_MAX,
    NumberedPath,
    RecordHeader,
    is_page,
    numbered_groups,
    numbered_path,
)
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.system.files import Unreadable, regular
from preflights_es.use.request import Request
from preflights_es.use.results import Result

GIT_S: Final = 30  # seconds, for git to look through a history or a work tree
POINTING_MAX: Final = 20  # places that are named


class Move(msgspec.Struct, frozen=True):
    """A record that gets another number."""

    path: str = msgspec.field(name="from")
    """Relative to the project's root, as it was."""
    to: str
    session_id: str = ""
    """Empty when the record was made elsewhere: its file is renamed, no event recorded."""


class PointingLine(msgspec.Struct, frozen=True):
    """A line that still names a record by its former name or number."""

    path: str
    line: int
    names: str
    """The former path, or `ADR-0003`, which another record bears now."""


class Renumbered(Result, frozen=True, tag_field="format", tag="renumber/1"):
    """What was done, or would be."""

    moves: tuple[Move, ...]
    changed: tuple[str, ...] = ()
    """Paths of pages beside the records whose heading or links follow."""
    pointing: tuple[PointingLine, ...] = ()
    """Lines that a person has to look at, the first `POINTING_MAX` of them."""


class _AgedRecord(msgspec.Struct, frozen=True):
    """A record, with what tells its age."""

    path: str
    files: tuple[str, ...]
    """It, and its translations."""
    header: RecordHeader
    committed_s: int
    """When git first had it, in seconds since 1970; `UNCOMMITTED_S` where it has not."""

    @property
    def age(self) -> tuple[str, int, str, str]:
        """Oldest first: the day that it bears, else that of its first commit; then that commit."""
        is_new = self.committed_s == UNCOMMITTED_S
        committed = "9" if is_new else iso(self.committed_s * 1_000_000).partition("T")[0]
        session = self.header.session
        return (self.header.date or committed, self.committed_s, session, self.path)


UNCOMMITTED_S: Final = 2**62


class _Renumbering(NamedTuple):
    """What gives records other numbers."""

    runner: Runner
    sessions: Clarifications
    documents: Documents
    write: bool
    """Whether it is done, and not only told."""


def renumber(request: Request, *, write: bool) -> Renumbered:
    """Give records of this project whose numbers collide new ones.

    Raises:
        Refused: a record is of a session that a session file knows better than the log.
        StoreUnavailable: a file cannot be read or renamed.
    """
    process = request.process
    process.documents.check_folders()
    root = process.settings.root
    moved = partial(
        resolve_number_collisions,
        process.runner,
        clarifications_of(request),
        process.documents,
        _second(request),
        partial(_first_commits, root),
    )
    moves = moved(write=False)
    filed = process.file_log.files
    for move in moves if filed else ():
        session_id = move.session_id or _header_of_record_file(root, move.path).session
        if session_id in filed:
            message = f"{move.path} is of a session that the log does not have as its file does"
            raise Refused(message, code="sync_first", path=move.path)
    places = _new_places_by_path(root, moves)
    records = process.documents.record_paths()
    changed = tuple(_pages_changed(root, records, places, places, write=False))
    if write:
        moves = moved(write=True)
        records = process.documents.record_paths()
        to = {move.path: move.to for move in moves}
        own = {to[path]: place for path, place in places.items()}
        mended_too = {*_pages_changed(root, records, places, own, write=True)}
        changed = tuple(sorted({to.get(path, path) for path in changed} | mended_too))
    pointing = tuple(islice(_pointing(root, records, places), POINTING_MAX))
    return Renumbered(moves=tuple(moves), changed=changed, pointing=pointing)


def _second(request: Request) -> list[str]:
    """Sessions of this project that bear a number which the log gave to another one."""
    process = request.process
    numbers = process.store.numbers(process.project)
    given = {(place.number, session_id) for place, session_id in numbers.items()}
    rows = process.projector.rows(DECISIONS.name, process.project)
    return [
        one.session_id
        for one in map(decode_patch_row, rows)
        if one.decided.number is not None and (one.decided.number, one.session_id) not in given
    ]


def resolve_number_collisions(
    runner: Runner,
    sessions: Clarifications,
    documents: Documents,
    second: Iterable[str] = (),
    first_commits: Callable[[Sequence[str]], Mapping[str, int]] = lambda _: {},
    *,
    write: bool,
) -> list[Move]:
    """Give every record but the oldest of its number the next free one of its folder.

    The order is that of the day that a record bears, or else of its first commit, so that two
    people who merge the same branches come to the same names.

    Args:
        second: sessions of which another one holds the number; those whose document has the path
            of another session's get a new number too.
        first_commits: by path, when git first had a file, in seconds since 1970.

    Raises:
        StoreUnavailable: a file cannot be read or renamed.
    """
    by = _Renumbering(runner, sessions, documents, write)
    twice = [group for group in _groups(documents) if len(group) > 1]
    committed = first_commits([path for group in twice for path, *_ in group]) if twice else {}
    taken = defaultdict[str, list[int]](list)
    moves: list[Move] = []
    for group in twice:
        entries = [
            _AgedRecord(
                paths[0],
                tuple(paths),
                _header_of_record_file(documents.root, paths[0]),
                committed.get(paths[0], UNCOMMITTED_S),
            )
            for paths in group
        ]
        for entry in sorted(entries, key=lambda one: one.age)[1:]:
            number = _next(sessions, entry.path, taken)
            moves += _move_record(by, entry, number)
    moved = {move.session_id for move in moves}
    for session_id in second:
        handle = None if session_id in moved else _without_place(runner, documents, session_id)
        if handle is not None:
            path = documents.text(session_id)[0].path
            number = _next(sessions, path, taken)
            moves.append(Move(path, _renumbered_path(path, number), session_id))
            if write:
                _record_new_number(by, handle, number)
    return moves


def _next(sessions: Clarifications, path: str, taken: Mapping[str, list[int]]) -> int:
    """The next number of the folder of a record, which none of `taken` is; it is one of them then.

    Args:
        taken: by folder.
    """
    folder = _numbering_folder(path)
    taken[folder].append(sessions.next_number(folder, taken[folder]))
    return taken[folder][-1]


def _groups(documents: Documents) -> Iterator[list[Sequence[str]]]:
    """Records of one number, each with its translations; a link or a folder bears none."""
    paths = [
        path
        for path in documents.record_paths()
        if (file := documents.root / path).is_file() and not file.is_symlink()
    ]
    for records in numbered_groups(paths).values():
        yield [*records.values()]


def _numbering_folder(path: str) -> str:
    """Of the sequence in which a record has its number."""
    found = numbered_path(path)
    return found.folder if found else PurePosixPath(path).parent.as_posix()


def _without_place(runner: Runner, documents: Documents, session_id: str) -> Handle | None:
    """The session, where the document of another one lies in the place of its own."""
    try:
        handle = runner.load(session_id)
        other = documents.other_at(session_id, documents.text(session_id)[0].path)
    except PreflightsError:
        return None
    return handle if other and isinstance(handle.session.state, ClarificationState) else None


def _renumbered_path(path: str, number: int) -> str:
    """The path with another number in the name of the file, or of the record's own folder."""
    at, found = PurePosixPath(path), _numbered(path)
    name = found.name.with_number(number)
    is_folder = at.parent.as_posix() != found.folder
    return (at.parent.with_name(name) / at.name if is_folder else at.with_name(name)).as_posix()


def _header_of_record_file(root: Path, path: str) -> RecordHeader:
    """What a record says of itself.

    Raises:
        StoreUnavailable: it cannot be read.
    """
    try:
        return record_header(path, regular(root / path, RECORD_MAX, follows=False))
    except (OSError, Unreadable) as error:
        raise StoreUnavailable(f"{path} cannot be read: {error}") from error


def _first_commits(root: Path, paths: Sequence[str]) -> dict[str, int]:
    """By path, when git first had a file, in seconds since 1970; not of a clone without history.

    The author's time: a rebase gives every commit another one.
    """
    from preflights_es.settings.load import surroundings
    from preflights_es.system import git

    log = "-c core.quotePath=false log --diff-filter=A --no-renames --relative --name-only"
    words = (*log.split(), "--format=%x00%at", "--", *(f":(literal){path}" for path in paths))
    said = git.read_git_text(words, root, surroundings(), GIT_S)
    found: dict[str, int] = {}
    for commit in filter(None, (said or "").split("\0")):
        when, *names = filter(None, commit.split("\n"))
        found |= {name: min(int(when), found.get(name, UNCOMMITTED_S)) for name in names}
    return found


def _move_record(by: _Renumbering, entry: _AgedRecord, number: int) -> Iterator[Move]:
    """Move a record with its translations."""
    root, handle, moving = by.documents.root, _session_behind_record(by, entry), None
    if handle is not None:
        to = _renumbered_path(entry.path, number)
        yield Move(entry.path, to, handle.session_id)
        if by.write:
            ours = by.documents.hashes(handle.session_id)
            is_edited = files.found_hash(root / entry.path) not in ours
            folder = PurePosixPath(entry.path).parent.as_posix()
            if is_edited or folder != _numbering_folder(entry.path):
                moving = (entry.path, to)
            _record_new_number(by, handle, number, moving)
    for path in entry.files if handle is None else entry.files[1:]:
        to = _renumbered_path(path, number)
        yield Move(path, to)
        if by.write:
            _rename(root, path, to)


def _rename(root: Path, path: str, to: str) -> None:
    """A record with a folder of its own takes all of the folder along."""
    at, new = PurePosixPath(path), PurePosixPath(to)
    if at.parent == new.parent:
        files.rename_record_file(root, root / path, new.name)
    elif (root / path).exists():  # a translation came first
        files.rename_record_file(root, root / at.parent, new.parent.name)


def _record_new_number(
    by: _Renumbering, handle: Handle, number: int, moving: tuple[str, str] | None = None
) -> None:
    """Record the number, and write the documents that have it.

    Args:
        moving: the paths, former and new, of a file that a person edited, or that has a folder of
            its own: the edits, and what else lies there, move along.
    """
    step = by.sessions.renumber(handle, number)
    if moving:
        _rename(by.documents.root, *moving)
    by.documents.finish(step.handle)
    moved: ClarificationState = step.handle.session.state
    for related in _related(by.runner, moved):
        path = as_related(moved, handle.session_id, related.session.state.filed.folder).path
        told = by.sessions.renumber_reference(related, moved.opened.uid, number, path)
        by.documents.finish(told.handle)


def _session_behind_record(by: _Renumbering, entry: _AgedRecord) -> Handle | None:
    """The session behind a record, where this log holds it and wrote that file."""
    if not entry.header.session:
        return None
    try:
        handle = by.sessions.load(entry.header.session)
    except PreflightsError:
        return None
    takes_number = isinstance(handle.session.state, ClarificationState)
    is_there = takes_number and handle.view.document == entry.path
    return handle if is_there and entry.path in by.documents.paths(handle.session_id) else None


def _related(runner: Runner, state: ClarificationState) -> list[Handle]:
    """Sessions of this log whose documents name this one's number."""
    ids = [one.session_id for one in related_to(state)]
    here = (runner.load(i) for i in ids if i and runner.store.head(i) is not None)
    return [handle for handle in here if handle.session.closed != "erased"]


# What follows a new number -------------------------------------------------------------------


def _new_places_by_path(root: Path, moves: Iterable[Move]) -> dict[str, NewPlace]:
    """By the former path; not where another record keeps that, to which links go on to lead."""
    found = {}
    for move in moves:
        own = move.session_id and _header_of_record_file(root, move.path).session
        if own == move.session_id:
            before, after = PurePosixPath(move.path), PurePosixPath(move.to)
            if before.parent != after.parent:  # the record has a folder of its own
                before, after = before.parent, after.parent
            old, new = (_numbered(path).name.number for path in (move.path, move.to))
            found[move.path] = NewPlace(str(before), old, str(after), new)
    return found


def _pages_changed(
    root: Path,
    records: Iterable[str],
    places: Mapping[str, NewPlace],
    own: Mapping[str, NewPlace],
    *,
    write: bool,
) -> Iterator[str]:
    """The pages beside the records whose heading or links follow.

    Args:
        own: by the page that moves, or has moved.
        write: whether they are changed.
    """
    folders = {PurePosixPath(path).parent for path in records} if places else ()
    for folder in sorted(folders):
        for name in files.page_names(root, folder.as_posix()):
            path = (folder / name).as_posix()
            mend = partial(_with_places, path=path, places=places, own=own.get(path))
            if files.change_file_content(root, root / path, mend, write=write):
                yield path


def _with_places(
    content: bytes, *, path: str, places: Mapping[str, NewPlace], own: NewPlace | None
) -> bytes:
    try:
        content = with_title_number(content, own) if own else content
        return with_links(content, path, places)
    except UnicodeDecodeError:
        return content


def _pointing(
    root: Path, records: Iterable[str], places: Mapping[str, NewPlace]
) -> Iterator[PointingLine]:
    """Lines that name a moved file where no link is mended, and those that name only its number."""
    from preflights_es.settings.load import surroundings
    from preflights_es.system import git

    words = ["grep", "-z", "-n", "-I", "-i", "-E", "--untracked", "--no-color", "--no-textconv"]
    for path, place in places.items():
        words += ["-e", re.escape(place.stem), "-e", _number_pattern(path)]
    leaves = ("--", ".", ":(exclude,glob)**/.sessions/**")
    said = git.output((*words, *leaves), root, surroundings(), GIT_S) if places else None
    former = {place.path for place in places.values()}
    mended_in = {PurePosixPath(path).parent for path in records}
    for found in (said or b"").splitlines():
        name, _, rest = found.partition(b"\0")
        line, _, text = rest.partition(b"\0")
        at = PurePosixPath(name.decode("utf-8", "backslashreplace"))
        is_mended = at.parent in mended_in and is_page(at.name)
        for names in dict.fromkeys(_named_in(at.as_posix(), text.decode(errors="replace"), places)):
            if not (is_mended and names in former):
                yield PointingLine(at.as_posix(), int(line), names)


def _named_in(path: str, text: str, places: Mapping[str, NewPlace]) -> Iterator[str]:
    """What a line names: the former paths of records, or else a number that two records bore."""
    if found := dict.fromkeys(one.place.path for one in pointing_at(text, path, places)):
        yield from found
        return
    own = numbered_path(path)
    for former in places:
        old = _numbered(former).name
        is_own = own is not None and own.name.number == old.number  # or a link to it
        is_linked = f"{old.before}{old.digits}{old.after[:1]}" in text
        if not (is_own or is_linked) and re.search(_number_pattern(former), text, re.IGNORECASE):
            yield old.label


def _number_pattern(path: str) -> str:
    """How a text names a record by its number alone, for git and for us."""
    name = _numbered(path).name
    if name.series:
        return f"{re.escape(name.label)}([^0-9]|$)"
    return f"adr[-_ #]?0*{name.number}([^0-9]|$)"


def _numbered(path: str) -> NumberedPath:
    """A path that bears a number, in its parts."""
    found = numbered_path(path)
    assert found is not None, "it bears a number"
    return found
