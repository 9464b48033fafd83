"""Finds the folders of a project's records by git's index, and keeps what it found beside the log.

Which folders there are is looked for where the index has changed; what lies in them is listed each
time (`record_list`).
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec.structs import replace

from preflights_es.kernel import __version__
from preflights_es.kernel.text import late_pattern
from preflights_es.records.record_folder import (
    ADR_DIR,
    DEFAULT,
    LOG4BRAINS,
    By,
    RecordFolder,
    folder_of,
    is_left_out,
    is_usual,
    package_folders,
    said_folders,
    usual_folder,
    usual_folders,
)
from preflights_es.records.record_names import RecordHeader, is_dated, is_other_text, is_page
from preflights_es.system import git
from preflights_es.system.files import Unreadable, read_cache, read_file_beginning, write_cache

FINDER: Final = f"{__version__}/9"  # a new number when folders are found in another way
KEPT_MAX: Final = 20_000_000  # bytes
FOLDERS_MAX: Final = 200
PAGES_MAX: Final = 20_000  # of folders without a usual name that are read
PAGE_MAX: Final = 16_384  # bytes of a page that are read: its headings
ENOUGH: Final = 2  # decisions that make another folder one of records
LISTED_S: Final = 30  # for git to list the files of a work tree
_PAGES: Final = (
    ":(icase)*.md",
    ":(icase)*.mdx",
    ":(icase)*.markdown",
    ":(icase)*.adoc",
    ":(icase)*.asciidoc",
)
_FILES: Final = (f":(glob)**/{ADR_DIR}", LOG4BRAINS, ":(icase)*.rst")
_STATUS: Final = late_pattern(
    rb"status|zustand|^[^\w\n]*state\b", re.MULTILINE | re.IGNORECASE
)  # stands in a record with a status
_STATUSES: Final = late_pattern(
    rb"^[#=*>|:+ \t-]*(?:status|zustand)[* \t]*(?::|\|?\r?$)", re.MULTILINE | re.IGNORECASE
)

Page = tuple[int, int, bool]
"""Size, time of the content, and whether it is a decision."""
NO_PAGES: Final = msgspec.Raw(msgspec.msgpack.encode({}))


class _Key(msgspec.Struct, frozen=True, array_like=True):
    """What changes when there may be another folder."""

    reader: str
    root: str
    index: tuple[int, int, int] | None
    """Size, time and inode of git's index; None without one."""
    usual: tuple[str, ...]
    """Folders of usual names at the usual places: one that is new is seen before git knows it."""
    near: tuple[str, ...] = ()
    """The same in the package that the caller stands in, without those that were found."""


class _CachedFolders(msgspec.Struct, frozen=True, array_like=True):
    key: _Key
    folders: tuple[RecordFolder, ...]
    pages: msgspec.Raw
    """By path, a `Page` of a folder without a usual name."""
    left_out: tuple[tuple[str, str], ...] = ()
    """The first folder that is too many of each kind, and files of several decisions; and why."""


