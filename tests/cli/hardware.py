"""Stands for `ssh-keygen` with a hardware key: it signs as PROTOCOL.u2f says.

All else is the real program's work.

python -m tests.cli.hardware FLAGS REAL ...
"""

from __future__ import annotations

import os
import struct
import sys
from base64 import b64encode
from hashlib import sha256, sha512
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KIND: Final = b"sk-ssh-ed25519@openssh.com"
APPLICATION: Final = b"ssh:"
COUNTER: Final = 7
ROOT: Final = Path(__file__).parents[2]
KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def strings(*values: bytes) -> bytes:
    """Each with its length before it."""
    return b"".join(struct.pack(">I", len(value)) + value for value in values)


def blob() -> bytes:
    """The public key."""
    return strings(KIND, KEY.public_key().public_bytes_raw(), APPLICATION)


def public() -> str:
    """As a file of signers has it."""
    return f"{KIND.decode()} {b64encode(blob()).decode()}"


def signed(message: bytes, namespace: bytes, flags: int) -> str:
    """A signature in its armour; bit 0 of the flags says that the key was touched."""
    covered = (namespace, b"", b"sha512")
    whole = b"SSHSIG" + strings(*covered, sha512(message).digest())
    state = struct.pack(">BI", flags, COUNTER)
    made = KEY.sign(sha256(APPLICATION).digest() + state + sha256(whole).digest())
    raw = b"SSHSIG" + struct.pack(">I", 1)
    raw += strings(blob(), *covered, strings(KIND, made) + state)
    body = b64encode(raw).decode()
    begin, end = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
    return "\n".join((begin, *(body[at : at + 70] for at in range(0, len(body), 70)), end, ""))


def program(folder: Path, real: str, flags: int) -> str:
    """A folder for the front of PATH."""
    folder.mkdir()
    words = f'PYTHONPATH={ROOT} exec {sys.executable} -m tests.cli.hardware {flags} {real} "$@"'
    (folder / "ssh-keygen").write_text(f"#!/bin/sh\n{words}\n")
    (folder / "ssh-keygen").chmod(0o755)
    return str(folder)


def main(flags: str, real: str, *words: str) -> None:
    """What ssh-keygen does."""
    if words[1] != "sign":
        os.execv(real, [real, *words])
    message = Path(words[-1])
    namespace = words[words.index("-n") + 1].encode()
    Path(f"{message}.sig").write_text(signed(message.read_bytes(), namespace, int(flags)))


if __name__ == "__main__":
    main(*sys.argv[1:])
