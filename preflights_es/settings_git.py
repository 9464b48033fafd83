"""Whether a log in git's folder is this repository's own: an archive can hold any `.git`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from preflights_es.core.errors import SettingsError
from preflights_es.system.reading import Unreadable, regular

FOLDER: Final = "preflights"
POINTER_MAX: Final = 65_536  # bytes of a `.git`, `commondir` or `gitdir` file: a path
INSTEAD: Final = "name the log with --db or PREFLIGHTS_DATABASE_URL"


def own_folder(root: Path, common: Path) -> Path:
    """The folder of the log in git's common directory.

    Raises:
        SettingsError: it is another repository's, or a link leads to it or to its log.
    """
    if not _is_own(root.resolve(), common.resolve()):
        raise SettingsError(
            f"{root / '.git'} points at another repository, {common}: if this is a work tree of "
            f"it, run `git worktree repair` there; else {INSTEAD}"
        )
    folder = common / FOLDER
    for path in (folder, folder / "log.db"):
        if path.is_symlink():
            raise SettingsError(f"{path} is a link, and may lead to any file: {INSTEAD}")
    return folder


def _is_own(root: Path, common: Path) -> bool:
    """Whether git itself knows this work tree as one of that directory.

    A submodule, and a directory that was made apart, name no work tree that could be compared.
    """
    if root in common.parents:
        return True
    linked = common / "worktrees"
    if common.name != ".git" and not linked.is_dir():
        return True
    return any(_pointed(path) == root / ".git" for path in linked.glob("*/gitdir"))


def _pointed(path: Path) -> Path | None:
    """The `.git` of a linked work tree, as git keeps it; links of its folders followed."""
    told = Path(path.parent, pointer(path).strip())
    try:
        return told.parent.resolve() / told.name
    except (OSError, RuntimeError):  # links in a circle
        return None


def pointer(path: Path) -> str:
    """What one of git's small files says; empty where it says nothing that git would take."""
    try:
        text = os.fsdecode(regular(path, POINTER_MAX))
    except (OSError, Unreadable):
        return ""
    return "" if "\0" in text else text