class RecordPlaces:
    """Where a project's records lie, and where a new one goes; looked for when that is asked."""

    def __init__(
        self,
        root: Path,
        told: str = "",
        *,
        cwd: Path | None = None,
        index: Path | None = None,
        env: Mapping[str, str] | None = None,
        cache: Callable[[], Path | None] = lambda: None,
        records: Callable[[], Iterable[RecordHeader]] = tuple,
        tree: Sequence[str] | None = None,
    ) -> None:
        """Args:
        told: the folder that settings name; empty where they name none.
        cwd: where the caller stands.
        index: git's; None outside of git.
        env: for git.
        cache: a file of our own.
        records: those in the folders, which are counted where several folders could be meant.
        tree: the pages and such files that there are, instead of those that git lists.
        """
        self._root = root
        self._told = told
        self._cwd = cwd or root
        self._index = index
        self._env = env or {}
        self._cache = cache
        self._records = records
        self._tree = tree
        self._kept: _CachedFolders | None = None
        self._new: RecordFolder | None = None

    @property
    def folders(self) -> tuple[RecordFolder, ...]:
        """All of them: what settings and `.adr-dir` name, then those that were found, by path.

        Raises:
            ArtifactOutside: settings or `.adr-dir` name a folder outside the project, or git's.
        """
        kept = self._last()
        is_within = self._cwd != self._root
        near = tuple(self._list_near(kept.folders if kept else ())) if is_within else ()
        usual = usual_folders(self._root)
        key = _Key(FINDER, str(self._root), _stamp(self._index), usual, near=near)
        if kept is None or kept.key != key:
            kept = self._found(key, kept)
        return self._with_said(kept)

    @property
    def known(self) -> tuple[RecordFolder, ...]:
        """The same as it was found last, for what reads no record; errors as above."""
        kept = self._last()
        return self.folders if kept is None else self._with_said(kept)

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Folders beyond a limit, the first of each kind, and files that hold several decisions;
        each with why. Errors as above.
        """
        _ = self.folders  # it looks for them
        return self._kept.left_out if self._kept else ()

    @property
    def new(self) -> str:
        """Where a new record goes, relative to the root; errors as above."""
        if self._new is None:
            self._new = self._chosen()
        return self._new.path

    @property
    def new_by(self) -> By:
        """What says so."""
        return self._new.by if self.new and self._new else "default"

    # 1. Where a new one goes -----------------------------------------------------------------

    def _here(self) -> str:
        return os.path.relpath(self._cwd.resolve(), self._root.resolve()).replace(os.sep, "/")

    def _said(self) -> tuple[RecordFolder, ...]:
        return said_folders(self._root, self._told)

    def _with_said(self, kept: _CachedFolders) -> tuple[RecordFolder, ...]:
        said = self._said()
        paths = {one.path for one in said}
        return (*said, *(one for one in kept.folders if one.path not in paths))

    def _chosen(self) -> RecordFolder:
        """Of the package that the caller stands in; of several where most of ours lie, or most."""
        found = self.folders
        if self._said() or len(found) < 2:
            return found[0] if found else RecordFolder(DEFAULT, "default")
        here = self._here()
        packages = {one: f"{one.package}/".lstrip("/") for one in found}
        around = [one for one in found if f"{here}/".startswith(packages[one])]
        longest = max((packages[one] for one in around), key=len, default="")
        near = [one for one in around if packages[one] == longest] or found
        if len(near) == 1:
            return near[0]
        lying = [(folder_of(one.path, found), bool(one.session)) for one in self._records()]
        ours = Counter(folder for folder, is_ours in lying if is_ours)
        every = Counter(folder for folder, _ in lying)
        return max(near, key=lambda one: (ours[one], every[one]))

    # 2. Which there are ----------------------------------------------------------------------

    def _list_near(self, known: Iterable[RecordFolder]) -> Iterator[str]:
        """Folders of usual names between the root and the caller that are not known yet."""
        paths = {one.path for one in known}
        here = PurePosixPath(self._here())
        if here.parts[:1] == ("..",):  # the caller stands outside of the project
            return
        for above in (here, *here.parents)[:-1]:  # without the root
            found = (f"{above}/{one}" for one in usual_folders(self._root / above))
            yield from (one for one in found if one not in paths)

    def _last(self) -> _CachedFolders | None:
        """What was found last, here or by an earlier process."""
        if self._kept is None and (cache := self._cache()) is not None:
            kept = read_cache(cache, KEPT_MAX, _CachedFolders)
            if kept and (kept.key.reader, kept.key.root) == (FINDER, str(self._root)):
                self._kept = kept
        return self._kept

    def _found(self, key: _Key, former: _CachedFolders | None) -> _CachedFolders:
        """Look at all files that git lists; without git, at the usual places alone."""
        pages = former.pages if former else NO_PAGES
        tree = self._tree
        if tree is None and self._index:
            tree = listed_pages(self._root, self._env)
        found, pages, passed = found_folders(self._root, tree, key.usual, pages)
        why = f"of {len(found):,} folders of records, {FOLDERS_MAX} are read"
        left_out = tuple((one.path, why) for one in found[FOLDERS_MAX:][:1])
        why = (
            f"{PAGES_MAX:,} pages were looked at before it: if it holds records, say so in .adr-dir"
        )
        left_out += tuple((path, why) for path in passed[:1])
        why = "a file of several decisions is not read: give each a file of its own"
        left_out += tuple((path, why) for path in tree or () if _holds_several(self._root, path))
        self._kept = _CachedFolders(key, found[:FOLDERS_MAX], pages, left_out)
        if (cache := self._cache()) is not None:
            write_cache(cache, self._kept)
        return self._kept


def _stamp(index: Path | None) -> tuple[int, int, int] | None:
    try:
        lies = os.stat(index) if index else None
    except OSError:
        lies = None
    return (lies.st_size, lies.st_mtime_ns, lies.st_ino) if lies else None


# 3. The search ----------------------------------------------------------------------------------


def found_folders(
    root: Path, tree: Sequence[str] | None, usual: Sequence[str], pages: msgspec.Raw
) -> tuple[tuple[RecordFolder, ...], msgspec.Raw, Sequence[str]]:
    """The folders of records, by path; what was read of pages; folders that were not looked at.

    Args:
        tree: the pages, and files that name folders, that git lists; None without git, and only the
            usual places are looked at.
        usual: folders of usual names at the usual places.
        pages: what was read of pages the last time.
    """
    if tree is None:
        from preflights_es.records.record_list import record_files

        here = map(RecordFolder, usual)
        return tuple(one for one in here if any(record_files(root, (one,)))), NO_PAGES, ()
    tree, files = [*filter(is_page, tree)], [path for path in tree if not is_page(path)]
    named, others = _by_folder(tree)
    naming = (path for path in files if path.rpartition("/")[2] in (ADR_DIR, LOG4BRAINS))
    said = {one.path: one for one in package_folders(root, naming)}
    found = [
        RecordFolder(path)
        for path, lying in named.items()
        if path not in said and (path in usual or _has_record(root, path, lying))
    ]
    known = msgspec.msgpack.decode(pages, type=dict[str, Page])
    looked, made, passed = _of_decisions(root, others, known)
    found += [RecordFolder(path, "content") for path in made if path not in said]
    texts = {usual_folder(path.rpartition("/")[0]) for path in files if is_other_text(path)}
    there = {one.path for one in found}
    found += (RecordFolder(path) for path in texts if path and path not in there | said.keys())
    found += said.values()
    found.sort(key=lambda one: one.path)
    read = (_without_ignored(root, one, tree) for one in found[:FOLDERS_MAX])
    kept = msgspec.Raw(msgspec.msgpack.encode(looked))
    return (*read, *found[FOLDERS_MAX:]), kept, passed


def listed_pages(root: Path, env: Mapping[str, str]) -> list[str] | None:
    """The pages of a work tree, and files that name folders of records, that git knows, or does not
    ignore; None where it cannot say.
    """
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *_PAGES, *_FILES)
    said = git.output(words, root, env, LISTED_S)
    return None if said is None else sorted(set(map(os.fsdecode, filter(None, said.split(b"\0")))))


def _by_folder(pages: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Pages by their folder of a usual name, and all others that count by their own folder."""
    usual, others = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    kinds: dict[str, str | None] = {}
    for page in pages:
        folder = page.rpartition("/")[0]
        if folder not in kinds:
            kinds[folder] = usual_folder(folder)
        if top := kinds[folder]:
            usual[top].append(page)
        elif not any(map(is_left_out, page.split("/"))):
            others[folder].append(page)
    for folder in [one for one, lying in others.items() if len(lying) == 1]:
        above, _, own = folder.rpartition("/")
        if above and is_dated(own):  # a folder per record; one with more pages is a chapter
            others[above] += others.pop(folder)
    return usual, others


