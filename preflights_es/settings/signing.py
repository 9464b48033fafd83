"""With which key the user signs, and whose signatures count: never by a repository's word alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.settings.file import Source
from preflights_es.settings.load import Settings
from preflights_es.settings.trust import State, Trusted
from preflights_es.system.files import Unreadable, regular
from preflights_es.system.git import said

FILE: Final = ".preflights/allowed_signers"
"""The signers that a repository brings, relative to its root."""
FILE_MAX: Final = 1_000_000  # bytes
KEY_MAX: Final = 20_000  # characters of a public key in git's configuration
GIT: Final = "git"
_LITERAL: Final = ("key::", "ssh-", "ecdsa-", "sk-")
"""How git's `user.signingkey` begins where it is a public key, and no path."""


class Signers(msgspec.Struct, frozen=True):
    """Whose signatures count."""

    content: bytes = b""
    """Lines as in OpenSSH's file of allowed signers."""
    untrusted: str = ""
    """Why the repository's own file does not count; empty where it does, or is not there."""

    @property
    def are_known(self) -> bool:
        """Whether there is anyone at all."""
        return bool(self.content.strip())


def signing_key(settings: Settings, env: Mapping[str, str]) -> str:
    """The absolute path of the user's key, or a public key whose private part an agent holds.

    Raises:
        SettingsError: none is configured.
    """
    named = settings.sign.key
    if not named:
        found = "no key to sign with: set `key` of [sign] in your own settings file"
        raise SettingsError(f"{found} to `git`, or to the path of a key", code="no_signing_key")
    if named != GIT:
        return _absolute(named, env, "[sign] key")
    if (form := _git("gpg.format", settings, env)) != "ssh":
        found = f"git's gpg.format is {form!r}" if form else "git has no gpg.format"
        raise SettingsError(f"[sign] key is `git`, and {found}, expected 'ssh'")
    if not (key := _git("user.signingkey", settings, env)):
        raise SettingsError("[sign] key is `git`, and git has no user.signingkey: set it")
    if key.startswith(_LITERAL) and len(key) <= KEY_MAX:
        return key.removeprefix("key::")
    return _absolute(key, env, "git's user.signingkey")


def signers_of(settings: Settings, env: Mapping[str, str]) -> Signers:
    """Those of the user's own file, and of the repository's where a person trusts it.

    Raises:
        SettingsError: the user's file cannot be read.
    """
    named, what = settings.sign.signers, "[sign] signers"
    if not named:
        named, what = _git("gpg.ssh.allowedSignersFile", settings, env), "git's allowed signers"
    own = b""
    if named:
        path = _absolute(named, env, what)
        try:
            own = regular(path, FILE_MAX)
        except (OSError, Unreadable) as error:
            why = getattr(error, "strerror", None) or error
            found = f"{what}: {path} cannot be read: {why}: name a file of lines"
            raise SettingsError(found) from error
    content, untrusted = _of_repository(settings.root, env)
    return Signers(b"\n".join(filter(None, (own, content))), untrusted)


def repository_signers(root: Path) -> Source | None:
    """The file of signers that a repository brings; None without one.

    Raises:
        SettingsError: it cannot be read as one.
    """
    try:
        folder = (root / FILE).parent
        if folder.is_symlink():
            raise Unreadable("its folder is a link")
        text = regular(root / FILE, FILE_MAX, follows=False).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (Unreadable, UnicodeDecodeError, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingsError(f"{FILE} cannot be read: {why}: make it a file of lines") from error
    return Source(root / FILE, text, ())


def _of_repository(root: Path, env: Mapping[str, str]) -> tuple[bytes, str]:
    try:
        source = repository_signers(root)
    except SettingsError as error:
        return b"", str(error)
    if source is None:
        return b"", ""
    state: State = Trusted.of(env).state(source)
    if state == "trusted":
        return source.text.encode(), ""
    why = "changed since you trusted it" if state == "changed" else "is not trusted"
    return b"", f"{FILE} {why}: look at it and trust it"


def _git(key: str, settings: Settings, env: Mapping[str, str]) -> str:
    """What the user's own configuration of git says; a repository's is a stranger's."""
    words = ("config", "--global", "--includes", "--get", key)
    return said(words, settings.root, env) or ""


def _absolute(path: str, env: Mapping[str, str], what: str) -> str:
    """Raises:
    SettingsError: the path is relative: it would depend on the folder.
    """
    home = env.get("HOME") or env.get("USERPROFILE") or ""
    if path.startswith("~/"):
        path = os.path.join(home, path[2:])
    if not os.path.isabs(path):
        raise SettingsError(f"{what}: found {path!r}, expected an absolute path, or one with ~/")
    return path
