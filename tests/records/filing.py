"""Writes documents in a project, and reads what lies there."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from preflights_es.kernel.events import WrittenFile
from preflights_es.records.files import checked_path, hash_of, write_document

FOLDER: Final = "docs/decisions"
FOLDERS: Final = (FOLDER, "docs/tasks")
PATH: Final = "docs/decisions/0001-title.md"
MOVED: Final = "docs/decisions/0002-title.md"


def files_below(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write(
    root: Path,
    text: str,
    before: WrittenFile | None = None,
    path: str = PATH,
    former: str = "",
    *,
    wrote: tuple[str, ...] = (),
) -> tuple[WrittenFile, bool]:
    target = checked_path(root, FOLDERS, path)
    moved = checked_path(root, FOLDERS, former) if former else None
    ours = {*([before.sha256] if before else []), *map(hash_of, wrote)}
    return write_document(root, target, path, text, lambda: ours, moved)
