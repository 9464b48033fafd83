"""What a workflow can be told in a settings file: the table that bears its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from preflights_es.kernel.errors import SettingsError


class Source(Protocol):
    """Where a table was read: how to say what is wrong in it."""

    def wrong(self, at: tuple[str, ...], found: str) -> SettingsError:
        """The error that names the file, the line and the key.

        Args:
            at: keys from the top of the file.
        """

    def file(self, at: tuple[str, ...], path: str, most: int) -> str:
        """The text of a file of the project that a key names.

        Args:
            path: relative to the folder of the settings file.
            most: bytes that it may have.

        Raises:
            SettingsError: it is not there, leads out of the project, or is too large.
        """


class SettingsTable(msgspec.Struct, frozen=True):
    """The shape of a workflow's table, and what it comes to."""

    shape: type[msgspec.Struct]
    configured: Callable[[Source, Any], Any]
    """What a table of that shape comes to; raises `SettingsError` where it makes no sense."""
    default: Any
    """Where no file has the table."""
