"""Files that people name: whole or not at all, and never over one that is there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from preflights_es.core.errors import Refused, StoreUnavailable


@contextlib.contextmanager
def new_file(name: str, *, replacing: bool = False) -> Iterator[Path]:
    """A path beside the file that is wanted; what lies there at the end becomes that file.

    Raises:
        Refused: the file exists.
        StoreUnavailable: it cannot be written.
    """
    if "\0" in name:
        raise StoreUnavailable(f"{name!r} cannot be written: no file can bear that name")
    target = Path(name)
    temporary = target.parent / f".preflights-{os.getpid()}.tmp"
    try:
        if not replacing and os.path.lexists(target):
            raise FileExistsError
        try:
            temporary.write_bytes(b"")
            yield temporary
            _flush(temporary)
            if replacing:
                temporary.replace(target)
            else:
                _published(temporary, target)
            _flush(target.parent)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
    except FileExistsError as error:
        raise Refused(f"{name} exists: name a new file") from error
    except OSError as error:
        why = error.strerror or error
        raise StoreUnavailable(f"{name} cannot be written: {why}") from error


def _published(temporary: Path, target: Path) -> None:
    """A link refuses a name that is taken, where a file system has links."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(target):
            raise FileExistsError from None
        temporary.replace(target)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
