"""Sessions that only files have, in a log that ends with the command: a process like any other."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from preflights_es.kernel.errors import Conflict, DuplicateInput
from preflights_es.kernel.ports import Archive, Arrival, Stored
from preflights_es.runtime.runner import Handle
from preflights_es.store.chain import erased_before
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.use.filed_sessions import FOREIGN, FiledSession, Lying, Shelf
from preflights_es.use.process import Process, made_once


class FileLog(Process):
    """What files say more than the log of another process; nothing is recorded here."""

    def __init__(self, process: Process) -> None:
        super().__init__(process.settings, creates=False, reads=True)
        self._log = process
        self.others: list[FiledSession] = []
        """Files that this log does not hold, and of which a person has to know."""
        self._files: dict[str, FiledSession] = {}
        self._held: list[Lying] = []
        for lying in Shelf(process).files():
            if lying.file.compared in FOREIGN:
                self._held.append(lying)
            elif lying.file.told:
                self.others.append(lying.file)

    @property
    def is_empty(self) -> bool:
        """Whether no file says more than the log."""
        return not self._held

    @property
    def files(self) -> dict[str, FiledSession]:
        """Those that this log holds, by session."""
        _ = self.is_empty or self.store
        return self._files

    @made_once
    def project(self) -> str:
        """That of the other process."""
        return self._log.project

    @made_once
    def store(self) -> SqlStore:
        """The log of the files."""
        from preflights_es.store.temporary import temporary_log

        store = self._given_back.enter_context(temporary_log(clock_ids.now, clock_ids.salt))
        whole = [one.events for one in self._held if not erased_before(one.events)]
        are_in = store.insert_new([Arrival(events) for events in whole])
        for lying in self._held:
            is_in = are_in and not erased_before(lying.events)
            if is_in or _inserted(store, lying.events):
                self._files[lying.file.session_id] = lying.file
            else:
                why = "an Input of it stands in another session"
                self.others.append(replace(lying.file, compared="unread", why=why))
        return store

    def finish_pending(self) -> list[Handle]:
        """Files owe no documents."""
        return []


def _inserted(store: Archive, events: Sequence[Stored]) -> bool:
    try:
        store.insert(events, open_calls=())
    except (Conflict, DuplicateInput):
        return False
    return True
