"""With which key the user signs, and whose signatures count: never by a repository's word alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.settings.load import Settings
from preflights_es.system.files import Unreadable, regular
from preflights_es.system.git import said

FILE_MAX: Final = 1_000_000  # bytes
KEY_MAX: Final = 20_000  # characters of a public key in git's configuration
GIT: Final = "git"
_LITERAL: Final = ("key::", "ssh-", "ecdsa-", "sk-")
"""How git's `user.signingkey` begins where it is a public key, and no path."""


class Signers(msgspec.Struct, frozen=True):
    """Whose signatures count."""

    content: bytes = b""
    """Lines as in OpenSSH's file of allowed signers."""

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
        cure = "`git config --global gpg.format ssh`"
        raise SettingsError(f"[sign] key is `git`, and {found}, expected 'ssh': {cure}")
    if not (key := _git("user.signingkey", settings, env)):
        found = "[sign] key is `git`, and git has no user.signingkey"
        raise SettingsError(f"{found}: set it to your key with `git config --global`")
    if key.startswith(_LITERAL) and len(key) <= KEY_MAX:
        return key.removeprefix("key::")
    return _absolute(key, env, "git's user.signingkey")


def signers_of(settings: Settings, env: Mapping[str, str]) -> Signers:
    """Those of the user's own file; none without one.

    Raises:
        SettingsError: it cannot be read.
    """
    named, what = settings.sign.signers, "[sign] signers"
    if not named:
        named, what = _git("gpg.ssh.allowedSignersFile", settings, env), "git's allowed signers"
    if not named:
        return Signers()
    path = _absolute(named, env, what)
    try:
        return Signers(regular(path, FILE_MAX))
    except (OSError, Unreadable) as error:
        why = getattr(error, "strerror", None) or error
        found = f"{what}: {path} cannot be read: {why}: name a file of lines"
        raise SettingsError(found) from error


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
