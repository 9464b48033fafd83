"""Sessions as files beside records and other files: how each compares with the log; only read.

A file is evidence where only it exists. It is verified like an import: its size, its format, its
chain, one session, this project, and that its events can be folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal, Protocol

import msgspec

from preflights_es.kernel.errors import AnotherVersion, LogDamaged, PreflightsError
from preflights_es.kernel.events import ArtifactDue, Event
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Stored
from preflights_es.kernel.text import shortened
from preflights_es.records.session_files import (
    FOLDERS_MAX,
    SIZE_MAX,
    SessionFolder,
    SessionFolders,
    name_session_file,
)
from preflights_es.runtime.runner import Runner
from preflights_es.store import jsonl
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import erased_before, verified
from preflights_es.system.files import Folder, Unreadable

TAIL: Final = 4_096  # bytes: the last event of most sessions; of others the whole file is read
TOGETHER: Final = 200  # files whose sessions are looked up at once
READ_MAX: Final = 256 * 1024 * 1024  # bytes of files that one command reads

Compared = Literal["same", "behind", "new", "beyond", "diverged", "restored", "unread"]
"""How a file compares with the log.

`same`: both end with the same event. `behind`: the file is a beginning of the log's. `new`: only
the file exists. `beyond`: it goes on where the log ends. `diverged`: from one version on they hold
different events. `restored`: the log has erased the session, and the file has its text.
`unread`: it does not verify, cannot be read, or the log does not take it over.
"""

FOREIGN: Final = ("new", "beyond")
"""How files compare with the log that say more than it."""


class FiledSession(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a session."""

    path: str
    """Relative to the project's root."""
    compared: Compared
    session_id: str = ""
    """Empty where it cannot be read."""
    version: int = 0
    """Of the last event in the file."""
    here: int = 0
    """Of the last event in the log; 0 where the log has none of the session."""
    parts_at: int = 0
    """The first version that differs; 0 where none does."""
    is_erased: bool = False
    """Whether the file says that the session was erased, and the log does not."""
    why: str = ""
    """What is wrong with it, in words."""

    @property
    def told(self) -> str:
        """What a person has to know of it; empty where nothing."""
        match self.compared:
            case "unread":
                return f"{self.path} is left out: {self.why}"
            case "diverged":
                return (
                    f"{self.path} and the log hold different events of session "
                    f"{self.session_id[-8:]} from version {self.parts_at} on: both stay"
                )
            case "restored":
                return (
                    f"{self.path} holds text of session {self.session_id[-8:]}, which was erased "
                    "here: it is not read"
                )
            case _:
                return ""


class ReadSessionFile(msgspec.Struct, frozen=True):
    """A file that was read, with its events where it says more than the log."""

    file: FiledSession
    events: Sequence[Stored] = ()


class Holder(Protocol):
    """A process: the log that files are held against, and where they lie."""

    @property
    def store(self) -> SqlStore: ...
    @property
    def project(self) -> str: ...
    @property
    def runner(self) -> Runner: ...
    @property
    def session_folders(self) -> SessionFolders: ...
    def session_homes(self, workflow: str) -> Sequence[SessionFolder]: ...
    def session_home(self, workflow: str, session_id: str) -> SessionFolder: ...


