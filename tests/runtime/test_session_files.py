"""Sessions that other processes append to while their file is written."""

from __future__ import annotations

from pathlib import Path

from preflights_es.kernel.ports import Head, Stored
from preflights_es.records.record_places import RecordPlaces
from preflights_es.records.session_files import SessionFiles, SessionFolders
from preflights_es.store import jsonl
from preflights_es.store.memory import MemoryStore
from tests.fixed import Clock
from tests.store.given import Salt, behind, heard, opened, said, session_id


class Growing(MemoryStore):
    """Another process appends to a session after every look at it."""

    looks = 0

    def head(self, session_id: str) -> Head | None:
        found = super().head(session_id)
        self._grow(session_id)
        return found

    def read(self, session_id: str, after: int = 0) -> tuple[Stored, ...]:
        found = super().read(session_id, after)
        self._grow(session_id)
        return found

    def _grow(self, session_id: str) -> None:
        self.looks += 1
        head = super().head(session_id)
        assert head is not None
        words = said("more", f"more-{self.looks}"), heard("more")
        self.append([behind(head, *words)])


def test_a_session_that_grows_while_it_is_kept_is_no_damaged_one(tmp_path: Path) -> None:
    store = Growing(Clock(), Salt())
    opened(store, 1)
    folders = SessionFolders(tmp_path, RecordPlaces(tmp_path, "docs/decisions"))
    (home,) = folders.of_records
    files = SessionFiles(store, folders, lambda *_: home)
    assert files.keep(session_id(1))
    (path,) = (tmp_path / home.path).glob("*.jsonl")
    kept = [*jsonl.stored(path.read_bytes().splitlines(keepends=True), path.name)]
    assert kept == [*MemoryStore.read(store, session_id(1))][: len(kept)]
    assert store.looks > 0
