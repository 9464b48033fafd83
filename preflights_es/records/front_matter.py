"""Records as they lie on this disk, and whose they are, as their front matter says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.kernel.late_pattern import late_pattern
from preflights_es.records import files
from preflights_es.system.bounded_read import Unreadable, beginning

FRONT_MATTER_MAX: Final = 4_096  # characters read of a file to find its uid
UTF8_MAX: Final = 4  # bytes of a character

_FRONT: Final = late_pattern(r"---[ \t]*\n(.*?)(?:^---[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


class Front(msgspec.Struct, frozen=True):
    """What a record says of itself; each is empty where it does not say so."""

    date: str
    session: str
    uid: str


def front_of(path: Path) -> Front:
    """The front matter of a file; empty where it has none.

    Raises:
        FileNotFoundError, NotADirectoryError: there is no such file.
        Unreadable: it is a link or no regular file, or the system refuses.
    """
    content = beginning(path, FRONT_MATTER_MAX * UTF8_MAX, follows=False)
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    found = _FRONT.match(text[:FRONT_MATTER_MAX])
    front = found[1] if found else ""
    return Front(_value(front, "date"), _value(front, "session"), _value(front, "uid"))


def _value(front: str, key: str) -> str:
    found = re.search(rf'^{key}: *"?([^"\n]*)"?', front, re.MULTILINE)
    return found.group(1).strip() if found else ""


def fronts(root: Path, folders: Sequence[str]) -> Iterator[tuple[str, Front]]:
    """The files inside of folders, by their paths from the root, with what they say of themselves.

    Left out are hidden folders (a project's root may be one of the folders), what a link points
    at, what cannot be read, and a folder that leads outside of the root.
    """
    seen: set[Path] = set()
    for folder in folders:
        try:
            top = files.checked_folder(root, folder)
        except ArtifactOutside:
            continue
        for path in _regular(top):
            if path in seen:
                continue  # one folder may lie in the other
            seen.add(path)
            try:
                front = front_of(path)
            except (OSError, Unreadable):
                continue
            yield _named(PurePosixPath(folder, *path.relative_to(top).parts)), front


def _regular(top: Path) -> Iterator[Path]:
    """Files first, then what is below; `os.walk` recurses, and folders may be deeper than that."""
    waiting = [top]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        yield from (Path(entry) for entry in entries if entry.is_file(follow_symlinks=False))
        below = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        waiting += [Path(entry) for entry in reversed(below) if not entry.name.startswith(".")]


def _named(path: PurePosixPath) -> str:
    """A name that is no UTF-8 can be shown, and cannot stand in JSON as it is."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
