"""Signatures of acts: what is signed, to the byte, and what a signature of OpenSSH holds.

Keys and `ssh-keygen` stay outside.

Source: docs/specs/log.md, section 14; PROTOCOL.sshsig and PROTOCOL.u2f of OpenSSH.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec
from msgspec import UnsetType

from preflights_es.kernel.events import Act, Input, Signature, Value, Whole
from preflights_es.kernel.ports import Stored

US_PER_S: Final = 1_000_000  # an act's time is in microseconds, OpenSSH's in seconds
FORMAT: Final = "preflights.signed/1"


def namespace(act: Act) -> str:
    """That of its signatures: one kind of act never passes for another."""
    return f"preflights-{act}"


# 1. What is signed ---------------------------------------------------------------------------

_OF_THE_ACT: Final = frozenset(
    ("at", "actor", "signature", "evidence", "relayed_by", "number", "folder", "redacted")
)
"""Fields of an Input that are no part of what it accepts, or that are said elsewhere."""


def read_input_content(new: Input) -> dict[str, Any]:
    """What an Input says besides who says it, when, and where its document goes."""
    said: dict[str, Any] = msgspec.to_builtins(new)
    return {name: value for name, value in said.items() if name not in _OF_THE_ACT}


def proposal_text(new: Input, shown: Mapping[str, Any]) -> str:
    """What is signed of an Input: what its actor saw, of which kind that is, and how the word came.

    What is empty is left out, so that a later program can know of more.
    """
    how = {name: getattr(new, name, None) for name in ("evidence", "relayed_by")}
    said = {name: _without_empty(one) for name, one in how.items() if one is not None}
    return canonical({**shown, "by": new.actor.kind, **_without_empty(said)})


def _without_empty(value: object) -> dict[str, Any]:
    said: dict[str, Any] = msgspec.to_builtins(value)
    return {name: one for name, one in said.items() if one}


def canonical(value: Mapping[str, Any]) -> str:
    """JSON without white space, names sorted by code point, UTF-8 unescaped."""
    return msgspec.json.encode(value, order="sorted").decode()


def _pack_signed_text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack(">I", len(raw)) + raw


class SignedStatement(msgspec.Struct, frozen=True, kw_only=True):
    """All that a signature of an act covers."""

    repository: str
    """The id of the repository in which it counts."""
    session_id: str
    version: int
    """Of the event that was seen last; the act is the next one."""
    hash: bytes
    """Of that event, in the chain."""
    proposal: str
    name: str
    """Of the actor."""
    at: Whole
    """The time of the Input."""

    def encoded(self) -> bytes:
        """The bytes that are signed."""
        return b"".join(
            (
                _pack_signed_text(FORMAT),
                _pack_signed_text(self.repository),
                _pack_signed_text(self.session_id),
                struct.pack(">Q", self.version),
                self.hash,
                sha256(self.proposal.encode()).digest(),
                _pack_signed_text(self.name),
                struct.pack(">q", self.at),
            )
        )


# 2. What OpenSSH made ------------------------------------------------------------------------

_MAGIC: Final = b"SSHSIG"
_BEGIN: Final = "-----BEGIN SSH SIGNATURE-----"
_END: Final = "-----END SSH SIGNATURE-----"
_HARDWARE: Final = b"sk-"
_USER_PRESENT: Final = 0x01


class NoSignature(ValueError):
    """Bytes that are no signature of OpenSSH; the message says why."""


class Sshsig(msgspec.Struct, frozen=True):
    """The parts of a signature."""

    key: bytes
    namespace: str
    is_touched: bool
    """Whether a hardware key made it, and says that a person touched it then."""


class _SignatureReader:
    """Reads fields, each with its length before it."""

    def __init__(self, raw: bytes) -> None:
        self.rest = raw

    def take(self, size: int) -> bytes:
        if size > len(self.rest):
            raise NoSignature("it is cut off")
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def field(self) -> bytes:
        return self.take(int(struct.unpack(">I", self.take(4))[0]))


def parse_signature_blob(raw: bytes) -> Sshsig:
    """The parts of a signature without its armour.

    Raises:
        NoSignature: it is something else, or of a newer version.
    """
    blob = _SignatureReader(raw)
    if blob.take(len(_MAGIC)) != _MAGIC:
        raise NoSignature("it does not begin as one")
    if (version := struct.unpack(">I", blob.take(4))[0]) != 1:
        raise NoSignature(f"its version is {version}, expected 1")
    key, name, _reserved, _hash = blob.field(), blob.field(), blob.field(), blob.field()
    made = _SignatureReader(blob.field())
    if blob.rest:
        raise NoSignature("it goes on behind its end")
    kind = made.field()
    made.field()
    touched = kind.startswith(_HARDWARE) and made.take(1)[0] & _USER_PRESENT != 0
    return Sshsig(key, name.decode("utf-8", "replace"), touched)


def decode_strict_base64(text: str) -> bytes:
    """The bytes of base64 that is written as it always is, so that no other text stands for them.

    Raises:
        NoSignature: it is something else.
    """
    try:
        raw = _decode_base64(text, validate=True)
    except ValueError as error:
        raise NoSignature("it is not base64") from error
    if encode_base64_text(raw) != text:
        raise NoSignature("its base64 goes on behind its end")
    return raw


def dearmoured(text: str) -> bytes:
    """A signature without the lines around it.

    Raises:
        NoSignature: they are not there.
    """
    lines = text.strip().splitlines()
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END:
        raise NoSignature("it has no such first and last line")
    return decode_strict_base64("".join(lines[1:-1]))


def armoured(sshsig: str) -> str:
    """A signature as OpenSSH reads it from a file."""
    lines = (sshsig[at : at + 70] for at in range(0, len(sshsig), 70))
    return "\n".join((_BEGIN, *lines, _END, ""))


def bears_signature(one: Stored) -> bool:
    """Whether an event may bear one; it is not decoded for it."""
    return one.data is not None and b'"sshsig"' in one.data


def encode_base64_text(raw: bytes) -> str:
    """Bytes as they stand in an event."""
    from base64 import b64encode

    return b64encode(raw).decode()


def _decode_base64(text: str, *, validate: bool) -> bytes:
    from base64 import b64decode  # most events bear no signature

    return b64decode(text, validate=validate)


def fingerprint(key: str) -> str:
    """`SHA256:...`, as OpenSSH names a public key; a certificate by the key that it is of."""
    try:
        raw = _decode_base64(key, validate=False)
    except ValueError:
        return "a damaged key"
    return "SHA256:" + encode_base64_text(sha256(_certified(raw)).digest()).rstrip("=")


CERTIFICATE: Final = "-cert-v01@openssh.com"
"""How the kind of each certificate ends."""
_FIELDS: Final = {
    "ssh-ed25519": 1,
    "ssh-rsa": 2,
    "sk-ssh-ed25519": 2,
    "sk-ecdsa-sha2-nistp256": 3,
    **{f"ecdsa-sha2-nistp{size}": 2 for size in (256, 384, 521)},
}
"""How many fields a key has behind its kind (PROTOCOL.certkeys)."""


def _certified(raw: bytes) -> bytes:
    """The key that a certificate is of; what is none as it is."""
    try:
        whole = _SignatureReader(raw)
        kind, is_one, _ = whole.field().decode("ascii").partition(CERTIFICATE)
        if not is_one or kind not in _FIELDS:
            return raw
        whole.field()  # a number that is used once
        fields = [whole.field() for _ in range(_FIELDS[kind])]
    except ValueError:
        return raw
    plain = f"{kind}@openssh.com" if kind.startswith("sk-") else kind
    said = (plain.encode(), *fields)
    return b"".join(struct.pack(">I", len(one)) + one for one in said)


def kind_of(key: str) -> str:
    """Of a public key, such as `ssh-ed25519`; empty where the text is no key."""
    try:
        return _SignatureReader(_decode_base64(key, validate=True)).field().decode("ascii")
    except ValueError:
        return ""


def is_hardware(key: str) -> bool:
    """Whether a public key is of a kind whose private part stays in hardware."""
    return kind_of(key).encode().startswith(_HARDWARE)


def made_with(made: Signature | UnsetType) -> str:
    """`SHA256:..., hardware key`: the key that a signature names; nothing is checked."""
    if not made:
        return ""
    try:
        touched = parse_signature_blob(decode_strict_base64(made.sshsig)).is_touched
    except ValueError:
        touched = False
    return f"{fingerprint(made.key)}{', hardware key' if touched else ''}"


# 3. What is said of one ----------------------------------------------------------------------

Verdict = Literal["signed", "unknown_signer", "does_not_verify", "not_checked"]
IN_SHORT: Final[dict[Verdict, str]] = {
    "signed": "signed",
    "unknown_signer": "unknown signer",
    "does_not_verify": "signature does not verify",
    "not_checked": "signature not checked",
}
"""How each is said where a line has no room."""


class Signed(Value, frozen=True, kw_only=True):
    """What was found of a signature."""

    verdict: Verdict
    key: str
    """Its fingerprint."""
    by: str = ""
    """The principal whose key it is, by the signers of who looks; empty for another verdict."""
    is_touched: bool = False
    """Whether a hardware key made it at a touch."""
    why: str = ""
    """Why it does not verify, or was not checked."""

    def __str__(self) -> str:
        """`signed by ada@example.org (SHA256:..., hardware key)`."""
        about = f"{self.key}, hardware key" if self.is_touched else self.key
        match self.verdict:
            case "signed":
                return f"signed by {self.by} ({about})"
            case "unknown_signer":
                more = f": {self.why}" if self.why else ""
                return f"signed by a key that is not among your signers ({about}){more}"
            case "does_not_verify":
                return f"does not verify: {self.why}"
            case _:
                return f"signed with {about}, not checked: {self.why}"
