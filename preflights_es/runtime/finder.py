"""From what people type to the session that is meant: an id, a number, a file, `last`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from preflights_es.kernel import ids
from preflights_es.kernel.errors import (
    AmbiguousSession,
    OnlyInFile,
    PreflightsError,
    RecordWithoutSession,
    UnknownSession,
)
from preflights_es.kernel.ports import Head
from preflights_es.kernel.text import late_pattern
from preflights_es.runtime.features import IMPORTS
from preflights_es.runtime.runner import Runner
from preflights_es.store.stored_events import erased_before

RECORD: Final = late_pattern(r"adr-?0*([1-9][0-9]{0,8})", re.IGNORECASE)
_NUMBER: Final = late_pattern(r"(?:[a-z]+[-_ ]?)?(?:(?:19|20)\d\d[-_](?=\d))?(\d{1,6})", re.ASCII)
_OWN_FOLDER: Final = late_pattern(
    r"/(?:readme|index)\.[a-z]+$"
)  # the page of a record that has one
RECENT: Final = 50  # sessions looked at before all of a project are
ENDING: Final = 2  # events that an erasure ends a session with: what was asked, and that it is so
LAST = "last"
ANY: Final = "*"
"""In place of a workflow: any, but no recorded calls of other programs, and no import."""


def is_listed(runner: Runner, head: Head, of: str) -> bool:
    """Whether a session is of a workflow; where none is named, of one that is not `aside`."""
    if of not in ("", ANY) or head.workflow == IMPORTS:
        return head.workflow == of
    if (workflow := runner.workflows.get(head.workflow)) is None:
        return True
    return workflow.shown.made_calls is None if of else not workflow.shown.aside


def _ambiguous_records(
    typed: str, paths: Sequence[str], sessions: Sequence[tuple[str, str]] = ()
) -> AmbiguousSession:
    """Several records bear what was typed; those of one folder need other numbers.

    Args:
        sessions: pairs of an id and the path of its record.
    """
    named = [f"{ids.short_session(one)} {path}".rstrip() for one, path in sessions]
    folders = {path.rpartition("/")[0] for path in (*paths, *(path for _, path in sessions))}
    code = "ambiguous_number" if len(folders) == 1 else "ambiguous_record"
    matches = (*named, *map(repr, paths))
    return AmbiguousSession(typed, matches, "name one by its id or file", code)


def _called(path: str) -> str:
    """The name of a record's file or, where it has one, of its own folder; in small letters."""
    return _OWN_FOLDER.sub("", path.casefold()).rpartition("/")[2]


def _begins(filed: str, name: str) -> bool:
    return filed.startswith(name) and not filed[len(name) : len(name) + 1].isalnum()


