"""What a folder is to git."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Final

from preflights_es.kernel.errors import SettingsError
from preflights_es.kernel.text import late_pattern
from preflights_es.system.files import Unreadable, regular, resolved

FOLDER: Final = "preflights"
POINTER_MAX: Final = 65_536  # bytes of a `.git`, `commondir` or `gitdir` file: a path
_WORKTREE: Final = late_pattern(r"^[ \t]*worktree[ \t]*=[ \t]*(.+)$", re.MULTILINE)
_BARE: Final = late_pattern(r"^[ \t]*bare[ \t]*=[ \t]*true[ \t]*$", re.MULTILINE | re.IGNORECASE)
_SECTION: Final = late_pattern(r"^[ \t]*\[", re.MULTILINE)
_NAME: Final = late_pattern(r"^[ \t]*name[ \t]*=[ \t]*(.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_PLAIN: Final = late_pattern(r"[^\"\\#;\t\r\udc80-\udcff]+")
"""A value that git takes as it stands."""
_NO_SYSTEM: Final = "GIT_CONFIG_NOSYSTEM"
"""The variable by which git leaves the file of the whole machine out."""
_ELSEWHERE: Final = late_pattern(r"user|include|worktreeconfig", re.IGNORECASE)
_HEAD: Final = late_pattern(r"ref:[ \t\r\n]*refs/|[0-9a-fA-F]{40}")
INSTEAD: Final = "name the log with --db or PREFLIGHTS_DATABASE_URL"


def is_git_s(folder: Path) -> bool:
    """Whether git would take a folder for one of its own, by the rule that git itself has.

    Source: `is_git_directory` and `validate_headref` of git's setup.c and path.c.
    """
    common = common_of(folder)
    return (
        common is not None
        and _is_head(folder / "HEAD")
        and all(os.access(common / name, os.X_OK) for name in ("objects", "refs"))
    )


def _is_head(path: Path) -> bool:
    try:
        if path.is_symlink():
            return os.readlink(path).startswith("refs/")
    except (OSError, ValueError):
        return False
    return _HEAD.match(read_git_pointer(path)) is not None


def common_of(folder: Path) -> Path | None:
    """What all work trees share: another folder where git's folder of a linked one names it."""
    if not os.path.lexists(folder / "commondir"):
        return folder
    told = read_git_pointer(folder / "commondir").rstrip("\r\n")
    return folder / told if told else None


def named_by(dot: Path) -> Path | None:
    """The folder that a `.git` file names; None where git calls it no such file, or no folder."""
    key, _, path = read_git_pointer(dot).partition("gitdir: ")
    pointed = dot.parent / path.rstrip("\r\n")
    return pointed if not key and path.strip() and is_git_s(pointed) else None


def git_index(root: Path) -> Path:
    """The index of a work tree, which is another file in each linked one."""
    dot = root / ".git"
    return ((named_by(dot) if dot.is_file() else None) or dot) / "index"


def is_others(*paths: Path) -> bool:
    """Whether one of these belongs to another user, whose configuration git does not read."""
    if sys.platform == "win32":
        return False
    return any(os.lstat(path).st_uid != os.geteuid() for path in paths)


def own_folder(root: Path, common: Path) -> Path:
    """The folder of the log in git's common directory.

    Raises:
        SettingsError: it is another repository's, or a link leads to it or to its log.
    """
    if not is_own(root, common):
        raise SettingsError(
            f"{root / '.git'} points at another repository, {common}: if this is a work tree of "
            f"it, run `git worktree repair` there; else {INSTEAD}"
        )
    folder = common / FOLDER
    for path in (folder, folder / "log.db"):
        if path.is_symlink():
            raise SettingsError(
                f"{path} is a link, and may lead to any file: if you made it, name what it leads "
                f"to with --db or PREFLIGHTS_DATABASE_URL; else remove it: rm {quote(str(path))}"
            )
    return folder


def is_own(root: Path, common: Path) -> bool:
    """Whether git's directory itself names this work tree as one of its own.

    A directory that `git init --separate-git-dir` made names none, so one of those is believed.
    """
    root, common = root.resolve(), common.resolve()
    if root in common.parents:
        return True
    config, linked = read_git_pointer(common / "config"), common / "worktrees"
    if found := _WORKTREE.search(config):  # of a submodule
        return resolved(common / found[1].strip()) == root
    if linked.is_dir():
        return any(_pointed(path) == root / ".git" for path in linked.glob("*/gitdir"))
    return common.name != ".git" and is_git_s(common) and not _BARE.search(config)


def _pointed(path: Path) -> Path | None:
    """The `.git` of a linked work tree, as git keeps it; links of its folders followed."""
    told = Path(path.parent, read_git_pointer(path).strip())
    folder = resolved(told.parent)
    return folder / told.name if folder else None


def read_git_pointer(path: Path) -> str:
    """What one of git's small files says; empty where it says nothing that git would take."""
    try:
        text = os.fsdecode(regular(path, POINTER_MAX))
    except (OSError, Unreadable):
        return ""
    return "" if "\0" in text else text


def plain_name(env: Mapping[str, str], common: Path | None) -> str | None:
    """The name in the user's file of git, empty where no file can say one; None: git has to say it.

    Args:
        common: git's common directory; None outside of git.
    """
    if common is not None and (
        not (told := read_git_pointer(common / "config")) or _ELSEWHERE.search(told)
    ):
        return None
    if any("GIT_CONFIG" in key and key != _NO_SYSTEM for key in env):
        return None
    home = Path(env.get("HOME") or os.devnull)
    files = (
        home / ".gitconfig",
        Path(env.get("XDG_CONFIG_HOME") or home / ".config", "git/config"),
    )
    if env.get(_NO_SYSTEM) in ("1", "true") and not any(map(os.path.lexists, files)):
        return ""
    own = read_git_pointer(files[0])
    if "\\" in own or "include" in own.lower():
        return None
    sections = (part for part in _SECTION.split(own) if part[:5].lower() == "user]")
    names = _NAME.findall("\n".join(part[5:] for part in sections))
    return names[-1] if names and _PLAIN.fullmatch(names[-1]) else None
