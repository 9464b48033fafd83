"""Files of this machine: read within limits, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Self, TypeVar

import msgspec

from preflights_es.kernel.errors import Refused, StoreUnavailable

BLOCK: Final = 1024 * 1024  # bytes that are read at once
JSON: Final = ".json"
PIECE: Final = 64 * 1024  # bytes that are read first: most files have fewer


T = TypeVar("T")


class Unreadable(Exception):
    """A file that is there and cannot be read as asked; the message says why, without its name."""


def resolved(path: Path) -> Path | None:
    """The path with its links followed; None where they lead in a circle, or it names no file."""
    try:
        found = path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    try:
        found.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:  # which `resolve` passes over from Python 3.13 on
            return None
    return found


def regular(
    path: Path | str, limit: int, *, folder: int | None = None, follows: bool = True
) -> bytes:
    """The bytes of a regular file.

    Args:
        limit: the most bytes that the file may have.
        folder: descriptor of the folder that a relative path starts from.
        follows: whether the path may be a link.

    Raises:
        FileNotFoundError, NotADirectoryError: there is none.
        Unreadable: it is no regular file, has more bytes, or the system refuses.
    """
    content = read_file_beginning(path, limit + 1, folder=folder, follows=follows)
    if len(content) > limit:
        raise Unreadable(f"it has more than {limit:,} bytes")
    return content


def read_file_beginning(
    path: Path | str, size: int, *, folder: int | None = None, follows: bool = True
) -> bytes:
    """The first bytes of a regular file, all of them where it has no more; errors as above."""
    with _open_checked_file(path, folder, follows=follows) as handle:
        # Pieces: a buffer as large as the limit takes longer to make than most files to read.
        pieces = [os.read(handle, min(size, PIECE))]
        left = size - len(pieces[0])
        while left and pieces[-1]:
            pieces.append(os.read(handle, min(left, BLOCK)))
            left -= len(pieces[-1])
    return b"".join(pieces)


def read_file_ending(
    path: Path | str, size: int, *, folder: int | None = None, follows: bool = True
) -> tuple[bytes, int]:
    """The last bytes of a regular file, and how many it has; errors as above."""
    with (
        _open_checked_file(path, folder, follows=follows) as handle,
        os.fdopen(handle, "rb", closefd=False) as file,
    ):
        whole = file.seek(0, os.SEEK_END)
        file.seek(max(whole - size, 0))
        return file.read(size), whole


@contextmanager
def _open_checked_file(path: Path | str, folder: int | None, *, follows: bool) -> Iterator[int]:
    # A fifo without a writer would block without end, a terminal could become ours.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    flags |= 0 if follows else getattr(os, "O_NOFOLLOW", 0)
    try:
        # Opening alone wakes the writer of a fifo and moves some devices: look first.
        _refuse_irregular_file(os.stat(path, dir_fd=folder, follow_symlinks=follows))
        handle = os.open(path, flags, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except ValueError as error:  # a NUL in the name
        raise Unreadable(str(error)) from error
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    try:
        _refuse_irregular_file(os.fstat(handle))
        yield handle
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    finally:
        os.close(handle)


def _refuse_irregular_file(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable("it is no regular file")


_TOKEN_BYTES: Final = 8  # of chance in the name of a temporary file
_STEM_MAX: Final = 50  # characters of its target's name, since a file's name ends at 255 bytes
_NAMED: Final = os.supports_dir_fd >= {os.open, os.stat, os.mkdir, os.link, os.rename, os.unlink}
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def open_folder_below(
    root: Path, parts: Sequence[str] = (), *, makes: bool = False
) -> Iterator[Folder]:
    """The folder below the root that the parts lead to.

    Args:
        root: may be reached through links.
        parts: names of folders, none of which may be a link.
        makes: whether missing folders are made.

    Raises:
        OSError: a part is missing, a link or no folder, or the system refuses.
    """
    with contextlib.ExitStack() as stack:
        handle = os.open(root, _FOLDER) if _NAMED else None
        folder = stack.enter_context(Folder(root, handle))
        for part in parts:
            folder = stack.enter_context(folder.below(part, makes=makes))
        yield folder


class Folder:
    """An open folder. Every name is one part of a path; a link under a name is never followed."""

    def __init__(self, path: Path, handle: int | None) -> None:
        """Args:
        handle: its descriptor; None on a system that names no files from one.
        """
        self.path = path
        self.handle = handle

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.handle is not None:
            os.close(self.handle)

    # 1. Looking ------------------------------------------------------------------------------

    def below(self, name: str, *, makes: bool = False) -> Folder:
        """A folder inside of this one, opened."""
        if makes and self.lies(name) is None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._at(name), dir_fd=self.handle)
            self.flush()
        if self.handle is not None:
            handle = os.open(self._at(name), _FOLDER | _NO_LINK, dir_fd=self.handle)
            return Folder(self.path / name, handle)
        found = self.lies(name)
        if found is None or not stat.S_ISDIR(found.st_mode):
            code = errno.ENOENT if found is None else errno.ENOTDIR
            raise OSError(code, os.strerror(code), name)
        return Folder(self.path / name, None)

    def lies(self, name: str) -> os.stat_result | None:
        """What lies under a name; None when nothing does."""
        try:
            return os.stat(self._at(name), dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def content(self, name: str, limit: int) -> bytes:
        """The bytes of a regular file; errors as of `regular`."""
        return regular(self._at(name), limit, folder=self.handle, follows=False)

    def beginning(self, name: str, size: int) -> bytes:
        """The first bytes of a regular file; errors as for `content`."""
        return read_file_beginning(self._at(name), size, folder=self.handle, follows=False)

    def ending(self, name: str, size: int) -> tuple[bytes, int]:
        """The last bytes of a regular file, and how many it has; errors as for `content`."""
        return read_file_ending(self._at(name), size, folder=self.handle, follows=False)

    def names(self) -> list[str]:
        """Of everything in it."""
        return os.listdir(self.path if self.handle is None else self.handle)

    # 2. Writing ------------------------------------------------------------------------------

    @contextlib.contextmanager
    def new(
        self, name: str, *, replacing: bool = False, mode: int | None = None, flushes: bool = True
    ) -> Iterator[BinaryIO]:
        """A file to write into, which gets its name at the end, flushed; on an error it is gone.

        Args:
            replacing: whether it takes the place of another file, or of a link itself.
            mode: its permissions; by default those of the file it replaces, else the umask's.
            flushes: whether it waits for the disk; what is made again at will need not.

        Raises:
            FileExistsError: the name is taken, and it replaces nothing.
            OSError: the system refuses.
        """
        former = self.lies(name) if replacing else None
        if mode is None and former is not None and stat.S_ISREG(former.st_mode):
            mode = former.st_mode & 0o777
        temporary = f"{_stem(name)}{os.urandom(_TOKEN_BYTES).hex()}.tmp"
        first = 0o666 if mode is None else 0o600
        handle = os.open(self._at(temporary), _NEW, first, dir_fd=self.handle)
        is_left = True
        try:
            with os.fdopen(handle, "wb") as file:
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(handle, mode)
                yield file
                file.flush()
                if flushes:
                    os.fsync(handle)
            if replacing:
                here = self.handle
                os.replace(self._at(temporary), self._at(name), src_dir_fd=here, dst_dir_fd=here)
            else:
                self.move(temporary, self, name)
            is_left = False
            if flushes:
                self.flush()
        finally:
            if is_left:
                with contextlib.suppress(OSError):
                    self.remove(temporary)

    @contextlib.contextmanager
    def new_path(self, name: str) -> Iterator[Path]:
        """A path to write to, inside of a folder that other users cannot enter; else as `new`."""
        temporary = f"{_stem(name)}{os.urandom(_TOKEN_BYTES).hex()}.tmp"
        os.mkdir(self._at(temporary), 0o700, dir_fd=self.handle)
        try:
            with self.below(temporary) as inside:
                try:
                    yield inside.path / "new"
                    inside.flush("new")
                    inside.move("new", self, name)
                    self.flush()
                finally:
                    for left in inside.names():
                        inside.remove(left)
        finally:
            with contextlib.suppress(OSError):
                os.rmdir(self._at(temporary), dir_fd=self.handle)

    def sign(self, name: str, content: bytes) -> None:
        """Leave a few bytes for the next process; they are not flushed, and may be cut."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
        handle = os.open(self._at(name), flags, 0o666, dir_fd=self.handle)
        with os.fdopen(handle, "wb") as file:
            file.write(content)

    def move(self, name: str, to: Folder, new: str) -> None:
        """Give a regular file a name that is free.

        Raises:
            FileExistsError: the new name is taken.
            OSError: it is no regular file, or the system refuses.
        """
        found = self.lies(name)
        if found is not None and not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", name)
        old, taken = self._at(name), to._at(new)
        between = {"src_dir_fd": self.handle, "dst_dir_fd": to.handle}
        try:
            os.link(old, taken, **between, follow_symlinks=False)  # which replaces nothing
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if to.lies(new) is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from None
            os.rename(old, taken, **between)
        else:
            self.remove(name)

    def remove(self, name: str) -> None:
        """Remove a file, or a link itself."""
        os.unlink(self._at(name), dir_fd=self.handle)

    def tidy(self, name: str) -> None:
        """Remove what processes left that were killed while they wrote a file of this name."""
        left = re.compile(rf"{re.escape(_stem(name))}[0-9a-f]+\.tmp")
        for found in filter(left.fullmatch, self.names()):
            what = self.lies(found)
            if what is not None and stat.S_ISREG(what.st_mode):
                with contextlib.suppress(FileNotFoundError):
                    self.remove(found)

    def flush(self, name: str | None = None) -> None:
        """To the disk: the folder, or a file in it."""
        if name is not None:
            handle = os.open(self._at(name), os.O_RDWR | _NO_LINK, dir_fd=self.handle)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        elif self.handle is not None:
            with contextlib.suppress(OSError):  # not every file system flushes folders
                os.fsync(self.handle)

    def _at(self, name: str) -> str | Path:
        """The path of a file in this folder, or its name if the folder is held open."""
        if name in ("", os.curdir, os.pardir) or os.path.basename(name) != name:
            raise OSError(errno.EINVAL, "it is no name of a file", name)
        return self.path / name if self.handle is None else name


