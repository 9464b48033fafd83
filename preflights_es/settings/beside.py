"""Where the program keeps its own files about a log."""

from __future__ import annotations

from pathlib import Path

from preflights_es.settings.load import Settings
from preflights_es.store.urls import SqliteFile, parsed


def beside_log(settings: Settings) -> Path:
    """The log's folder, or where this machine keeps its own files about a log on a server."""
    if settings.stand_in is not None:
        return settings.stand_in.parent
    address = parsed(settings.database)
    if isinstance(address, SqliteFile):
        return Path(address.name).absolute().parent
    return settings.beside
