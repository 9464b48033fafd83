"""Finds the folder of a project's records: where it is said, else where records lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal

import msgspec

from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.kernel.text import problem
from preflights_es.records.record_names import is_record_name
from preflights_es.system.files import Unreadable, regular

ADR_DIR: Final = ".adr-dir"  # adr-tools: the name of the folder, on one line
ADR_DIR_MAX: Final = 4_096  # bytes
USUAL: Final = ("docs/decisions", "docs/adr", "doc/adr", "doc/architecture/decisions", "adr")
"""Looked at in this order; the first is the default."""

By = Literal["settings", ".adr-dir", "records", "default"]


class RecordFolder(msgspec.Struct, frozen=True):
    """Where records are read and written, and what says so."""

    path: str
    """Relative to the project's root, with forward slashes."""
    by: By


def record_folder(root: Path, told: str | None = None) -> RecordFolder:
    """The folder that settings name, that `.adr-dir` names, or the first usual one with records.

    Raises:
        ArtifactOutside: settings or `.adr-dir` name a folder outside the project, or git's.
    """
    if told is not None:
        _checked(root, told)
        return RecordFolder(told, "settings")
    if (named := _adr_dir(root)) is not None:
        return RecordFolder(named, ".adr-dir")
    for usual in USUAL:
        if _holds_records(root, usual):
            return RecordFolder(usual, "records")
    return RecordFolder(USUAL[0], "default")


def _adr_dir(root: Path) -> str | None:
    """What `.adr-dir` names; None where there is no such file, or nothing stands in it."""
    try:
        content = regular(root / ADR_DIR, ADR_DIR_MAX, follows=False)
        named = content.decode("utf-8-sig").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (Unreadable, UnicodeDecodeError) as error:
        raise ArtifactOutside(f"{ADR_DIR} cannot be read: {error}") from error
    if not named:
        return None
    if "\n" in named or "\\" in named or problem(named, ADR_DIR_MAX) or not named.isprintable():
        raise ArtifactOutside(f"{ADR_DIR} names {named!r}: expected one folder inside the project")
    try:
        _checked(root, named)
    except ArtifactOutside as error:
        raise ArtifactOutside(f"{ADR_DIR}: {error}") from error
    return os.path.normpath(named).replace(os.sep, "/")


def _holds_records(root: Path, folder: str) -> bool:
    """Whether files lie there that are named like records; outside of the project none count."""
    if not (root / folder).is_dir():
        return False
    try:
        with os.scandir(_checked(root, folder)) as found:
            return any(is_record_name(e.name) and e.is_file(follow_symlinks=False) for e in found)
    except (OSError, ArtifactOutside):
        return False


def _checked(root: Path, folder: str) -> Path:
    from preflights_es.records.files import checked_folder

    return checked_folder(root, folder)
