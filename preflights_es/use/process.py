"""What lives as long as a process: settings, the log, its projections, and what reads and keeps
them. What belongs to one caller stays in `request`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec.structs import replace

from preflights_es.kernel.errors import (
    Conflict,
    DuplicateInput,
    LogFromFuture,
    NoLog,
    Notice,
    SettingsError,
)
from preflights_es.kernel.events import Event
from preflights_es.kernel.ids import decision_uid
from preflights_es.kernel.ports import Access, Archive, Arrival, Head, Stored, Stream
from preflights_es.kernel.session import misplaced
from preflights_es.kernel.text import NAME_MAX, line_trouble
from preflights_es.records.session_files import (
    SessionFiles,
    SessionFolder,
    SessionFolders,
    name_session_file,
)
from preflights_es.redaction.patterns import SECRETS
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.runtime.sanitizing import Sanitizer
from preflights_es.settings.load import Settings, record_places, records_cache, surroundings
from preflights_es.store.sql import SqlStore, empty_log, temporary_log
from preflights_es.store.stored_events import Codec, erased_before
from preflights_es.system import clock_ids
from preflights_es.system import files as atomic_file
from preflights_es.use.filed_sessions import (
    FOREIGN,
    FiledSession,
    FiledSessions,
    ReadSessionFile,
    last_events,
)
from preflights_es.words.signing import bears_signature
from preflights_es.words.workflow import Workflow

if TYPE_CHECKING:
    from preflights_es.history.transfer import Transfer
    from preflights_es.history.verification import SideTableCheck
    from preflights_es.projections.projection import (
        ProjectedRows,
        Projection,
        ProjectionReader,
        Read,
    )
    from preflights_es.records.documents import Documents
    from preflights_es.records.record_list import Records
    from preflights_es.records.record_names import TitleStatement
    from preflights_es.records.record_places import RecordPlaces
    from preflights_es.runtime.derived_rows import ProjectionCheck
    from preflights_es.runtime.projector import Projector
    from preflights_es.store.sql_projections import SqlFollowing
    from preflights_es.use.results import Drawn
    from preflights_es.use.signatures import Signatures
    from preflights_es.words.signing import Signed


def _read_title_statement(title: str) -> TitleStatement:
    """Few commands meet a title that was not read before: its reader is loaded then."""
    found: TitleStatement = FEATURES.port("said")(title)
    return found


def projector(log: SqlFollowing) -> Projector:
    """What keeps the projections of a log."""
    from preflights_es.runtime.projector import Projector

    return Projector(log, projected_rows(), build_projection_reader())


def projected() -> list[str]:
    """Tables of projections, each of which has rows by session."""
    from preflights_es.store.frozen import PROJECTED

    return [*PROJECTED.values()]


def projected_rows() -> tuple[ProjectedRows, ...]:
    """All that are kept, each loaded once it folds a session."""
    from preflights_es.projections.projection import late_projections
    from preflights_es.store.frozen import PROJECTED

    return late_projections(PROJECTED)


def projections() -> tuple[Projection, ...]:
    """All that are kept."""
    from preflights_es.projections.projection import import_projections
    from preflights_es.store.frozen import PROJECTED

    return import_projections(PROJECTED)


def build_projection_reader() -> ProjectionReader:
    """What folds a session for a projection, or for the trail."""
    from preflights_es.projections.projection import ProjectionReader

    codecs: dict[str, Codec] = {}

    def decoder(workflow: Workflow[Any]) -> Callable[[Stored], Event]:
        if workflow.name not in codecs:
            codecs[workflow.name] = Codec(workflow.decider)
        return codecs[workflow.name].decode

    return ProjectionReader(WORKFLOWS, decoder, misplaced)


T = TypeVar("T")


class made_once(Generic[T]):  # noqa: N801  used as a decorator
    """A property that is made when it is first used, once, whichever threads ask for it."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, process: Any, owner: type) -> T:
        with process.lock:
            if self._name not in process.__dict__:
                process.__dict__[self._name] = self._make(process)
        made: T = process.__dict__[self._name]
        return made


StandsIn = Callable[[Settings, Callable[[Notice], None], Access], str]
"""Makes the log that stands in for one that cannot be written (`use/stand_in.py`)."""


