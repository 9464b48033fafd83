"""Lines that a long run keeps until it is done, so that an interrupted one goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

from preflights_es.kernel.errors import PreflightsError
from preflights_es.system.files import new_file

T = TypeVar("T")

KEPT_S: Final = 30 * 86_400  # seconds; a run that is not taken up until then is given up


class KeptLines(Generic[T]):
    """The file of one run, which its owner alone reads; what cannot be written is not kept."""

    def __init__(self, folder: Path | None, run: str, kind: type[T], now_s: float) -> None:
        """Args:
        folder: None keeps nothing.
        run: all that another run may do otherwise.
        now_s: seconds since 1970 UTC.
        """
        self._kind = kind
        name = f"{sha256(run.encode()).hexdigest()}.jsonl"
        self._file = None if folder is None else folder / name
        with suppress(OSError):
            for file in list_kept_files(folder):
                if file.stat().st_mtime < now_s - KEPT_S:
                    file.unlink()

    def read(self) -> list[T]:
        """What was kept, in order."""
        return [] if self._file is None else read_kept_lines(self._file, self._kind)

    def keep(self, value: T) -> None:
        """Write one behind the others."""
        if self._file is None:
            return
        line = b"\n%b\n" % msgspec.json.encode(value)  # the line before may have been cut off
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(file, "ab") as out:
                out.write(line)

    def drop(self, goes: Callable[[T], bool]) -> None:
        """Take lines out."""
        if self._file is not None:
            with suppress(OSError, PreflightsError):
                remove_kept_lines(self._file, self._kind, goes)

    def forget(self) -> None:
        """The run is done."""
        if self._file is not None:
            with suppress(OSError):
                self._file.unlink()
                self._file.parent.rmdir()  # unless another run has lines there


def list_kept_files(folder: Path | None) -> list[Path]:
    """Those of all runs of a folder."""
    return [] if folder is None else sorted(folder.glob("*.jsonl"))


def read_kept_lines(file: Path, kind: type[T]) -> list[T]:
    """What a file holds; none where it cannot be read."""
    found: list[T] = []
    lines: list[bytes] = []
    with suppress(OSError):
        lines = file.read_bytes().splitlines()
    for line in lines:
        with suppress(msgspec.MsgspecError, ValueError):  # it was cut off, or is empty
            found.append(msgspec.json.decode(line, type=kind))
    return found


def remove_kept_lines(file: Path, kind: type[Any], goes: Callable[[Any], bool]) -> None:
    """Take lines out of a file, and the file where none is left.

    Raises:
        OSError, Refused, StoreUnavailable: it cannot be written.
    """
    lines = read_kept_lines(file, kind)
    left = [one for one in lines if not goes(one)]
    if not left:
        file.unlink()
    elif len(left) < len(lines):
        with new_file(str(file), replacing=True) as out:
            out.write(b"".join(b"%b\n" % msgspec.json.encode(one) for one in left))
        file.chmod(0o600)
