"""Where the running program was installed from (PEP 610), as another machine can install it."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from shutil import which
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import msgspec

from preflights_es.kernel import __version__
from preflights_es.settings.load import surroundings

NAME: Final = "preflights-es"
TRIED_S: Final = 60  # to fetch a repository and read its metadata
_PLAIN: Final = re.compile(r"[A-Za-z0-9:/@._~+%=#&-]+")
"""A requirement that neither a shell nor YAML reads otherwise."""


class Source(NamedTuple):
    """What an installer is told."""

    requirement: str
    trouble: str = ""
    """Why another machine cannot have it; empty where nothing is known against it."""


def source() -> Source:
    """Of the program that runs."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return source_said(distribution(NAME).read_text("direct_url.json"))
    except PackageNotFoundError:
        return Source(_released(), "this program runs without being installed")


def source_said(direct_url: str | None) -> Source:
    """What the file of an installation says; None: it came from an index.

    No password and no token of a URL is passed on.
    """
    if direct_url is None:
        return Source(_released())
    try:
        said: Any = msgspec.json.decode(direct_url)
        url, vcs = _without_credentials(said["url"]), said.get("vcs_info")
        if vcs:
            url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
        if below := said.get("subdirectory"):
            url += f"#subdirectory={below}"
    except (msgspec.DecodeError, ValueError, LookupError, TypeError, AttributeError):
        return Source(_released(), "its installer wrote a direct_url.json that is not understood")
    if "file:" in url or not _PLAIN.fullmatch(url):
        return Source(_released(), f"this program was installed from {url}")
    return Source(f"{NAME} @ {url}")


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
