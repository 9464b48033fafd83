"""Reading sessions: first those of the log, then those that session files say more of.

What writes knows the log alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from operator import attrgetter
from typing import Final, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.kernel.errors import AnotherVersion, UnknownSession
from preflights_es.kernel.ids import short_session
from preflights_es.kernel.ports import Head
from preflights_es.runtime.finder import ANY, Finder
from preflights_es.runtime.runner import Handle
from preflights_es.use.filed_sessions import FiledSession, FiledSessions
from preflights_es.use.process import FileLog, Process
from preflights_es.words.workflow import UNKNOWN

NAMED_MAX: Final = 5  # files that are named one by one


class _SessionListRow(Protocol):
    """A row of a list."""

    @property
    def session_id(self) -> str: ...
    @property
    def file(self) -> str | None: ...


R = TypeVar("R", bound=_SessionListRow)


class FoundSession(msgspec.Struct, frozen=True):
    """A session where it lies."""

    process: Process
    """Of the log, or of what session files say more."""
    session_id: str

    @property
    def file(self) -> str | None:
        """Path of the session file, where only that has the session."""
        log = self.process
        return log.files[self.session_id].path if isinstance(log, FileLog) else None

    @property
    def head(self) -> Head | None:
        """As the log, or the file, has it now."""
        return self.process.store.head(self.session_id)

    @property
    def head_there(self) -> Head:
        """The same, as it was found a moment ago: nothing takes one away."""
        assert self.head is not None, "it was found"
        return self.head

    def load(self) -> Handle:
        """The session, verified and folded."""
        return self.process.runner.load(self.session_id)


class RequestReading:
    """What a request reads: the log, and what session files say more."""

    def __init__(
        self, process: Process, first: Callable[[], None], notice: Callable[..., None]
    ) -> None:
        """Args:
        first: is done before a session is looked for.
        notice: takes what a person has to know of files.
        """
        self._process = process
        self._first = first
        self._notice = notice

    # 1. One session --------------------------------------------------------------------------

    @cached_property
    def finder(self) -> Finder:
        """Finds sessions of the log alone."""
        self._first()
        return _finder(self._process, self._filed_finder)

    def _filed_finder(self) -> Finder | None:
        _ = self._process.record_places.folders  # a pull may have brought a new one
        return None if self.filed is None else _finder(self.filed)

    def session(self, typed: str, of: str = ANY) -> FoundSession:
        """A session; says where it lies, and where its file differs from the log.

        Args:
            of: the workflow that `last` is of; if empty, any that is not `aside`.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
        """
        try:
            found = self.find(typed, of)
        except UnknownSession:
            self.tell_files()  # the file of the session that is meant may be left out
            raise
        if found.file is not None:
            text = f"only {found.file} has this session"
            self._notice("only_in_file", text, path=found.file)
        elif (file := FiledSessions(self._process).file_of(found.session_id)) is not None:
            self._tell(file)
        return found

    def find(self, typed: str, of: str = ANY) -> FoundSession:
        """The same, and nothing is said."""
        try:
            return FoundSession(self._process, self.finder.resolved(typed, of))
        except UnknownSession:
            _ = self._process.record_places.folders  # as above
            if (filed := self.filed) is None or not (other := _finder(filed).known(typed, of)):
                raise
            return FoundSession(filed, other)

    def load(self, row: _SessionListRow) -> Handle:
        """The session of a row of `rows`, from where the row is."""
        process = self._process.file_log if row.file else self._process
        return process.runner.load(row.session_id)

    # 2. Many ---------------------------------------------------------------------------------

    @property
    def filed(self) -> FileLog | None:
        """What session files say more than the log; None where they say no more."""
        log = self._process.file_log
        return None if log.is_empty else log

    @property
    def logs(self) -> tuple[Process, ...]:
        """The log, and behind it what session files say more."""
        return tuple(filter(None, (self._process, self.filed)))

    def rows(self, listed: Callable[[Process], Iterator[R]]) -> Iterator[R]:
        """Rows of the log, and those that session files say more, the oldest session first.

        A session that the log lists is listed once; how its file differs is said.
        """
        self.tell_files()
        filed = self._process.file_log
        if filed.is_empty:
            yield from listed(self._process)
            return
        from heapq import merge

        more = listed(filed)
        beside = (replace(row, file=filed.files[row.session_id].path) for row in more)  # type: ignore[type-var]  # a Struct
        of_log = ""
        for row in merge(listed(self._process), beside, key=attrgetter("session_id")):
            if row.file is None:
                of_log = row.session_id
            if row.file is None or row.session_id != of_log:
                yield row

    def heads(self, heads: Callable[[Process], Iterable[Head]]) -> Iterator[tuple[Process, Head]]:
        """Sessions of the log and those that only files have, each with where it lies."""
        from heapq import merge

        known, filed = self._process.store.head, self._process.file_log
        of_log = ((self._process, head) for head in heads(self._process))
        more = () if filed.is_empty else heads(filed)
        beside = ((filed, head) for head in more if known(head.session_id) is None)
        yield from merge(of_log, beside, key=lambda one: one[1].session_id)

    # 3. How files differ ---------------------------------------------------------------------

    def tell_files(self) -> None:
        """Say which files differ from the log, the first of them one by one."""
        log = self._process.file_log
        files = [*log.others, *log.files.values()] if not log.is_empty else log.others
        said = [file for file in files if file.told or file.compared == "beyond"]
        for file in said[:NAMED_MAX]:
            self._tell(file)
        if (more := len(said) - NAMED_MAX) > 0:
            self._notice("files_more", f"and {more:,} more session files", count=more)

    def _tell(self, file: FiledSession) -> None:
        """Say how a file differs from the log, where a person has to know it."""
        if file.compared == "beyond":
            log = self._process.file_log
            status = UNKNOWN
            if file.session_id in log.files:
                with suppress(AnotherVersion):  # without the code that reads it
                    status = log.runner.load(file.session_id).status
            text = (
                f"{file.path} goes on beyond the log, to event {file.version}: there session "
                f"{short_session(file.session_id)} is {status.replace('_', ' ')}"
            )
            code = "file_erases" if file.is_erased else "file_beyond"
            self._notice(code, text, path=file.path, session=short_session(file.session_id))
        elif file.told:
            self._notice("file_apart", file.told, path=file.path)


def _finder(process: Process, filed: Callable[[], Finder | None] = lambda: None) -> Finder:
    records, settings = partial(_foreign_paths, process), process.settings
    here = os.path.relpath(settings.cwd, settings.root).replace(os.sep, "/")
    numbered = process.numbered
    return Finder(process.runner, process.project, numbered, records, filed=filed, here=here)


def _foreign_paths(process: Process, named: int | str) -> list[str]:
    from preflights_es.use.foreign import find_foreign_paths  # most sessions are named otherwise

    return find_foreign_paths(process, named)
