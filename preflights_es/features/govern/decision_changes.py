"""What a change does to the decisions of its base: each one that it adds, ends, loses, or makes say
otherwise. What the base alone decided is read in `base_side`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from preflights_es.features.govern.base_side import (
    BaseSession,
    BaseSide,
    base_side,
    hashes_of,
    is_settings,
)
from preflights_es.features.govern.changes import ChangedFile, ChangeSet, content_of
from preflights_es.kernel.events import SessionAbandoned, SessionClosed, SessionErased
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import escaped_text, one_line, shortened
from preflights_es.records.foreign_records import record_header
from preflights_es.records.record_folder import folder_of, usual_folder
from preflights_es.records.session_files import FOLDER, SIZE_MAX
from preflights_es.records.status_words import reference
from preflights_es.use.decisions import list_decisions, log_decisions, records_beside
from preflights_es.use.filed_sessions import FiledSession, FiledSessions
from preflights_es.use.foreign import Foreign, ForeignRow
from preflights_es.use.holding import is_counted
from preflights_es.use.request import Request
from preflights_es.use.results import DecisionRow
from preflights_es.use.turned_down import find_successor
from preflights_es.words.decisions import Related, list_superseded


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
        filed = FiledSessions(process).files(whole=True, read=process.file_log.read)
        files = [one.file for one in filed]
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
        sessions = self.base.sessions.items()
        of_base = {session_id for session_id, one in sessions if not self._goes_on(session_id, one)}
        held = [row for row in self.here if row.session_id not in of_base]
        return [*held, *(row for row in self.base.rows if row.session_id in of_base)]

    @cached_property
    def woken(self) -> Sequence[str]:
        """Session files that the base has and does not read, and that are read here."""
        known, looked = self.base.sessions, self.base.looked - self._touched
        found = (path for id_, paths in self._filed.items() if id_ not in known for path in paths)
        return [path for path in found if path in looked]

    def _goes_on(self, session_id: str, was: BaseSession) -> bool:
        """Whether what counts of a session here, and its file, go on where the base ends.

        The settings of the change may name another project, of which the log has no decisions.
        """
        hashes, events = [one.hash for one in was.events], self.events(session_id)
        counted = [one.hash for one in events]
        if not (_has_hash_prefix(counted, hashes) and self._is_filed(session_id, hashes)):
            return False
        is_ended = any(one.type == SessionErased.tag for one in events)
        return is_ended or any(row.session_id == session_id for row in self.here)

    def _is_filed(self, session_id: str, hashes: Sequence[bytes]) -> bool:
        return any(_has_hash_prefix(self._hashes(path), hashes) for path in self._filed[session_id])

    def _hashes(self, path: str) -> Sequence[bytes]:
        return hashes_of(content_of(self._root, ChangedFile(path), SIZE_MAX) or b"")

    def events(self, session_id: str) -> Sequence[Stored]:
        """Those that count here: of the session's file where it says more than the log."""
        process = self._request.process
        is_filed = session_id in process.file_log.files
        return (process.file_log if is_filed else process).store.read(session_id)

    def is_on_neither_side(self, session_id: str) -> bool:
        """Whether neither base nor change has a file of a session; one may lie here anyway."""
        has = self._touched | self.base.there
        return session_id not in self.base.sessions and has.isdisjoint(self._filed[session_id])

    @cached_property
    def added_records(self) -> Mapping[str, str]:
        """Records that the change adds without their session files, by the uid of the decision."""
        added = {one.path for one in self._change.files if not (one.old or one.is_gone)}
        return {
            row.uid: row.artifact
            for row in self.here
            if row.artifact in added and self.is_on_neither_side(row.session_id)
        }

    @cached_property
    def abandoned(self) -> Sequence[BaseSession]:
        """Sessions of the base that the change gives up, or closes in any way but erasing."""
        return [one for id_, one in self.base.sessions.items() if self._is_ended(id_, one)]

    def _is_ended(self, session_id: str, was: BaseSession) -> bool:
        new = {one.type for one in self.events(session_id)[len(was.events) :]}
        return not new.isdisjoint(_ENDINGS) and SessionErased.tag not in new

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
        replaced = {now.path for one in newer if (now := self._places.record_now(one))}
        replaced |= {row.artifact for row in self.rows if row.artifact}  # of a lost session
        held = [one for one in self.records_here if one.path not in replaced]
        return [*held, *newer, *self.lost_records]

    @cached_property
    def new_records(self) -> Sequence[ForeignRow]:
        """Those in force here that were not in force in the base, there or elsewhere.

        The change may only have made their folder one of records.
        """
        held = (one for one in self.base.records if one.is_held)
        known = {now.path for one in held if (now := self._places.record_now(one))}
        looked = self._touched | self.base.looked
        found = (one for one in self.records_here if one.is_held and one.path in looked)
        return [one for one in found if one.path not in known]

    def is_edited(self, was: ForeignRow, now: ForeignRow) -> bool:
        """Whether the change edits a record's text, in more than white space.

        What was decided there may stand in any of its sentences.
        """
        before, files = self.base.texts.get(was.path), {one.path: one for one in self._change.files}
        if before is None or now.path not in files or now is was:
            return False  # what is lost is said as that
        return before.split() != (content_of(self._root, files[now.path]) or b"").split()

    @cached_property
    def _missing(self) -> Sequence[ForeignRow]:
        """Also what becomes the document of a session that it did not name."""
        written = {row.artifact: row.session_id for row in filter(is_counted, self.here)}
        counted = filter(is_counted, self.base.records)
        gone = (one for one in counted if self._places.record_now(one) is None)
        return [one for one in gone if not self._is_of_session(one, written.get(one.path))]

    @cached_property
    def _places(self) -> RecordsHere:
        return RecordsHere(self.base, self.records_here)

    def _is_of_session(self, one: ForeignRow, session_id: str | None) -> bool:
        text = self.base.texts.get(one.path, b"")
        return session_id is not None and record_header(one.path, text).session == session_id

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
        lies = f"{folder}/{path.rpartition('/')[2]}"
        return bool(folder_of(lies, places) or usual_folder(folder))

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


