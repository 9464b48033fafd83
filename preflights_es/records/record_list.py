"""Lists the records of folders: what was read of a file is kept until the file changes.

Also which record replaced another where the older one does not say so, and which names and headings
a new one takes over.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final
from zlib import crc32

import msgspec
from msgspec.structs import replace

from preflights_es.kernel import __version__
from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.kernel.text import late_pattern
from preflights_es.records.files import checked_folder
from preflights_es.records.record_folder import RecordFolder, is_passed_over
from preflights_es.records.record_names import (
    RECORD_MAX,
    RecordHeader,
    Reference,
    TitleStatement,
    day_of_file_name,
    is_dated,
    is_first_page,
    is_other_text,
    is_page,
    is_record_name,
    is_year,
    name_of_record,
    numbered_name,
    sequence_of_path,
    title_of_name,
)
from preflights_es.system.files import Unreadable, read_cache, regular, write_cache
from preflights_es.words.decisions import RecordForm

READER: Final = f"{__version__}/19"  # a new number when records are read in another way
CACHE_MAX: Final = 50_000_000  # bytes
WORDS_MAX: Final = 400  # distinct words of a record that are found, its first ones
DEPTH_MAX: Final = 4  # folders below that of records
RACE_NS: Final = 2_000_000_000
"""How much older than the cache a change must be: another one could follow in the same tick."""

Stamp = tuple[int, int, int, int]
"""Size, time of the content, time of the entry, inode; a change of a file changes one of them."""


class UnreadRecord(msgspec.Struct, frozen=True):
    """A file that may be a record, and cannot be read."""

    path: str
    """Relative to the project's root."""
    why: str


class RecordWords(msgspec.Struct, frozen=True, array_like=True):
    """The words of a record, by which it is found."""

    length: int
    """All of them, each as often as it stands there."""
    packed: msgspec.Raw
    """By word: whether the title or the file's name has it, and how often the whole does."""


NO_WORDS: Final = RecordWords(0, msgspec.Raw(msgspec.msgpack.encode({})))


class WordHit(msgspec.Struct, frozen=True, array_like=True):
    """A word in a record."""

    record: int
    """Its place in the list."""
    in_title: bool
    times: int
    """How often the whole record has it."""


class RecordIndex(msgspec.Struct, frozen=True):
    """The words of all records of a list; what is not asked for is not read."""

    lengths: tuple[int, ...]
    """Words of each record."""
    packed: msgspec.Raw

    def words(self) -> dict[str, msgspec.Raw]:
        """By word, what `hits` reads."""
        return msgspec.msgpack.decode(self.packed, type=dict[str, msgspec.Raw])

    @staticmethod
    def hits(of: msgspec.Raw) -> list[WordHit]:
        """The records that have a word."""
        return msgspec.msgpack.decode(of, type=list[WordHit])


EMPTY: Final = RecordIndex((), msgspec.Raw(msgspec.msgpack.encode({})))


class Records(msgspec.Struct, frozen=True):
    """The records of folders; ours among them, as `session` says."""

    records: tuple[RecordHeader, ...]
    """By folder and name; their paths are relative to the project's root."""
    unread: tuple[UnreadRecord, ...] = ()
    index: RecordIndex = EMPTY


class _CachedRecord(msgspec.Struct, frozen=True, array_like=True):
    stamp: Stamp
    header: RecordHeader | None
    """None for a file that is no record."""
    words: RecordWords


class _RecordListCache(msgspec.Struct, frozen=True, array_like=True):
    reader: str
    root: str
    rows: dict[str, _CachedRecord]
    index: msgspec.Raw
    check: int


class _RecordFile(msgspec.Struct, frozen=True):
    """A file of a folder of records."""

    path: str
    """Relative to the project's root, as it can be shown."""
    within: str
    """Relative to the folder of records."""
    lies: str
    stamp: Stamp
    counts_number: bool
    """Whether a number makes it a record: chapters of a book bear numbers, too."""


