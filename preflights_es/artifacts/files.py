"""Writing a document: only inside its folder, atomically, never over a person's edits."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Collection, Iterator
from hashlib import sha256
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Final

from preflights_es.core.artifacts import Written
from preflights_es.core.errors import ArtifactOutside, StoreUnavailable

_NO_FILE: Final = "no file"  # stands for a link or a folder, which no hash can equal
NUMBER_DIGITS_MAX: Final = 6  # a longer name is a date or an id, not a record's number


def checked_folder(root: Path, folder: str) -> Path:
    """A configured folder, which must lie inside the project's root, links followed.

    Raises:
        ArtifactOutside: it does not.
    """
    top = root.resolve()
    found = _resolved(top / folder)
    if found is None or (found != top and top not in found.parents):
        raise ArtifactOutside(
            f"the folder {folder!r} leads outside the project {str(root)!r}: "
            "configure one inside it"
        )
    return found


def checked_path(root: Path, folders: tuple[str, ...], path: str) -> Path:
    """Where a document goes, which must be directly inside one of the folders.

    Raises:
        ArtifactOutside: the path has steps upward, is absolute, or lies elsewhere.
    """
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\\" in path or "\0" in path:
        raise ArtifactOutside(f"the path {path!r} is not inside the project: nothing was written")
    target = root.resolve() / parts
    allowed = [checked_folder(root, folder) for folder in folders]
    if _resolved(target.parent) not in allowed:
        expected = " or ".join(folders)
        raise ArtifactOutside(
            f"the document {path!r} does not lie in {expected}: nothing was written"
        )
    return target


def _resolved(path: Path) -> Path | None:
    """Links followed; None where they lead in a circle, or no file can bear the name."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """Keeps other processes of ours from writing documents below the root; ends with the process.

    Of two that write the same document in turn, each would take the other's text for a person's
    edit, and what it is about to rename for what a dead process left.

    Raises:
        StoreUnavailable: there is no such folder.
    """
    try:
        handle = os.open(root, os.O_RDONLY)
    except OSError as error:
        raise StoreUnavailable(f"{root} cannot be opened: {error.strerror}") from error
    try:
        with contextlib.suppress(ImportError, OSError):  # not every system can lock a folder
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def filed(
    target: Path,
    path: str,
    text: str,
    before: Written | None,
    former: Path | None = None,
    wrote: Collection[str] = (),
) -> tuple[Written, bool]:
    """Write a document; where a person has edited it, write `.new` beside it.

    Args:
        path: the target relative to the project's root.
        before: what this program wrote for the same session last, where it did.
        former: where that lies, when it lies elsewhere; removed unless a person edited it.
        wrote: hashes of all that was ever written for the session; nobody edited those.

    Returns:
        What was written, and whether it lies beside the person's file.

    Raises:
        StoreUnavailable: the disk refuses.
    """
    content = text.encode()
    value = hash_of(text)
    known = {None, value, *wrote} | ({before.sha256} if before and before.path == path else set())
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = found_hash(target) not in known
        if beside:
            name = _free_name(target, known)
            target, path = target.with_name(name), path[: -len(target.name)] + name
        if found_hash(target) != value:
            _replace(target, content)
        if before and former and found_hash(former) == before.sha256:
            former.unlink()
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
    return Written(path, value), beside


def _free_name(target: Path, known: Collection[str | None]) -> str:
    """`.new` beside a person's file, or `.new2` where a person edited that as well, and so on."""
    for n in count(1):
        name = f"{target.name}.new{n if n > 1 else ''}"
        if found_hash(target.with_name(name)) in (_NO_FILE, *known):
            return name
    raise AssertionError("numbers do not end")


def numbered(folder: Path) -> dict[int, list[Path]]:
    """The records of a folder by number, as their names say (`0012-title.md`)."""
    found: dict[int, list[Path]] = {}
    for path in sorted(folder.glob("[0-9][0-9][0-9][0-9]*.md")):
        digits = path.name.partition("-")[0].removesuffix(".md")
        if digits.isascii() and digits.isdigit() and len(digits) <= NUMBER_DIGITS_MAX:
            found.setdefault(int(digits), []).append(path)
    return found


def hash_of(text: str) -> str:
    """SHA-256 of a document's bytes, in hexadecimal."""
    return sha256(text.encode()).hexdigest()


def found_hash(target: Path) -> str | None:
    """Of what lies there; None when nothing does, and never what a link points at."""
    if target.is_symlink() or target.is_dir():
        return _NO_FILE
    try:
        return sha256(target.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def _replace(target: Path, content: bytes) -> None:
    """All of it or nothing: a second file, flushed, then renamed."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _flush_folder(target.parent)
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        # Of a process that was killed before it could rename.
        with contextlib.suppress(FileNotFoundError):
            left.unlink()


def _flush_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
