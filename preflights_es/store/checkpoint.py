"""A checkpoint: how far each session had come, to be kept out of a writer's reach, or signed.

JSON Lines (docs/specs/log.md, sections 13 and 15): the scope, one line a session, and a root over
all lines before it; behind that, a signature where it has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import LogDamaged, LogFromFuture
from preflights_es.kernel.events import Base64, Whole
from preflights_es.kernel.json import encoded
from preflights_es.store.jsonl import is_id

VERSION: Final = 1
FILE_MAX: Final = 160 * 1024 * 1024  # bytes: a million sessions

SIGNED_VERSION: Final = 1
PARENTS_MAX: Final = 1_000

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


def content(made: Checkpoint) -> bytes:
    """The file."""
    root = _line(Root(len(made.tips), made.root))
    return b"".join((*_body(made), root))


def _body(made: Checkpoint) -> Iterator[bytes]:
    yield _line(made.scope)
    yield from map(_line, made.tips)


def _line(value: msgspec.Struct) -> bytes:
    return encoded(value) + b"\n"


def read(raw: bytes, where: str) -> Checkpoint:
    """What a file says, once its root holds.

    Args:
        where: the file's name, for messages.

    Raises:
        LogDamaged: it is no checkpoint, or not the one that was written.
        LogFromFuture: a newer version wrote it.
    """
    lines = enumerate(BytesIO(raw), 1)  # one by one: there may be millions of empty ones
    _, first = next(lines, (1, b""))
    found = _decoded(_Version, first, 1, where).checkpoint
    if found > VERSION:
        raise LogFromFuture(
            f"{where}: checkpoint version {found}, this version knows {VERSION}: upgrade preflights"
        )
    scope = _decoded(Scope, first, 1, where)
    tips: list[Tip] = []
    root = None
    for number, line in lines:
        if root is not None:
            raise LogDamaged(f"{where}, line {number}", 0, "it follows the last line, the root")
        if line.startswith(b'{"sessions":'):
            root = _decoded(Root, line, number, where)
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
    tip = _decoded(Tip, line, number, where)
    if not is_id(tip.session_id) or not _SHA256.fullmatch(tip.hash):
        raise LogDamaged(
            f"{where}, line {number}", 0, "expected a session id and a hash of 64 digits"
        )
    return tip


class _Version(msgspec.Struct):
    checkpoint: int


def _decoded(cls: type[T], line: bytes, number: int, where: str) -> T:
    try:
        return msgspec.json.decode(line, type=cls)
    except (ValueError, RecursionError) as error:
        found = "this is no checkpoint" if number == 1 else "this is no line of a checkpoint"
        raise LogDamaged(f"{where}, line {number}", 0, found) from error


# Signed --------------------------------------------------------------------------------------


SignedTip = tuple[str, int, str]
"""Session, version and hash."""


class SignedScope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of a signed one."""

    signed_checkpoint: int
    """Version of this form."""
    project: str
    parents: tuple[str, ...]
    """Roots of the checkpoints that it holds as beginnings, in ascending order."""
    by: str
    """Who signed, as claimed."""
    at: Whole
    """When, as claimed."""


class KeySignature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line of a signed one."""

    key: Base64
    sshsig: Base64


class SignedCheckpoint(msgspec.Struct, frozen=True):
    """What a whole file says, that a key signed; whose key it is, is not checked here."""

    scope: SignedScope
    tips: tuple[SignedTip, ...]
    """By session."""
    root: str
    made: KeySignature
    message: bytes
    """What is signed: all lines but the last."""


BEGINS_SIGNED: Final = b'{"signed_checkpoint":'
"""How a file begins that may be one."""
_TIP: Final = re.compile(
    rb'\{"session_id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",'
    rb'"version":([1-9][0-9]{0,18}),"hash":"([0-9a-f]{64})"\}\n'
)
"""The one way in which such a line is written."""


def to_sign(scope: SignedScope, tips: Iterable[Tip]) -> tuple[bytes, str]:
    """The lines that are signed, and their root."""
    ordered = sorted(tips, key=lambda tip: tip.session_id)
    body = b"".join(map(_line, (scope, *ordered)))
    root = sha256(body).hexdigest()
    return body + _line(Root(len(ordered), root)), root


def signed_content(message: bytes, made: KeySignature) -> bytes:
    """The file of what was signed."""
    return message + _line(made)


def read_signed(
    raw: bytes, where: str, known: dict[bytes, SignedTip] | None = None
) -> SignedCheckpoint:
    """What a file says, once its root holds; its signature is not checked.

    Args:
        where: the file's name, for messages.
        known: lines of sessions that were read before: most checkpoints share most of them.

    Raises:
        LogDamaged: it is no signed checkpoint, or not the one that was written.
        LogFromFuture: a newer version wrote it.
    """
    if b"\r" in raw:
        raise LogDamaged(where, 0, "its line ends were changed: it is to be kept byte for byte")
    lines = raw.splitlines(keepends=True)
    first = lines[0] if lines else b""
    found = _decoded(_SignedVersion, first, 1, where).signed_checkpoint
    if found > SIGNED_VERSION:
        raise LogFromFuture(
            f"{where}: signed checkpoint version {found}, this version knows {SIGNED_VERSION}: "
            "upgrade preflights"
        )
    scope = _decoded(SignedScope, first, 1, where)
    if len(lines) < 3:
        raise LogDamaged(where, 0, "its last lines, the root and the signature, are missing")
    told, number = lines[1:-2], len(lines)
    known = {} if known is None else known
    for at, line in enumerate(told, 2):
        if line not in known:
            known[line] = _signed_tip(line, f"{where}, line {at}")
    tips = tuple(map(known.__getitem__, told))
    root = _decoded(Root, lines[-2], number - 1, where)
    made = _decoded(KeySignature, lines[-1], number, where)
    if (_line(scope), _line(root), _line(made)) != (first, *lines[-2:]):
        raise LogDamaged(where, 0, "its lines are written in another way")
    message = raw[: -len(lines[-1])]
    if (root.sessions, root.root) != (
        len(tips),
        sha256(memoryview(message)[: -len(lines[-2])]).hexdigest(),
    ):
        raise LogDamaged(where, 0, "its lines do not give its root: the file was changed")
    if len({tip[0] for tip in tips}) != len(tips) or told != sorted(told):
        raise LogDamaged(where, 0, "its sessions are not in order, each once")
    if why := _untrue(scope):
        raise LogDamaged(where, 0, why)
    return SignedCheckpoint(scope, tips, root.root, made, message)


def _signed_tip(line: bytes, where: str) -> SignedTip:
    said = _TIP.fullmatch(line)
    if said is None or (version := int(said[2])) > _VERSION_MAX:
        raise LogDamaged(where, 0, "this is no line of a checkpoint, as a writer writes it")
    return said[1].decode(), version, said[3].decode()


def _untrue(scope: SignedScope) -> str:
    """What cannot stand in the first line; empty where all can."""
    if len(scope.parents) > PARENTS_MAX:
        return f"it names more than {PARENTS_MAX:,} parents"
    if not all(map(_SHA256.fullmatch, scope.parents)):
        return "a parent is no root of 64 digits"
    if any(one >= after for one, after in pairwise(scope.parents)):
        return "its parents are not in order, each once"
    return ""


class _SignedVersion(msgspec.Struct):
    signed_checkpoint: Annotated[int, msgspec.Meta(ge=1)]
