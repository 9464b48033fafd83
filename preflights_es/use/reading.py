"""Sessions of the log and those that only session files have, and how the two compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import Final, Literal, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import (
    AnotherVersion,
    Conflict,
    DuplicateInput,
    LogDamaged,
    PreflightsError,
)
from preflights_es.kernel.ids import decision_uid, short
from preflights_es.kernel.ports import Archive, Arrival, Head, Stored
from preflights_es.records.session_files import SIZE_MAX, SessionFolder, name_of
from preflights_es.runtime.runner import Handle
from preflights_es.store import jsonl
from preflights_es.store.chain import erased_before, verified
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.system.files import Folder, Unreadable
from preflights_es.use.process import Process, made_once
from preflights_es.use.request import Request

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


class Lying(msgspec.Struct, frozen=True):
    """A file that was read, with its events where it says more than the log."""

    file: FiledSession
    events: Sequence[Stored] = ()


class Shelf:
    """The files of a project, held against its log."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._read = 0

    def files(self, *, whole: bool = False) -> Iterator[Lying]:
        """Every file, folder by folder, in the order of their names.

        Args:
            whole: also reads those that end as the log does.
        """
        for place in self._process.session_folders:
            yield from self._of(place, whole=whole)

    def _of(self, place: SessionFolder, *, whole: bool) -> Iterator[Lying]:
        try:
            names = place.names()
        except Unreadable as error:
            yield Lying(_unread(place.path, str(error)))
            return
        with place.reading() as folder:
            for at in range(0, len(names) if folder else 0, TOGETHER):
                assert folder is not None, "names are of one that is there"
                some = names[at : at + TOGETHER]
                same = {} if whole else self._unchanged(place, folder, some)
                for name in some:
                    yield Lying(same[name]) if name in same else self._looked(place, folder, name)

    def file_of(self, session_id: str) -> FiledSession | None:
        """The file of a session of the log; None where it has none."""
        head = self._process.store.head(session_id)
        place = self._process.session_home(head.workflow if head else "")
        name = name_of(decision_uid(session_id))
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
            and (head.hash, name_of(decision_uid(head.session_id))) == (last.hash, name)
        }

    def _looked(self, place: SessionFolder, folder: Folder, name: str) -> Lying:
        """A file that is read as a whole."""
        path = f"{place.path}/{name}"
        try:
            events = self._verified(place, folder, name)
            file = self._held_against(path, events)
            return Lying(file, events if file.compared in FOREIGN else ())
        except (Unreadable, FileNotFoundError) as error:
            return Lying(_unread(path, str(error)))
        except LogDamaged as error:
            return Lying(_unread(path, error.found))
        except AnotherVersion as error:
            return Lying(_unread(path, f"it {str(error).removeprefix(f'{path} ')}"))
        except PreflightsError as error:
            return Lying(_unread(path, str(error)))

    def _verified(self, place: SessionFolder, folder: Folder, name: str) -> Sequence[Stored]:
        """The events of a file.

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
        if name != name_of(decision_uid(first.session_id)):
            raise Unreadable(f"it holds session {first.session_id}, and its name says another")
        here = self._process.store.head(first.session_id)
        if here is None and first.project != self._process.project:
            raise Unreadable(
                f"it is of the project {first.project!r}, and this is {self._process.project!r}"
            )
        runner = self._process.runner
        runner.folded(runner.workflow(first.workflow), events)
        home = self._process.session_home(first.workflow)
        if home.path != place.path:
            raise Unreadable(f"its place is {home.path}")
        return events

    def _held_against(self, path: str, events: Sequence[Stored]) -> FiledSession:
        last, covered = events[-1], erased_before(events)
        here = self._process.store.read(last.session_id)
        pairs = zip(here, events, strict=False)
        parts = next((mine.version for mine, its in pairs if mine.hash != its.hash), 0)
        return FiledSession(
            path=path,
            compared="diverged" if parts else _compared(events, here),
            session_id=last.session_id,
            version=last.version,
            here=len(here),
            parts_at=parts,
            is_erased=bool(covered) and not erased_before(here),
        )


def _compared(events: Sequence[Stored], here: Sequence[Stored]) -> Compared:
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


def projects_said(folder: SessionFolder) -> Iterator[str]:
    """The project that each file says, unverified."""
    with folder.reading() as place, suppress(Unreadable):
        for name in folder.names() if place else ():
            assert place is not None, "names are of one that is there"
            if last := _last(place, name):
                yield last.project


def _has_text_of(events: Sequence[Stored], here: Sequence[Stored]) -> bool:
    """Whether a file has payloads that the log has erased."""
    return any(
        its.data is not None and mine.data is None for its, mine in zip(events, here, strict=False)
    )


def _unread(path: str, why: str) -> FiledSession:
    return FiledSession(path=path, compared="unread", why=why)


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
        from preflights_es.store.sql import temporary_log

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


NAMED_MAX: Final = 5  # files that are named one by one


class _Row(Protocol):
    """A row of a list."""

    @property
    def session_id(self) -> str: ...
    @property
    def file(self) -> str | None: ...


R = TypeVar("R", bound=_Row)


def looking(request: Request, typed: str) -> Request:
    """A request to the log, or to the session files where only those have the session.

    Says where a session lies, and where its file differs from the log.

    Raises:
        UnknownSession, AmbiguousSession: none or several match.
    """
    found = request.holding(typed)
    session_id = found.sessions.resolved(typed)
    if isinstance(found.process, FileLog):
        path = found.process.files[session_id].path
        request.notice("only_in_file", f"only {path} has this session", path=path)
        return found
    file = Shelf(request.process).file_of(session_id)
    if file is not None:
        tell(request, file)
    return found


def tell(request: Request, file: FiledSession) -> None:
    """Say how a file differs from the log, where a person has to know it."""
    if file.compared == "beyond":
        log = request.process.file_log
        is_there = file.session_id in log.files
        status = log.runner.load(file.session_id).status if is_there else "unknown"
        text = (
            f"{file.path} goes on beyond the log, to event {file.version}: there session "
            f"{short(file.session_id)} is {status.replace('_', ' ')}"
        )
        code = "file_erases" if file.is_erased else "file_beyond"
        request.notice(code, text, path=file.path)
    elif file.told:
        request.notice("file_apart", file.told, path=file.path)


def with_files(request: Request, listed: Callable[[Request], Iterator[R]]) -> Iterator[R]:
    """Rows of the log, and those that session files say more, the oldest session first.

    A session that the log lists is listed once; how its file differs is said.
    """
    from heapq import merge

    tell_files(request)
    beside = request.at_files()
    if beside is None:
        yield from listed(request)
        return
    log = request.process.file_log
    filed = (
        replace(row, file=log.files[row.session_id].path)  # type: ignore[type-var]  # a Struct
        for row in listed(beside)
    )
    of_log = ""
    for row in merge(listed(request), filed, key=attrgetter("session_id")):
        if row.file is None:
            of_log = row.session_id
        if row.file is None or row.session_id != of_log:
            yield row


def heads_with_files(
    request: Request, heads: Callable[[Request], Iterable[Head]]
) -> Iterator[tuple[Request, Head]]:
    """Sessions of the log and those that only files have, each with the request that reads it."""
    from heapq import merge

    of_log = ((request, head) for head in heads(request))
    beside = request.at_files()
    if beside is None:
        yield from of_log
        return
    known = request.process.store.head
    filed = ((beside, head) for head in heads(beside) if known(head.session_id) is None)
    yield from merge(of_log, filed, key=lambda one: one[1].session_id)


def tell_files(request: Request) -> None:
    """Say which files differ from the log, the first of them one by one."""
    log = request.process.file_log
    files = [*log.others, *log.files.values()] if not log.is_empty else log.others
    said = [file for file in files if file.told or file.compared == "beyond"]
    for file in said[:NAMED_MAX]:
        tell(request, file)
    if (more := len(said) - NAMED_MAX) > 0:
        request.notice("files_more", f"and {more:,} more session files", count=more)
