"""Lists the records of a folder; what was read of a file is kept until the file changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import msgspec
from msgspec.structs import replace

from preflights_es.kernel import __version__
from preflights_es.records.record_header import RECORD_MAX, RecordHeader, Said
from preflights_es.records.record_names import MARKDOWN, is_other_page, is_record_name
from preflights_es.system.files import Unreadable, read_cache, regular, write_cache

READER: Final = f"{__version__}/5"  # a new number when records are read in another way
CACHE_MAX: Final = 50_000_000  # bytes
WORDS_MAX: Final = 400  # distinct words of a record that are found, its first ones
RACE_NS: Final = 2_000_000_000
"""How much older than the cache a change must be: another one could follow in the same tick."""

Stamp = tuple[int, int, int, int]
"""Size, time of the content, time of the entry, inode; a change of a file changes one of them."""


class Unread(msgspec.Struct, frozen=True):
    """A file that may be a record, and cannot be read."""

    path: str
    why: str


class RecordWords(msgspec.Struct, frozen=True, array_like=True):
    """The words of a record, by which it is found."""

    length: int
    """All of them, each as often as it stands there."""
    packed: msgspec.Raw
    """By word: whether the title has it, and how often the whole does."""


NO_WORDS: Final = RecordWords(0, msgspec.Raw(msgspec.msgpack.encode({})))


class Hit(NamedTuple):
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
    def hits(of: msgspec.Raw) -> list[Hit]:
        """The records that have a word."""
        return msgspec.msgpack.decode(of, type=list[Hit])


EMPTY: Final = RecordIndex((), msgspec.Raw(msgspec.msgpack.encode({})))


class Records(msgspec.Struct, frozen=True):
    """The records of a folder, by name; ours among them, as `session` says."""

    records: tuple[RecordHeader, ...]
    unread: tuple[Unread, ...] = ()
    index: RecordIndex = EMPTY


class _Row(msgspec.Struct, frozen=True, array_like=True):
    stamp: Stamp
    header: RecordHeader | None
    """None for a file that is no record."""
    words: RecordWords


class _Cache(msgspec.Struct, frozen=True, array_like=True):
    reader: str
    folder: str
    rows: dict[str, _Row]
    index: msgspec.Raw
    check: int


def records_in(
    folder: Path, cache: Path | None = None, said: Callable[[str], Said] = lambda _: Said()
) -> Records:
    """The records that lie directly in a folder; none where there is no such folder.

    Args:
        folder: as `checked_folder` found it; links in it are left out.
        cache: a file of our own, which is written when a record has changed.
        said: what a title states; asked of records that were not kept.
    """
    kept, newest, index = _kept(cache, folder)
    rows: dict[str, _Row] = {}
    unread: list[Unread] = []
    is_new = False
    for name, path, stamp in _files(folder):
        row = kept.get(name)
        if row is None or row.stamp != stamp or stamp[2] + RACE_NS > newest:
            try:
                header, words = _read(name, path, stamp[0])
            except (OSError, Unreadable) as error:
                unread.append(Unread(name, str(error)))
                continue
            if header is not None and not header.session:
                header = replace(header, said=said(header.title))
            row = _Row(stamp, header, words)
            is_new = True
        rows[name] = row
    if is_new or len(rows) != len(kept):
        index = _indexed(rows.values())
        if cache is not None:
            check = _check(rows.values(), index)
            write_cache(cache, _Cache(READER, str(folder), rows, index, check))
    kept_rows = [row for row in rows.values() if row.header]
    return Records(
        tuple(row.header for row in kept_rows if row.header),
        tuple(unread),
        RecordIndex(tuple(row.words.length for row in kept_rows), index),
    )


def _files(folder: Path) -> list[tuple[str, str, Stamp]]:
    """Name as it can be shown, path, and stamp of each Markdown file, by name."""
    found: list[tuple[str, str, Stamp]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(MARKDOWN) and entry.is_file(follow_symlinks=False):
                    lies = entry.stat(follow_symlinks=False)
                    stamp = (lies.st_size, lies.st_mtime_ns, lies.st_ctime_ns, lies.st_ino)
                    found.append((_shown(name), entry.path, stamp))
    except OSError:
        return []
    return sorted(found)


def _shown(name: str) -> str:
    """A name that is no UTF-8 can be shown, and kept in a file."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def _read(name: str, path: str, size: int) -> tuple[RecordHeader | None, RecordWords]:
    from preflights_es.records.foreign_records import record_header

    stem = name.rpartition(".")[0]
    if name.startswith(".") or is_other_page(stem):
        return None, NO_WORDS
    if size > RECORD_MAX:
        raise Unreadable(f"it has more than {RECORD_MAX:,} bytes")
    content = regular(path, RECORD_MAX, follows=False)
    header = record_header(name, content)
    is_record = is_record_name(name) or header.status != "unknown" or header.tool != "other"
    if not is_record:
        return None, NO_WORDS
    # One that says it is ours is found in the log.
    return header, NO_WORDS if header.session else _words(header.title, content)


def _words(title: str, content: bytes) -> RecordWords:
    from preflights_es.kernel.words import counted  # a list of known records needs no words

    in_title, found = counted(title), counted(content.decode("utf-8", "replace"))
    first = islice(dict.fromkeys((*in_title, *found)), WORDS_MAX)
    counts = {one: (one in in_title, max(found[one], in_title[one])) for one in first}
    return RecordWords(found.total(), msgspec.Raw(msgspec.msgpack.encode(counts)))


def _indexed(rows: Iterable[_Row]) -> msgspec.Raw:
    found: dict[str, list[Hit]] = {}
    for number, row in enumerate(row for row in rows if row.header):
        counts = msgspec.msgpack.decode(row.words.packed, type=dict[str, tuple[bool, int]])
        for word, (in_title, count) in counts.items():
            found.setdefault(word, []).append(Hit(number, in_title, count))
    return msgspec.Raw(msgspec.msgpack.encode(found))


# The cache -----------------------------------------------------------------------------------


def _kept(cache: Path | None, folder: Path) -> tuple[dict[str, _Row], int, msgspec.Raw]:
    """What was kept of this folder, and when; nothing where the file is not ours to believe."""
    if cache is None:
        return {}, 0, EMPTY.packed
    try:
        newest = os.stat(cache).st_mtime_ns
    except OSError:
        return {}, 0, EMPTY.packed
    kept = read_cache(cache, CACHE_MAX, _Cache)
    if kept is None or (kept.reader, kept.folder) != (READER, str(folder)):
        return {}, 0, EMPTY.packed
    if kept.check != _check(kept.rows.values(), kept.index):
        return {}, 0, EMPTY.packed
    return kept.rows, newest, kept.index


def _check(rows: Iterable[_Row], index: msgspec.Raw) -> int:
    """A checksum of what is read only where it is asked for, when nothing else finds damage."""
    check = crc32(index)
    for row in rows:
        check = crc32(row.words.packed, check)
    return check
