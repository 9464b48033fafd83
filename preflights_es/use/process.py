"""What lives as long as a process: settings, the log, and what reads and keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from preflights_es.kernel.errors import LogFromFuture, NoLog, Notice
from preflights_es.kernel.ports import Head, Stream
from preflights_es.runtime.features import WORKFLOWS
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.settings.load import Settings
from preflights_es.store.sql import SqlStore
from preflights_es.system import clock_ids
from preflights_es.use.projections import projected, projections, projector, reader

if TYPE_CHECKING:
    from preflights_es.history.side_tables import Beside
    from preflights_es.history.transfer import Transfer
    from preflights_es.projections.projection import Read
    from preflights_es.records.documents import Documents
    from preflights_es.records.session_files import SessionFiles, SessionFolder, SessionFolders
    from preflights_es.runtime.projection_check import ProjectionCheck
    from preflights_es.runtime.projector import Follower, Projector
    from preflights_es.store.projection_feed import SqlFollowing
    from preflights_es.use.reading import FileLog

T = TypeVar("T")


class made_once(Generic[T]):  # noqa: N801  used as a decorator
    """A property that is made when it is first used, once, whichever threads ask for it."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, process: None, owner: type) -> Self: ...
    @overload
    def __get__(self, process: object, owner: type) -> T: ...
    def __get__(self, process: Any, owner: type) -> Self | T:
        if process is None:
            return self
        with process.lock:
            if self._name not in process.__dict__:
                process.__dict__[self._name] = self._make(process)
        made: T = process.__dict__[self._name]
        return made


class Process:
    """Shared by threads and event loops; what belongs to one caller is in its `Request`."""

    def __init__(
        self,
        settings: Settings,
        *,
        creates: bool = True,
        reads: bool = False,
        tell: Callable[[Notice], None] = lambda _: None,
    ) -> None:
        """Args:
        creates: whether the log may be made, where there is none.
        reads: whether the log is only read, and nothing waits for those who write.
        tell: takes what a person should know of the project's name.
        """
        self.settings = settings
        self.tell = tell
        self.lock = RLock()
        self._creates = creates
        self._reads = reads
        self._took_over = False
        self._given_back = ExitStack()
        self._file_log: tuple[object, FileLog] | None = None

    # 1. The log ------------------------------------------------------------------------------

    @made_once
    def store(self) -> SqlStore:
        """The log, opened and up to date.

        Raises:
            NoLog: settings name a place, no log lies there, and none is to be made.
        """
        database, creates = self.settings.database, self._creates
        if self.settings.stand_in is not None:
            from preflights_es.use.stand_in import database_of

            database = database_of(self.settings, self.tell, reads=self._reads)
        try:
            return SqlStore(
                database, clock_ids.now, clock_ids.salt, creates=creates, hurries=self._reads
            )
        except NoLog:
            if self.settings.is_database_named:
                raise
        from preflights_es.store.sql import empty_log

        return self._given_back.enter_context(empty_log(clock_ids.now, clock_ids.salt))

    @made_once
    def project(self) -> str:
        """The project's name in this log; a log that several repositories share has a say."""
        if self.settings.project_file is not None:
            # Only a clone without a session of its own asks its session files for the name.
            if not self.session_folders.stamp() or self.store.heads(self.settings.project, 1):
                return self.settings.project
            from preflights_es.use.project_name import adopted

            return adopted(self.settings, self.session_folders, keeps=self._creates)
        if self.settings.repository is None:
            return self.settings.project
        from preflights_es.use.project_name import named

        found = named(self.settings, self.store, self.tell, claims=self._creates)
        self._took_over = found.sessions > 0 or found.is_unclaimed
        return found.name

    @made_once
    def runner(self) -> Runner:
        """The loop."""
        return Runner(self.store, WORKFLOWS, clock_ids.now, clock_ids.new_id, _sleep)

    @property
    def file_log(self) -> FileLog:
        """What session files say more than the log; looked at again when a folder changed."""
        from preflights_es.use.reading import FileLog

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

        folders = (self.settings.decisions, self.settings.tasks)
        kept = self.session_files if self.settings.keeps_sessions else None
        return Documents(self.runner, self.settings.root, folders, kept)

    @made_once
    def session_files(self) -> SessionFiles:
        """The writer of sessions beside their files."""
        from preflights_es.records.session_files import SessionFiles

        return SessionFiles(self.store, self.session_folders, self.session_home, self.tell)

    @made_once
    def session_folders(self) -> SessionFolders:
        """Where sessions lie as files."""
        from preflights_es.records.session_files import SessionFolders

        return SessionFolders(self.settings.root, self.settings.decisions)

    def session_home(self, workflow: str) -> SessionFolder:
        """Where those of a workflow lie."""
        filing = self.runner.workflow_or_opaque(workflow).filing
        return self.session_folders.beside(filing.folder if filing else "")

    def finish_pending(self) -> list[Handle]:
        """Write the documents that earlier commands of this project left open; `LogBusy`: not now.

        None where this command took over sessions that may be another repository's.
        """
        project = self.project
        owes = self.store.open_calls(project) or self.session_folders.is_unfinished
        if self._took_over or not owes:
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
        from preflights_es.store.projection_feed import SqlFollowing

        return SqlFollowing(self.store)

    @made_once
    def projector(self) -> Projector:
        """The projections of the log; a reader of one catches up first."""
        return projector(self.following)

    def numbered(self, number: int) -> list[str]:
        """Sessions of this project whose record may bear a number; their own logs say whether."""
        said = f'"number":{number},'
        try:
            rows = self.projector.rows("decisions", self.project)
            return [row["session_id"] for row in rows if said in row["decided"]]
        except LogFromFuture:
            return []  # the log's list of numbers has one of them all the same

    def records(self, named: int | str) -> list[str]:
        """Paths of the project's records without a session that bear a number or a name."""
        from preflights_es.use.decisions import foreign

        return [row.path for row in foreign(self).rows if row.is_called(named)]

    def follow(self, follower: Follower) -> None:
        """Keep the projections up to date until the follower is stopped.

        Raises:
            NewerProjection: a newer version of this program keeps one of them.
            StoreUnavailable: the log could not be used the first time.
        """
        follower.follow(projector(self.following, follower.folded).catch_up)

    # 3. Looking whether all is as it was recorded --------------------------------------------

    @contextmanager
    def projection_check(self) -> Iterator[ProjectionCheck]:
        """Compares projections with sessions, in a database that lasts as long."""
        from preflights_es.runtime.projection_check import ProjectionCheck
        from preflights_es.store.projection_feed import SqlFollowing
        from preflights_es.store.sql import temporary_log

        def again(session_id: str) -> Stream | None:
            head = self.store.head(session_id)
            stream = self.following.stream(head) if head is not None else None
            return None if stream is None or stream.damage else stream

        with temporary_log(clock_ids.now, clock_ids.salt) as made:
            following = SqlFollowing(made)
            yield ProjectionCheck(self.following, following, projections(), reader(), again)

    def beside(self) -> Beside:
        """Compares sessions with the tables beside their chains."""
        from preflights_es.history.side_tables import Beside
        from preflights_es.store.side_tables import SqlAuditing

        versions = {one.name: one.version for one in projections()}
        return Beside(self.runner, SqlAuditing(self.store), self._read, versions)

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


async def _sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(seconds)
