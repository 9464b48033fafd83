"""What a base decided, as far as a change does not hold it as it was: read by the same code.

The files of the base that a change touches or reads no more are laid into a temporary folder. What
the base found there, by its own settings and folders, is what is decided there; nothing of it is
taken from the change.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from msgspec.structs import replace

from preflights_es.features.govern.changes import ChangeSet, changed_between, files_at, objects
from preflights_es.kernel.errors import ArtifactOutside, PreflightsError, SettingsError
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Access, Stored
from preflights_es.records.record_folder import ADR_DIR, LOG4BRAINS, folder_of, usual_folder
from preflights_es.records.record_names import RecordHeader, is_page
from preflights_es.records.record_places import FOLDERS_MAX, PAGES_MAX, RecordPlaces
from preflights_es.records.session_files import FOLDER, SIZE_MAX, name_session_file
from preflights_es.settings.file import FILE, PYPROJECT
from preflights_es.settings.load import Settings, load_settings
from preflights_es.store import jsonl
from preflights_es.use.decisions import log_decisions
from preflights_es.use.foreign import ForeignRow, foreign_rows
from preflights_es.use.process import Process, made_once
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow

SETTINGS: Final = (FILE, PYPROJECT, ADR_DIR, LOG4BRAINS)
"""Files that say where records lie."""


class BaseSession(NamedTuple):
    """A session that the base reads, and that the change does not hold as it was."""

    path: str
    events: Sequence[Stored]
    """At the tip of the base."""
    parted: Sequence[bytes] | None
    """Hashes of those where the branches parted; None where it did not lie there."""


class BaseSide(NamedTuple):
    """What of the base has to be looked at."""

    sessions: Mapping[str, BaseSession] = {}
    """By session."""
    rows: Sequence[DecisionRow] = ()
    """Their decisions, whatever became of them."""
    records: Sequence[ForeignRow] = ()
    """Records of no session."""
    new: frozenset[str] = frozenset()
    """Files that the base has changed since the branches parted."""
    there: frozenset[str] = frozenset()
    """All files that it has."""
    looked: frozenset[str] = frozenset()
    """Files that it has, and of which it is known whether it reads them."""
    unread: tuple[str, ...] = ()
    """Files that are too large, or not in this clone."""
    texts: Mapping[str, bytes] = {}
    """Of pages, by path."""


class _Tree(NamedTuple):
    """Files of the base that are laid out."""

    root: Path
    pages: Sequence[str]
    """With the files that name folders of records."""
    projects: Counter[str]
    """Names of projects that sessions say."""


def base_side(request: Request, change: ChangeSet, troubled: Collection[str]) -> BaseSide:
    """What the tip of the base decided, in files that the change touches or reads no more.

    Args:
        troubled: paths of session files here that cannot be read.
    """
    root = request.process.settings.root
    if not change.tip:
        return BaseSide()
    there = files_at(root, change.tip)
    new = changed_between(root, change.base, change.tip) if change.base != change.tip else {}
    for other in change.others:
        since = changed_between(root, other, change.tip)
        new = {path: new[path] for path in new.keys() & since.keys()}
    touched = {one.path for one in change.files} | {*new, *troubled}
    wanted = {*_affected_session_files(request, there, touched)}
    wanted.update(_affected_pages(request, there, touched))
    if not wanted:
        return BaseSide(new=frozenset(new), there=frozenset(there))
    laid = [path for path in there if path in wanted or is_settings(path)]
    content = objects(root, [there[path] for path in laid], SIZE_MAX)
    found = {path: content[there[path]] for path in laid if there[path] in content}
    with _laid_out(found) as tree, _open_base_process(request, tree) as base:
        sessions = _read_sessions(root, base, new)
        rows = () if base.file_log.is_empty else (*log_decisions(base.file_log, everything=True),)
        return BaseSide(
            sessions=sessions,
            rows=rows,
            records=(*_base_records_without_session(base, there),),
            new=frozenset(new),
            there=frozenset(there),
            looked=frozenset(found),
            unread=tuple(path for path in laid if path not in found),
            texts={path: text for path, text in found.items() if is_page(path)},
        )


# 1. Which files ------------------------------------------------------------------------------


def is_settings(path: str) -> bool:
    """Whether a file may say where records lie."""
    return path.rpartition("/")[2] in SETTINGS


def _affected_session_files(
    request: Request, there: Iterable[str], touched: Collection[str]
) -> Iterator[str]:
    """Sessions that were touched, are read no more, or may be read since this change."""
    read = {f"{one.path}/" for one in request.process.session_folders}
    may_wake = any(map(is_settings, touched))
    around = {folder for path in touched if is_page(path) for folder in _above(path)}
    for path in there:
        folder, _, name = path.rpartition("/")
        if not (f"/{folder}".endswith(f"/{FOLDER}") and name.endswith(".jsonl")):
            continue
        may_wake_here = may_wake or folder.removesuffix(FOLDER).rstrip("/") in around
        if path in touched or f"{folder}/" not in read or may_wake_here:
            yield path


def _affected_pages(
    request: Request, there: Collection[str], touched: Collection[str]
) -> Iterator[str]:
    """Pages that were touched, and all that may be records where a record or a folder changes.

    Whether a folder of any name is one of records depends on all of its pages, and what became of
    a record may stand in any other one.
    """
    folders = request.process.record_places.folders
    pages = [*filter(is_page, there)]
    changed = [*filter(is_page, touched)]
    is_full = len(folders) >= FOLDERS_MAX or len({*pages, *changed}) > PAGES_MAX
    moved = is_full or any(map(is_settings, touched))
    around = {folder for path in changed for folder in _above(path)}

    def is_record(path: str) -> bool:
        return usual_folder(path.rpartition("/")[0]) is not None or bool(folder_of(path, folders))

    # A new session may be the one that a record has named since long ago, and an old one is read
    # only where its folder is one of records.
    has_session = any(path.endswith(".jsonl") for path in touched)
    is_every = moved or has_session or any(map(is_record, changed))
    is_every = is_every or _depends(request, there, touched)
    for path in pages:
        may_be_hidden = is_record(path) and folder_of(path, folders) is None
        is_meant = moved or may_be_hidden or (is_every and is_record(path))
        if path in touched or is_meant or _above(path) & around:
            yield path


def _depends(request: Request, there: Collection[str], touched: Iterable[str]) -> bool:
    """Whether what a record holds for is a path by a file that lies only here, or only there."""
    root, filed = request.process.settings.root, _filed(there)
    alone = [path for path in touched if (path in there) != os.path.lexists(root / path)]
    if not alone:
        return False
    try:
        records = request.process.records().records
    except ArtifactOutside:
        return False
    entries = {one for row in records if not _is_of(row, filed) for one in row.applies_to}
    firsts = {part for one in entries for part in (one.rstrip("/"), one.partition("/")[0])}
    around = {place for path in alone for place in path_with_parents(path)} & firsts
    known = {place for path in there for place in path_with_parents(path)} if around else ()
    return any((place in known) != os.path.lexists(root / place) for place in around)


def _filed(there: Iterable[str]) -> frozenset[str]:
    """Names of session files."""
    return frozenset(path.rpartition("/")[2] for path in there if path.endswith(".jsonl"))


def _is_of(row: RecordHeader, filed: Collection[str]) -> bool:
    """Whether a record is that of a session whose file lies there."""
    return bool(row.session) and name_session_file(decision_uid(row.session)) in filed


def path_with_parents(path: str) -> Iterator[str]:
    """A file and the folders above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _above(path: str) -> frozenset[str]:
    """The folder of a page, and the one above: a record may have a folder of its own."""
    folder = path.rpartition("/")[0]
    return frozenset((folder, folder.rpartition("/")[0]) if folder else ())


