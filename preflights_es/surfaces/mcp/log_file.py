"""The file of the log, which may go while a server works on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.store.urls import SqliteFile
from preflights_es.use.process import Process


class LogFile:
    """The file that a server began with; once deleted, it takes records and loses them."""

    def __init__(self) -> None:
        self._began_with: tuple[int, int] | None = None

    def check(self, process: Process) -> None:
        """See that the log is still where it was.

        Raises:
            StoreUnavailable: it is gone, or another file lies there.
        """
        url: Any = process.store.database.url
        if not isinstance(url, SqliteFile):
            return
        now = _identity(Path(url.name))
        if now is None or now != (self._began_with or now):
            message = f"the log {url.name} was moved or replaced: restart `preflights mcp`"
            raise StoreUnavailable(message)
        self._began_with = now


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
