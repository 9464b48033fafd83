"""Files of a project: written whole, inside their folder; the front matter of a record."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import count
from math import inf
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from preflights_es.kernel.errors import ArtifactOutside, LogBusy, StoreUnavailable
from preflights_es.kernel.events import WrittenFile
from preflights_es.kernel.text import is_git, late_pattern
from preflights_es.records.record_names import is_page, number_of
from preflights_es.system import files as atomic_file
from preflights_es.system.files import Unreadable, read_file_beginning, read_file_ending, resolved

DOCUMENT_MAX: Final = 10_000_000  # bytes; a file that has more is not one of our documents
_NO_FILE: Final = "no file"  # stands for a link, a folder, a fifo: no hash can equal it
_NOT_OURS: Final = "not ours"  # likewise for a file that cannot be read, or is too large
IsOurs = Callable[[str | None], bool]
"""Whether the file with a hash is ours; None stands for no file."""

Mend = Callable[[bytes], bytes | None]
"""Of a person's file; None where it stays as it is."""

LOCK_WAIT_S: Final = 0.01  # seconds between two looks at a lock


def checked_folder(root: Path, folder: str) -> Path:
    """A configured folder, which must lie inside the project's root, links followed.

    Raises:
        ArtifactOutside: it does not, or belongs to git.
    """
    top = root.resolve()
    found = resolved(top / folder)
    if found is None or not found.is_relative_to(top):
        raise ArtifactOutside(
            f"the folder {folder!r} leads outside the project {str(root)!r}: "
            "configure one inside it"
        )
    if any(map(_is_git, (found, *found.parents)[: len(found.parts) - len(top.parts)])):
        raise ArtifactOutside(f"the folder {folder!r} belongs to git: configure another one")
    return found


def repository_within(root: Path, folder: str) -> str:
    """The submodule, or other repository of its own, in which a folder lies; empty without one."""
    places = (PurePosixPath(folder), *PurePosixPath(folder).parents)
    within = (place.as_posix() for place in places if place.as_posix() != ".")
    return next((one for one in within if os.path.lexists(root / one / ".git")), "")


def check_writable(found: Path, folder: str) -> None:
    """See that a folder can be written, or made where it is missing.

    Raises:
        StoreUnavailable: it cannot.
    """
    there = next(one for one in (found, *found.parents) if os.path.lexists(one))
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        why = "cannot be written" if there.is_dir() else "is no folder"
        message = f"{str(there)!r} {why}, so that {folder!r} takes no document: nothing is recorded"
        raise StoreUnavailable(message)


def _is_git(folder: Path) -> bool:
    """Whether git keeps its own files there: by the name, or by what lies in it.

    What lies in it tells the git folder of a work tree or a submodule, and other names of `.git`
    that a file system takes for the same.
    """
    if is_git(folder.name):
        return True
    if not os.path.lexists(folder / "HEAD"):
        return False
    has = {name for name in ("objects", "refs", "commondir") if os.path.lexists(folder / name)}
    return "commondir" in has or has >= {"objects", "refs"}


def checked_path(root: Path, folders: tuple[str, ...], path: str) -> Path:
    """Where a document goes, which must be directly inside one of the folders; no link leads there.

    Raises:
        ArtifactOutside: the path has steps upward, is absolute, or lies elsewhere.
    """
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\\" in path or "\0" in path:
        raise ArtifactOutside(f"the path {path!r} is not inside the project: nothing was written")
    found = resolved(root.resolve() / parts.parent)
    allowed = [checked_folder(root, folder) for folder in folders]
    if found is None or not parts.name or found not in allowed:
        expected = " or ".join(folders)
        message = f"the document {path!r} does not lie in {expected}: nothing was written"
        raise ArtifactOutside(message)
    return found / parts.name


