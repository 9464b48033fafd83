"""Reads a file whole and within a limit; never a device, a fifo or a folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class Unreadable(Exception):
    """A file that is there and cannot be read as asked; the message says why, without its name."""


def regular(path: Path, limit: int) -> bytes:
    """The bytes of a regular file; a link is followed.

    Args:
        limit: the most bytes that the file may have.

    Raises:
        FileNotFoundError, NotADirectoryError: there is none.
        Unreadable: it is no regular file, has more bytes, or the system refuses.
    """
    # A fifo without a writer would block for ever, a terminal could become ours.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    try:
        handle = os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        raise
    except ValueError as error:  # a NUL in the name
        raise Unreadable(str(error)) from error
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable("it is no regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    finally:
        os.close(handle)
    if len(content) > limit:
        raise Unreadable(f"it has more than {limit:,} bytes")
    return content
