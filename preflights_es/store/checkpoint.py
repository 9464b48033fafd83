"""A checkpoint: how far each session had come, to be kept out of a writer's reach.

JSON Lines (docs/specs/log.md, section 13): the scope, one line a session, and a root over all lines
before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from io import BytesIO
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import LogDamaged, LogFromFuture
from preflights_es.kernel.json import canonical_json
from preflights_es.store.jsonl import is_id

VERSION: Final = 1
FILE_MAX: Final = 160 * 1024 * 1024  # bytes: a million sessions

_VERSION_MAX: Final = 2**63 - 1
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
T = TypeVar("T")


class Scope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: which sessions it speaks of."""

    checkpoint: int
    """Version of this form."""
    project: str | None
    """All of whose sessions follow; null for all of the log."""
    log: str
    """What the log calls itself."""


class Tip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A session as far as it had come."""

    session_id: str
    version: Annotated[int, msgspec.Meta(ge=1, le=_VERSION_MAX)]
    hash: str
    """The hash of the event with that version, in hexadecimal."""


class Root(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line."""

    sessions: int
    root: str
    """SHA-256 of all lines before, in hexadecimal."""


class Checkpoint(msgspec.Struct, frozen=True):
    """What a whole file says."""

    project: str | None
    tips: tuple[Tip, ...]
    """By session id."""
    root: str
    log: str
    """What the log called itself."""

    @property
    def scope(self) -> Scope:
        """Its first line."""
        return Scope(VERSION, self.project, self.log)


def checkpoint(project: str | None, tips: Iterable[Tip], log: str) -> Checkpoint:
    """What remembers sessions as they stand."""
    ordered = tuple(sorted(tips, key=lambda tip: tip.session_id))
    made = Checkpoint(project, ordered, "", log)
    root = sha256()
    for line in _body(made):
        root.update(line)
    return replace(made, root=root.hexdigest())


def encode_checkpoint(made: Checkpoint) -> bytes:
    """The file."""
    root = _encode_checkpoint_line(Root(len(made.tips), made.root))
    return b"".join((*_body(made), root))


def _body(made: Checkpoint) -> Iterator[bytes]:
    yield _encode_checkpoint_line(made.scope)
    yield from map(_encode_checkpoint_line, made.tips)


def _encode_checkpoint_line(value: msgspec.Struct) -> bytes:
    return canonical_json(value) + b"\n"


def parse_checkpoint(raw: bytes, where: str) -> Checkpoint:
    """What a file says, once its root holds.

    Args:
        where: the file's name, for messages.

    Raises:
        LogDamaged: it is no checkpoint, or not the one that was written.
        LogFromFuture: a newer version wrote it.
    """
    lines = enumerate(BytesIO(raw), 1)  # one by one: there may be millions of empty ones
    _, first = next(lines, (1, b""))
    found = _decode_checkpoint_line(_Version, first, 1, where).checkpoint
    if found > VERSION:
        raise LogFromFuture(
            f"{where}: checkpoint version {found}, this version knows {VERSION}: upgrade preflights"
        )
    scope = _decode_checkpoint_line(Scope, first, 1, where)
    tips: list[Tip] = []
    root = None
    for number, line in lines:
        if root is not None:
            raise LogDamaged(f"{where}, line {number}", 0, "it follows the last line, the root")
        if line.startswith(b'{"sessions":'):
            root = _decode_checkpoint_line(Root, line, number, where)
        else:
            tips.append(_tip(line, number, where))
    if root is None:
        raise LogDamaged(where, 0, "its last line, the root, is missing: the file was cut")
    made = checkpoint(scope.project, tips, scope.log)
    is_ours = (root, scope) == (Root(len(tips), made.root), made.scope)
    if not is_ours or tuple(tips) != made.tips:
        raise LogDamaged(where, 0, "its lines do not give its root: the file was changed")
    if len({tip.session_id for tip in tips}) != len(tips):
        raise LogDamaged(where, 0, "it names a session twice")
    return made


def _tip(line: bytes, number: int, where: str) -> Tip:
    tip = _decode_checkpoint_line(Tip, line, number, where)
    if not is_id(tip.session_id) or not _SHA256.fullmatch(tip.hash):
        raise LogDamaged(
            f"{where}, line {number}", 0, "expected a session id and a hash of 64 digits"
        )
    return tip


class _Version(msgspec.Struct):
    checkpoint: int


def _decode_checkpoint_line(cls: type[T], line: bytes, number: int, where: str) -> T:
    try:
        return msgspec.json.decode(line, type=cls)
    except (ValueError, RecursionError) as error:
        found = "this is no checkpoint" if number == 1 else "this is no line of a checkpoint"
        raise LogDamaged(f"{where}, line {number}", 0, found) from error