def records_in(
    root: Path,
    folders: Sequence[RecordFolder],
    cache: Path | None = None,
    said: Callable[[str], TitleStatement] = lambda _: TitleStatement(),
) -> Records:
    """The records that lie in folders of a project; none where there is no such folder.

    Args:
        folders: links in them are left out.
        cache: a file of our own, which is written when a record has changed.
        said: what a title states; asked of records that were not kept.
    """
    kept, newest, index = _read_record_cache(cache, root)
    rows: dict[str, _CachedRecord] = {}
    unread: list[UnreadRecord] = []
    is_new = False
    for file in record_files(root, folders):
        if not is_page(file.path):
            ending = file.path.rpartition(".")[2]
            unread.append(
                UnreadRecord(file.path, f"files that end in .{ending} are not read: use .md")
            )
            continue
        row = kept.get(file.path)
        if row is None or row.stamp != file.stamp or file.stamp[2] + RACE_NS > newest:
            try:
                header, words = _read_record_file(file)
            except (OSError, Unreadable) as error:
                unread.append(UnreadRecord(file.path, str(error)))
                continue
            if header is not None and not header.session:
                header = replace(header, said=said(header.title))
            row = _CachedRecord(file.stamp, header, words)
            is_new = True
        rows[file.path] = row
    if is_new or len(rows) != len(kept):
        index = _indexed(rows.values())
        if cache is not None:
            check = _checksum_of_rows(rows.values(), index)
            write_cache(cache, _RecordListCache(READER, str(root), rows, index, check=check))
    kept_rows = [row for row in rows.values() if row.header]
    return Records(
        tuple(row.header for row in kept_rows if row.header),
        tuple(unread),
        RecordIndex(tuple(row.words.length for row in kept_rows), index),
    )


def list_record_paths(root: Path, folders: Sequence[RecordFolder], new: str) -> list[str]:
    """The pages of the folders of records by their names, relative to the root.

    Args:
        new: where a new record goes; it may lie in none of the folders yet.

    Raises:
        ArtifactOutside: a folder that is named leads outside the project.
    """
    if new not in {folder.path for folder in folders}:
        folders = (*folders, RecordFolder(new, "default"))
    return [file.path for file in record_files(root, folders)]


def record_files(root: Path, folders: Sequence[RecordFolder]) -> Iterator[_RecordFile]:
    """The pages of folders of records, and other documents that are numbered like records."""
    others = {folder.path for folder in folders}
    for folder in folders:
        try:
            top = checked_folder(root, folder.path)
        except ArtifactOutside:
            if folder.by in ("settings", ".adr-dir"):
                raise
            continue
        before = "" if folder.path == "." else f"{folder.path}/"
        for within, lies, stamp in sorted(_walk_record_folder(top, folder, others)):
            path = f"{before}{shown_name(within)}"
            if path not in folder.ignored:
                yield _RecordFile(path, within, lies, stamp, counts_number=folder.by != "content")


def _walk_record_folder(
    top: Path, folder: RecordFolder, others: Collection[str]
) -> Iterator[tuple[str, str, Stamp]]:
    """Path from the top, path, and stamp of each file.

    Args:
        others: folders that are listed themselves.
    """
    waiting = [""]
    for at in waiting:
        try:
            with os.scandir(top / at) as entries:
                found = list(entries)
        except OSError:
            continue
        if at and any(entry.name == ".git" for entry in found):
            continue  # another repository
        pages = sum(is_page(entry.name) for entry in found) if at else 1  # the top may have many
        if is_page(at) and not pages:
            yield at, str(top / at), _stamp_of(os.lstat(top / at))  # read, it says what it is
        if not folder.is_deep and pages > 1:
            continue  # a chapter
        is_own = any(is_first_page(one.name) for one in found) and is_dated(at.rpartition("/")[2])
        for entry in found:
            name, within = entry.name, f"{at}/{entry.name}" if at else entry.name
            if entry.is_dir(follow_symlinks=False):
                if within.count("/") < DEPTH_MAX and _may_hold_records(folder, within, others):
                    waiting.append(within)
                continue
            is_note = is_own and not (is_first_page(name) or is_record_name(name))
            if not is_note and _looks_like_record(entry, is_deep=folder.is_deep):
                yield within, entry.path, _stamp_of(entry.stat(follow_symlinks=False))


def _may_hold_records(folder: RecordFolder, within: str, others: Collection[str]) -> bool:
    """Whether a folder in one of records is looked into."""
    name = within.rpartition("/")[2]
    if is_passed_over(name) or f"{folder.path}/{within}" in others:
        return False
    return folder.is_deep or (name == within and folder.path != "." and is_dated(name))


def _looks_like_record(entry: os.DirEntry[str], *, is_deep: bool) -> bool:
    """Whether it is a page or another text; a link only where it is called as a record is."""
    name = entry.name
    is_text = is_page(name) or (is_deep and is_other_text(name))
    if not is_text or entry.is_file(follow_symlinks=False):
        return is_text
    return entry.is_symlink() and is_record_name(name)


def _stamp_of(lies: os.stat_result) -> Stamp:
    return (lies.st_size, lies.st_mtime_ns, lies.st_ctime_ns, lies.st_ino)