# 2. The base as it was -----------------------------------------------------------------------


@contextmanager
def _laid_out(content: Mapping[str, bytes]) -> Iterator[_Tree]:
    projects = Counter[str]()
    with TemporaryDirectory(prefix="preflights-") as folder:
        root = Path(folder, "base")
        root.mkdir()
        pages = []
        for path, text in content.items():
            parts = PurePosixPath(path).parts
            if ".." in parts or path.startswith("/"):
                continue  # no file that git checks out
            root.joinpath(*parts[:-1]).mkdir(parents=True, exist_ok=True)
            root.joinpath(*parts).write_bytes(text)
            if path.endswith(".jsonl"):
                projects.update(_project(text))
            elif is_page(path) or path.endswith((ADR_DIR, LOG4BRAINS)):
                pages.append(path)
        yield _Tree(root, sorted(pages), projects)


def _project(content: bytes) -> Iterator[str]:
    """What the first event of a session says; nothing of one that cannot be read."""
    try:
        first = next(iter(jsonl.stored(content.splitlines(keepends=True)[:2], "")), None)
    except PreflightsError:
        first = None
    if first is not None:
        yield first.project


class _BaseProcess(Process):
    """Reads what is laid out, with an empty log."""

    def __init__(self, settings: Settings, pages: Sequence[str]) -> None:
        super().__init__(settings, Access.READ)
        self._pages = pages

    @made_once
    def record_places(self) -> RecordPlaces:
        """Where records lie, among the pages of the base."""
        settings = self.settings
        return RecordPlaces(settings.root, settings.decisions, tree=self._pages)


@contextmanager
def _open_base_process(request: Request, tree: _Tree) -> Iterator[Process]:
    here = request.process.settings
    try:
        said = load_settings(tree.root).decisions
    except SettingsError:
        said = ""
    project = next((name for name, _ in tree.projects.most_common(1)), here.project)
    settings = replace(
        here,
        root=tree.root,
        cwd=tree.root,
        is_in_git=False,
        git_folder=None,
        project=project,
        project_file=None,
        database=str(tree.root.parent / "log.db"),
        is_database_named=False,
        stand_in=None,
        decisions=said,
    )
    base = _BaseProcess(settings, tree.pages)
    try:
        yield base
    finally:
        base.close()


def _read_sessions(root: Path, base: Process, new: Mapping[str, str]) -> Mapping[str, BaseSession]:
    log = base.file_log
    former = objects(root, [*new.values()], SIZE_MAX) if new else {}
    found = {}
    for session_id, file in log.files.items() if not log.is_empty else ():
        events = log.store.read(session_id)
        parted: Sequence[bytes] | None = [one.hash for one in events]
        if file.path in new:
            parted = hashes_of(former[new[file.path]]) if new[file.path] in former else None
        found[session_id] = BaseSession(file.path, events, parted)
    return found


def hashes_of(content: bytes) -> list[bytes]:
    """Of the events of a session file; none where it cannot be read."""
    try:
        return [one.hash for one in jsonl.stored(content.splitlines(keepends=True), "")]
    except PreflightsError:
        return []


def _base_records_without_session(base: Process, there: Collection[str]) -> Iterator[ForeignRow]:
    """Records that no session of the base wrote."""
    filed = _filed(there)
    try:
        records = base.records()
    except ArtifactOutside:
        return  # no command read one there
    places = {place for path in there for place in path_with_parents(path)}
    rows = foreign_rows(base, records, lambda entry: entry.rstrip("/") in places)
    for place, row in rows.items():
        if not _is_of(records.records[place], filed):
            yield row
