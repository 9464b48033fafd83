"""Sessions as files beside records: where they lie, and how they are written."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from preflights_es.kernel.errors import (
    AnotherVersion,
    ArtifactOutside,
    Notice,
    PreflightsError,
    StoreUnavailable,
)
from preflights_es.kernel.ids import decision_uid, short_session
from preflights_es.kernel.ports import Store, Stored
from preflights_es.kernel.text import late_pattern
from preflights_es.records.files import checked_folder
from preflights_es.records.record_folder import DEFAULT, RecordFolder
from preflights_es.records.record_places import RecordPlaces
from preflights_es.store import jsonl
from preflights_es.store.stored_events import verified
from preflights_es.system import files as atomic_file
from preflights_es.system.files import Unreadable

FOLDER: Final = ".sessions"
FILED: Final = ".preflights"
"""Holds the folder of each kind of files that are no records."""
FOLDERS_MAX: Final = 50  # of those kinds: every command looks whether they have sessions
SIZE_MAX: Final = 16 * 1024 * 1024  # bytes of a session's file; most have some ten thousand
FILES_MAX: Final = 100_000  # of a folder: some hundred bytes are held of each

UNFINISHED: Final = ".unfinished"
"""Names the session whose file is about to be written; left where the process was killed."""
_ID_MAX: Final = 100  # bytes of a session's id

_NAME: Final = late_pattern(r"[0-9a-f]{12}\.jsonl")
_KIND: Final = late_pattern(r"[a-z][a-z0-9_-]{0,39}")
_ATTRIBUTES: Final = (".gitattributes", b"*.jsonl -text merge=binary\n")
"""Git takes every byte as it is, and merges no two sessions line by line."""


def name_session_file(uid: str) -> str:
    """The file of a decision's session."""
    return f"{uid}.jsonl"


class SessionFolders:
    """All of a project; what lies there says which there are, so that no workflow is asked."""

    def __init__(self, root: Path, records: RecordPlaces) -> None:
        self._root = root
        self._records = records

    def beside(self, folder: str) -> SessionFolder:
        """The one beside the files of a folder, relative to the project's root."""
        return SessionFolder(self._root, folder)

    @property
    def of_records(self) -> Sequence[SessionFolder]:
        """Those beside records, as far as it is known where these lie; at least one."""
        known = self._records.known or (RecordFolder(DEFAULT, "default"),)
        return tuple(self.beside(folder.path) for folder in known)

    def __iter__(self) -> Iterator[SessionFolder]:
        """Those beside records, the first even where it is not there, then the others that are."""
        first, *more = self.of_records
        yield first
        yield from (one for one in more if one.stamp())
        yield from self._others()[:FOLDERS_MAX]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Those beyond `FOLDERS_MAX`, relative to the project's root: no command reads them."""
        return tuple(one.path for one in self._others()[FOLDERS_MAX:])

    def _others(self) -> list[SessionFolder]:
        beside = {one.path for one in self.of_records}
        try:
            with os.scandir(self._root / FILED) as found:
                kinds = sorted(entry.name for entry in found if _KIND.fullmatch(entry.name))
        except OSError:
            return []
        others = (self.beside(f"{FILED}/{kind}") for kind in kinds)
        return [one for one in others if one.stamp() and one.path not in beside]

    @property
    def paths(self) -> str:
        """Relative to the project's root, for messages."""
        return " and ".join(folder.path for folder in self)

    @property
    def is_unfinished(self) -> bool:
        """Whether a process that wrote a session was killed, or is at work."""
        return any(folder.has(UNFINISHED) for folder in self)

    def stamp(self) -> tuple[tuple[str, int], ...]:
        """Another one when a file of a folder was added, removed or replaced; empty of none."""
        return tuple((folder.path, stamp) for folder in self if (stamp := folder.stamp()))


