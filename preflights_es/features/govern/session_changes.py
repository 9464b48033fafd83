"""The session files of a change, wherever they lie."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from preflights_es.features.govern.changes import ChangedFile, ChangeSet, contents
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ports import Stored
from preflights_es.records.session_files import FOLDER, SIZE_MAX
from preflights_es.store import jsonl
from preflights_es.store.chain import verified
from preflights_es.use.request import Request


class SessionChanges:
    """The session files of a change, wherever they lie."""

    def __init__(self, request: Request, change: ChangeSet, woken: Iterable[str] = ()) -> None:
        """Args:
        woken: paths of those that lay there unread, and are read since the change.
        """
        self.change = change
        self._root = request.process.settings.root
        folders = {folder.path for folder in request.process.session_folders}
        files = (one for one in change.files if _is_session(one, folders))
        now = (one for one in files if not one.is_gone)
        self.now = (*now, *map(ChangedFile, woken))

    def contents(self) -> Iterator[tuple[ChangedFile, bytes | None]]:
        """What each holds now; None of one that is too large, or no file."""
        return contents(self._root, self.now, SIZE_MAX)


def _is_session(one: ChangedFile, folders: Collection[str]) -> bool:
    is_there = one.folder in folders or f"/{one.folder}".endswith(f"/{FOLDER}")
    return is_there and one.name.endswith(".jsonl")


def events_of(content: bytes) -> tuple[Stored, ...]:
    """The events of a session file; none where its chain does not hold."""
    try:
        stored = tuple(jsonl.stored(content.splitlines(keepends=True), ""))
        verified(stored)
    except PreflightsError:
        return ()
    return stored
