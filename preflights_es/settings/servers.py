"""The servers that a person named in a project, so that its sessions find them again.

A session's log holds the digest of an address alone. The address lies in the user's own folder,
never with a key, and no file of a repository is ever written there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.providers.capabilities import checked_url, digest_of
from preflights_es.settings.places import config_folder, git_folders
from preflights_es.system.files import Unreadable, regular, replace_private

LIST: Final = "servers.json"
FORMAT: Final = "servers/1"
FILE_MAX: Final = 1_000_000  # bytes
URLS_MAX: Final = 4  # of one provider in one project; the newest stay
PROJECTS_MAX: Final = 500  # likewise

_Known = dict[str, dict[str, list[str]]]
"""Addresses by project and provider, the newest last."""


def server(root: Path, provider: str, digest: str, env: Mapping[str, str] | None = None) -> str:
    """The address with a digest that was named in a project; empty where none was."""
    path = _file(env)
    of = _read(path).get(_project(root), {}) if path else {}
    for url in of.get(provider, ()):
        try:
            if digest_of(provider, url) == digest and checked_url(provider, url) == url:
                return url
        except ValueError:
            continue  # a line that was edited
    return ""


def remember_server(
    root: Path, provider: str, url: str, env: Mapping[str, str] | None = None
) -> None:
    """Keep an address that a person named; where the file cannot be written, it is named again."""
    from preflights_es.records.files import alone

    path, project = _file(env), _project(root)
    if path is None or url in _read(path).get(project, {}).get(provider, ()):
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with alone(path.parent):  # of two that read and write, none loses the other's
            known = _read(path)
            of = known.pop(project, {})
            of[provider] = [*of.get(provider, ()), url][-URLS_MAX:]
            kept = list(known.items())[1 - PROJECTS_MAX :]
            content = {"format": FORMAT, "projects": {**dict(kept), project: of}}
            replace_private(path, f"{json.dumps(content, indent=1)}\n".encode())
    except (OSError, StoreUnavailable):
        return


def _file(env: Mapping[str, str] | None) -> Path | None:
    folder = config_folder(os.environ if env is None else env)  # noqa: TID251  a file of settings
    return folder / LIST if folder else None


def _project(root: Path) -> str:
    """What all work trees of a repository share; outside of git, the folder."""
    git = git_folders(root)
    return str((git[1] if git else root).resolve())


def _read(path: Path) -> _Known:
    """What is known; nothing where the file is missing or is not ours."""
    try:
        data: Any = json.loads(regular(path, FILE_MAX))
        return msgspec.convert(data["projects"], _Known) if data["format"] == FORMAT else {}
    except (OSError, Unreadable, ValueError, RecursionError, LookupError, TypeError):
        return {}