def shown_name(name: str) -> str:
    """A name that is no UTF-8 can be shown, and kept in a file."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def _read_record_file(file: _RecordFile) -> tuple[RecordHeader | None, RecordWords]:
    from preflights_es.records.foreign_records import listed_header

    if file.within.rpartition("/")[2].startswith("."):
        return None, NO_WORDS
    if file.stamp[0] > RECORD_MAX:
        raise Unreadable(f"it has more than {RECORD_MAX:,} bytes")
    content = regular(file.lies, RECORD_MAX, follows=False)
    name = shown_name(file.within)
    header = listed_header(name, content, counts_number=file.counts_number)
    if header is None:
        return None, NO_WORDS
    header = replace(header, path=file.path)
    # One that says it is ours is found in the log.
    named = title_of_name(name_of_record(name))
    return header, NO_WORDS if header.session else _count_record_words(header.title, named, content)


def _count_record_words(title: str, named: str, content: bytes) -> RecordWords:
    from preflights_es.records.foreign_records import MADR_HEADINGS
    from preflights_es.words.language import count_search_words

    in_title = count_search_words(title) | count_search_words(
        named
    )  # the name often says the value
    lines = content.decode("utf-8", "replace").split("\n")
    # A heading of the template says nothing: each record has a problem statement.
    own = (line for line in lines if line.strip("#= \t\r").casefold() not in MADR_HEADINGS)
    found = count_search_words("\n".join(own))
    first = islice(dict.fromkeys((*in_title, *found)), WORDS_MAX)
    counts = {one: (one in in_title, max(found[one], in_title[one])) for one in first}
    return RecordWords(found.total(), msgspec.Raw(msgspec.msgpack.encode(counts)))


def _indexed(rows: Iterable[_CachedRecord]) -> msgspec.Raw:
    found: dict[str, list[WordHit]] = {}
    for number, row in enumerate(row for row in rows if row.header):
        counts = msgspec.msgpack.decode(row.words.packed, type=dict[str, tuple[bool, int]])
        for word, (in_title, count) in counts.items():
            found.setdefault(word, []).append(WordHit(number, in_title, count))
    return msgspec.Raw(msgspec.msgpack.encode(found))


# The cache -----------------------------------------------------------------------------------


def _read_record_cache(
    cache: Path | None, root: Path
) -> tuple[dict[str, _CachedRecord], int, msgspec.Raw]:
    """What was kept of this project, and when; nothing where the file is not ours to believe."""
    if cache is None:
        return {}, 0, EMPTY.packed
    try:
        newest = os.stat(cache).st_mtime_ns
    except OSError:
        return {}, 0, EMPTY.packed
    kept = read_cache(cache, CACHE_MAX, _RecordListCache)
    if kept is None or (kept.reader, kept.root) != (READER, str(root)):
        return {}, 0, EMPTY.packed
    if kept.check != _checksum_of_rows(kept.rows.values(), kept.index):
        return {}, 0, EMPTY.packed
    return kept.rows, newest, kept.index


def _checksum_of_rows(rows: Iterable[_CachedRecord], index: msgspec.Raw) -> int:
    """A checksum of what is read only where it is asked for, when nothing else finds damage."""
    check = crc32(index)
    for row in rows:
        check = crc32(row.words.packed, check)
    return check


_DECIDED: Final = frozenset(("none", "accepted", "partly_superseded", "deprecated", "superseded"))
"""What a record with one of these replaced is replaced, also where it holds no more itself."""


class RecordNames:
    """The records of a list, by what another one calls them."""

    def __init__(self, records: Sequence[RecordHeader]) -> None:
        self._records = records
        self._of_path = {one.path: one for one in records}
        self._of_number = defaultdict[int, list[RecordHeader]](list)
        self._of_name = defaultdict[str, list[RecordHeader]](list)
        for one in records:
            if is_record_name(name := posixpath.basename(one.path)):
                self._of_name[name].append(one)
            if one.number is not None:
                self._of_number[one.number].append(one)

    def replaced_unsaid(self) -> dict[str, RecordHeader]:
        """By the path of an older record, the newer one that alone says that it replaced it."""
        found: dict[str, RecordHeader] = {}
        for newer in self._records:
            for named in newer.supersedes if newer.status in _DECIDED else ():
                (older, *others) = self._meant(named, newer.path) or [newer]
                is_open = older.status in ("none", "accepted") and not others
                if is_open and older is not newer:
                    found.setdefault(older.path, newer)
        return found

    def loops(self) -> dict[str, tuple[str, ...]]:
        """By the path of a record, those that replace each other in a loop, itself among them."""
        later = {old: new.path for old, new in self.replaced_unsaid().items()}
        for one in self._records:
            by = one.superseded_by if one.status == "superseded" else None
            meant = self._meant(by, one.path) if by else []
            if len(meant) == 1:
                later[one.path] = meant[0].path
        found = dict[str, tuple[str, ...]]()
        for path in later:
            seen, at = dict[str, int](), path
            while at in later and at not in seen and at not in found:
                seen[at] = len(seen)
                at = later[at]
            loop = tuple(sorted([*seen][seen[at] :])) if at in seen else ()
            found |= dict.fromkeys(seen, ()) | dict.fromkeys(loop, loop)
        return {path: loop for path, loop in found.items() if loop[1:]}

    def ambiguous(self) -> dict[str, tuple[str, ...]]:
        """By the path of a record, those of other folders that a number could mean in it."""
        found = dict[str, tuple[str, ...]]()
        for one in self._records:
            for named in (*one.supersedes, *filter(None, [one.superseded_by])):
                meant = [other.path for other in self._meant(named, one.path)]
                if len({*map(sequence_of_path, meant)}) > 1:  # else it is a clash of numbers
                    found.setdefault(one.path, tuple(meant))
        return found

    def _meant(self, named: Reference, by: str) -> list[RecordHeader]:
        """The record that another one names; several where a number could mean each of them.

        A number, or the name of a file that was moved, means the record of the same folder, else
        that of another one.

        Args:
            by: the path of the one that names it.
        """
        path, folder = named.path, posixpath.dirname(by)
        if "%" in path:
            from urllib.parse import unquote  # few links have escapes

            path = unquote(path)
        for ending in ("", ".md"):
            if one := self._of_path.get(posixpath.normpath(posixpath.join(folder, path + ending))):
                return [one]
        is_moved = "/" in path.removeprefix("./")
        if is_moved or named.number is None:
            said = self._of_name.get(posixpath.basename(path), ())
        else:
            said = self._of_number.get(named.number, ())
        having = [one for one in said if one.path != by]
        own = sequence_of_path(by)
        here = [one for one in having if sequence_of_path(one.path) == own]
        return here if here or (path and not is_moved) else having


NYGARD: Final = "nygard.v1"
_ENDINGS: Final = (".md", ".markdown", ".MD", ".adoc", ".asciidoc")  # of what we can write


def form_of(names: Iterable[str], template: str = RecordForm().template) -> RecordForm:
    """What most names of a folder have in common; what has no number and no day is passed over.

    Args:
        names: with `/README.md` or the like of those with a folder of their own, and with the year
            of those in a folder per year.
    """
    every = [*names]
    names = [name for name in every if is_record_name(name)]
    yearly = [rest for year, _, rest in (one.partition("/") for one in every) if is_year(year)]
    if len(yearly) > len(names):
        form = form_of(yearly, template)
        return replace(form, before=f"YYYY/{form.before}")
    if names and all(map(day_of_file_name, names)):
        return _dated(names, template)
    numbered = [one for one in map(numbered_name, names) if one is not None]
    if not numbered:
        return RecordForm(template=template)
    before = _most_frequent_text(_with_year(one.before) for one in numbered)
    alike = [one for one in numbered if _with_year(one.before) == before]
    padded = [len(one.digits) for one in alike if one.digits.startswith("0")]
    return RecordForm(
        before=before,
        digits=max(padded, key=padded.count, default=min(len(one.digits) for one in alike)),
        separator=_most_frequent_text(one.after[:1] for one in alike if one.after[:1] in "-_ ")
        or "-",
        ending=_most_frequent_ending(names),
        template=template,
    )


def template_of(records: Sequence[RecordHeader], *, by_adr_tools: bool = False) -> str:
    """Nygard's headings where all records of other tools have them, else those of MADR.

    Args:
        by_adr_tools: whether a file of adr-tools names the folder; then one record is enough, and
            none is.
    """
    tools = {one.tool for one in records if not one.session} or {one.tool for one in records}
    is_nygard = tools == {"nygard"} or (by_adr_tools and (not tools or "nygard" in tools))
    return NYGARD if is_nygard else RecordForm().template


def _dated(names: Sequence[str], template: str) -> RecordForm:
    is_dashed = all(name[4] == "-" for name in names)
    day = "YYYY-MM-DD" if is_dashed else "YYYYMMDD"
    after = (name[len(day) :][:1] for name in names)
    separator = _most_frequent_text(one for one in after if one in "-_ ") or "-"
    return RecordForm(
        separator=separator, ending=_most_frequent_ending(names), day=day, template=template
    )


def _with_year(before: str) -> str:
    return _YEAR.sub("YYYY", before)


_YEAR = late_pattern(r"\d{4}(?=[-_]$)")


def _most_frequent_ending(names: Iterable[str]) -> str:
    endings = (
        name[name.find("/") :] if "/" in name else f".{name.rpartition('.')[2]}" for name in names
    )
    return _most_frequent_text(one for one in endings if one.endswith(_ENDINGS)) or ".md"


def _most_frequent_text(found: Iterable[str]) -> str:
    """The most frequent text; of several the first. Empty without any."""
    counted = Counter(filter(None, found)).most_common(1)
    return counted[0][0] if counted else ""