_ENDINGS: Final = frozenset((SessionAbandoned.tag, SessionClosed.tag))
Row = DecisionRow | ForeignRow
TITLE_MAX: Final = 80  # characters of a title that is quoted
_OWN: Final = ("category", "fields", "scope", "paths", "hold", "alternatives", "reason")
_FOREIGN: Final = ("title", "category", "value", "scope", "paths", "number", "chosen")
_WORDS: Final = {
    "fields": "values",
    "paths": "patterns",
    "alternatives": "turned down",
    "chosen": "what was chosen",
}
_IN_FORCE: Final = frozenset(("none", "accepted"))
"""Statuses of a record that say the same."""
_ENDED: Final = frozenset(("rejected", "deprecated"))
"""Statuses of a record that was decided and is not in force; what replaced one counts itself."""
_STANDS: Final = {"superseded": "replaced", "partly_superseded": "partly replaced"}
"""By status: what became of a decision, where another word is said."""


class DecisionChange(NamedTuple):
    """What happens to one decision."""

    row: Row
    path: str
    """Of its session file or its record."""
    what: str
    """In words, behind its name."""
    was_decided: bool
    """Whether the base has decided it, or what it alone says that it replaces; else it is new."""
    is_signed: bool
    """Whether a signer of the base signed what does it, as far as signatures are asked for."""


def decision_changes(
    base: BaseSide,
    rows: Iterable[Row],
    records: Sequence[ForeignRow],
    touched: Mapping[str, str],
    is_signed: Callable[[str], bool],
    is_edited: Callable[[ForeignRow, ForeignRow], bool],
) -> Iterator[DecisionChange]:
    """What differs from the base, of decisions that are held here and of records.

    Args:
        rows: what counts in the end, whatever became of it.
        records: all records without a session that lie here.
        touched: files of the change that bring a decision, by its uid.
        is_signed: whether what a session of the change, given by its id, brings is signed.
        is_edited: whether the change edits the text of a record.
    """
    own = {row.uid: row for row in rows if isinstance(row, DecisionRow)}
    before = {row.uid: row for row in base.rows if is_counted(row)}
    signed = [one for one in own.values() if is_counted(one) and is_signed(one.session_id)]
    superseded = [one for row in signed for one in list_superseded(row)]
    replaced = {one.uid for one in superseded}
    titles = {one.path or one.title for one in superseded if not one.uid}
    found = [*_of_records(base, records, titles, is_edited)]
    # What such a record turned down hangs on the number of the decision that replaced it.
    said = (reference(one.superseded_by) for one in base.records)
    named = {one.number for one in said if one}
    ended = {one.uid for uid in touched.keys() & own for one in list_superseded(own[uid])}
    for was in before.values():
        if was.uid in own and was.uid not in touched and was.uid not in ended:
            continue  # what else became of it, the log says of another branch
        path = base.sessions[was.session_id].path if was.session_id in base.sessions else ""
        if what := _describe_decision_change(was, own.get(was.uid)):
            is_proven = is_signed(was.session_id) if was.uid not in own else was.uid in replaced
            found.append(DecisionChange(was, path, what, was_decided=True, is_signed=is_proven))
        elif own[was.uid].number != was.number:
            what, is_free = f"is called {own[was.uid].name} now", was.number not in named
            found.append(DecisionChange(was, path, what, was_decided=True, is_signed=is_free))
    yield from found
    told = {name for one in found for name in (one.row.uid, one.row.title)}
    for uid, path in touched.items():
        if (row := own.get(uid)) and is_counted(row) and uid not in before:
            older = list_superseded(row)
            names = ", ".join(map(_name_related_decision, older))
            yield DecisionChange(
                row,
                path,
                f"is decided in this change{f', and replaces {names}' if names else ''}",
                was_decided=any(told.isdisjoint((one.uid or one.path, one.title)) for one in older),
                is_signed=is_signed(row.session_id),
            )


