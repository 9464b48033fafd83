"""Signatures as OpenSSH makes them, built here byte by byte, and by ssh-keygen itself."""

from __future__ import annotations

import struct
import subprocess
from base64 import b64decode, b64encode
from hashlib import new, sha256
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HARDWARE: Final = "sk-ssh-ed25519@openssh.com"
APPLICATION: Final = "ssh:"
TOUCHED: Final = 1


def field(value: bytes | str) -> bytes:
    """With its length before it."""
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack(">I", len(raw)) + raw


def generated(folder: Path, kind: str = "ed25519") -> tuple[Path, str]:
    """A key of ssh-keygen: its file, and its public half as in a file of signers."""
    path = folder / f"key-{kind}"
    command = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "a comment", "-f", str(path)]
    subprocess.run(command, check=True)
    return path, " ".join(path.with_suffix(".pub").read_text().split()[:2])


def signed(key: Path, namespace: str, message: bytes, *options: str) -> bytes:
    """The signature that `ssh-keygen -Y sign` makes, without its armour."""
    command = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(key), "-n", namespace, *options]
    done = subprocess.run(command, input=message, capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()
    return b64decode("".join(lines[1:-1]))


def verifies(signers: str, namespace: str, message: bytes, sshsig: bytes, *options: str) -> bool:
    """Whether `ssh-keygen -Y verify` takes it for ada@example.org's; signers are a file's path."""
    armour = "-----{} SSH SIGNATURE-----"
    body = (armour.format("BEGIN"), b64encode(sshsig).decode(), armour.format("END"), "")
    path = Path(signers).with_suffix(".sig")
    path.write_text("\n".join(body))
    command = ["ssh-keygen", "-Y", "verify", "-f", signers, "-I", "ada@example.org"]
    command += ["-n", namespace, "-s", str(path), *options]
    return not subprocess.run(command, input=message, capture_output=True, check=False).returncode


class HardwareKey:
    """What a security key does, by the rules of PROTOCOL.u2f."""

    def __init__(self) -> None:
        self._key = Ed25519PrivateKey.generate()
        point = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public = field(HARDWARE) + field(point) + field(APPLICATION)

    @property
    def line(self) -> str:
        """As in a file of signers."""
        return f"{HARDWARE} {b64encode(self.public).decode()}"

    def signed(
        self, namespace: str, message: bytes, *, flags: int = TOUCHED, hash_name: str = "sha512"
    ) -> bytes:
        """A signature, without its armour."""
        about = field(namespace) + field(b"") + field(hash_name)
        blob = b"SSHSIG" + about + field(new(hash_name, message).digest())
        seen = struct.pack(">BI", flags, 7)
        made = self._key.sign(sha256(APPLICATION.encode()).digest() + seen + sha256(blob).digest())
        mark = field(HARDWARE) + field(made) + seen
        return b"SSHSIG" + struct.pack(">I", 1) + field(self.public) + about + field(mark)
