"""Files of artifacts on this disk, held against the log; none of them counts by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from preflights_es.features.compiler.domain.views import FILE, FOLDER
from preflights_es.kernel.errors import ArtifactOutside
from preflights_es.kernel.items import Planned
from preflights_es.records.files import checked_folder, found_hash

FileState = Literal["same", "edited", "missing"]

FILED: Final = ("approved", "locked", "superseded")
"""Standings from which a file follows."""


class PlanFiles:
    """The folder of artifacts as it lies there now."""

    def __init__(self, root: Path) -> None:
        """Args:
        root: of the project.
        """
        try:
            self._folder = checked_folder(root, FOLDER)
            self._names = frozenset(filter(_NAME.fullmatch, os.listdir(self._folder)))
        except (OSError, ArtifactOutside):
            self._names = frozenset()

    def state(self, one: Planned) -> FileState | None:
        """How the file of an artifact compares with what the log says; None where it has none.

        A `.new` file beside an edited one counts for nothing: the edited one is named.
        """
        name = _name_of(one)
        if not name:
            return None
        lies = found_hash(self._folder / name) if name in self._names else None
        if lies is None:
            return "missing"
        return "same" if lies == one.sha256 else "edited"

    def strays(self, known: Iterable[Planned]) -> tuple[str, ...]:
        """Paths of files that look like artifacts, of which no session that verifies says so.

        They come with a branch, by hand, or stay behind when their session is erased.
        """
        return tuple(f"{FOLDER}/{name}" for name in sorted(self._names - {*map(_name_of, known)}))


_NAME: Final = re.compile(FILE)


def _name_of(one: Planned) -> str:
    """What the file of an artifact is called; empty of one that has none."""
    name = f"{one.type}-{one.id}.json"
    return name if one.standing in FILED and _NAME.fullmatch(name) else ""
