"""Keeps projections up to date: a reader of one catches up first.

Nothing is missed, because nothing is ordered: an append leaves a row in the outbox in its own
transaction, and what was folded goes from there in the transaction that writes rows and marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Final

import msgspec

from preflights_es.kernel.errors import (
    AnotherVersion,
    LogBusy,
    NewerProjection,
    Notice,
    StoreUnavailable,
)
from preflights_es.kernel.events import INT_MAX
from preflights_es.kernel.ports import (
    Choice,
    Fold,
    Folded,
    FoldedSession,
    Head,
    Registered,
    Row,
    Stream,
)
from preflights_es.projections.projection import (
    VERSIONS,
    ProjectedRows,
    ProjectionReader,
    Read,
    unreadable,
)
from preflights_es.store.sql_projections import SqlFollowing

TAKEN: Final = 200  # appends that are folded in one transaction
PAGE: Final = 1_000  # sessions that a rebuild looks at together
WAITING: Final = 200  # sessions that a reader folds for itself, where it may not write or wait
EVENTS: Final = 8_000  # events that are folded before their rows are written

BUSY: Final = Notice(
    "log_busy",
    "another process is writing to the log: this answer may be older, run it again when that "
    "process is done",
)
UNWRITTEN: Final = Notice(
    "projections_behind",
    "this log cannot be written from here, and many sessions moved since its projections were "
    "folded: this answer may be older",
)
KeptRows = Callable[[], Iterator[dict[str, Any]]]


class ProjectionState(msgspec.Struct, frozen=True):
    """How a projection stands."""

    name: str
    version: int
    registered: Registered | None
    sessions: int
    """Folded so far."""

    @property
    def is_current(self) -> bool:
        """Whether every session was folded by this version of it."""
        known = self.registered
        return known is not None and known.complete and known.version == self.version


def rows_of(
    read: Read, projections: Sequence[ProjectedRows], unfit: Callable[[str, Sequence[Row]], str]
) -> dict[str, tuple[Row, ...]]:
    """What projections say of a session, by name; where one fails, all say that it is in trouble.

    Args:
        unfit: why rows of a projection cannot be kept; empty where they can.
    """
    try:
        return _build_checked_rows(read, projections, unfit)
    except Exception as error:  # a bug of ours, or a log like none of ours: it hides no other
        trouble = error
    made: dict[str, tuple[Row, ...]] = {one.name: () for one in projections}
    for one in projections:
        with suppress(Exception):  # not even that can be said: `audit verify` says what it is
            made |= _build_checked_rows(unreadable(read, trouble), (one,), unfit)
    return made


def _build_checked_rows(
    read: Read, projections: Sequence[ProjectedRows], unfit: Callable[[str, Sequence[Row]], str]
) -> dict[str, tuple[Row, ...]]:
    made = {}
    for one in projections:
        made[one.name] = one.rows(read)
        if found := unfit(one.name, made[one.name]):
            raise ValueError(found)
    return made


class Projector:
    """The projections of one log."""

    def __init__(
        self, log: SqlFollowing, projections: Sequence[ProjectedRows], reader: ProjectionReader
    ) -> None:
        self._log = log
        self._projections = {one.name: one for one in projections}
        self._versions = {one.name: one.version for one in projections}
        self.reader = reader
        self.behind: Notice | None = None
        """Why rows may be older than the log, in words; empty where they are not."""
        self.drawn: Callable[[int], AbstractContextManager[Callable[[int], object]]] | None = None
        """Shows how far it is where all sessions are folded, which takes long in a large log."""

    def states(self) -> tuple[ProjectionState, ...]:
        """How each projection stands; nothing is folded."""
        registered = self._log.registered()
        return tuple(
            ProjectionState(
                one.name, one.version, registered.get(one.name), self._log.folded(one.name)
            )
            for one in self._projections.values()
        )

    def rows(
        self, name: str, project: str | None, choice: Choice = "all", at: int = INT_MAX, **of: Any
    ) -> Iterator[dict[str, Any]]:
        """Rows of a projection, caught up as far as that needs no wait for another process.

        Where it is not caught up, `behind` says why from then on.

        Args:
            choice: which rows; there may be more of them, so the reader checks each.
            at: the time of the choice, in microseconds since 1970 UTC; `of`: its other parts.
        """
        kept = partial(self._log.rows, name, project, choice, at, **of)
        try:
            with self._log.hurried():
                self.catch_up()
        except StoreUnavailable as error:
            return self._as_it_is(name, project, error, kept)
        if others := self._log.folded_elsewhere(WAITING + 1):
            return self._with_moved(name, project, others, kept)
        return kept()

    def _as_it_is(
        self, name: str, project: str | None, error: StoreUnavailable, kept: KeptRows
    ) -> Iterator[dict[str, Any]]:
        """Rows without writing any: those that are kept, and few sessions that moved since."""
        known = self._log.registered().get(name)
        if not ProjectionState(name, self._versions[name], known, 0).is_current:
            heads = chain.from_iterable(self._pages())
            return chain.from_iterable(rows for _, rows in self._turns(name, project, heads))
        waiting = self._log.waiting(WAITING + 1)
        if isinstance(error, LogBusy):
            self.behind = BUSY
        elif len(waiting) > WAITING:
            self.behind = UNWRITTEN
        return self._with_moved(name, project, waiting, kept)

    def _with_moved(
        self, name: str, project: str | None, waiting: Sequence[Head], kept: KeptRows
    ) -> Iterator[dict[str, Any]]:
        """The rows that are kept, and those of few sessions that wait to be folded."""
        from heapq import merge  # most readers meet no such session

        if len(waiting) > WAITING:
            self.behind = self.behind or BUSY
            return kept()
        turns = list(self._turns(name, project, waiting))
        moved = {head.session_id for head, _ in turns}
        unmoved = (row for row in kept() if row["session_id"] not in moved)
        fresh = chain.from_iterable(rows for _, rows in turns)
        return merge(unmoved, fresh, key=itemgetter("session_id"))

    def _turns(
        self, name: str, project: str | None, heads: Iterable[Head]
    ) -> Iterator[tuple[Head, list[dict[str, Any]]]]:
        """Sessions that this program can read, with the rows that would be kept of each."""
        columns = self._log.columns(name)
        fold = self._fold([name])
        for head in (head for head in heads if project in (None, head.project)):
            for turn in fold([self._log.stream(head)]).turns:
                yield head, [dict(zip(columns, row, strict=True)) for row in turn.rows[name]]

    def folded(self, head: Head, *names: str) -> list[list[dict[str, Any]]]:
        """Rows of a session as it is now, kept or not, of each of some projections; none where a
        newer program wrote it.
        """
        turns = self._fold(names)([self._log.stream(head)]).turns
        rows = turns[0].rows if turns else {}
        columns = self._log.columns
        return [[dict(zip(columns(n), row, strict=True)) for row in rows.get(n, ())] for n in names]

    # 1. Long lists ---------------------------------------------------------------------------

    def newest(self, project: str | None) -> Iterator[tuple[Head, dict[str, Any] | None]]:
        """Sessions of a project (of all: None), newest first, each with its row of `sessions`.

        A row may be older than its head. It is None where nothing is kept by this version.
        """
        self.caught_up()
        before: str | None = None
        while page := self._log.newest(project, before, PAGE):
            is_kept = self._kept() is not None
            yield from ((head, row if is_kept else None) for head, row in page)
            before = page[-1][0].session_id

    def within(self, project: str | None, since: int | None, until: int | None) -> Iterator[Head]:
        """Sessions of a project (of all: None) that may have events in a time, oldest first.

        Every session that is left out has none. Where that is not known, none is left out.
        """
        is_limited = since is not None or until is not None
        known = self._kept() if is_limited and self.caught_up() else None
        low, high = -INT_MAX if since is None else since, INT_MAX if until is None else until
        after = ""
        while True:
            page: tuple[Head, ...] = ()
            if known is not None:
                page = self._log.within(project, low, high, after, limit=PAGE)
                if self._kept() != known:
                    known = None  # a rebuild began: rows of this page may be gone
            if known is None:
                page = self._log.page(after, PAGE)
            if not page:
                return
            yield from (head for head in page if project in (None, head.project))
            after = page[-1].session_id

    def caught_up(self) -> bool:
        """Catch up as far as that needs no wait for another process; whether it did."""
        try:
            with self._log.hurried():
                self.catch_up()
        except (StoreUnavailable, NewerProjection):
            return False
        return True

    def _kept(self) -> Registered | None:
        """How `sessions` stands, where this version has folded all of it."""
        known = self._log.registered().get("sessions")
        is_ours = known is not None and known.complete and known.version == VERSIONS["sessions"]
        return known if is_ours else None

    # 2. Following ----------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Fold all that moved; what was never folded by this version is folded from zero.

        Raises:
            NewerProjection: a newer version of this program keeps one of the projections.
        """
        registered = self._log.registered()
        behind = []
        for name, version in self._versions.items():
            known = registered.get(name)
            if known is not None and known.version > version:
                raise NewerProjection(name)
            if known is None or known.version < version or not known.complete:
                behind.append(name)
        if behind:
            # Another process may have completed one since, and its readers need those rows.
            self._begin(behind, again=False)
            if self.drawn is None:
                self._complete(behind)
            else:
                with self.drawn(self._log.counts()["sessions"]) as progress:
                    self._complete(behind, progress)
        self.follow()

    def follow(self) -> None:
        """Fold what moved, until nothing is left that this program can read."""
        after: tuple[str, int] | None = ("", -1)
        while after is not None:
            after = self._log.follow(after, TAKEN, self._versions, self._fold(self._versions))

    def _fold(self, names: Iterable[str]) -> Fold:
        wanted = [self._projections[name] for name in names]

        def fold(streams: Iterable[Stream]) -> Folded:
            turns: list[FoldedSession] = []
            left: list[str] = []
            for stream in streams:
                try:
                    read = self.reader.read(stream)
                except AnotherVersion:
                    left.append(stream.head.session_id)
                    continue
                rows = rows_of(read, wanted, self._log.unfit)
                turns.append(FoldedSession(stream.head.session_id, read.version, rows))
            return Folded(tuple(turns), tuple(left))

        return fold

    # 3. Rebuilding ---------------------------------------------------------------------------

    def rebuild(
        self, names: Sequence[str] = (), progress: Callable[[int], object] = lambda _: None
    ) -> None:
        """Fold every session for some projections, from zero; writers go on meanwhile.

        Where a rebuild is under way, in another process or since one died, it is begun anew; the
        other process helps to fill what this one emptied.

        Args:
            names: all of them, unless said.
            progress: is told how many sessions were looked at since the last time.

        Raises:
            NewerProjection: a newer version of this program keeps one of the projections.
        """
        wanted = names or tuple(self._versions)
        self._begin(wanted)
        self._complete(wanted, progress)

    def _begin(self, names: Sequence[str], *, again: bool = True) -> None:
        """Empty some projections.

        Args:
            again: also those that this version has completed.
        """
        for name in names:
            self._log.begin(name, self._versions[name], again=again)

    def _complete(
        self, names: Sequence[str], progress: Callable[[int], object] = lambda _: None
    ) -> None:
        """Fill what is being rebuilt, also where another process does; nothing where nothing is."""
        while pending := self._unfinished(names):
            versions = {name: self._versions[name] for name in pending}
            for heads in self._pages():
                self._rebuild(heads, versions)
                progress(len(heads))
            for name, generation in pending.items():
                self._log.finish(name, generation)

    def _unfinished(self, names: Sequence[str]) -> dict[str, int]:
        """By name: the generation that is under way."""
        registered = self._log.registered()
        return {
            name: registered[name].generation
            for name in names
            if name in registered and not registered[name].complete
        }

    def _pages(self) -> Iterator[tuple[Head, ...]]:
        """Every session there is, once."""
        after = ""
        while page := self._log.page(after, PAGE):
            yield page
            after = page[-1].session_id

    def _rebuild(self, heads: Sequence[Head], versions: dict[str, int]) -> None:
        """Those of them that a projection has not folded yet, in portions that stay small."""
        portion: list[Head] = []
        events = 0
        for head in self._lacking(heads, versions):
            portion.append(head)
            events += head.version
            if events >= EVENTS:
                self._write(portion, versions)
                portion, events = [], 0
        if portion:
            self._write(portion, versions)

    def _write(self, heads: Sequence[Head], versions: dict[str, int]) -> None:
        self._log.write(heads, versions, self._fold(versions))

    def _lacking(self, heads: Sequence[Head], names: Iterable[str]) -> list[Head]:
        if not heads:
            return []
        first, last = heads[0].session_id, heads[-1].session_id
        marks = [self._log.marks(name, first, last) for name in names]
        return [one for one in heads if any(m.get(one.session_id, -1) < one.version for m in marks)]
