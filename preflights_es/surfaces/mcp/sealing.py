"""The key that seals what a client carries from a question to its answer."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from typing import Final

from preflights_es.settings.beside import beside_log
from preflights_es.settings.load import Settings
from preflights_es.system import atomic_file
from preflights_es.system.atomic_file import Folder
from preflights_es.system.bounded_read import Unreadable

NAME: Final = "mcp.key"
BYTES: Final = 32


def key(settings: Settings) -> bytes:
    """The key, made where there is none that is ours alone; for this process where none is kept."""
    place = beside_log(settings)
    fresh = secrets.token_bytes(BYTES)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with atomic_file.opened(place) as here:
            if (kept := _kept(here)) is not None:
                return kept
            is_bad = here.lies(NAME) is not None
            with (
                suppress(FileExistsError),  # another server makes one at the same time
                here.new(NAME, replacing=is_bad, mode=0o600) as file,
            ):
                file.write(fresh)
            return _kept(here) or fresh
    except (OSError, Unreadable):
        return fresh


def _kept(here: Folder) -> bytes | None:
    """The key in the folder; None for a link, and where others may read it or it is cut short."""
    found = here.lies(NAME)
    if found is None or not stat.S_ISREG(found.st_mode) or found.st_size != BYTES:
        return None
    is_shared = os.name == "posix" and found.st_mode & 0o077
    return None if is_shared else here.content(NAME, BYTES)
