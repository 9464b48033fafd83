"""One event a line: how a session travels (docs/specs/log.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated, BinaryIO, Final, cast

import msgspec

from preflights_es.core.errors import LogDamaged, LogFromFuture
from preflights_es.core.ports import Stored
from preflights_es.store.chain import HASH_BYTES, SALT_BYTES

VERSION: Final = 1
LINE_MAX: Final = 16 * 1024 * 1024  # bytes: longer than any event this program writes
BLANK_MAX: Final = 100_000  # lines of a file; a packed one may hold a billion in a megabyte
GZIP: Final = b"\x1f\x8b"
"""How a compressed file begins."""


Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_SESSION_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stored event as a line; `data` is kept raw, so that what is hashed is what was stored."""

    log: int
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


_GONE: Final = b"null"

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Line)


def line(event: Stored) -> bytes:
    """One event, with the line's end."""
    return (
        _encoder.encode(
            Line(
                VERSION,
                event.session_id,
                event.project,
                event.workflow,
                event.version,
                event.type,
                event.recorded_at,
                event.input_id,
                event.actor_kind,
                event.decider,
                msgspec.Raw(_GONE if event.data is None else event.data),
                None if event.salt is None else event.salt.hex(),
                event.digest.hex(),
                event.hash.hex(),
            )
        )
        + b"\n"
    )


def lines(events: Iterable[Stored]) -> bytes:
    """A whole file."""
    return b"".join(map(line, events))


def lines_in(file: BinaryIO, where: str) -> Iterator[bytes]:
    """The lines of a file from its beginning, unpacked where it is compressed.

    One that is longer than an event may be comes in pieces, so that no memory is lost to it.

    Raises:
        LogDamaged: it cannot be unpacked.
    """
    file.seek(0)
    is_packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    yield from _unpacked(file, where) if is_packed else _pieces(file)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while line_ := file.readline(LINE_MAX + 2):
        yield line_


def _unpacked(file: BinaryIO, where: str) -> Iterator[bytes]:
    import gzip
    import zlib

    try:
        yield from _pieces(cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb")))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LogDamaged(where, 0, f"it cannot be unpacked: {error}") from error


@contextmanager
def packed(file: BinaryIO) -> Iterator[BinaryIO]:
    """A file that compresses what is written to it, the same way every time."""
    import gzip

    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as made:
        yield cast("BinaryIO", made)


def stored(text: Iterable[bytes], where: str) -> Iterator[Stored]:
    """The events of a file's lines; blank lines are passed over.

    Args:
        where: the file's name, for messages.

    Raises:
        LogDamaged: a line is no event; names the line.
        LogFromFuture: a line was written by a newer version.
    """
    blank = 0
    for number, raw in enumerate(text, 1):
        stripped = raw.strip()
        blank += not stripped
        if blank > BLANK_MAX:
            raise LogDamaged(f"{where}, line {number}", 0, f"{BLANK_MAX:,} before it are blank")
        if len(stripped) > LINE_MAX:
            found = f"it has {len(stripped):,} bytes, an event at most {LINE_MAX:,}"
            raise LogDamaged(f"{where}, line {number}", 0, found)
        if stripped:
            yield _stored(stripped, where, number)


def _stored(raw: bytes, where: str, number: int) -> Stored:
    try:
        found = _decoder.decode(raw)
        if found.log != VERSION:
            raise ValueError(f"log version {found.log}, expected {VERSION}")
        if not is_id(found.session_id):
            raise ValueError("expected a UUID in lower case as `session_id`")
        salt = None if found.salt is None else _bytes(found.salt, SALT_BYTES)
        digest, value = _bytes(found.digest, HASH_BYTES), _bytes(found.hash, HASH_BYTES)
        data = bytes(found.data)
        data.decode()
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        _refuse_the_future(raw, where, number)
        raise LogDamaged(f"{where}, line {number}", 0, f"not an event: {error}") from error
    return Stored(
        found.session_id,
        found.project,
        found.workflow,
        found.version,
        found.type,
        found.recorded_at,
        found.input_id,
        found.actor_kind,
        found.decider,
        None if data == _GONE else data,
        salt,
        digest,
        value,
    )


@lru_cache(maxsize=1024)
def is_id(text: str) -> bool:
    """Whether it is a session's id, to the letter."""
    return _SESSION_ID.fullmatch(text) is not None


def _bytes(text: str, length: int) -> bytes:
    value = bytes.fromhex(text)
    if len(value) != length or value.hex() != text:
        raise ValueError(f"expected {2 * length} lower-case hexadecimal digits")
    return value


class _Version(msgspec.Struct):
    log: int


def _refuse_the_future(raw: bytes, where: str, number: int) -> None:
    try:
        version = msgspec.json.decode(raw, type=_Version).log
    except (msgspec.DecodeError, ValueError, RecursionError):
        return
    if version > VERSION:
        raise LogFromFuture(
            f"{where}, line {number}: log version {version}, this version knows {VERSION}: "
            "upgrade preflights"
        )
