"""Writes sessions beside their files, so that they travel with them through git."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from preflights_es.kernel.errors import AnotherVersion, PreflightsError
from preflights_es.kernel.ids import decision_uid, short
from preflights_es.kernel.notices import Notice
from preflights_es.kernel.ports import Store, Stored
from preflights_es.records.session_folder import SIZE_MAX, SessionFolder, SessionFolders, name_of
from preflights_es.store import jsonl
from preflights_es.store.chain import verified
from preflights_es.system.bounded_read import Unreadable


class SessionFiles:
    """The writer of session files; the log is the truth, and no other file is overwritten."""

    def __init__(
        self,
        store: Store,
        folders: SessionFolders,
        home: Callable[[str], SessionFolder],
        tell: Callable[[Notice], None] = lambda _: None,
    ) -> None:
        """Args:
        home: where the sessions of a workflow lie.
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
        content = jsonl.lines(verified(events, head.hash if head else None))
        folder = folder or self._home(head.workflow if head else "")
        name = name_of(decision_uid(session_id))
        path = f"{folder.path}/{name}"
        if len(content) > SIZE_MAX:
            text = f"session {short(session_id)} is too large for a file: {path}"
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
            files = "the records" if folder.path == self._folders.beside().path else "their files"
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

    def finish(self) -> None:
        """Keep the sessions that killed processes did not keep; errors as for `keep`."""
        for folder in self._folders:
            if folder.is_unfinished:
                session_id = folder.begun()
                if self._store.head(session_id) is not None:
                    self.keep(session_id)
                folder.end()

    def _of(self, session_id: str) -> SessionFolder:
        head = self._store.head(session_id)
        return self._home(head.workflow if head else "")

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
