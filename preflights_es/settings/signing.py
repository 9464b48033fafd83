"""With which key the user signs, and whose signatures count: never by a repository's word alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import late_pattern
from preflights_es.settings.load import Settings
from preflights_es.system import files
from preflights_es.system.clock_ids import new_id
from preflights_es.system.files import Unreadable, regular
from preflights_es.system.git import read_git_text

FILE_MAX: Final = 1_000_000  # bytes
KEY_MAX: Final = 20_000  # characters of a public key in git's configuration
GIT: Final = "git"
SIGNERS: Final = ".preflights/allowed_signers"
"""The signers that a repository brings, relative to its root."""
REPOSITORY: Final = ".preflights/repository"
"""Names the repository for which acts are signed: an id on one line, relative to the root."""
_ID: Final = late_pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SIGNER: Final = late_pattern(
    r"(cert-authority|[^\s#]\S*)\s(.*\s)?(sk-)?(ssh|ecdsa)-\S+\s+AAAA[A-Za-z0-9+/]{20,}={0,2}(\s.*)?"
)
"""A line of a file of allowed signers: names, options, type and key."""
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

    @property
    def unread_line(self) -> int:
        """The first line that names no signer; 0 where each does."""
        lines = (line.strip() for line in self.content.decode("utf-8", "replace").split("\n"))
        kept = ((at, line) for at, line in enumerate(lines, 1) if line and line[0] != "#")
        return next((at for at, line in kept if not _SIGNER.fullmatch(line)), 0)


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


def repository_id(content: bytes) -> str:
    """The id that the file of a repository holds; empty of none.

    Two clones may each have made one: their merge holds both, and the older one counts. An id
    begins with the time at which it was made.
    """
    lines = (line.strip() for line in content.decode("utf-8", "replace").split("\n"))
    return min((line for line in lines if _ID.fullmatch(line)), default="")


def repository_here(root: Path) -> str:
    """The id of the repository in a folder; empty where it has none.

    Raises:
        SettingsError: its file cannot be read, or is reached by a link.
    """
    folder, name = REPOSITORY.split("/")
    try:
        with files.open_folder_below(root, (folder,)) as place:
            content = place.content(name, FILE_MAX)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, Unreadable) as error:
        raise _no_id(getattr(error, "strerror", None) or str(error)) from error
    return repository_id(content)


def repository_made(root: Path) -> tuple[str, bool]:
    """The id of the repository in a folder, and whether it was made now.

    Raises:
        SettingsError: its file cannot be read or written, or holds no id.
    """
    if found := repository_here(root):
        return found, False
    folder, name = REPOSITORY.split("/")
    made = new_id()
    try:
        with files.open_folder_below(root, (folder,), makes=True) as place, place.new(name) as file:
            file.write(f"{made}\n".encode())
    except FileExistsError as error:
        raise _no_id("it holds no id") from error
    except OSError as error:
        raise _no_id(error.strerror or str(error)) from error
    return made, True


def _no_id(why: str) -> SettingsError:
    found = f"{REPOSITORY} does not name this repository: {why}"
    return SettingsError(f"{found}: restore the file from git, or remove it to make a new id")


def _git(key: str, settings: Settings, env: Mapping[str, str]) -> str:
    """What the user's own configuration of git says; a repository's is a stranger's."""
    words = ("config", "--global", "--includes", "--get", key)
    return read_git_text(words, settings.root, env) or ""


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
