"""The key that seals what a client carries from a question to its answer."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from preflights_es.settings.beside import beside_log
from preflights_es.settings.load import Settings
from preflights_es.system import atomic_file
from preflights_es.system.bounded_read import Unreadable, regular

NAME: Final = "mcp.key"
BYTES: Final = 32


def key(settings: Settings) -> bytes:
    """The key, made where there is none; for this process alone where no file can be kept."""
    place = beside_log(settings)
    fresh = secrets.token_bytes(BYTES)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with (
            suppress(FileExistsError),
            atomic_file.opened(place) as here,
            here.new(NAME, mode=0o600) as file,
        ):
            file.write(fresh)
        kept = _kept(place / NAME)
    except (OSError, Unreadable):
        return fresh
    return kept if len(kept) == BYTES else fresh


def _kept(path: Path) -> bytes:
    """What the file holds; nothing where others may read it."""
    if os.name == "posix" and path.stat().st_mode & 0o077:
        return b""
    return regular(path, BYTES)