class SessionFolder:
    """`.sessions` in one folder of files; no link leads into it."""

    def __init__(self, root: Path, folder: str) -> None:
        """Args:
        folder: of the files, relative to the project's root.
        """
        self._root = root
        self._folder = folder
        self.path = PurePosixPath(folder, FOLDER).as_posix()
        """Relative to the project's root, as git names it: also beside records in the root."""

    def names(self) -> list[str]:
        """Names of the files that may be of its kind, in order.

        Raises:
            Unreadable: the folder is a link or no folder, leads outside, or has too many files.
        """
        try:
            with self._opened() as folder:
                found = sorted(filter(_NAME.fullmatch, folder.names()))
        except FileNotFoundError:
            return []
        except (OSError, ArtifactOutside) as error:
            raise Unreadable(getattr(error, "strerror", None) or str(error)) from error
        if len(found) > FILES_MAX:
            raise Unreadable(f"it has more than {FILES_MAX:,} files")
        return found

    def stamp(self) -> int:
        """Another number when a file of the folder was added, removed or replaced."""
        try:
            return (self._root / self._folder / FOLDER).stat().st_mtime_ns
        except OSError:
            return 0

    def has(self, name: str) -> bool:
        """Whether something lies under a name."""
        return os.path.lexists(self._root / self._folder / FOLDER / name)

    @contextlib.contextmanager
    def reading(self) -> Iterator[atomic_file.Folder | None]:
        """The folder, for reading many of its files; None where there is none to be read."""
        with contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(self._opened())
            except (OSError, ArtifactOutside):
                folder = None
            yield folder

    def content(self, name: str) -> bytes | None:
        """A whole file; None where there is none.

        Raises:
            Unreadable: it is a link or no regular file, too large, or the system refuses.
        """
        with self.reading() as folder:
            try:
                return folder.content(name, SIZE_MAX) if folder else None
            except (FileNotFoundError, NotADirectoryError):
                return None

    def write(self, name: str, content: bytes) -> bool:
        """Write a file whole; whether it is the first one of the folder.

        Raises:
            ArtifactOutside: a link, or no file, lies in its place or that of the folder.
            StoreUnavailable: the disk refuses.
        """
        try:
            with self._opened(makes=True) as folder:
                lies = folder.lies(name)
                if lies is not None and not stat.S_ISREG(lies.st_mode):
                    found = f"{self.path}/{name} is a link or no file"
                    raise ArtifactOutside(f"{found}: remove it; nothing was written")
                is_first = self._attributed(folder)
                with folder.new(name, replacing=True) as file:
                    file.write(content)
                folder.tidy(name)
        except NotADirectoryError as error:
            raise ArtifactOutside(f"{self.path} is a link or no folder: remove it") from error
        except OSError as error:
            why = error.strerror or str(error)
            raise StoreUnavailable(f"{self.path}/{name} cannot be written: {why}") from error
        return is_first

    def remove(self, name: str) -> None:
        """Remove a file; nothing where there is none."""
        with self.reading() as folder, contextlib.suppress(FileNotFoundError):
            if folder is not None:
                folder.remove(name)

    def begin(self, session_id: str) -> None:
        """Say which session is about to be written, as far as the system lets us."""
        with self.reading() as folder, contextlib.suppress(OSError):
            if folder is not None:
                folder.sign(UNFINISHED, session_id.encode())

    def begun(self) -> str:
        """The session that was about to be written; empty where none was."""
        with self.reading() as folder, contextlib.suppress(Unreadable, OSError):
            if folder is not None:
                return folder.content(UNFINISHED, _ID_MAX).decode("ascii", "replace")
        return ""

    def end(self) -> None:
        """Take away the mark that a session file of this folder is being written."""
        with contextlib.suppress(OSError):
            self.remove(UNFINISHED)

    def _attributed(self, folder: atomic_file.Folder) -> bool:
        """Whether git's attributes had to be written; what a person wrote there stays."""
        name, content = _ATTRIBUTES
        folder.tidy(name)
        with contextlib.suppress(FileExistsError):
            if folder.lies(name) is None:
                with folder.new(name) as file:
                    file.write(content)
                return True
        return False

    def _opened(
        self, *, makes: bool = False
    ) -> contextlib.AbstractContextManager[atomic_file.Folder]:
        top = self._root.resolve()
        parts = checked_folder(self._root, self._folder).relative_to(top).parts
        return atomic_file.open_folder_below(top, (*parts, FOLDER), makes=makes)


