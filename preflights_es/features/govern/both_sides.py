"""What a change and its base hold together: what of the base is lost here holds all the same."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from preflights_es.features.govern.base_side import (
    BaseSession,
    BaseSide,
    base_side,
    hashes_of,
    is_settings,
)
from preflights_es.features.govern.changes import ChangedFile, ChangeSet, content_of
from preflights_es.features.govern.decision_changes import RecordsHere, lost_records
from preflights_es.kernel.events import SessionAbandoned
from preflights_es.kernel.ports import Stored
from preflights_es.records.record_folder import folder_of, usual_folder
from preflights_es.records.session_files import FOLDER, SIZE_MAX
from preflights_es.use.decisions import list_decisions, log_decisions, records_beside
from preflights_es.use.filed_sessions import FiledSession, FiledSessions
from preflights_es.use.foreign import Foreign, ForeignRow
from preflights_es.use.holding import is_counted
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow
from preflights_es.words.decisions import list_superseded


class BothSides:
    """The decisions and records of a change and of its base."""

    def __init__(self, request: Request, change: ChangeSet) -> None:
        self._request = request
        self._change = change
        process = request.process
        self._root = process.settings.root
        # Which folders there are is looked for anew.
        places = [*(one.path for one in process.record_places.folders)]
        places += [one.path for one in process.session_folders]
        self._linked = tuple(path for path in dict.fromkeys(places) if _is_linked(self._root, path))
        process.forget_files()  # a file may have changed in its place
        self.here: Sequence[DecisionRow] = [*_read_decisions_here(request)]
        """What the change holds, whatever became of it."""
        files = [
            one.file for one in FiledSessions(process).files(whole=True, read=process.file_log.read)
        ]
        told = {one.path: one for one in files if one.told}
        told |= {one.path: one for one in process.file_log.others}
        why = "it is reached by a link, and nothing is read through one"
        linked = (FiledSession(path=path, compared="unread", why=why) for path in self._linked)
        told |= {one.path: one for one in linked}
        self.troubled: Sequence[FiledSession] = [*told.values()]
        """Session files that are not read here."""
        self._filed = defaultdict[str, list[str]](list)
        for one in files:
            if one.path not in told and not self._is_behind_link(one.path):
                self._filed[one.session_id].append(one.path)
        self.base: BaseSide = base_side(request, change, told)

    def _is_behind_link(self, path: str) -> bool:
        return any(path.startswith(f"{folder}/") for folder in self._linked)

    # 1. Sessions -----------------------------------------------------------------------------

    @cached_property
    def lost(self) -> Sequence[BaseSession]:
        """Sessions of the base that the change does not hold, or of which it moves the folder."""
        return [
            one
            for session_id, one in self.base.sessions.items()
            if (one.parted is not None and not self._is_filed(session_id, one.parted))
            or (one.parted is None and not self._is_read_later(one.path))
        ]

    @cached_property
    def rows(self) -> Sequence[DecisionRow]:
        """All decisions: those of the base where the change does not go on from them."""
        of_base = {
            session_id
            for session_id, one in self.base.sessions.items()
            if not self._goes_on(session_id, one)
        }
        held = [row for row in self.here if row.session_id not in of_base]
        return [*held, *(row for row in self.base.rows if row.session_id in of_base)]

    @cached_property
    def woken(self) -> Sequence[str]:
        """Session files that the base has and does not read, and that are read here."""
        known, looked = self.base.sessions, self.base.looked - self._touched
        found = (path for id_, paths in self._filed.items() if id_ not in known for path in paths)
        return [path for path in found if path in looked]

    def _goes_on(self, session_id: str, was: BaseSession) -> bool:
        """Whether what counts of a session here, and its file, go on where the base ends."""
        hashes = [one.hash for one in was.events]
        counted = [one.hash for one in self.events(session_id)]
        return _has_hash_prefix(counted, hashes) and self._is_filed(session_id, hashes)

    def _is_filed(self, session_id: str, hashes: Sequence[bytes]) -> bool:
        return any(_has_hash_prefix(self._hashes(path), hashes) for path in self._filed[session_id])

    def _hashes(self, path: str) -> Sequence[bytes]:
        return hashes_of(content_of(self._root, ChangedFile(path), SIZE_MAX) or b"")

    def events(self, session_id: str) -> Sequence[Stored]:
        """Those that count here: of the session's file where it says more than the log."""
        process = self._request.process
        is_filed = session_id in process.file_log.files
        return (process.file_log if is_filed else process).store.read(session_id)

    @cached_property
    def abandoned(self) -> Sequence[BaseSession]:
        """Sessions of the base that the change gives up."""
        return [
            one
            for session_id, one in self.base.sessions.items()
            if SessionAbandoned.tag
            in (event.type for event in self.events(session_id)[len(one.events) :])
        ]

    # 2. Records without a session ------------------------------------------------------------

    @cached_property
    def records_here(self) -> Sequence[ForeignRow]:
        """All that lie here."""
        return [one for one in self.beside.rows if not self._is_behind_link(one.path)]

    @cached_property
    def beside(self) -> Foreign:
        """The same with what cannot be read."""
        return records_beside(self._request, everything=True)

    @cached_property
    def lost_records(self) -> Sequence[ForeignRow]:
        """Those of the base that the change takes away, and that hold all the same."""
        return [one for one in self._missing if not self._is_newer(one)]

    @cached_property
    def records(self) -> Sequence[ForeignRow]:
        """All records: those of the base where it went on since the branches parted."""
        newer = [one for one in self.base.records if self._is_newer(one)]
        here = RecordsHere(self.base, self.records_here)
        replaced = {now.path for one in newer if (now := here.record_now(one))}
        replaced |= {row.artifact for row in self.rows if row.artifact}  # of a lost session
        held = [one for one in self.records_here if one.path not in replaced]
        return [*held, *newer, *self.lost_records]

    @cached_property
    def new_records(self) -> Sequence[ForeignRow]:
        """Those in force here that were not in force in the base, there or elsewhere.

        The change may only have made their folder one of records.
        """
        here = RecordsHere(self.base, self.records_here)
        held = (one for one in self.base.records if one.is_held)
        known = {now.path for one in held if (now := here.record_now(one))}
        looked = self._touched | self.base.looked
        found = (one for one in self.records_here if one.is_held and one.path in looked)
        return [one for one in found if one.path not in known]

    @cached_property
    def _missing(self) -> Sequence[ForeignRow]:
        of_session = {row.artifact for row in filter(is_counted, self.here)}
        found = lost_records(self.base, self.records_here)
        return [one for one in found if one.path not in of_session]

    @cached_property
    def _touched(self) -> frozenset[str]:
        return frozenset(one.path for one in self._change.files)

    def _is_newer(self, one: ForeignRow) -> bool:
        is_new = one.path in self.base.new and one.path not in self._touched
        return is_new and self._is_read_later(one.path)

    def _is_read_later(self, path: str) -> bool:
        """Whether what the base has added since is read where this change is merged."""
        if not any(map(is_settings, self._touched)):
            return True
        folder = path.rpartition("/")[0].removesuffix(f"/{FOLDER}")
        places = self._request.process.record_places.folders
        return bool(
            folder_of(f"{folder}/{path.rpartition('/')[2]}", places) or usual_folder(folder)
        )

    # 3. Both ---------------------------------------------------------------------------------

    @cached_property
    def counted(self) -> Sequence[DecisionRow | ForeignRow]:
        """What is or was in force, decisions first."""
        return [*filter(is_counted, self.rows), *filter(is_counted, self.records)]

    def in_force(self) -> Iterator[DecisionRow | ForeignRow]:
        """Those that count: a decision of this change replaces one that does not say so yet."""
        own = [row for row in self.rows if row.standing == "accepted" and row.accepted_at]
        replaced = {one.uid or one.path for row in own for one in list_superseded(row)}
        yield from (row for row in own if row.uid not in replaced)
        yield from (row for row in self.records if row.is_held and row.path not in replaced)


def _read_decisions_here(request: Request) -> Iterator[DecisionRow]:
    """Those of the log, and those of session files where these say more: a change brings these."""
    log, known = request.process.file_log, set[str]()
    for row in list_decisions(request, everything=True):
        if row.file is None and row.session_id in log.files:
            known.add(row.session_id)
        else:
            yield row
    for row in () if log.is_empty else log_decisions(log, everything=True):
        if row.session_id in known:
            yield replace(row, file=log.files[row.session_id].path)


def _is_linked(root: Path, folder: str) -> bool:
    """Whether a link leads to a folder of the project."""
    plain = os.path.normpath(os.path.join(os.path.realpath(root), folder))
    return os.path.realpath(root / folder) != plain


def _has_hash_prefix(whole: Sequence[bytes], beginning: Iterable[bytes]) -> bool:
    first = [*beginning]
    return bool(whole) and [*whole[: len(first)]] == first
