"""Sessions to be judged together, about a second's work: of the log, in files, or as lines.

A batch can travel to another process. The batches of a selection are the same
whichever runs them.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import BinaryIO, Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.features.regress.results import UNREADABLE, Case
from preflights_es.kernel.errors import AnotherVersion, LogDamaged
from preflights_es.kernel.ports import Head, Stored
from preflights_es.store import jsonl
from preflights_es.store.sql_projections import RANGE, SqlFollowing

EVENTS: Final = 20_000  # of a batch of the log: what strict replay decides in a second
BYTES: Final = 12 * 1024 * 1024  # of a batch of files: about as many events
HELD_MAX: Final = 64 * 1024 * 1024  # bytes of a session
LINE_OBJECT: Final = 64  # bytes that Python holds of a line besides its own

_BEGINNING: Final = re.compile(rb'\{"session_id":"([0-9a-f-]{36})"')
_ANYWHERE: Final = re.compile(rb'"session_id"\s*:\s*"([0-9a-f-]{36})"')


LOG: Final = "log"
"""The source of a session of the log."""

T = TypeVar("T")


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
    only: frozenset[str] | None = None
    """The sessions that are judged; None for all."""


class SessionLines(NamedTuple):
    """The lines of one session in a file."""

    session_id: str
    """As they say it; empty where they do not."""
    source: str
    """The file's path."""
    line: int
    """Number of the first one."""
    content: bytes
    trouble: str = ""
    """Why there is no content."""


class ReadSession(NamedTuple):
    """A session that was read, not verified."""

    events: Sequence[Stored]
    head: bytes | None
    """The hash of its head, where the log says one."""
    source: str


class SessionBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Sessions that are judged together, wherever they lie."""

    heads: tuple[Head, ...] = ()
    """Of the log, in the order of their ids."""
    are_together: bool = True
    """Few others lie between the heads, so that they are read at once."""
    pieces: tuple[Piece, ...] = ()
    """In files."""
    sent: tuple[ReadSession | Case | SessionLines, ...] = ()
    """Read already, for a worker that reaches neither log nor file."""

    @property
    def sessions(self) -> int:
        """How many."""
        return len(self.heads) + sum(piece.sessions for piece in self.pieces) + len(self.sent)


def group_by_weight(
    items: Iterable[T], weight: Callable[[T], int], most: int
) -> Iterator[tuple[T, ...]]:
    """Items in their order, in groups that reach a weight."""
    some: list[T] = []
    total = 0
    for item in items:
        some.append(item)
        total += weight(item)
        if total >= most:
            yield tuple(some)
            some, total = [], 0
    if some:
        yield tuple(some)


# Reading -------------------------------------------------------------------------------------


def read_batch(
    batch: SessionBatch, log: Callable[[], SqlFollowing]
) -> Iterator[ReadSession | Case]:
    """The sessions of a batch, in its order; one that cannot be read is a case already.

    Args:
        log: opens the log, where the batch lies there.
    """
    if batch.heads:
        yield from read_together(log(), batch.heads, are_together=batch.are_together)
    for piece in batch.pieces:
        yield from map(_parse_session_lines, runs(piece))
    for one in batch.sent:
        yield _parse_session_lines(one) if isinstance(one, SessionLines) else one


def read_together(
    log: SqlFollowing, heads: Sequence[Head], *, are_together: bool
) -> Iterator[ReadSession | Case]:
    """Sessions of the log, as `read`."""
    size = RANGE if are_together else 1
    for at in range(0, len(heads), size):
        some = heads[at : at + size]
        try:
            yield from [
                _logged_session_or_case(head, events) for head, events in log.side_by_side(some)
            ]
        except LogDamaged as error:
            if size == 1:
                yield damaged_session_case(some[0].session_id, LOG, str(error), some[0])
            else:
                yield from read_together(log, some, are_together=False)


def _logged_session_or_case(head: Head, events: Sequence[Stored]) -> ReadSession | Case:
    if not events:
        return damaged_session_case(head.session_id, LOG, "it has no events", head)
    return ReadSession(events, head.hash, LOG)


def _parse_session_lines(run: SessionLines) -> ReadSession | Case:
    if run.trouble:
        return damaged_session_case(run.session_id, run.source, run.trouble)
    try:
        return ReadSession(stored_of(run), None, run.source)
    except (LogDamaged, AnotherVersion) as error:
        return damaged_session_case(run.session_id, run.source, str(error))


def pack_batch_for_worker(batch: SessionBatch, log: SqlFollowing | None) -> SessionBatch:
    """A batch for a worker that does not reach our files, nor the log where it is given."""
    lines = tuple(run for piece in batch.pieces for run in runs(piece))
    if log is None:
        return replace(batch, pieces=(), sent=lines)
    stored = read_together(log, batch.heads, are_together=batch.are_together)
    return SessionBatch(sent=(*stored, *lines))


# Files ---------------------------------------------------------------------------------------


class SessionExtent(NamedTuple):
    """Where a session lies in a file."""

    session_id: str
    start: int
    size: int
    line: int


def extents(path: str) -> list[SessionExtent] | None:
    """The sessions of a file; None where only a worker can say more.

    So it is of a file that is compressed, cannot be read, or holds nothing.
    """
    found: list[SessionExtent] = []
    at = 0
    try:
        with _open_regular_file(path) as file:
            if file.read(len(jsonl.GZIP)) == jsonl.GZIP:
                return None
            for run in _split_by_session(jsonl.lines_in(file, path), path, 1):
                size = len(run.content)
                found.append(SessionExtent(run.session_id, at, size, run.line))
                at += size
    except (OSError, ValueError, LogDamaged, AnotherVersion):
        return None
    return found


def _open_regular_file(path: str) -> BinaryIO:
    """Raises:
    OSError: it is no regular file, or cannot be read.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):  # a fifo without a writer would block
        raise OSError("it is no regular file")
    return open(path, "rb", jsonl.BLOCK)


