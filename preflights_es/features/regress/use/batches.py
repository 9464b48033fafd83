"""Sessions to be judged together, about a second's work: of the log, in files, or as lines.

A batch can travel to another process. The batches of a selection are the same whichever runs them.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import BinaryIO, Final, NamedTuple

import msgspec

from preflights_es.kernel.errors import AnotherVersion, LogDamaged
from preflights_es.kernel.ports import Head, Stored
from preflights_es.store import jsonl

EVENTS: Final = 20_000  # of a batch of the log: what strict replay decides in a second
BYTES: Final = 12 * 1024 * 1024  # of a batch of files: about as many events
HELD_MAX: Final = 64 * 1024 * 1024  # bytes of sessions that are mixed line by line, and of one
LINE_OBJECT: Final = 64  # bytes that Python holds of a line besides its own

_BEGINNING: Final = re.compile(rb'\{"session_id":"([0-9a-f-]{36})"')
_ANYWHERE: Final = re.compile(rb'"session_id"\s*:\s*"([0-9a-f-]{36})"')


class OfLog(msgspec.Struct, frozen=True):
    """Sessions of the log, in the order of their ids."""

    heads: tuple[Head, ...]
    are_together: bool = True
    """Few others lie between them, so that they are read at once."""

    @property
    def sessions(self) -> int:
        """How many."""
        return len(self.heads)


class Piece(msgspec.Struct, frozen=True):
    """Sessions that lie one after the other in a file."""

    path: str
    """As it was given."""
    start: int = 0
    """Of the first byte."""
    size: int = -1
    """In bytes; -1 for a file that is read as a whole."""
    line: int = 1
    """Number of the first line."""
    sessions: int = 1
    is_mixed: bool = False
    """Their lines are mixed: the file is read as a whole."""
    only: frozenset[str] | None = None
    """The sessions that are judged; None for all."""


class OfFiles(msgspec.Struct, frozen=True):
    """Sessions in files."""

    pieces: tuple[Piece, ...]

    @property
    def sessions(self) -> int:
        """How many."""
        return sum(piece.sessions for piece in self.pieces)


class Run(NamedTuple):
    """The lines of one session."""

    session_id: str
    """As they say it; empty where they do not."""
    source: str
    """The file's path, or `log`."""
    line: int
    """Number of the first one."""
    content: bytes
    trouble: str = ""
    """Why there is no content."""


class Sent(NamedTuple):
    """A session of the log, as it is stored."""

    head: Head
    events: Sequence[Stored]
    trouble: str = ""
    """Why there are no events."""


class OfEvents(msgspec.Struct, frozen=True):
    """Sessions that were read already, for a worker that reaches neither log nor file."""

    sent: tuple[Sent | Run, ...]

    @property
    def sessions(self) -> int:
        """How many."""
        return len(self.sent)


Batch = OfLog | OfFiles | OfEvents


def of_log(heads: Iterable[Head], most: int = EVENTS, *, are_together: bool) -> Iterator[OfLog]:
    """Heads in the order of their ids, by ranges of about a second's work.

    Args:
        most: events of a batch.
    """
    some: list[Head] = []
    events = 0
    for head in heads:
        some.append(head)
        events += head.version
        if events >= most:
            yield OfLog(tuple(some), are_together)
            some, events = [], 0
    if some:
        yield OfLog(tuple(some), are_together)


def of_files(pieces: Iterable[Piece], most: int = BYTES) -> Iterator[OfFiles]:
    """Pieces that have about a second's work together.

    Args:
        most: bytes of a batch.
    """
    some: list[Piece] = []
    size = 0
    for piece in pieces:
        some.append(piece)
        size += piece.size if piece.size >= 0 else BYTES
        if size >= most:
            yield OfFiles(tuple(some))
            some, size = [], 0
    if some:
        yield OfFiles(tuple(some))


# Files ---------------------------------------------------------------------------------------


class Lying(NamedTuple):
    """Where a session lies in a file."""

    session_id: str
    start: int
    size: int
    line: int
    digest: bytes
    """SHA-256 of its lines."""


def lying(path: str) -> tuple[list[Lying], bool] | None:
    """The sessions of a file, and whether they are mixed; None where only a worker can say more.

    So it is of a file that is compressed, cannot be read, or holds nothing.
    """
    found: list[Lying] = []
    at = 0
    try:
        with _opened(path) as file:
            if file.read(len(jsonl.GZIP)) == jsonl.GZIP:
                return None
            for run in _split(jsonl.lines_in(file, path), path, 1):
                size = len(run.content)
                found.append(Lying(run.session_id, at, size, run.line, digest(run.content)))
                at += size
    except (OSError, ValueError, LogDamaged, AnotherVersion):
        return None
    return found, len({one.session_id for one in found}) < len(found)


