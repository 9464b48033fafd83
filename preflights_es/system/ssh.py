"""Asks OpenSSH's `ssh-keygen` to sign and to verify; it never lies in a repository."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from preflights_es.system.git import program_path

SIGN_TIMEOUT_S: Final = 120  # a person looks for the key, types a passphrase, touches it
VERIFY_TIMEOUT_S: Final = 10
SAID_MAX: Final = 300  # characters of what ssh-keygen says
EARLIEST_S: Final = 946_684_800  # 2000-01-01: no key of this format is older
LATEST_S: Final = 4_102_444_800  # 2100-01-01: ssh-keygen takes a year of four digits
PROGRAM: Final = "ssh-keygen"
MISSING: Final = "ssh-keygen of OpenSSH 8.2 or newer is not on the PATH: install OpenSSH"

_OLD: Final = re.compile(r"""(?i)option -- '?O|(unknown|invalid|unsupported).*verify-time""")


class SshFailed(Exception):
    """What ssh-keygen could not do, and what to do; one line."""


def check_signing_key(key: str, env: Mapping[str, str]) -> None:
    """See what can be seen without the key itself.

    Raises:
        SshFailed: its file or ssh-keygen is not there.
    """
    if os.path.isabs(key) and not (os.path.isfile(key) or os.path.isfile(f"{key}.pub")):
        raise SshFailed(f"the key {key} is not there: name another one in [sign] key")
    if program_path(PROGRAM, env) is None:
        raise SshFailed(MISSING)


def key_fingerprint(key: str, env: Mapping[str, str]) -> str:
    """Length, hash, comment and type of a key, as ssh-keygen prints them.

    Args:
        key: a path, or a public key.

    Raises:
        SshFailed: it is no key.
    """
    is_path = os.path.isabs(key)
    words, given = ("-l", "-f", key if is_path else "-"), None if is_path else f"{key}\n".encode()
    code, said = _run_ssh_keygen(words, env, VERIFY_TIMEOUT_S, given)
    if code:
        name = f"the key {key}" if is_path else "the key of ssh-agent"
        raise SshFailed(
            f"{name} cannot be used: it is no key of OpenSSH, or its .pub file is missing"
        )
    return said


def sign(
    key: str,
    namespace: str,
    message: bytes,
    env: Mapping[str, str],
    timeout_s: float = SIGN_TIMEOUT_S,
) -> str:
    """The signature of a message, in its armour; a passphrase is asked for at the terminal.

    Args:
        key: the path of a key file, or a public key whose private part an agent holds.

    Raises:
        SshFailed: there is none; nothing was signed.
    """
    check_signing_key(key, env)
    with TemporaryDirectory(prefix="preflights-") as folder:
        name = key
        if not os.path.isabs(key):
            name = str(_write_private_file(folder, "key.pub", f"{key}\n".encode()))
        lies = _write_private_file(folder, "message", message)
        words = ("-Y", "sign", "-f", name, "-n", namespace, str(lies))
        code, said = _run_ssh_keygen(words, env, timeout_s, asks=sys.stdin is not None)
        made = lies.with_name("message.sig")
        if code or not made.is_file():
            raise SshFailed(_explain_signing_failure(said, key))
        return made.read_text("ascii", "replace")


def is_made_by(armoured: str, namespace: str, message: bytes, env: Mapping[str, str]) -> bool:
    """Whether a signature is one of the message by the key that it names.

    Raises:
        SshFailed: it could not be checked.
    """
    with TemporaryDirectory(prefix="preflights-") as folder:
        signature = _write_private_file(folder, "message.sig", armoured.encode())
        words = ("-Y", "check-novalidate", "-n", namespace, "-s", str(signature))
        code, _ = _run_ssh_keygen(words, env, VERIFY_TIMEOUT_S, message)
        return code == 0


