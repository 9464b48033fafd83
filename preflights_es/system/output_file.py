"""Files that people name: whole or not at all, and never over one that is there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from preflights_es.kernel.errors import Refused, StoreUnavailable
from preflights_es.system import atomic_file


@contextlib.contextmanager
def new_file(name: str, *, replacing: bool = False) -> Iterator[BinaryIO]:
    """A file to write into, which gets its name at the end.

    Raises:
        Refused: the file exists, or is a device, pipe or folder, which nothing may replace.
        StoreUnavailable: it cannot be written.
    """
    target = Path(name)
    with (
        _told(name),
        _folder(target, replacing=replacing) as folder,
        folder.new(target.name, replacing=replacing) as file,
    ):
        yield file


@contextlib.contextmanager
def new_path(name: str) -> Iterator[Path]:
    """The same for a program that takes no open file: a path, inside of a folder of our own."""
    target = Path(name)
    with _told(name), _folder(target) as folder, folder.new_path(target.name) as path:
        yield path


def _folder(
    target: Path, *, replacing: bool = False
) -> contextlib.AbstractContextManager[atomic_file.Folder]:
    if not replacing and os.path.lexists(target):
        raise FileExistsError  # before what may take long
    if target.exists() and not target.is_file():
        raise Refused(f"{target} is no regular file: name a new file")
    return atomic_file.opened(target.parent)


@contextlib.contextmanager
def _told(name: str) -> Iterator[None]:
    if "\0" in name:
        raise StoreUnavailable(f"{name!r} cannot be written: no file can bear that name")
    try:
        yield
    except FileExistsError as error:
        raise Refused(f"{name} exists: name a new file") from error
    except OSError as error:
        why = error.strerror or error
        raise StoreUnavailable(f"{name} cannot be written: {why}") from error