@contextlib.contextmanager
def alone(root: Path, at_most_s: float | None = None) -> Iterator[None]:
    """Keeps other processes of ours from writing documents below the root; ends with the process.

    Of two that write the same document in turn, each would take the other's text for a person's
    edit, and what it is about to rename for what a dead process left.

    Args:
        at_most_s: how long another process is waited for; None for as long as it takes.

    Raises:
        StoreUnavailable: there is no such folder.
        LogBusy: another process goes on writing documents for longer.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(atomic_file.open_folder_below(root))
        except OSError as error:
            raise StoreUnavailable(f"{root} cannot be opened: {error.strerror}") from error
        with contextlib.suppress(ImportError, OSError):  # not every system can lock a folder
            if folder.handle is not None:
                _lock(folder.handle, at_most_s)
        yield


def _lock(handle: int, at_most_s: float | None) -> None:
    import fcntl

    until = inf if at_most_s is None else time.monotonic() + at_most_s
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | (0 if until == inf else fcntl.LOCK_NB))
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise LogBusy("another process is writing documents") from error
            time.sleep(LOCK_WAIT_S)


def write_document(
    root: Path,
    target: Path,
    path: str,
    text: str,
    ours: Callable[[], Collection[str]],
    former: Path | None = None,
    mend: Mend | None = None,
) -> tuple[WrittenFile, bool]:
    """Write a document; where another file lies, as a person's edit does, write `.new` beside it.

    Args:
        target: as `checked_path` found it. A link that takes the place of a folder since then is
            not followed.
        path: the same relative to the project's root.
        ours: hashes of the documents that the session's log gives; asked for when another file
            lies there.
        former: where the document lay before; removed when it is one of ours.
        mend: gives the person's file its new status, where nothing else has changed.

    Returns:
        What was written, and whether it lies beside the person's file.

    Raises:
        StoreUnavailable: the disk refuses.
    """
    content = text.encode()
    value = hash_of(text)
    written = value
    known = cache(ours)

    def is_ours(found: str | None) -> bool:
        return found in (None, value) or found in known()

    try:
        with _open_target_folder(root, target, makes=True) as folder:
            name = target.name
            beside = not is_ours(_hash_file_in_folder(folder, name))
            if (
                beside
                and mend
                and (mended := _mend_edited_document(folder, name, mend)) is not None
            ):
                content, written, beside = mended, sha256(mended).hexdigest(), False
            elif beside:
                name = _free_name(folder, name, is_ours)
                path = PurePosixPath(path).with_name(name).as_posix()
            if _hash_file_in_folder(folder, name) != written:
                with folder.new(name, replacing=True) as file:
                    file.write(content)
            folder.tidy(name)
        if former:
            _remove(root, former, is_ours)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written: {error.strerror or error}") from error
    return WrittenFile(path, written), beside


def _mend_edited_document(folder: atomic_file.Folder, name: str, mend: Mend) -> bytes | None:
    try:
        return mend(folder.content(name, DOCUMENT_MAX))
    except (FileNotFoundError, Unreadable):
        return None


def _free_name(folder: atomic_file.Folder, name: str, is_ours: IsOurs) -> str:
    """`.new` beside a person's file, or `.new2` where a person edited that as well, and so on."""
    for n in count(1):
        free = f"{name}.new{n if n > 1 else ''}"
        found = _hash_file_in_folder(folder, free)
        if found == _NO_FILE or is_ours(found):
            return free
    raise AssertionError("numbers do not end")


def removed(root: Path, target: Path, ours: Collection[str]) -> None:
    """Remove a document that has one of these hashes.

    Raises:
        StoreUnavailable: the disk refuses.
    """
    try:
        _remove(root, target, lambda found: found in ours)
    except OSError as error:
        raise StoreUnavailable(f"{target.name} cannot be removed: {error.strerror}") from error


def _remove(root: Path, target: Path, is_ours: IsOurs) -> None:
    with contextlib.suppress(FileNotFoundError), _open_target_folder(root, target) as folder:
        found = _hash_file_in_folder(folder, target.name)
        if found is not None and is_ours(found):
            folder.remove(target.name)


def change_file_content(
    root: Path, target: Path, change: Callable[[bytes], bytes], *, write: bool = True
) -> bool:
    """Change a person's file in one step; one that cannot be read stays as it is.

    Args:
        write: whether it is changed, or only compared.

    Returns:
        Whether it is, or would be, another one.

    Raises:
        StoreUnavailable: the disk refuses.
    """
    try:
        with _open_target_folder(root, target) as folder:
            before = folder.content(target.name, DOCUMENT_MAX)
            after = change(before)
            if after != before and write:
                with folder.new(target.name, replacing=True) as file:
                    file.write(after)
            return after != before
    except (FileNotFoundError, Unreadable):
        return False
    except OSError as error:
        raise StoreUnavailable(f"{target.name} cannot be written: {error.strerror}") from error


