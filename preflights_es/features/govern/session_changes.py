"""The session files of a change: what they held at the base, and where they are now."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import NamedTuple

from preflights_es.features.govern.changes import Change, ChangedFile, content_of, objects
from preflights_es.kernel.errors import PreflightsError
from preflights_es.kernel.ports import Stored
from preflights_es.records.session_files import FOLDER, SIZE_MAX
from preflights_es.store import jsonl
from preflights_es.store.chain import verified
from preflights_es.use.request import Request


class Former(NamedTuple):
    """A session file of the base."""

    path: str
    content: bytes
    events: tuple[Stored, ...]
    """None where its chain does not hold."""
    now: ChangedFile | None
    """Where it is now; None where it is deleted."""


class SessionChanges:
    """The session files of a change, wherever they lie."""

    def __init__(self, request: Request, change: Change) -> None:
        self.change = change
        self._root = request.process.settings.root
        self._folders = {folder.path for folder in request.process.session_folders}
        self._files = [one for one in change.files if _is_session(one, self._folders)]
        self.now = tuple(one for one in self._files if not one.is_gone)

    @cached_property
    def former(self) -> tuple[Former, ...]:
        """Those that the base has."""
        was, now = [one for one in self._files if one.old], self._places()
        before = objects(self._root, [one.old for one in was], SIZE_MAX)
        contents = ((one, before.get(one.old, b"")) for one in was)
        return tuple(Former(one.path, said, events_of(said), now(one)) for one, said in contents)

    def content(self, one: ChangedFile) -> bytes | None:
        """What a file holds now; None of one that is too large, or no file."""
        return content_of(self._root, one, SIZE_MAX)

    def _places(self) -> Callable[[ChangedFile], ChangedFile | None]:
        """Finds where a file of the base is now: in its place, or where it is still read."""
        own = {one.path: one for one in self.now}
        read = {one.name: one for one in self.now if one.folder in self._folders}
        others = {one.name: one for one in self.now} | read

        def now(one: ChangedFile) -> ChangedFile | None:
            moved = read if one.folder in self._folders else others
            return own.get(one.path) or moved.get(one.name)

        return now


def _is_session(one: ChangedFile, folders: Collection[str]) -> bool:
    is_there = one.folder in folders or f"/{one.folder}".endswith(f"/{FOLDER}")
    return is_there and one.name.endswith(".jsonl")


def hashes(content: bytes) -> list[bytes]:
    """Of the events of a session file; none where it cannot be read."""
    try:
        return [one.hash for one in jsonl.stored(content.splitlines(keepends=True), "")]
    except PreflightsError:
        return []


def events_of(content: bytes) -> tuple[Stored, ...]:
    """The events of a session file; none where its chain does not hold."""
    try:
        stored = tuple(jsonl.stored(content.splitlines(keepends=True), ""))
        verified(stored)
    except PreflightsError:
        return ()
    return stored