def digest(lines: bytes) -> bytes:
    """SHA-256 of the lines of a session, wherever they lie in a file."""
    return sha256(lines.removeprefix(jsonl.FIRST)).digest()


def _opened(path: str) -> BinaryIO:
    """Raises:
    OSError: it is no regular file, or cannot be read.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # a fifo without a writer would block
        raise OSError("it is no regular file")
    return open(path, "rb", jsonl.BLOCK)


def pieces(path: str, some: Sequence[Lying], most: int = BYTES) -> Iterator[Piece]:
    """Sessions of a file, those that lie together in one piece of at most a batch."""
    begin = 0
    for n, one in enumerate(some, 1):
        first = some[begin]
        follows = n < len(some) and some[n].start == one.start + one.size
        if not follows or one.start + one.size - first.start >= most:
            size = one.start + one.size - first.start
            yield Piece(path, first.start, size, first.line, n - begin)
            begin = n


def runs(piece: Piece) -> Iterator[Run]:
    """The sessions of a piece, each with all of its lines; what cannot be read is said as one."""
    wanted = piece.only
    try:
        with _opened(piece.path) as file:
            found = _split(_lines(file, piece), piece.path, piece.line, is_part=piece.start > 0)
            for run in _in_order(found, piece.path) if piece.is_mixed else found:
                if wanted is None or run.session_id in wanted:
                    yield run
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        yield Run("", piece.path, 0, b"", trouble=f"{piece.path} cannot be read: {why}")
    except (LogDamaged, AnotherVersion) as error:
        yield Run("", piece.path, 0, b"", trouble=str(error))


def _lines(file: BinaryIO, piece: Piece) -> Iterable[bytes]:
    if piece.size < 0:
        yield from jsonl.lines_in(file, piece.path)
        return
    file.seek(piece.start)
    left = piece.size
    while left > 0 and (line := file.readline(min(left, jsonl.PIECE_MAX))):
        left -= len(line)
        yield line


def _split(
    lines: Iterable[bytes], path: str, first: int, *, is_part: bool = False
) -> Iterator[Run]:
    """Runs of lines that say the same session; a line that says none is of those before it.

    Raises:
        LogDamaged: there is none, or a session is too large.
        AnotherVersion: another version wrote the file.
    """
    says_format = is_part
    session_id, line, size, blank = "", first, 0, 0
    held: list[bytes] = []
    for number, text in enumerate(lines, first):
        blank += text.isspace()
        if blank > jsonl.BLANK_MAX:  # a packed file may hold a billion in a megabyte
            raise LogDamaged(path, 0, f"more than {jsonl.BLANK_MAX:,} of its lines are blank")
        if not says_format and not text.isspace():
            jsonl.read_format(text, path, number)
            says_format = True
        its = _session_of(text) or session_id
        if session_id and its != session_id:
            yield Run(session_id, path, line, b"".join(held))
            held, size, line = [], 0, number
        session_id = its
        held.append(text)
        size += len(text) + LINE_OBJECT
        if size > HELD_MAX:
            found = f"the session that begins in line {line} has more than {HELD_MAX:,} bytes"
            raise LogDamaged(path, 0, found)
    if not held:
        raise LogDamaged(path, 0, "it holds no events")
    yield Run(session_id, path, line, b"".join(held))


def _in_order(found: Iterable[Run], path: str) -> Iterator[Run]:
    """As `_split`, of sessions whose lines are mixed: each of them once.

    Raises:
        LogDamaged: they cannot be held in memory.
    """
    held: dict[str, list[Run]] = {}
    size = 0
    for run in found:
        held.setdefault(run.session_id, []).append(run)
        size += len(run.content)
        if size > HELD_MAX:
            why = f"its sessions are mixed, and it has more than {HELD_MAX:,} bytes"
            raise LogDamaged(path, 0, f"{why}: sort it by session")
    for some in held.values():
        yield some[0]._replace(content=b"".join(run.content for run in some))


def _session_of(text: bytes) -> str:
    """The id that a line says, without reading all of it; empty where it says none."""
    found = _BEGINNING.match(text) or _ANYWHERE.search(text)
    return found[1].decode() if found else ""