def rename_record_file(root: Path, target: Path, name: str) -> None:
    """Give a record, or its own folder, another name in the folder where it lies.

    Raises:
        StoreUnavailable: the name is taken, it is no regular file, or the disk refuses.
    """
    try:
        if target.is_dir() and not target.is_symlink():
            if os.path.lexists(target.with_name(name)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
            os.rename(target, target.with_name(name))
            return
        with _open_target_folder(root, target) as folder:
            folder.move(target.name, folder, name)
            folder.flush()
    except OSError as error:
        raise StoreUnavailable(f"{target.name} cannot become {name}: {error.strerror}") from error


def numbers_in(folder: Path) -> set[int]:
    """The numbers that names in a folder bear, whatever can be read of what they name."""
    with contextlib.suppress(OSError):
        found = (number_of(name.partition(".")[0]) for name in os.listdir(folder))
        return {number for number in found if number is not None}
    return set()


def page_names(root: Path, folder: str) -> list[str]:
    """The names of the pages that lie in a folder of the project; of links none."""
    with contextlib.suppress(OSError), os.scandir(checked_folder(root, folder)) as found:
        pages = (one for one in found if is_page(one.name) and one.is_file(follow_symlinks=False))
        return sorted(page.name for page in pages)
    return []


def _open_target_folder(
    root: Path, target: Path, *, makes: bool = False
) -> contextlib.AbstractContextManager[atomic_file.Folder]:
    """The folder of a target below the root."""
    top = root.resolve()
    return atomic_file.open_folder_below(top, target.parent.relative_to(top).parts, makes=makes)


def hash_of(text: str) -> str:
    """SHA-256 of a document's bytes, in hexadecimal."""
    return sha256(text.encode()).hexdigest()


def found_hash(target: Path) -> str | None:
    """The hash of the file there; None without one. Links are not followed."""
    try:
        with atomic_file.open_folder_below(target.parent) as folder:
            return _hash_file_in_folder(folder, target.name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _NOT_OURS


def _hash_file_in_folder(folder: atomic_file.Folder, name: str) -> str | None:
    try:
        # git for Windows checks a text out with line ends of two characters: no person did.
        content = folder.content(name, DOCUMENT_MAX).replace(b"\r\n", b"\n")
        return sha256(content).hexdigest()
    except FileNotFoundError:
        return None
    except Unreadable:
        found = folder.lies(name)
        return _NOT_OURS if found is not None and stat.S_ISREG(found.st_mode) else _NO_FILE


FRONT_MATTER_MAX: Final = 4_096  # characters read of a file to find its uid
UTF8_MAX: Final = 4  # bytes of a character
READ_FIRST: Final = FRONT_MATTER_MAX * UTF8_MAX  # bytes

_HEADER: Final = late_pattern(r"= [^\n]*\n((?::[\w-]+: [^\n]*\n)+)")  # of AsciiDoc
_ATTRIBUTE: Final = late_pattern(r"^:", re.MULTILINE)
_FRONT: Final = late_pattern(r"---[ \t]*\n(.*?)(?:^---[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


class Front(msgspec.Struct, frozen=True):
    """What a record says of itself; each is empty where it does not say so."""

    date: str
    session: str
    uid: str


def front_of(path: Path) -> Front:
    """The front matter of a file, or the last lines of a record of ours in Nygard's form.

    Raises:
        FileNotFoundError, NotADirectoryError: there is no such file.
        Unreadable: it is a link or no regular file, or the system refuses.
    """
    content = read_file_beginning(path, READ_FIRST, follows=False)
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    found = _FRONT.match(text[:FRONT_MATTER_MAX]) or _HEADER.match(text[:FRONT_MATTER_MAX])
    if found is None:
        tail = (
            read_file_ending(path, FRONT_MATTER_MAX)[0] if len(content) >= READ_FIRST else content
        )
        lines = dict(_CLOSING.findall(tail.decode("utf-8", "replace").rpartition("\n---")[2]))
        if not {"Uid", "Session"} <= lines.keys():
            return Front("", "", "")
        return Front("", lines["Session"].strip(), lines["Uid"].strip())
    front = _ATTRIBUTE.sub("", found[1])
    return Front(
        _read_front_value(front, "date"),
        _read_front_value(front, "session"),
        _read_front_value(front, "uid"),
    )


_CLOSING: Final = late_pattern(r"^\* (Uid|Session): ([^\r\n]*)", re.MULTILINE)


def _read_front_value(front: str, key: str) -> str:
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
            top = checked_folder(root, folder)
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
            # A name that is no UTF-8 can be shown, and cannot stand in JSON as it is.
            within = os.fsencode(PurePosixPath(folder, *path.relative_to(top).parts))
            yield within.decode("utf-8", "backslashreplace"), front


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
