"""Where a conversation took place; a path in a transcript is a text, and no file is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

PATH_MAX: Final = 4_096  # bytes, as Linux has it


class Project:
    """A project's folders, by each name that an agent may know them by."""

    def __init__(self, *roots: Path) -> None:
        """Args:
        roots: its folder in each work tree of the repository.
        """
        both = (name(root) for root in roots for name in (os.path.abspath, os.path.realpath))
        self.names = tuple(dict.fromkeys(both))

    def holds(self, folder: str) -> bool:
        """Whether a folder lies in the project."""
        return self._within(folder) is not None

    def relative(self, paths: Iterable[str], folder: str) -> list[str]:
        """Those paths that lie in the project, from its root, with forward slashes.

        Args:
            folder: where a relative path starts from.
        """
        found = (self._within(os.path.join(folder, path)) for path in paths if path)
        return [path.replace(os.sep, "/") for path in found if path not in (None, os.curdir)]

    def _within(self, path: str) -> str | None:
        if not os.path.isabs(path) or "\0" in path or len(path) > PATH_MAX:
            return None
        plain = os.path.normpath(path)
        for name in self.names:
            if plain == name:
                return os.curdir
            if plain.startswith(name.rstrip(os.sep) + os.sep):
                return plain[len(name.rstrip(os.sep)) + 1 :]
        return None