def principal(
    armoured: str, namespace: str, message: bytes, signers: bytes, at_s: int, env: Mapping[str, str]
) -> str | None:
    """Whose signature it is by a list of signers as it stood at a time; None where it is another's.

    Args:
        signers: the content of a file of allowed signers.
        at_s: seconds since 1970.

    Raises:
        SshFailed: it could not be checked.
    """
    if not EARLIEST_S <= at_s < LATEST_S:
        return None
    # The zone of the machine, as in the file of signers.
    option = f"-Overify-time={time.strftime('%Y%m%d%H%M%S', time.localtime(at_s))}"
    with TemporaryDirectory(prefix="preflights-") as folder:
        signature = _write_private_file(folder, "message.sig", armoured.encode())
        allowed = _write_private_file(folder, "signers", signers)
        files = ("-s", str(signature), "-f", str(allowed))
        code, said = _run_ssh_keygen(
            ("-Y", "find-principals", *files, option), env, VERIFY_TIMEOUT_S
        )
        # What is said of a line of the file is no word about options of ours.
        own = (line for line in said.splitlines() if not line.startswith(f"{allowed}:"))
        if code and any(map(_OLD.search, own)):
            raise SshFailed(f"{PROGRAM} is older than 8.7: upgrade OpenSSH")
        names = said.splitlines() if code == 0 else []
        for name in filter(None, names):
            words = ("-Y", "verify", *files, "-I", name, "-n", namespace, option)
            code, _ = _run_ssh_keygen(words, env, VERIFY_TIMEOUT_S, message)
            if code == 0:
                return name
    return None


def _write_private_file(folder: str, name: str, content: bytes) -> Path:
    """A new file in a folder that only its owner can enter."""
    path = Path(folder) / name
    path.write_bytes(content)
    path.chmod(0o600)  # else ssh-keygen refuses a key
    return path


def _run_ssh_keygen(
    words: Sequence[str],
    env: Mapping[str, str],
    timeout_s: float,
    given: bytes | None = None,
    *,
    asks: bool = False,
) -> tuple[int, str]:
    """Its exit code, and what it printed: its output, or else its errors.

    Raises:
        SshFailed: it is not there, or did not end.
    """
    program = program_path(PROGRAM, env)
    if program is None:
        raise SshFailed(MISSING)
    import subprocess

    takes: dict[str, Any] = {"input": given}
    if given is None:
        takes = {"stdin": None if asks and sys.stdin.isatty() else subprocess.DEVNULL}
    try:
        found: subprocess.CompletedProcess[bytes] = subprocess.run(  # noqa: S603  an absolute path
            [program, *words],
            env=dict(env),
            capture_output=True,
            timeout=timeout_s,
            check=False,
            **takes,
        )
    except subprocess.TimeoutExpired:
        raise SshFailed(f"{PROGRAM} did not end within {timeout_s:g} s: try again") from None
    except OSError as error:
        raise SshFailed(f"{PROGRAM} cannot be run: {error.strerror}") from error
    said = found.stdout if found.returncode == 0 else found.stderr
    return found.returncode, said.decode("utf-8", "replace").strip()


_CURES: Final = (
    ("UNPROTECTED", "others can read it: `chmod 600` it"),
    ("incorrect passphrase", "its passphrase is asked for at a terminal; or add it to ssh-agent"),
    ("device not found", "the hardware key is not plugged in"),
    ("requires PIN", "the PIN of the hardware key is asked for at a terminal"),
    ("user presence", "the hardware key was not touched in time: try again"),
    ("timeout", "the hardware key was not touched in time: try again"),
    ("agent refused", "ssh-agent refused: unlock the key, and confirm where it asks"),
    ("load public key", "it is no key of OpenSSH, or its .pub file is not beside it"),
    ("No private key found", "ssh-agent does not hold it: add it with ssh-add"),
    ("No such file", "its private part is neither beside it nor in ssh-agent: add it with ssh-add"),
    ("invalid format", "it is no key of OpenSSH"),
)


def _explain_signing_failure(said: str, key: str) -> str:
    """What stood in the way, from what ssh-keygen printed, and the cure where it is known."""
    name = key if os.path.isabs(key) else "the key of ssh-agent"
    cure = next((cure for sign, cure in _CURES if sign.lower() in said.lower()), "")
    last = said.splitlines()[-1][:SAID_MAX] if said else "ssh-keygen made no signature"
    return f"{name} did not sign: {cure or last}"
