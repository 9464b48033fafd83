"""The folder of an exported site: what no export wrote there stays as it is."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from preflights_es.kernel.errors import Refused, StoreUnavailable
from preflights_es.kernel.text import is_git
from preflights_es.system import files
from preflights_es.system.files import Folder, Unreadable
from preflights_es.use.archives import ExportedSite
from preflights_es.use.results import Result

MARKER: Final = "preflights-site.json"
FORMAT: Final = "preflights.site/1"
SIZE_MAX: Final = 64 * 1024 * 1024  # bytes of a file that may be ours
OURS: Final = re.compile(
    r"preflights-site\.json|(?:index|all)(?:-\d+)?\.html|"
    r"(?:decisions|sessions|proof|static)/[a-z0-9][a-z0-9-]*\.(?:html|js|jsonl|css|svg)"
)
"""Paths that an export may write or remove."""


class Built(Result, frozen=True):
    """A site before it is written."""

    decisions: int
    records: int
    """Of other tools, which its lists show."""
    sessions: int
    names: tuple[str, ...]
    """All that are published, sorted: of those who acted, and principals of signers."""
    texts: int
    """Events whose texts are published."""
    whole: int
    """Sessions that are published as files, all of their texts with them."""
    left_out: tuple[str, ...]
    """Sessions that cannot be read, and why."""
    files: Mapping[str, bytes]
    """By path from the site's top."""


def check_site_folder(name: str) -> Path:
    """The folder of a site, as it can be written.

    Raises:
        Refused: it is a link or a file, belongs to git, or holds something else.
        StoreUnavailable: it cannot be read, or there is no folder to make it in.
    """
    if "\0" in name:
        raise Refused(f"{name!r} is no name of a folder")
    path = Path(name)
    if path.is_symlink():
        raise Refused(f"{name} is a link: name the folder that it leads to")
    if path.exists() and not path.is_dir():
        raise Refused(f"{name} is a file: name a folder")
    top = files.resolved(path)
    if top is None or not top.parent.is_dir():
        raise StoreUnavailable(f"{name} cannot be made: there is no folder above it")
    if any(is_git(part) for part in top.parts):
        raise Refused(f"{name} lies in a folder of git: name another one")
    if top.is_dir():
        with _report_unwritable_site(name), files.open_folder_below(top) as folder:
            _former(folder, name)
    return top


def write_site(built: Built, top: Path) -> ExportedSite:
    """Bring a folder to what the site holds, file by file; what is there already stays untouched.

    A site that was left in the middle by a crash is still known as one.

    Raises:
        Refused: the folder holds something else.
        StoreUnavailable: it cannot be written.
    """
    with _report_unwritable_site(str(top)), contextlib.ExitStack() as stack:
        with files.open_folder_below(top.parent) as above:
            folder = stack.enter_context(above.below(top.name, makes=True))
        former = _former(folder, str(top))
        open_ = {"": folder}
        for name in sorted({path.partition("/")[0] for path in built.files if "/" in path}):
            open_[name] = stack.enter_context(folder.below(name, makes=True))
        there = {name: {*place.names()} for name, place in open_.items()}
        for path in built.files.keys() - former:
            below, _, name = path.rpartition("/")
            if name in there[below]:
                found = f"{top / path} is not of an exported site"
                raise Refused(f"{found}, and stands where a page belongs")
        _write_site_marker(folder, {*former, *built.files})
        changed = 0
        for path, content in built.files.items():
            place = _folder_and_name(open_, path)
            changed += _brought(*place, content, is_new=path not in former)
        gone = sorted(former - built.files.keys())
        removed = sum(_removed(stack, open_, folder, path) for path in gone)
        _write_site_marker(folder, built.files)
    return ExportedSite(
        folder=str(top),
        decisions=built.decisions,
        sessions=built.sessions,
        names=len(built.names),
        texts=built.texts,
        files=len(built.files),
        written=changed,
        removed=removed,
    )


class _Marker(msgspec.Struct):
    format: str
    files: tuple[str, ...]


def _former(folder: Folder, name: str) -> set[str]:
    """What an earlier export wrote here.

    Raises:
        Refused: the folder holds something, and no export wrote it.
    """
    try:
        marker = msgspec.json.decode(folder.content(MARKER, SIZE_MAX), type=_Marker)
    except FileNotFoundError:
        if not folder.names():
            return set()
    except (Unreadable, msgspec.DecodeError, ValueError):
        pass
    else:
        if marker.format == FORMAT and all(map(OURS.fullmatch, marker.files)):
            return set(marker.files)
    raise Refused(f"{name} holds something else than an exported site: name an empty folder")


def _folder_and_name(open_: Mapping[str, Folder], path: str) -> tuple[Folder, str]:
    below, _, name = path.rpartition("/")
    return open_[below], name


def _brought(folder: Folder, name: str, content: bytes, *, is_new: bool = False) -> bool:
    """Whether a file had to be written."""
    with contextlib.suppress(FileNotFoundError, Unreadable):
        if not is_new and folder.content(name, SIZE_MAX) == content:
            return False
    with folder.new(name, replacing=True, flushes=False) as file:
        file.write(content)
    return True


def _removed(
    stack: contextlib.ExitStack, open_: dict[str, Folder], folder: Folder, path: str
) -> bool:
    below = path.rpartition("/")[0]
    with contextlib.suppress(FileNotFoundError):
        if below not in open_:
            open_[below] = stack.enter_context(folder.below(below))
        place, name = _folder_and_name(open_, path)
        place.remove(name)
        return True
    return False


def _write_site_marker(folder: Folder, paths: Iterable[str]) -> None:
    content = msgspec.json.encode(_Marker(FORMAT, tuple(sorted(paths))))
    _brought(folder, MARKER, msgspec.json.format(content, indent=1) + b"\n")


@contextlib.contextmanager
def _report_unwritable_site(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(f"{name} cannot be written: {error.strerror or error}") from error
