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
    tips: tuple[tuple[str, int, str], ...]
    """Session, version and hash of each, by session."""
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


def read_signed(raw: bytes, where: str) -> SignedCheckpoint:
    """What a file says, once its root holds; its signature is not checked.

    Args:
        where: the file's name, for messages.

    Raises:
        LogDamaged: it is no signed checkpoint, or not the one that was written.
        LogFromFuture: a newer version wrote it.
    """
    first = raw[: raw.find(b"\n") + 1]
    found = _decoded(_SignedVersion, first, 1, where).signed_checkpoint
    if found > SIGNED_VERSION:
        raise LogFromFuture(
            f"{where}: signed checkpoint version {found}, this version knows {SIGNED_VERSION}: "
            "upgrade preflights"
        )
    scope = _decoded(SignedScope, first, 1, where)
    at, tips = len(first), list[tuple[str, int, str]]()
    while one := _TIP.match(raw, at):
        tips.append((one[1].decode(), int(one[2]), one[3].decode()))
        at = one.end()
    number = len(tips) + 2
    behind = raw[at:].split(b"\n")
    if len(behind) != 3 or behind[2]:
        found_ = "expected a session as it is written, or the root and the signature at the end"
        raise LogDamaged(f"{where}, line {number}", 0, found_)
    root = _decoded(Root, behind[0], number, where)
    made = _decoded(KeySignature, behind[1], number + 1, where)
    ids = [id_ for id_, _, _ in tips]
    if root.root != sha256(raw[:at]).hexdigest() or root.sessions != len(tips):
        raise LogDamaged(where, 0, "its lines do not give its root: the file was changed")
    if any(one >= after for one, after in pairwise(ids)):
        raise LogDamaged(where, 0, "its sessions are not in order, each once")
    if (why := _untrue(scope)) or any(version > _VERSION_MAX for _, version, _ in tips):
        raise LogDamaged(where, 0, why or "a version has more than 64 bits")
    message = raw[: at + len(behind[0]) + 1]
    written = _line(scope), _line(root), _line(made)
    if written != (first, behind[0] + b"\n", behind[1] + b"\n"):
        raise LogDamaged(where, 0, "its lines are written in another way")
    return SignedCheckpoint(scope, tuple(tips), root.root, made, message)


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
