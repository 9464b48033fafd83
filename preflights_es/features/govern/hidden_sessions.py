"""Sessions that a change hides: other settings lead away from them, or git keeps other bytes."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from preflights_es.features.govern.changes import Change, at_commit, converted, names_at
from preflights_es.records.record_folder import ADR_DIR, usual_folder
from preflights_es.records.session_files import FOLDER
from preflights_es.settings.file import FILE as SETTINGS
from preflights_es.settings.file import PYPROJECT
from preflights_es.system.files import Unreadable
from preflights_es.use.request import Request


class HiddenSessions(NamedTuple):
    """What a change does to the reading of session files."""

    file: str
    what: str
    """In words, without a full stop."""


def hidden_sessions(request: Request, change: Change, cwd: Path) -> Iterator[HiddenSessions]:
    """Session files that are read no more, and those of which git may keep other bytes."""
    if change.base:
        yield from _of_folders(request, change, cwd)
        yield from _of_attributes(request, change)


def _of_folders(request: Request, change: Change, cwd: Path) -> Iterator[HiddenSessions]:
    """Sessions that settings, or a folder that looks like that of records, hide."""
    root = request.process.settings.root
    read = {one.path for one in request.process.session_folders}
    hidden: dict[str, str] = {}
    for path in names_at(root, change.base):
        folder = path.rpartition("/")[0]
        if folder.rpartition("/")[2] == FOLDER and folder not in read:
            hidden.setdefault(folder, path)
    if not hidden:
        return
    try:
        said = {*_said_at(root, change.base, cwd)}
    except (Unreadable, ValueError):
        return  # no command read a session there
    for folder, first in hidden.items():
        records = folder.rpartition("/")[0] or "."
        if records in said or usual_folder(records) == records:
            what = f"sessions there are read no more, the first is {first}: move them along"
            yield HiddenSessions(f"{folder}/", what)


def _of_attributes(request: Request, change: Change) -> Iterator[HiddenSessions]:
    """Attributes by which what lies here, and is checked, is not what git keeps and merges."""
    folders = tuple(f"{one.path}/" for one in request.process.session_folders)
    sessions = [one.path for one in change.files if one.path.startswith(folders)]
    for path, attribute in converted(request.process.settings.root, sessions).items():
        cure = f"take its attribute {attribute} away"
        yield HiddenSessions(path, f"git may keep other bytes of it than are checked: {cure}")


# The records of a commit ---------------------------------------------------------------------


def _said_at(root: Path, commit: str, cwd: Path) -> Iterator[str]:
    """The folders that settings and `.adr-dir` of a commit name.

    Raises:
        Unreadable, ValueError: its settings cannot be read.
    """
    said = _settings_at(root, commit, cwd).get("decisions")
    named = (at_commit(root, commit, ADR_DIR) or b"").decode("utf-8-sig").strip()
    yield from (posixpath.normpath(one) for one in (said, named) if isinstance(one, str) and one)


def _settings_at(root: Path, commit: str, cwd: Path) -> Mapping[str, Any]:
    """What the settings file at a commit says, as it is found from a folder; errors as above."""
    for folder in _folders(root, cwd):
        for name, prefix in ((SETTINGS, ()), (PYPROJECT, ("tool", "preflights"))):
            content = at_commit(root, commit, (folder / name).as_posix())
            if content is None or (prefix and b"preflights" not in content):
                continue
            if (table := _table(content.decode(), prefix)) is not None:
                return table
    return {}


def _folders(root: Path, cwd: Path) -> tuple[Path, ...]:
    """From a folder up to the root, relative to it."""
    top, here = root.resolve(), cwd.resolve()
    inside = here.relative_to(top) if here.is_relative_to(top) else Path()
    return (inside, *inside.parents)


def _table(text: str, prefix: tuple[str, ...]) -> Mapping[str, Any] | None:
    data: Any = tomllib.loads(text)
    for key in prefix:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    return data if isinstance(data, dict) else None
