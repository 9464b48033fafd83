"""Reading sessions that the log has, and those that only session files have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from preflights_es.kernel.ids import short
from preflights_es.kernel.ports import Head
from preflights_es.use.filed_sessions import FiledSession, FiledSessions
from preflights_es.use.process import FileLog
from preflights_es.use.request import Request

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
    file = FiledSessions(request.process).file_of(session_id)
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