class Process:
    """Shared by threads and event loops; what belongs to one caller is in its `Request`."""

    def __init__(
        self,
        settings: Settings,
        access: Access = Access.CREATE,
        *,
        tell: Callable[[Notice], None] = lambda _: None,
        stands_in: StandsIn | None = None,
    ) -> None:
        """Args:
        access: what is done with the log.
        tell: takes what a person should know of the log and its session files.
        stands_in: makes the log that stands in for one which cannot be written.
        """
        self.settings = settings
        self.tell = tell
        self.drawn: Drawn | None = None
        """Shows how far the tables of a large log are."""
        self.lock = RLock()
        self._stands_in = stands_in
        self._access = access
        self._given_back = ExitStack()
        self._file_log: tuple[object, FileLog] | None = None

    @made_once
    def signatures(self) -> Signatures:
        """What signatures prove, by the signers of who looks."""
        from preflights_es.use.signatures import Signatures  # few logs have any

        found = Signatures(self.settings)
        self._given_back.callback(found.keep)
        return found

    def acceptance(self, session_id: str) -> Signed | None:
        """What the signature of a person's acceptance proves; None without one."""
        if not any(map(bears_signature, self.store.read(session_id))):
            return None  # as most: then it need not be known whose signatures count
        return self.signatures.of_acceptance(self.runner, session_id)

    # 1. The log ------------------------------------------------------------------------------

    @made_once
    def store(self) -> SqlStore:
        """The log, opened and up to date.

        Raises:
            NoLog: settings name a place, no log lies there, and none is to be made.
        """
        database = self.settings.database
        if self.settings.stand_in is not None:
            assert self._stands_in is not None, "who says a stand-in brings what makes it"
            database = self._stands_in(self.settings, self.tell, self._access)
        try:
            return SqlStore(database, clock_ids.now, clock_ids.salt, self._access)
        except NoLog:
            if self.settings.is_database_named:
                raise
        return self._given_back.enter_context(empty_log(clock_ids.now, clock_ids.salt))

    @made_once
    def known_project(self) -> str | None:
        """The project's name in this log; None where the log may be shared, and nothing says it."""
        if (file := self.settings.project_file) is not None:
            # Only a clone without a session of its own asks its session files for the name.
            if not self.session_folders.stamp() or self.store.heads(self.settings.project, 1):
                return self.settings.project
            usual, keeps = self.settings.project, self._access.creates
            return project_adopted(file, usual, self.session_folders, keeps=keeps)
        if not self.settings.shares_log:
            return self.settings.project
        return project_filed(self.store, self.session_folders)

    @property
    def project(self) -> str:
        """The project's name in this log.

        Raises:
            SettingsError: the log may hold another repository's sessions, and nothing says which
                project this is.
        """
        if self.known_project is None:
            raise SettingsError(
                'this log may be shared: say which project this is, with `project = "NAME"` in '
                "preflights.toml, or set PREFLIGHTS_PROJECT"
            )
        return self.known_project

    @property
    def sanitizer(self) -> Sanitizer:
        """Frees texts of what the settings name."""
        return Sanitizer((*SECRETS, *self.settings.redact))

    @made_once
    def runner(self) -> Runner:
        """The loop."""
        given = (clock_ids.now, clock_ids.new_id, _sleep, self.sanitizer)
        return Runner(self.store, WORKFLOWS, *given)

    @property
    def file_log(self) -> FileLog:
        """What session files say more than the log; looked at again when a folder changed."""
        stamp = self.session_folders.stamp()
        with self.lock:
            if self._file_log is None or self._file_log[0] != stamp:
                self.forget_files()
                self._file_log = stamp, FileLog(self)
            return self._file_log[1]

    def forget_files(self) -> None:
        """Look at session files again: the log took some over."""
        with self.lock:
            if self._file_log is not None:
                self._given_back.callback(self._file_log[1].close)  # a thread may be reading it
                self._file_log = None

    def log_id(self) -> str:
        """What the log calls itself."""
        return self.store.log_id()

    @made_once
    def documents(self) -> Documents:
        """The performer of files."""
        from preflights_es.records.documents import Documents

        folders = (self.record_places.new, self.settings.tasks)
        kept = self.session_files if self.settings.keeps_sessions else None
        return Documents(
            self.runner,
            self.settings.root,
            folders,
            sessions=kept,
            is_tracked=self._is_tracked,
            records=lambda: self.record_places.folders,
        )

    def _is_tracked(self, path: str) -> bool:
        """Whether git knows a file of the project; also where git cannot say."""
        from preflights_es.system import git

        words = ("ls-files", "-z", "--", f":(literal){path}")
        return git.read_git_text(words, self.settings.root, surroundings()) != ""

    @made_once
    def record_places(self) -> RecordPlaces:
        """Where records lie, and where a new one goes."""
        return record_places(self.settings, lambda: self.records().records)

    def records(self) -> Records:
        """What lies in the folders of records, ours and those of others."""
        from preflights_es.records.record_list import UnreadRecord, records_in

        settings, places = self.settings, self.record_places
        cache = records_cache(settings, "records")
        found = records_in(settings.root, places.folders, cache, _read_title_statement)
        if not places.left_out:
            return found
        unread = (UnreadRecord(*one) for one in places.left_out)
        return replace(found, unread=(*found.unread, *unread))

    @made_once
    def session_files(self) -> SessionFiles:
        """The writer of sessions beside their files."""
        return SessionFiles(self.store, self.session_folders, self.session_home, self.tell)

    @made_once
    def session_folders(self) -> SessionFolders:
        """Where sessions lie as files."""
        return SessionFolders(self.settings.root, self.record_places)

    def session_homes(self, workflow: str) -> Sequence[SessionFolder]:
        """Where those of a workflow may lie."""
        found = self.runner.workflows.get(workflow)
        if found and found.filed.filing:
            return (self.session_folders.beside(found.filed.filing.folder),)
        return self.session_folders.of_records

    def session_home(self, workflow: str, session_id: str) -> SessionFolder:
        """Where a session lies as a file, or will."""
        name, homes = name_session_file(decision_uid(session_id)), self.session_homes(workflow)
        if len(homes) == 1:
            return homes[0]
        there = (one for one in homes if one.has(name))
        return next(there, None) or self.session_folders.beside(self.record_places.new)

    def finish_pending(self) -> list[Handle]:
        """Write the documents that earlier commands of this project left open; `LogBusy`: not now.

        None where a shared log does not know the project.
        """
        project = self.known_project
        if project is None:
            return []
        if not (self.store.open_calls(project) or self.session_folders.is_unfinished):
            return []
        with self.store.database.hurried():
            return self.documents.finish_pending(project)

    @made_once
    def transfer(self) -> Transfer:
        """Sessions that leave this log, and those that come."""
        from preflights_es.history.transfer import Transfer

        filed = {self.project: self.documents.numbers_used}
        return Transfer(self.runner, self.store, projected(), filed)

    # 2. Projections --------------------------------------------------------------------------

    @made_once
    def following(self) -> SqlFollowing:
        """What projections need of the log."""
        from preflights_es.store.sql_projections import SqlFollowing

        return SqlFollowing(self.store)

    @made_once
    def projector(self) -> Projector:
        """The projections of the log; a reader of one catches up first."""
        found = projector(self.following)
        found.drawn = self.drawn
        return found

    def numbered(self, number: int) -> list[str]:
        """Sessions of this project whose record may bear a number; their own logs say whether."""
        said = f'"number":{number},'
        try:
            rows = self.projector.rows("decisions", self.project)
            return [row["session_id"] for row in rows if said in row["decided"]]
        except LogFromFuture:
            return []  # the log's list of numbers has one of them all the same

    # 3. Looking whether all is as it was recorded --------------------------------------------

    @contextmanager
    def projection_check(self) -> Iterator[ProjectionCheck]:
        """Compares projections with sessions, in a database that lasts as long."""
        from preflights_es.runtime.derived_rows import ProjectionCheck
        from preflights_es.store.sql_projections import SqlFollowing

        def again(session_id: str) -> Stream | None:
            head = self.store.head(session_id)
            stream = self.following.stream(head) if head is not None else None
            return None if stream is None or stream.damage else stream

        with temporary_log(clock_ids.now, clock_ids.salt) as made:
            following = SqlFollowing(made)
            yield ProjectionCheck(
                self.following, following, projections(), build_projection_reader(), again=again
            )

    def side_table_check(self) -> SideTableCheck:
        """Compares sessions with the tables beside their chains."""
        from preflights_es.history.verification import SideTableCheck
        from preflights_es.store.audit_evidence import SqlAuditing

        versions = {one.name: one.version for one in projected_rows()}
        return SideTableCheck(self.runner, SqlAuditing(self.store), self._read, versions)

    def history(self, session_id: str) -> Read:
        """A session with all of its events, and how it stood after each.

        Raises:
            UnknownSession, ErasedSession, LogDamaged, SessionFaulted: it cannot be read.
        """
        self.runner.load(session_id)
        head = self.store.head(session_id)
        assert head is not None, "it was there a moment ago, and nothing takes one away"
        return self._read(head)

    def _read(self, head: Head) -> Read:
        return self.projector.reader.read(self.following.stream(head))

    def close(self) -> None:
        """Give the log back, if it was opened."""
        self.forget_files()
        self._given_back.close()
        if "store" in self.__dict__:
            self.store.close()