def _stem(name: str) -> str:
    """The prefix of temporary files."""
    return f".{name[:_STEM_MAX]}."


@contextlib.contextmanager
def new_file(name: str, *, replacing: bool = False, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file to write into, which gets its name at the end; `mode` as for `Folder.new`.

    Raises:
        Refused: the file exists, or is a device, pipe or folder, which nothing may replace.
        StoreUnavailable: it cannot be written.
    """
    target = Path(name)
    with (
        _translate_write_errors(name),
        _open_parent_folder(target, replacing=replacing) as folder,
        folder.new(target.name, replacing=replacing, mode=mode) as file,
    ):
        yield file


@contextlib.contextmanager
def new_path(name: str) -> Iterator[Path]:
    """The same for a program that takes no open file: a path, inside of a folder of our own."""
    target = Path(name)
    with (
        _translate_write_errors(name),
        _open_parent_folder(target) as folder,
        folder.new_path(target.name) as path,
    ):
        yield path


def _open_parent_folder(
    target: Path, *, replacing: bool = False
) -> contextlib.AbstractContextManager[Folder]:
    if not replacing and os.path.lexists(target):
        raise FileExistsError  # before what may take long
    if target.exists() and not target.is_file():
        raise Refused(f"{target} is no regular file: name a new file")
    return open_folder_below(target.parent)


@contextlib.contextmanager
def _translate_write_errors(name: str) -> Iterator[None]:
    if "\0" in name:
        raise StoreUnavailable(f"{name!r} cannot be written: no file can bear that name")
    try:
        yield
    except FileExistsError as error:
        raise Refused(f"{name} exists: name a new file") from error
    except OSError as error:
        raise StoreUnavailable(f"{name} cannot be written: {error.strerror or error}") from error


# Caches --------------------------------------------------------------------------------------


def read_cache(path: Path, limit: int, kind: type[T]) -> T | None:
    """What an earlier process kept in a file of our own: JSON by its name, else MessagePack.

    A cache is a memory. What cannot be read, whatever lies there, is as if it were not there: None.
    """
    unread = (OSError, Unreadable, msgspec.DecodeError, ValueError, RecursionError)
    with contextlib.suppress(*unread):  # ValueError: text that is no UTF-8
        content = regular(path, limit, follows=False)
        if path.suffix == JSON:
            return msgspec.json.decode(content, type=kind)
        return msgspec.msgpack.decode(content, type=kind)
    return None


def write_cache(path: Path, value: object) -> None:
    """Keep a value for later processes of this user; where that fails, it is found again.

    It is not flushed: what a power cut leaves of it is made again.
    """
    with contextlib.suppress(OSError, UnicodeEncodeError):  # a file's name may be no UTF-8
        encode = msgspec.json.encode if path.suffix == JSON else msgspec.msgpack.encode
        content = encode(value)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            open_folder_below(path.parent) as folder,
            folder.new(path.name, replacing=True, mode=0o600, flushes=False) as file,
        ):
            file.write(content)