def _name_related_decision(one: Related) -> str:
    return one.name if one.uid else repr(_shorten_decision_text(one.title))


def _shorten_decision_text(text: str) -> str:
    return shortened(escaped_text(one_line(text)), TITLE_MAX)


def _describe_decision_change(was: DecisionRow, now: DecisionRow | None) -> str:
    """What became of a decision, in words; empty where it is as it was."""
    if now is None:
        return "is erased"
    if now.standing != was.standing:
        later = now.superseded_by
        by = f" by {_name_related_decision(later)}" if later else ""
        return f"is {_STANDS.get(now.standing, now.standing)}{by}"
    return _describe_changed_fields(was, now, _OWN)


def _describe_changed_fields(was: Row, now: Row, names: Iterable[str]) -> str:
    differ = [name for name in names if getattr(was, name) != getattr(now, name)]
    if _replaced_by_row(was) != _replaced_by_row(now):
        differ.append("what it replaces")
    return f"says otherwise: {', '.join(_WORDS.get(n, n) for n in differ)}" if differ else ""


def _replaced_by_row(one: Row) -> list[str]:
    replaced = list_superseded(one) if isinstance(one, DecisionRow) else ()
    return [old.uid or old.path or old.title for old in replaced]


# Records without a session -------------------------------------------------------------------


def _of_records(
    base: BaseSide,
    records: Sequence[ForeignRow],
    superseded: Iterable[str],
    is_edited: Callable[[ForeignRow, ForeignRow], bool],
) -> Iterator[DecisionChange]:
    titles = {*superseded}
    here = RecordsHere(base, records)
    for was in base.records:
        now = here.record_now(was)
        if not is_counted(was):
            is_told = was.status in _ENDED and not (now and now.is_held)  # that is said as new
            if is_told and (now is None or now.status != was.status):
                what = f"is {now.status} now" if now else "is no record here any more"
                yield DecisionChange(was, was.path, what, was_decided=False, is_signed=False)
            continue
        if now is None:
            continue
        if now.status != was.status and not _IN_FORCE.issuperset((was.status, now.status)):
            by = f" by {_shorten_decision_text(now.superseded_by)}" if now.superseded_by else ""
            what = f"is {_STANDS.get(now.status, now.status)}{by}"
        else:
            what = _describe_changed_fields(was, now, _FOREIGN)
            what = what or _successor_changed(was, now, base.records, records)
        if not what and was.is_held and is_edited(was, now):
            what = "says otherwise: its text"
        if what:
            signed = not titles.isdisjoint((was.path, was.title))
            yield DecisionChange(was, was.path, what, was_decided=True, is_signed=signed)


def _successor_changed(
    was: ForeignRow, now: ForeignRow, before: Sequence[ForeignRow], here: Sequence[ForeignRow]
) -> str:
    """What was turned down hangs on the record that took the place of this one."""
    newer = _shorten_decision_text(now.superseded_by) or "no record that it names"
    is_same = was.superseded_by.rpartition("/")[2] == now.superseded_by.rpartition("/")[2]
    if is_same and was.path != now.path:  # in another folder a number may mean another record
        found = _find_held_successor(now, here)
        newer = found.path if isinstance(found, ForeignRow) else newer
        is_same = _is_one_file(_find_held_successor(was, before), found)
    return "" if is_same else f"is replaced by {newer} now"


def _find_held_successor(old: ForeignRow, records: Sequence[ForeignRow]) -> Row | None:
    return find_successor(old, [one for one in records if one.is_held], ())


def _is_one_file(was: Row | None, now: Row | None) -> bool:
    names = (_record_file_name(one) for one in (was, now) if isinstance(one, ForeignRow))
    return len({*names}) < 2 and (was is None) == (now is None)


class RecordsHere:
    """The records that lie here, by where one of the base may be now."""

    def __init__(self, base: BaseSide, records: Iterable[ForeignRow]) -> None:
        self._paths = dict[str, ForeignRow]()
        self._moved = defaultdict[str, list[ForeignRow]](list)
        before = {one.path for one in base.records}
        for record in records:
            self._paths.setdefault(record.path, record)
            if record.path not in before:  # else it is another one, however it is called
                self._moved[_record_file_name(record)].append(record)
                self._moved[f"/{record.title}"].append(record)

    def record_now(self, was: ForeignRow) -> ForeignRow | None:
        """At its path, else a new file of its name, else of its title.

        A page that has lost its title and its status is no longer this record.
        """
        at_path = self._paths.get(was.path)
        at_path = at_path if at_path and _is_still(was, at_path) else None
        moved = (*self._moved[_record_file_name(was)], *self._moved[f"/{was.title}"])
        return at_path or next((one for one in moved if _is_still(was, one)), None)


def _record_file_name(one: ForeignRow) -> str:
    return one.path.rpartition("/")[2]


def _is_still(was: ForeignRow, one: ForeignRow) -> bool:
    return one.title == was.title or one.status != "none"