class Finder:
    """Finds sessions of one project, as people name them."""

    def __init__(
        self,
        runner: Runner,
        project: str,
        numbered: Callable[[int], Sequence[str]] = lambda _: (),
        records: Callable[[int | str], Sequence[str]] = lambda _: (),
        filed: Callable[[], Finder | None] = lambda: None,
        here: str = ".",
    ) -> None:
        """Args:
        numbered: sessions whose record may bear a number: branches that were merged may have
            given it twice, and the log knows one holder.
        records: paths of records without a session that bear a number or a name.
        filed: finds those of session files; a clone has them before its log does.
        here: where the caller stands, relative to the root; a path may begin there.
        """
        self._runner = runner
        self._project = project
        self._numbered = numbered
        self._records = records
        self._filed = filed
        self._here = here

    def resolved(self, typed: str, of: str = "") -> str:
        """The id that a person meant: whole, its beginning or end, `ADR-0007`, or `last`.

        The name of a record's file, with or without its ending, names the record, or its session.

        Args:
            of: the workflow that `last` is of, or `ANY`; if empty, any that is not `aside`.

        Raises:
            UnknownSession, AmbiguousSession: none or several match.
            RecordWithoutSession: the number or name is that of a record alone.
        """
        if typed == LAST:
            return self._last(of)
        if record := RECORD.fullmatch(typed.strip()):
            return self._bearing(typed, int(record[1]))
        wanted = typed.strip().lower()
        if not set(wanted) <= ids.DIGITS:
            if not {"-", "."} & set(wanted):
                raise UnknownSession(typed)  # a word is mostly a field's name
            return self._filed_as(typed.strip())
        if self._runner.store.head(wanted):
            return wanted
        found = self._runner.store.matching(wanted)
        if not found and wanted.isdecimal() and int(wanted):
            return self._bearing(typed, int(wanted))  # as names of records begin: 0007, or 7
        if not found:
            raise UnknownSession(typed)
        if len(found) > 1:
            raise AmbiguousSession(typed, found)
        return found[0]

    def recorded(self, typed: str, of: str = "") -> str:
        """The same, for what writes.

        Raises:
            OnlyInFile: a session file has what is meant; errors as above.
        """
        try:
            return self.resolved(typed, of)
        except RecordWithoutSession:
            raise
        except UnknownSession as error:
            if (filed := self._filed()) is None or not filed.known(typed, of):
                raise
            raise OnlyInFile(typed) from error

    def _bearing(self, typed: str, number: int) -> str:
        """The session whose record bears a number in this project."""
        paths = self._records(number)  # first: a pull may have brought a folder
        own, filed = self._list_bearing(number), self._filed()
        every = [*own, *(filed._list_bearing(number) if filed else ())]
        return self._single(typed, own, every, paths, number=number)

    def _list_bearing(self, number: int) -> list[str]:
        holders = self._holders(number)
        ids_ = dict.fromkeys((*holders, *self._numbered(number)))
        return [one for one in ids_ if self._bears(one, number, holders)]

    def _filed_as(self, typed: str) -> str:
        """The session whose record has the name of a file, or begins with it: `ADR-2026-002`."""
        here = posixpath.normpath(f"{self._here}/{typed}") if "/" in typed else typed
        paths = self._records(typed) or self._records(here)
        own, filed = self._list_filed_as(typed), self._filed()
        every = {**(filed._list_filed_as(typed) if filed else {}), **own}
        if named := [one for one, path in every.items() if path in (typed, here)]:
            return self._single(typed, own, named, ())
        if paths and not _NUMBER.fullmatch(name := _called(typed)):
            every = {one: path for one, path in every.items() if _called(path) == name}
        is_whole = typed in paths or here in paths
        return self._single(typed, own, [] if is_whole else every, paths)

    def _list_filed_as(self, typed: str) -> dict[str, str]:
        name = _called(typed)
        if (number := _NUMBER.match(name)) is None:
            return {}
        ids_ = dict.fromkeys((*self._holders(int(number[1])), *self._numbered(int(number[1]))))
        return {one: path for one in ids_ if _begins(_called(path := self._path(one)), name)}

    def _single(
        self,
        typed: str,
        own: Collection[str],
        every: Iterable[str],
        paths: Sequence[str],
        *,
        number: int | None = None,
    ) -> str:
        """What one record alone is called, ours or one without a session.

        Args:
            own: sessions of this log.
            every: those of session files, too.

        Raises:
            AmbiguousSession: records of several folders are.
        """
        found = [*dict.fromkeys(every)]
        if len(found) + len(paths) > 1:
            filed = self._filed()
            places = [
                (one, self._path(one) or (filed._path(one) if filed else "")) for one in found
            ]
            raise _ambiguous_records(typed, paths, places)
        if paths:
            raise RecordWithoutSession(typed.strip(), number, tuple(paths))
        if not found or found[0] not in own:
            raise UnknownSession(typed)
        return found[0]

    def _holders(self, number: int) -> list[str]:
        """The sessions to which the log gave a number, each in another folder."""
        given = self._runner.store.numbers(self._project)
        return [session_id for one, session_id in given.items() if one.number == number]

    def _path(self, session_id: str) -> str:
        """Where its document lies; empty where that is not known."""
        try:
            written = self._runner.load(session_id).view.written
        except PreflightsError:
            return ""
        return written.path if written else ""

    def _bears(self, session_id: str, number: int, holders: Collection[str]) -> bool:
        """Whether its own log says so; of one that cannot be read, the log's list of numbers."""
        try:
            handle = self._runner.load(session_id)
        except PreflightsError:
            return session_id in holders
        if handle.session.closed == "erased":
            return session_id in holders
        return handle.workflow.filed.number(handle.session.state) == number

    def _last(self, of: str) -> str:
        """The newest session of the project, open or closed.

        What is erased can only be looked at: for a command of one kind, it is `last` where there is
        nothing else.
        """
        first = ""
        for session_id in self.list_newest(of):
            first = first or session_id
            if of == ANY or not self.is_session_erased(session_id):
                return session_id
        if first:
            return first
        message = "this project has no such session yet"
        others = (head for head in self._newest_first() if head.workflow != IMPORTS)
        if of in ("", ANY) and (newest := next(others, None)):
            named = ids.short_session(newest.session_id)
            message += f"; name its newest, of {newest.workflow}, by the id {named}"
        raise UnknownSession(LAST, message)

    def is_session_erased(self, session_id: str) -> bool:
        """Whether the log has it, and an erasure took its words."""
        head = self._runner.store.head(session_id)
        end = self._runner.store.read(session_id, head.version - ENDING) if head else ()
        return erased_before(end) > 0

    def list_newest(self, of: str = "") -> Iterator[str]:
        """The sessions that `last` may mean, newest first."""
        newest = (head for head in self._newest_first() if is_listed(self._runner, head, of))
        return (head.session_id for head in newest)

    def _newest_first(self) -> Iterator[Head]:
        """The project's sessions; a second query only when the first page did not do."""
        page = self._runner.store.heads(self._project, RECENT)
        yield from page
        if len(page) == RECENT:
            yield from self._runner.store.heads(self._project)[RECENT:]

    def known(self, typed: str, of: str = "") -> str:
        """The id of the session that is meant; empty where there is none."""
        try:
            return self.resolved(typed, of)
        except UnknownSession:
            return ""