class FiledSessions:
    """The files of a project, held against its log."""

    def __init__(self, process: Holder) -> None:
        self._process = process
        self._read = 0
        self._homes: dict[str, list[str]] = {}

    def files(
        self, *, whole: bool = False, read: Mapping[str, FiledSession] | None = None
    ) -> Iterator[ReadSessionFile]:
        """Every file, folder by folder, in the order of their names.

        Args:
            whole: also reads those that end as the log does.
            read: by path, files that were read as a whole just now.
        """
        for place in self._process.session_folders:
            yield from self._of(place, whole=whole, read=read or {})
        for path in self._process.session_folders.left_out:
            yield _unread_session_file(path, f"no more than {FOLDERS_MAX} such folders are read")

    def _of(
        self, place: SessionFolder, *, whole: bool, read: Mapping[str, FiledSession]
    ) -> Iterator[ReadSessionFile]:
        try:
            names = place.names()
        except Unreadable as error:
            yield _unread_session_file(place.path, str(error))
            return
        with place.reading() as folder:
            for at in range(0, len(names) if folder else 0, TOGETHER):
                assert folder is not None, "names are of one that is there"
                some = names[at : at + TOGETHER]
                known = {name: read.get(f"{place.path}/{name}") for name in some}
                same = {name: file for name, file in known.items() if file}
                same |= {} if whole else self._unchanged(place, folder, some)
                for name in some:
                    yield (
                        ReadSessionFile(same[name])
                        if name in same
                        else self._looked(place, folder, name)
                    )

    def file_of(self, session_id: str) -> FiledSession | None:
        """The file of a session of the log; None where it has none."""
        head = self._process.store.head(session_id)
        place = self._process.session_home(head.workflow if head else "", session_id)
        name = name_session_file(decision_uid(session_id))
        with place.reading() as folder:
            if folder is None or folder.lies(name) is None:
                return None
            same = self._unchanged(place, folder, [name]).get(name)
            return same or self._looked(place, folder, name).file

    def _unchanged(
        self, place: SessionFolder, folder: Folder, names: Sequence[str]
    ) -> dict[str, FiledSession]:
        """The files whose last event is the session's in the log."""
        tails = {name: last for name in names if (last := _last(folder, name))}
        heads = self._process.store.heads_of([last.session_id for last in tails.values()])
        return {
            name: FiledSession(
                path=f"{place.path}/{name}",
                compared="same",
                session_id=head.session_id,
                version=head.version,
                here=head.version,
            )
            for name, last in tails.items()
            if (head := heads.get(last.session_id))
            and (head.hash, name_session_file(decision_uid(head.session_id))) == (last.hash, name)
        }

    def _looked(self, place: SessionFolder, folder: Folder, name: str) -> ReadSessionFile:
        """A file that is read as a whole."""
        path = f"{place.path}/{name}"
        try:
            events, here = self._verified(place, folder, name)
            file = _held_against(path, events, here)
            return ReadSessionFile(file, events if file.compared in FOREIGN else ())
        except (Unreadable, FileNotFoundError, PreflightsError) as error:
            why = error.found if isinstance(error, LogDamaged) else str(error)
            if isinstance(error, AnotherVersion):
                why = why.replace(f"{path} ", "it ", 1)
            return _unread_session_file(path, why)

    def _verified(
        self, place: SessionFolder, folder: Folder, name: str
    ) -> tuple[Sequence[Stored], Sequence[Stored]]:
        """The events of a file, and those of its session in the log.

        Raises:
            Unreadable: it is too large, or no file.
            PreflightsError: it does not verify, or is of a newer version.
        """
        content = folder.content(name, SIZE_MAX)
        self._read += len(content)
        if self._read > READ_MAX:
            raise Unreadable(f"the files before it have {READ_MAX:,} bytes: no more are read")
        path = f"{place.path}/{name}"
        events = tuple(jsonl.stored(content.splitlines(keepends=True), path))
        if not events:
            raise Unreadable("it holds no events")
        first = events[0]
        verified(events)
        if name != name_session_file(decision_uid(first.session_id)):
            raise Unreadable(f"it holds session {first.session_id}, and its name says another")
        here = self._process.store.read(first.session_id)
        if not here and first.project != self._process.project:
            own = self._process.project
            raise Unreadable(f"it is of the project {first.project!r}, and this is {own!r}")
        if [one.hash for one in here] != [one.hash for one in events]:  # else the log holds it
            self._check_content(events)
        homes = self._homes.get(first.workflow)
        if homes is None:
            homes = [home.path for home in self._process.session_homes(first.workflow)]
            self._homes[first.workflow] = homes
        if place.path not in homes:
            raise Unreadable(f"its place is {homes[0]}")
        return events, here

    def _check_content(self, events: Sequence[Stored]) -> None:
        first, runner = events[0], self._process.runner
        workflow = runner.workflow(first.workflow)
        runner.folded(workflow, events)
        decode = runner.codec(workflow).decode
        check_uid(first, decode)
        for due in (decode(one) for one in events if one.type == ArtifactDue.tag and one.data):
            if isinstance(due, ArtifactDue):
                from preflights_es.records.render import (
                    check_template,
                )  # heavy: most commands read no file

                check_template(workflow, due.template)


def _held_against(path: str, events: Sequence[Stored], here: Sequence[Stored]) -> FiledSession:
    last, covered = events[-1], erased_before(events)
    pairs = zip(here, events, strict=False)
    parts = next((mine.version for mine, its in pairs if mine.hash != its.hash), 0)
    compared: Compared = "diverged" if parts else _compare_file_with_log(events, here)
    if covered and erased_before(here):
        # Perhaps each by an act of its own: neither holds anything for the other.
        parts, compared = 0, "restored" if _has_text_of(events, here) else "same"
    return FiledSession(
        path=path,
        compared=compared,
        session_id=last.session_id,
        version=last.version,
        here=len(here),
        parts_at=parts,
        is_erased=bool(covered) and not erased_before(here),
    )


def check_uid(first: Stored, decode: Callable[[Stored], Event]) -> None:
    """A page, a record and a list name a decision by its uid: it is that of the session.

    Raises:
        Unreadable: the payload says another one.
    """
    own = decision_uid(first.session_id)
    opening = None if first.data is None else decode(first)
    if (uid := getattr(opening, "uid", own)) != own:
        raise Unreadable(f"it says the uid {shortened(uid, 60)!r}, and its session's is {own!r}")


def _compare_file_with_log(events: Sequence[Stored], here: Sequence[Stored]) -> Compared:
    """How a file compares with a log, where neither holds another event than the other."""
    if not here:
        return "new"
    if len(events) > len(here):
        return "beyond"
    if erased_before(here) and _has_text_of(events, here):
        return "restored"
    return "behind" if len(events) < len(here) else "same"


def _last(folder: Folder, name: str) -> Stored | None:
    """What the last line of a file says, unverified; None where it cannot be read as an event."""
    with suppress(Unreadable, OSError, PreflightsError):
        content, _ = folder.ending(name, TAIL)
        line = content.rstrip(b"\n").rpartition(b"\n")[2]
        return next(jsonl.stored([line], name, is_part=True), None)
    return None


def last_events(folder: SessionFolder) -> Iterator[Stored]:
    """What each file says last, unverified."""
    with folder.reading() as place, suppress(Unreadable):
        for name in folder.names() if place else ():
            assert place is not None, "names are of one that is there"
            if last := _last(place, name):
                yield last


def _has_text_of(events: Sequence[Stored], here: Sequence[Stored]) -> bool:
    """Whether a file has payloads that the log has erased."""
    return any(
        its.data is not None and mine.data is None for its, mine in zip(events, here, strict=False)
    )


def _unread_session_file(path: str, why: str) -> ReadSessionFile:
    return ReadSessionFile(FiledSession(path=path, compared="unread", why=why))