def group_into_pieces(
    path: str, some: Sequence[SessionExtent], most: int = BYTES
) -> Iterator[Piece]:
    """Sessions of a file, those that lie together in one piece of at most a batch."""
    begin = 0
    for n, one in enumerate(some, 1):
        first = some[begin]
        follows = n < len(some) and some[n].start == one.start + one.size
        if not follows or one.start + one.size - first.start >= most:
            size = one.start + one.size - first.start
            yield Piece(path, first.start, size, first.line, sessions=n - begin)
            begin = n


def runs(piece: Piece) -> Iterator[SessionLines]:
    """The sessions of a piece, each with all of its lines; what cannot be read is said as one."""
    wanted = piece.only
    try:
        with _open_regular_file(piece.path) as file:
            found = _split_by_session(
                _read_piece_lines(file, piece), piece.path, piece.line, is_part=piece.start > 0
            )
            for run in found:
                if wanted is None or run.session_id in wanted:
                    yield run
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        yield SessionLines("", piece.path, 0, b"", trouble=f"{piece.path} cannot be read: {why}")
    except (LogDamaged, AnotherVersion) as error:
        yield SessionLines("", piece.path, 0, b"", trouble=str(error))


def _read_piece_lines(file: BinaryIO, piece: Piece) -> Iterable[bytes]:
    if piece.size < 0:
        yield from jsonl.lines_in(file, piece.path)
        return
    file.seek(piece.start)
    left = piece.size
    while left > 0 and (line := file.readline(min(left, jsonl.PIECE_MAX))):
        left -= len(line)
        yield line


def _split_by_session(
    lines: Iterable[bytes], path: str, first: int, *, is_part: bool = False
) -> Iterator[SessionLines]:
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
        match = _BEGINNING.match(text) or _ANYWHERE.search(text)  # without reading all of it
        said = match[1].decode() if match else session_id
        if session_id and said != session_id:
            yield SessionLines(session_id, path, line, b"".join(held))
            held, size, line = [], 0, number
        session_id = said
        held.append(text)
        size += len(text) + LINE_OBJECT
        if size > HELD_MAX:
            found = f"the session that begins in line {line} has more than {HELD_MAX:,} bytes"
            raise LogDamaged(path, 0, found)
    if not held:
        raise LogDamaged(path, 0, "it holds no events")
    yield SessionLines(session_id, path, line, b"".join(held))


def stored_of(run: SessionLines) -> list[Stored]:
    """The events of a session in a file.

    Raises:
        LogDamaged: a line is no event, or there is none.
        AnotherVersion: another version wrote it.
    """
    stored = [*jsonl.stored(BytesIO(run.content), run.source, run.line, is_part=True)]
    if not stored:
        raise LogDamaged(run.source, 0, "it holds no events")
    if any(one.session_id != stored[0].session_id for one in stored):
        raise LogDamaged(f"{run.source}, line {run.line}", 0, "its lines name several sessions")
    return stored


def damaged_session_case(
    session_id: str, source: str, found: str, head: Head | Stored | None = None
) -> Case:
    """The case of a session that is not judged, for what was found."""
    return Case(
        session_id=session_id,
        workflow=head.workflow if head else "",
        source=source,
        head=head.hash.hex() if head else "",
        outcome="damaged",
        causes=(UNREADABLE,),
        message=found,
    )