def _without_ignored(root: Path, folder: RecordFolder, tree: Sequence[str]) -> RecordFolder:
    from preflights_es.records.record_list import record_files, shown_name

    known = {shown_name(page) for page in tree if folder.holds(page)}
    lying = (file.path for file in record_files(root, (folder,)) if is_page(file.path))
    others = (path for path in lying if path not in known and not (root / path).is_dir())
    return replace(folder, ignored=tuple(others))


def _has_record(root: Path, folder: str, pages: Sequence[str]) -> bool:
    """Whether a folder that has its name by chance, perhaps, holds a record."""
    from preflights_es.records.foreign_records import listed_header  # most commands need no search

    for page in pages:
        within, content = page.removeprefix(f"{folder}/"), _read_page_beginning(root, page)
        # Posts and minutes have numbers or days, too.
        if content is not None and listed_header(within, content, counts_number=False):
            return True
    return False


def _holds_several(root: Path, path: str) -> bool:
    """Whether a file called as a folder of records is, such as `docs/decisions.md`, holds some."""
    folder, _, name = path.rpartition("/")
    if not is_usual(name.rpartition(".")[0]) or usual_folder(folder):
        return False
    if any(map(is_left_out, filter(None, folder.split("/")))):
        return False
    return len(_STATUSES.findall(_read_page_beginning(root, path) or b"")) >= ENOUGH


def _of_decisions(
    root: Path, folders: Mapping[str, Sequence[str]], known: Mapping[str, Page]
) -> tuple[dict[str, Page], list[str], list[str]]:
    """What was read of pages; the folders of which `ENOUGH` are decisions; what was passed over."""
    from preflights_es.records.record_list import shown_name

    looked: dict[str, Page] = {}
    made: list[str] = []
    passed: list[str] = []
    for folder, pages in folders.items():
        if len(pages) < ENOUGH:
            continue
        if len(looked) > PAGES_MAX:
            passed.append(folder or ".")
            continue
        count = 0
        for page in pages:
            name = shown_name(page)
            if (row := _page(root, folder, page, known.get(name))) is not None:
                looked[name] = row
                count += row[2]
            if count == ENOUGH:
                made.append(folder or ".")
                break
    return looked, made, passed


def _page(root: Path, folder: str, page: str, known: Page | None) -> Page | None:
    try:
        lies = os.lstat(root / page)
    except OSError:
        return None
    if known and known[:2] == (lies.st_size, lies.st_mtime_ns):
        return known
    from preflights_es.records.foreign_records import is_decision

    content = _read_page_beginning(root, page) or b""
    is_one = _STATUS.search(content) is not None and is_decision(
        page.removeprefix(f"{folder}/"), content
    )
    return lies.st_size, lies.st_mtime_ns, is_one


def _read_page_beginning(root: Path, page: str) -> bytes | None:
    try:
        return read_file_beginning(root / page, PAGE_MAX, follows=False)
    except (OSError, Unreadable):
        return None