class SessionFiles:
    """The writer of session files; the log is the truth, and no other file is overwritten."""

    def __init__(
        self,
        store: Store,
        folders: SessionFolders,
        home: Callable[[str, str], SessionFolder],
        tell: Callable[[Notice], None] = lambda _: None,
    ) -> None:
        """Args:
        home: where a session of a workflow lies.
        tell: takes what a person should know.
        """
        self._store = store
        self._folders = folders
        self._home = home
        self._tell = tell
        self._told: set[str] = set()

    def keep(
        self, session_id: str, *, over: bool = False, folder: SessionFolder | None = None
    ) -> bool:
        """Write a session as it stands in the log; whether its file changed.

        A file that holds other events, or cannot be read, stays as it is.

        Args:
            over: writes over any file, since what it holds was erased.
            folder: another one than that of its workflow.

        Raises:
            LogDamaged: the session does not verify.
            ArtifactOutside, StoreUnavailable: the file cannot be written.
        """
        # The head is read first: a session that grows meanwhile still holds the event it names.
        head, events = self._store.stream(session_id) or (None, ())
        content = jsonl.encode_event_file(verified(events, head.hash if head else None))
        folder = folder or self._home(head.workflow if head else "", session_id)
        name = name_session_file(decision_uid(session_id))
        path = f"{folder.path}/{name}"
        if len(content) > SIZE_MAX:
            text = f"session {short_session(session_id)} is too large for a file: {path}"
            self._say_once(Notice("session_too_large", text, {"path": path}))
            return False
        try:
            lies = None if over else folder.content(name)
        except Unreadable as error:
            self._left(path, str(error))
            return False
        if lies == content:
            return False
        if lies is not None and (why := differs(lies, path, events)):
            self._left(path, why)
            return False
        if folder.write(name, content):
            records = {one.path for one in self._folders.of_records}
            files = "the records" if folder.path in records else "their files"
            text = (
                f"Sessions are kept beside {files}, for your team: {folder.path}. "
                "`[records] sessions = false` turns it off."
            )
            self._tell(Notice("sessions_kept", text, {"path": folder.path}))
        return True

    def begin(self, session_id: str) -> None:
        """Keep a session that is about to change: after a kill the next process keeps it again."""
        self.finish()
        self.keep(session_id)
        self._of(session_id).begin(session_id)

    def end(self, session_id: str) -> None:
        """Keep a session as it stands now."""
        self.keep(session_id)
        self._of(session_id).end()

    def path(self, session_id: str) -> str:
        """Where the file of a session lies, relative to the project's root."""
        return f"{self._of(session_id).path}/{name_session_file(decision_uid(session_id))}"

    def remove(self, session_id: str) -> None:
        """Remove the file of a session, unless it holds other events than the log."""
        folder, name = self._of(session_id), name_session_file(decision_uid(session_id))
        with contextlib.suppress(Unreadable):
            content = folder.content(name) or b""
            if not differs(content, name, self._store.read(session_id)):
                folder.remove(name)

    def finish(self) -> None:
        """Keep the sessions that killed processes did not keep; errors as for `keep`."""
        for folder in self._folders:
            if folder.has(UNFINISHED):
                session_id = folder.begun()
                if self._store.head(session_id) is not None:
                    self.keep(session_id)
                folder.end()

    def _of(self, session_id: str) -> SessionFolder:
        head = self._store.head(session_id)
        return self._home(head.workflow if head else "", session_id)

    def _left(self, path: str, why: str) -> None:
        text = f"{path} was left as it is ({why})"
        self._say_once(Notice("session_file_left", text, {"path": path}))

    def _say_once(self, notice: Notice) -> None:
        """A session is kept twice when its record is written."""
        if notice.text not in self._told:
            self._told.add(notice.text)
            self._tell(notice)


def differs(content: bytes, where: str, events: Sequence[Stored]) -> str:
    """Why a file holds other events than a log, or cannot be read; empty where it is a beginning.

    The hashes are compared: payloads may have been erased in one of them.
    """
    other = "it differs from the log"
    try:
        found = [*jsonl.stored(content.splitlines(keepends=True), where)]
        verified(found)
    except AnotherVersion:
        return "another version of Preflights wrote it"
    except PreflightsError:
        return other
    if not found:
        return ""
    last = found[-1]
    is_ours = last.version <= len(events) and events[last.version - 1].hash == last.hash
    return "" if is_ours else other
