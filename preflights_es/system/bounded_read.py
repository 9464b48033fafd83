"""Reads a file within a limit; never a device, a fifo or a folder."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

BLOCK: Final = 1024 * 1024  # bytes that are read at once where a file is read by line


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
    content = beginning(path, limit + 1, folder=folder, follows=follows)
    if len(content) > limit:
        raise Unreadable(f"it has more than {limit:,} bytes")
    return content


def beginning(
    path: Path | str, size: int, *, folder: int | None = None, follows: bool = True
) -> bytes:
    """The first bytes of a regular file, all of them where it has no more; errors as above."""
    with _opened(path, folder, follows=follows) as file:
        return file.read(size)


def ending(
    path: Path | str, size: int, *, folder: int | None = None, follows: bool = True
) -> tuple[bytes, int]:
    """The last bytes of a regular file, and how many it has; errors as above."""
    with _opened(path, folder, follows=follows) as file:
        whole = file.seek(0, os.SEEK_END)
        file.seek(max(whole - size, 0))
        return file.read(size), whole


def lines(
    path: Path | str,
    limit: int,
    *,
    follows: bool = True,
    update: Callable[[int], object] = lambda _size: None,
) -> Iterator[bytes | None]:
    """The lines of a regular file with their ends; None for one of more bytes than the limit.

    Args:
        update: is told how many bytes more were read, about once a block; errors as above.
    """
    with _opened(path, None, follows=follows) as file:
        told = read = 0
        while line := file.readline(limit + 1):
            is_long, read = len(line) > limit, read + len(line)
            while line and is_long and not line.endswith(b"\n"):
                line = file.readline(BLOCK)
                read += len(line)
            yield None if is_long else line
            if read - told >= BLOCK:
                update(read - told)
                told = read
        update(read - told)


@contextmanager
def _opened(path: Path | str, folder: int | None, *, follows: bool) -> Iterator[BinaryIO]:
    # A fifo without a writer would block without end, a terminal could become ours.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    flags |= 0 if follows else getattr(os, "O_NOFOLLOW", 0)
    try:
        # Opening alone wakes the writer of a fifo and moves some devices: look first.
        _checked(os.stat(path, dir_fd=folder, follow_symlinks=follows))
        handle = os.open(path, flags, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except ValueError as error:  # a NUL in the name
        raise Unreadable(str(error)) from error
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    try:
        _checked(os.fstat(handle))
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    finally:
        os.close(handle)


def _checked(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable("it is no regular file")
