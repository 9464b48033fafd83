"""With which key the user signs, and whose signatures count: never by a repository's word alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.signing import fingerprint, kind_of
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


class Untrusted(NamedTuple):
    """Why a file of the repository does not count."""

    code: Literal["not_trusted", "list_unreadable"]
    why: str


class Signers(msgspec.Struct, frozen=True):
    """Whose signatures count."""

    content: bytes = b""
    """Lines as in OpenSSH's file of allowed signers."""
    untrusted: Untrusted | None = None
    """Why the repository's own file does not count; None where it does, or is not there."""

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
    """Those of the user's own file, and of the repository's where a person trusts it.

    Raises:
        SettingsError: the user's file cannot be read.
    """
    own = own_signers(settings, env)
    content, untrusted = _of_repository(settings.root, env)
    return Signers(b"\n".join(filter(None, (own, content))), untrusted)


def own_signers(settings: Settings, env: Mapping[str, str]) -> bytes:
    """The user's own file of them; empty without one.

    Raises:
        SettingsError: it cannot be read.
    """
    named, what = settings.sign.signers, "[sign] signers"
    if not named:
        named, what = _git("gpg.ssh.allowedSignersFile", settings, env), "git's allowed signers"
    if not named:
        return b""
    path = _absolute(named, env, what)
    try:
        return regular(path, FILE_MAX)
    except (OSError, Unreadable) as error:
        why = getattr(error, "strerror", None) or error
        found = f"{what}: {path} cannot be read: {why}: name a file of lines"
        raise SettingsError(found) from error


def repository_lines(root: Path, name: str) -> Source | None:
    """A file of lines that a repository brings; None without it.

    Raises:
        SettingsError: it cannot be read as one.
    """
    try:
        folder = (root / name).parent
        if folder.is_symlink():
            raise Unreadable("its folder is a link")
        text = regular(root / name, FILE_MAX, follows=False).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (Unreadable, UnicodeDecodeError, OSError) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingsError(f"{name} cannot be read: {why}: make it a file of lines") from error
    return Source(root / name, text, ())


def _of_repository(
    root: Path, env: Mapping[str, str], name: str = FILE
) -> tuple[bytes, Untrusted | None]:
    try:
        source = repository_lines(root, name)
    except SettingsError as error:
        return b"", Untrusted("list_unreadable", str(error))
    if source is None:
        return b"", None
    state: State = Trusted.of(env).state(source)
    if state == "trusted":
        return source.text.encode(), None
    why = "changed since you trusted it" if state == "changed" else "is not trusted"
    return b"", Untrusted("not_trusted", f"{name} {why}: look at it and trust it")


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


# What a person is shown of signers -----------------------------------------------------------

_OPTIONS: Final = re.compile(r'[a-z-]+(?:="[^"]*")?(?:,[a-z-]+(?:="[^"]*")?)*', re.IGNORECASE)
_PRINCIPALS: Final = re.compile(r'("[^"]+"|[^\s"]+)\s+(.*)')
_WORD: Final = re.compile(r'(?:"[^"]*"|[^\s"])+')


class AllowedSigner(msgspec.Struct, frozen=True):
    """A line of a file of allowed signers, as OpenSSH reads it."""

    line: int
    principals: str
    """Patterns, with commas between them."""
    options: str
    """`cert-authority`, `namespaces="..."`, `valid-after="..."` and the like; empty without any."""
    kind: str
    """Of the key, such as `ssh-ed25519`."""
    fingerprint: str


def allowed_signers(source: Source) -> Sequence[AllowedSigner]:
    """The signers of a file, in its order.

    Raises:
        SettingsError: a line is invalid: what a person cannot be shown is not trusted.
    """
    return tuple(_signers(source))


def _signers(source: Source) -> Iterator[AllowedSigner]:
    for number, whole in enumerate(source.text.split("\n"), 1):
        line = whole.removesuffix("\r").strip(" \t")
        if not line or line.startswith("#"):
            continue
        if not line.replace("\t", " ").isprintable():
            raise _no_signer(number, "it holds a character that is not seen")
        # To ssh-keygen it ends no option: another key than the shown one would count.
        if '\\"' in line:
            raise _no_signer(number, "it holds an escaped quotation mark")
        found = _PRINCIPALS.fullmatch(line)
        words = _WORD.findall(found[2]) if found else []
        options = "" if _is_key(words) or not words else words.pop(0)
        if found is None or not _is_key(words) or (options and not _OPTIONS.fullmatch(options)):
            raise _no_signer(number, "expected principals, options, the kind of key and the key")
        principals = found[1]
        yield AllowedSigner(number, principals, options, words[0], fingerprint(words[1]))


def _is_key(words: Sequence[str]) -> bool:
    return len(words) > 1 and kind_of(words[1]) == words[0] != ""


def _no_signer(number: int, found: str) -> SettingsError:
    return SettingsError(f"{FILE}, line {number}: no allowed signer: {found}")
