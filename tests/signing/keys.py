"""Keys of people: of `ssh-keygen`, and of hardware that is not here."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from base64 import b64decode, b64encode
from hashlib import sha256, sha512
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ROOT: Final = Path(__file__).parents[2]
SK: Final = "sk-ssh-ed25519@openssh.com"
PLAIN: Final = "ssh-ed25519"
TOUCHED: Final = 0x01
ACCEPTANCE: Final = "preflights-acceptance"


def text(value: str | bytes) -> bytes:
    """A field of OpenSSH's, with its length before it."""
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack(">I", len(raw)) + raw


def generated(path: Path, *words: str, passphrase: str = "") -> Path:
    """A new key of `ssh-keygen`, an Ed25519 one unless the words say otherwise."""
    words = words or ("-t", "ed25519")
    command = ["ssh-keygen", "-q", *words, "-N", passphrase, "-C", "a comment", "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return path


def public(path: Path) -> str:
    """`ssh-ed25519 AAAA...`, as a file of signers holds it."""
    return " ".join(Path(f"{path}.pub").read_text().split()[:2])


class Key:
    """A key whose signatures are made here, of hardware or not, with every field to choose.

    Source: PROTOCOL.sshsig and PROTOCOL.u2f of OpenSSH.
    """

    def __init__(self, seed: str, kind: str = SK, application: str = "ssh:") -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(sha256(seed.encode()).digest())
        self.kind, self.application = kind, application
        raw = self._private.public_key().public_bytes(
            serialization.Encoding.Raw, serialization.PublicFormat.Raw
        )
        self.blob = text(kind) + text(raw) + (text(application) if kind == SK else b"")

    @property
    def public(self) -> str:
        """As a file of signers holds it."""
        return f"{self.kind} {b64encode(self.blob).decode()}"

    def signed(
        self,
        message: bytes,
        namespace: str = ACCEPTANCE,
        *,
        flags: int = TOUCHED,
        counter: int = 7,
        application: str | None = None,
        version: int = 1,
        named: bytes | None = None,
        said_flags: int | None = None,
    ) -> bytes:
        """A signature without its armour.

        Args:
            application: that the hardware signs, where it is another one than the key's.
            named: another key that the signature names.
            said_flags: that it names, where the hardware signed others.
        """
        digest = sha512(message).digest()
        whole = b"SSHSIG" + text(namespace) + text("") + text("sha512") + text(digest)
        made = text(self.kind)
        if self.kind == SK:
            of = self.application if application is None else application
            state = struct.pack(">BI", flags, counter)
            hashed = sha256(of.encode()).digest() + state + sha256(whole).digest()
            told = struct.pack(">BI", flags if said_flags is None else said_flags, counter)
            made += text(self._private.sign(hashed)) + told
        else:
            made += text(self._private.sign(whole))
        head = b"SSHSIG" + struct.pack(">I", version) + text(self.blob if named is None else named)
        return head + text(namespace) + text("") + text("sha512") + text(made)


def armoured(raw: bytes) -> str:
    """As `ssh-keygen` writes it."""
    body = b64encode(raw).decode()
    lines = [body[at : at + 70] for at in range(0, len(body), 70)]
    begin, end = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
    return "\n".join((begin, *lines, end, ""))


# A program named ssh-keygen ------------------------------------------------------------------


def program(folder: Path, script: str) -> str:
    """A folder for the front of PATH, with a program `ssh-keygen` that a shell runs."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ssh-keygen"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(folder)


def instead_of_signing(script: str) -> str:
    """What a shell does at `-Y sign`; all else is the real program's."""
    return f'case "$2" in sign)\n{script}\n;; *) exec {shutil.which("ssh-keygen")} "$@" ;; esac'


def hardware(folder: Path, seed: str, flags: int = TOUCHED) -> tuple[str, Path]:
    """A hardware key: the folder for the front of PATH, and the path of its file.

    Each signature, as each touch, leaves a line in `touches` beside it.
    """
    key = Key(seed)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "id_sk"
    file.write_text("the handle of a key in hardware\n")
    Path(f"{file}.pub").write_text(f"{key.public} a comment\n")
    asks = f"cd {ROOT} && echo touch >> {folder}/touches && exec {sys.executable} -m {__name__}"
    # -Y sign -f KEY -n NAMESPACE FILE
    return program(folder, instead_of_signing(f'{asks} {seed} {flags} "$6" "$7"')), file


def touches(folder: Path) -> int:
    """How often hardware was touched."""
    file = folder / "touches"
    return len(file.read_text().splitlines()) if file.exists() else 0


def main(seed: str, flags: str, namespace: str, file: str) -> None:
    """Sign a file as hardware does."""
    made = Key(seed).signed(Path(file).read_bytes(), namespace, flags=int(flags))
    Path(f"{file}.sig").write_text(armoured(made))


def parts(public_key: str) -> bytes:
    """The bytes of `ssh-ed25519 AAAA...`."""
    return b64decode(public_key.split()[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
