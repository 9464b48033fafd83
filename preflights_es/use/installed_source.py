"""Where the running program was installed from (PEP 610), and what installs it once more."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from shlex import join
from shutil import which
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

import msgspec

from preflights_es.kernel import __version__
from preflights_es.settings.load import surroundings

NAME: Final = "preflights-es"
TRIED_S: Final = 60  # to fetch a repository and read its metadata
_PLAIN: Final = re.compile(r"[A-Za-z0-9:/@._~+%=#&-]+")
"""A requirement that neither a shell nor YAML reads otherwise."""

_DEVELOPERS: Final = ("dev", "testing")
"""Extras for tests and for development."""
_OF_EXTRA: Final = re.compile(r"(?P<name>[\w.-]+).*;.*\bextra == [\"'](?P<extra>[\w-]+)")


class InstallSource(NamedTuple):
    """What an installer is told."""

    requirement: str
    trouble: str = ""
    """Why another machine cannot have it; empty where nothing is known against it."""


def find_install_source() -> InstallSource:
    """Of the program that runs."""
    try:
        return source_said(distribution(NAME).read_text("direct_url.json"))
    except PackageNotFoundError:
        return InstallSource(_released(), "this program runs without being installed")


def source_said(direct_url: str | None) -> InstallSource:
    """What the file of an installation says; None: it came from an index.

    No password and no token of a URL is passed on.
    """
    if direct_url is None:
        return InstallSource(_released())
    try:
        said: Any = msgspec.json.decode(direct_url)
        url, vcs = _without_credentials(said["url"]), said.get("vcs_info")
        if vcs:
            url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
        if below := said.get("subdirectory"):
            url += f"#subdirectory={below}"
    except (msgspec.DecodeError, ValueError, LookupError, TypeError, AttributeError):
        return InstallSource(
            _released(), "its installer wrote a direct_url.json that is not understood"
        )
    if "file:" in url or not _PLAIN.fullmatch(url):
        return InstallSource(_released(), f"this program was installed from {url}")
    return InstallSource(f"{NAME} @ {url}")


def command_with(extra: str) -> str:
    """What installs the program that runs once more, with an extra and those that it has."""
    try:
        found = distribution(NAME)
    except PackageNotFoundError:
        return install_command(None, (extra,))
    return install_command(found.read_text("direct_url.json"), {extra, *_extras_of(found)})


def installed_extras() -> tuple[list[str], list[str]]:
    """The extras of the program that runs: those that are there, and those that are not."""
    try:
        found = distribution(NAME)
    except PackageNotFoundError:
        return [], []
    have = {*_extras_of(found)}
    every = [
        one for one in found.metadata.get_all("Provides-Extra") or () if one not in _DEVELOPERS
    ]
    return sorted(have), sorted({*every} - have)


def install_command(
    direct_url: str | None, extras: Iterable[str], prefix: Path = Path(sys.prefix)
) -> str:
    """The words for a shell, by the installer that made the environment.

    Args:
        direct_url: what the file of the installation says, as for `source_said`.
        prefix: the environment; uv and pipx write a file of their own into it.
    """
    names = f"[{','.join(sorted(extras))}]"
    what = [f"{NAME}{names}"]
    if direct_url is not None:
        requirement, trouble = source_said(direct_url)
        what = [requirement.replace(NAME, what[0], 1)] if not trouble else what
        what = _local(direct_url, names) or what
    if (prefix / "uv-receipt.toml").is_file():
        return join(("uv", "tool", "install", *what))
    if (prefix / "pipx_metadata.json").is_file():
        return join(("pipx", "install", "--force", *what))
    if find_spec("pip"):
        return join((sys.executable, "-m", "pip", "install", *what))
    return join(("uv", "pip", "install", "--python", sys.executable, *what))


def _local(direct_url: str, names: str) -> list[str]:
    """What is said of a clone or a wheel on this machine; nothing of anything else."""
    try:
        said: Any = msgspec.json.decode(direct_url)
        url = urlsplit(said["url"])
        is_editable = bool(said.get("dir_info", {}).get("editable"))
    except (msgspec.DecodeError, ValueError, LookupError, TypeError, AttributeError):
        return []
    if url.scheme != "file":
        return []
    return [*(["-e"] if is_editable else []), f"{unquote(url.path)}{names}"]


def _extras_of(found: Distribution) -> Iterator[str]:
    """The extras of which every package is there; not those for tests and for development."""
    needed: dict[str, list[str]] = {}
    for one in found.requires or ():
        if (said := _OF_EXTRA.match(one)) and said["extra"] not in _DEVELOPERS:
            needed.setdefault(said["extra"], []).append(said["name"])
    for extra, names in needed.items():
        if all(map(_is_installed, names)):
            yield extra


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _released() -> str:
    return f"{NAME}=={__version__}"


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    kept = f"git@{host}" if at and user.partition(":")[0] == "git" else host
    return urlunsplit((parts.scheme, kept, parts.path, "", ""))


def tried(requirement: str) -> str:
    """Why an installer cannot have it now, from here; empty where it can, or where none is here."""
    import subprocess

    words = ["install", "--dry-run", "--no-deps", "--quiet"]
    if find_spec("pip"):
        words = [sys.executable, "-m", "pip", *words, "--ignore-installed", requirement]
    elif uv := which("uv"):
        words = [uv, "pip", *words, "--reinstall", "--python", sys.executable, requirement]
    else:
        return ""
    try:
        done = subprocess.run(  # noqa: S603  words of ours
            words,
            env={**surroundings(), "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRIED_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {TRIED_S} s"
    except OSError as error:
        return str(error)
    return "the installer does not find it" if done.returncode else ""
