"""One event a line, behind the format: how a session travels (docs/specs/log.md)."""

from binascii import unhexlify
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from io import BufferedReader
from typing import Annotated, Any, BinaryIO, Final, TypeVar, cast

import msgspec

from preflights_es.kernel.errors import (
    LogDamaged,
    LogFromDevelopment,
    LogFromFuture,
    NotSessionFile,
)
from preflights_es.kernel.ids import SALT_BYTES
from preflights_es.kernel.json import NESTED_MAX, is_too_deep
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import late_pattern
from preflights_es.store.stored_events import HASH_BYTES

FORMAT: Final = 1
FIRST: Final = b'{"format":%d}\n' % FORMAT
"""The first line of a file; later it means nothing, so that files can be joined."""
LINE_MAX: Final = 16 * 1024 * 1024  # bytes: longer than any event this program writes
PIECE_MAX: Final = LINE_MAX + 2  # with \r\n; bytes of a line that are read at once
BLANK_MAX: Final = 100_000  # lines of a file; a packed one may hold a billion in a megabyte
BLOCK: Final = 64 * 1024  # bytes that are read at once
GZIP: Final = b"\x1f\x8b"
"""The first bytes of a compressed file."""


T = TypeVar("T")
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_SESSION_ID = late_pattern(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class EventLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A stored event as a line; `data` is kept raw, so that what is hashed is what was stored."""

    session_id: str
    project: str
    workflow: str
    version: Int64
    type: str
    recorded_at: Int64
    input_id: str | None
    actor_kind: str | None
    decider: str
    data: msgspec.Raw
    """`null` after an erasure."""
    salt: str | None
    digest: str
    hash: str


ENVELOPE: Final = 9  # fields of an event that stand in its line as they are: all before `data`
HASH_LETTERS: Final = 2 * HASH_BYTES
SALT_LETTERS: Final = 2 * SALT_BYTES

_LETTERS: Final = (HASH_LETTERS, HASH_LETTERS, SALT_LETTERS)
_EXPECTED: Final = (
    f"expected {HASH_LETTERS} lower-case hexadecimal digits as `digest` and as `hash`, "
    f"{SALT_LETTERS} as `salt`"
)
_GONE: Final = b"null"
_OPENS: Final = b'{"format"'

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(EventLine)


def encode_event_line(event: Stored) -> bytes:
    """One event, with the line's end."""
    values = (
        *msgspec.structs.astuple(event)[:ENVELOPE],
        msgspec.Raw(_GONE if event.data is None else event.data),
        None if event.salt is None else event.salt.hex(),
        event.digest.hex(),
        event.hash.hex(),
    )
    return _encoder.encode(EventLine(*values)) + b"\n"


def encode_event_file(events: Iterable[Stored]) -> bytes:
    """A whole file."""
    return FIRST + b"".join(map(encode_event_line, events))


def lines_in(file: BinaryIO, where: str) -> Iterator[bytes]:
    """The lines of a file from its beginning, with their ends, unpacked where it is compressed.

    One that is longer than an event may be comes in pieces, so that no memory is lost to it.

    Raises:
        LogDamaged: it cannot be unpacked.
    """
    file.seek(0)
    is_packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    yield from _unpacked(file, where) if is_packed else _read_line_pieces(file)


def _read_line_pieces(file: BinaryIO | BufferedReader) -> Iterator[bytes]:
    return iter(partial(file.readline, PIECE_MAX), b"")


def _unpacked(file: BinaryIO, where: str) -> Iterator[bytes]:
    import gzip
    import zlib

    unpacking = gzip.GzipFile(fileobj=file, mode="rb")
    try:
        yield from _read_line_pieces(BufferedReader(cast("Any", unpacking), BLOCK))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LogDamaged(where, 0, f"it cannot be unpacked: {error}") from error


@contextmanager
def packed(file: BinaryIO) -> Iterator[BinaryIO]:
    """A file that compresses what is written to it, the same way every time."""
    import gzip

    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as made:
        yield cast("BinaryIO", made)


def stored(
    text: Iterable[bytes], where: str, first: int = 1, *, is_part: bool = False
) -> Iterator[Stored]:
    """The events of a file's lines, as `with_lines` finds them."""
    for _, event in with_lines(text, where, first=first, is_part=is_part):
        yield event


def with_lines(
    text: Iterable[bytes], where: str, *, again: bool = False, first: int = 1, is_part: bool = False
) -> Iterator[tuple[bytes, Stored]]:
    """The events of a file's lines, each behind its line; blank lines are passed over.

    The format is read before anything else.

    Args:
        where: the file's name, for messages.
        again: whether the caller sees to it that the lines are those that were read before: what
            was checked of them is not checked once more.
        first: number of the first line, for messages.
        is_part: whether they stand within a file, behind its format.

    Raises:
        LogDamaged: a line is no event; names the line.
        LogFromFuture: a newer version wrote the file.
        LogFromDevelopment: a version before the first release wrote it.
    """
    event_of = _build_stored_event if again else _check_event_line
    says_format = is_part
    blank = spaces = 0
    for number, line in enumerate(text, first):
        if not says_format and line.strip():
            read_format(line, where, number)
            says_format = True
            continue
        if says_again := line.startswith(_OPENS):
            read_format(line, where, number)
        if says_again or line.isspace() or not line:
            blank += 1
            spaces += len(line)
            if blank > BLANK_MAX or spaces > LINE_MAX:
                raise LogDamaged(f"{where}, line {number}", 0, f"{blank - 1:,} before it are blank")
            continue
        if len(line) > LINE_MAX and (size := len(line.strip())) > LINE_MAX:
            found = f"it has {size:,} bytes, an event at most {LINE_MAX:,}"
            raise LogDamaged(f"{where}, line {number}", 0, found)
        try:
            event = event_of(_decoder.decode(line))
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise LogDamaged(f"{where}, line {number}", 0, f"not an event: {error}") from error
        yield line, event


def _check_event_line(found: EventLine) -> Stored:
    """The event of a line; what its bytes are is a matter of the line alone, all else the chain's.

    Raises:
        ValueError: a line of this program is not so.
    """
    if not is_id(found.session_id):
        raise ValueError("expected a UUID in lower case as `session_id`")
    salt = found.salt
    # All at once, for there are three of them in every line of an archive.
    text = f"{found.digest}{found.hash}{salt or ''}"
    lengths = (len(found.digest), len(found.hash), SALT_LETTERS if salt is None else len(salt))
    if lengths != _LETTERS or text != text.lower():
        raise ValueError(_EXPECTED)
    try:
        event = _build_stored_event(found)
    except ValueError as error:
        raise ValueError(_EXPECTED) from error
    if event.data is not None:
        event.data.decode()
        if is_too_deep(event.data):
            raise ValueError(f"`data` is nested deeper than {NESTED_MAX} levels")
    return event


def _build_stored_event(found: EventLine) -> Stored:
    data = bytes(found.data)
    values = (
        *msgspec.structs.astuple(found)[:ENVELOPE],
        None if data == _GONE else data,
        None if found.salt is None else unhexlify(found.salt),
        unhexlify(found.digest),
        unhexlify(found.hash),
    )
    return Stored(*values)


@lru_cache(maxsize=1024)
def is_id(text: str) -> bool:
    """Whether it is a session's id, to the letter."""
    return _SESSION_ID.fullmatch(text) is not None


class _Format(msgspec.Struct):
    format: int


class _Development(msgspec.Struct):
    log: int


def read_format(line: bytes, where: str, number: int) -> None:
    """See that the first line of a file says the format that this version reads.

    Raises:
        NotSessionFile: it says none.
        LogFromFuture: it says a higher one.
        LogFromDevelopment: it is an event, as versions before the first release began a file.
    """
    if (said := _as(_Format, line)) is None or said.format < 1:
        if _as(_Development, line) is not None:
            raise LogFromDevelopment(
                f"{where} was written by a development version of Preflights (its first line says "
                "no format), which no release reads: delete it, or keep it elsewhere"
            )
        expected = f"expected the format of the file, {FIRST.decode().strip()}"
        raise NotSessionFile(where, number, expected)
    if said.format > FORMAT:
        raise LogFromFuture(
            f"{where} was written by a newer Preflights (format {said.format}, this version knows "
            f"{FORMAT}): upgrade preflights"
        )


def _as(cls: type[T], line: bytes) -> T | None:
    try:
        return msgspec.json.decode(line, type=cls)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