class FileLog(Process):
    """What files say more than the log of another process; nothing is recorded here."""

    def __init__(self, process: Process) -> None:
        super().__init__(process.settings, Access.READ)
        self._log = process
        self.others: list[FiledSession] = []
        """Files that this log does not hold, and of which a person has to know."""
        self._files: dict[str, FiledSession] = {}
        self._held: list[ReadSessionFile] = []
        for read in FiledSessions(process).files():
            if read.file.compared in FOREIGN:
                self._held.append(read)
            elif read.file.told:
                self.others.append(read.file)

    @property
    def is_empty(self) -> bool:
        """Whether no file says more than the log."""
        return not self._held

    @property
    def read(self) -> dict[str, FiledSession]:
        """Files that say more, by path; each was read as a whole."""
        return {one.file.path: one.file for one in self._held}

    @property
    def files(self) -> dict[str, FiledSession]:
        """Those that this log holds, by session."""
        _ = self.is_empty or self.store
        return self._files

    @made_once
    def known_project(self) -> str | None:
        """That of the other process."""
        return self._log.known_project

    @made_once
    def store(self) -> SqlStore:
        """The log of the files."""
        store = self._given_back.enter_context(temporary_log(clock_ids.now, clock_ids.salt))
        whole = [one.events for one in self._held if not erased_before(one.events)]
        are_in = store.insert_new([Arrival(events) for events in whole])
        for read in self._held:
            is_in = are_in and not erased_before(read.events)
            if is_in or _inserted(store, read.events):
                self._files[read.file.session_id] = read.file
            else:
                why = "an Input of it stands in another session"
                self.others.append(replace(read.file, compared="unread", why=why))
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


def project_adopted(file: Path, usual: str, folders: SessionFolders, *, keeps: bool) -> str:
    """The name that session files say most often, in a clone whose own log has no session yet.

    A clone may lie in a folder of another name, and its sessions belong to the same project.

    Args:
        file: where the name is remembered.
        usual: the name where files say none.
        keeps: whether it is remembered: files of another branch may say none.
    """
    name = _most_frequent_name(one.project for folder in folders for one in last_events(folder))
    if name in (None, usual) or line_trouble(name, NAME_MAX):
        return usual
    if keeps:
        with (
            suppress(OSError),
            atomic_file.open_folder_below(
                file.parent.parent, (file.parent.name,), makes=True
            ) as place,
            place.new(file.name) as new,
        ):
            new.write(f"{name}\n".encode())
    return name


def project_filed(log: SqlStore, folders: SessionFolders) -> str | None:
    """The project of a shared log whose sessions lie here as files; None where none of them does.

    What a file says is not enough: another repository may be called alike.
    """
    said = [one for folder in folders for one in last_events(folder)]
    heads = log.heads_of([one.session_id for one in said])
    return _most_frequent_name(
        heads[one.session_id].project for one in said if one.session_id in heads
    )


def _most_frequent_name(names: Iterable[str]) -> str | None:
    """The name that is there most often."""
    return next((name for name, _ in Counter(names).most_common(1)), None)


async def _sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)
