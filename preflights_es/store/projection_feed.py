"""What projections need of the log: what moved, sessions to fold, and a place for their rows.

On PostgreSQL, rows of the outbox are taken with `SKIP LOCKED`, so that followers in parallel share
the work. SQLite has one writer: there, sessions are folded before the transaction begins, so that
no recording process waits for a fold. Both may fold a session twice at the same time; the mark lets
one of them write (docs/decisions/0011).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final

import msgspec

from preflights_es.core.errors import LogDamaged, NewerProjection, ProjectionDamaged
from preflights_es.core.events import INT_MAX
from preflights_es.core.ports import Head, Stored
from preflights_es.core.projection_ports import (
    Choice,
    Fold,
    Folded,
    FoldedSession,
    Kept,
    Registered,
    Row,
    Stream,
)
from preflights_es.store.chain import verified
from preflights_es.store.frozen import columns
from preflights_es.store.listing import SqlListing, as_head, as_version
from preflights_es.store.projected import PORTIONS, PROJECTED, shape
from preflights_es.store.sql import SqlStore
from preflights_es.store.statements import event_of

INT_MIN: Final = -INT_MAX - 1  # the smallest whole number that every database keeps
ROWS_PAGE: Final = 1_000  # sessions whose rows are read at once
RANGE: Final = 200  # sessions whose events are read, and held, at once
SESSIONS: Final = tuple(f"session_{n}" for n in range(PORTIONS[0]))
VERSIONS: Final = tuple(f"version_{n}" for n in range(PORTIONS[0]))

Look = Callable[[Callable[[Any], Any]], Any]
"""Hands a cursor to a function that reads."""


class SqlFollowing(SqlListing):
    """The promises are those of `core.projection_ports.Following`."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("projections", store.database)
        self._fitting: set[tuple[Any, ...]] = set()
        """Projections with the kinds of values of rows that its columns held."""

    # 1. Which there are ----------------------------------------------------------------------

    def registered(self) -> dict[str, Registered]:
        return registered_of(self._rows("registered"))

    def begin(self, name: str, version: int) -> None:
        def work(cursor: Any) -> None:
            found = registered_of(self._statements.run(cursor, "registered_alone").fetchall()).get(
                name
            )
            if found is None:
                made = self._statements.run(
                    cursor, "register", name=name, version=version, generation=1, complete=0
                )
                if made.rowcount:  # rows without a projection have no owner
                    self._statements.run(cursor, "empty_marks", of_name=name)
                    self._statements.run(cursor, f"empty_{name}")
                return
            _refuse_newer({name: found}, {name: version})
            if found.version == version and not found.complete:
                return
            generation = found.generation + 1
            self._statements.run(
                cursor, "begin", of_name=name, version=version, generation=generation
            )
            self._statements.run(cursor, "empty_marks", of_name=name)
            self._statements.run(cursor, f"empty_{name}")

        self._database.wrote(work)

    def finish(self, name: str, generation: int) -> bool:
        return bool(
            self._database.wrote(
                lambda cursor: (
                    self._statements.run(
                        cursor, "finish", of_name=name, of_generation=generation
                    ).rowcount
                )
            )
        )

    # 2. Following ----------------------------------------------------------------------------

    def follow(
        self, after: tuple[str, int], limit: int, versions: Mapping[str, int], fold: Fold
    ) -> tuple[str, int] | None:
        def taken(cursor: Any) -> list[tuple[str, int]]:
            place = {"after_session": after[0], "after_version": after[1], "at_most": limit}
            return [
                (row[0], row[1]) for row in self._statements.run(cursor, "take", **place).fetchall()
            ]

        def folded(look: Look, pairs: Sequence[tuple[str, int]]) -> Folded:
            ids = dict.fromkeys(session_id for session_id, _ in pairs)
            heads = [found for one in ids if (found := self._head(look, one)) is not None]
            # Where a rebuild came first, there is nothing to do.
            return fold(self._stream(look, head) for head, is_folded in heads if not is_folded)

        def work(cursor: Any) -> tuple[str, int] | None:
            pairs = taken(cursor)
            if not pairs:
                return None
            self._write(cursor, folded(lambda look: look(cursor), pairs), versions, pairs)
            return pairs[-1]

        if self._database.dialect != "sqlite":
            return self._database.wrote(work)
        pairs: list[tuple[str, int]] = self._database.looked(taken)
        if not pairs:
            return None
        done = folded(self._database.looked, pairs)
        self._database.wrote(lambda cursor: self._write(cursor, done, versions, pairs))
        return pairs[-1]

    def write(self, heads: Sequence[Head], versions: Mapping[str, int], fold: Fold) -> None:
        done = fold(self._streams(heads))
        self._database.wrote(lambda cursor: self._write(cursor, done, versions, ()))

    def _write(
        self,
        cursor: Any,
        done: Folded,
        versions: Mapping[str, int],
        pairs: Sequence[tuple[str, int]],
    ) -> None:
        found = registered_of(self._statements.run(cursor, "registered_shared").fetchall())
        _refuse_newer(found, versions)
        # The next reader of one with an older version here rebuilds it.
        names = [
            name for name in versions if name in found and found[name].version == versions[name]
        ]
        # In one order everywhere, so that no two followers wait for each other's marks.
        turns = sorted(done.turns, key=lambda turn: turn.session_id)
        turns = self._standing(cursor, turns) if names else []
        marked = self._marked(cursor, turns, names)
        for name in names:
            moved = [turn for turn in turns if turn.session_id in marked[name]]
            self._in_portions(cursor, name, [turn.session_id for turn in moved])
            rows = [row for turn in moved for row in turn.rows[name]]
            self._statements.rows(cursor, f"insert_{name}", self.columns(name), rows)
        self._settle(cursor, done, pairs)

    def _standing(self, cursor: Any, turns: Sequence[FoldedSession]) -> list[FoldedSession]:
        """Without those that were erased since: what they held must not come back."""
        found = dict(self._in_portions(cursor, "heads", [turn.session_id for turn in turns]))
        return [
            turn
            for turn in turns
            if as_version(found.get(turn.session_id)) <= turn.version
            or not self._erased(cursor, turn)
        ]

    def _erased(self, cursor: Any, turn: FoldedSession) -> bool:
        of = {"in_session": turn.session_id, "upto": turn.version}
        return self._statements.run(cursor, "erased", **of).fetchone() is not None

    def _marked(
        self, cursor: Any, turns: Sequence[FoldedSession], names: Sequence[str]
    ) -> dict[str, set[str]]:
        """By projection: the sessions that it had not folded as far."""
        marked: dict[str, set[str]] = {name: set() for name in names}
        values = {f"name_{n}": name for n, name in enumerate(names)}
        upto = [turn.version for turn in turns]
        ids = [turn.session_id for turn in turns]
        for name, session_id in self._in_portions(cursor, "mark", ids, upto, values):
            marked[name].add(session_id)
        return marked

    def _in_portions(
        self,
        cursor: Any,
        which: str,
        ids: Sequence[str],
        versions: Sequence[int] = (),
        values: Mapping[str, str] = MappingProxyType({}),
    ) -> list[Any]:
        """Run a statement on sessions, many at a time; all that it found."""
        found: list[Any] = []
        begin = 0
        while begin < len(ids):
            size = next(size for size in PORTIONS if size <= len(ids) - begin)
            name = f"{which}_{len(values)}_{size}"
            end = begin + size
            of: dict[str, Any] = dict(zip(SESSIONS, ids[begin:end], strict=False))
            of |= zip(VERSIONS, versions[begin:end], strict=False)
            self._statements.run(cursor, name, **of, **values)
            if cursor.description is not None:
                found += cursor.fetchall()
            begin = end
        return found

    def _settle(self, cursor: Any, done: Folded, pairs: Sequence[tuple[str, int]]) -> None:
        """The outbox: what was folded leaves, what another process must fold stays."""
        left = set(done.left)
        seen = [
            {"in_session": session_id, "of_version": version}
            for session_id, version in pairs
            if session_id not in left  # also an id without a session, which cannot be folded
        ]
        self._statements.many(cursor, "delete_outbox", seen)
        if not pairs:
            kept = [{"session_id": session_id, "version": 0} for session_id in done.left]
            self._statements.many(cursor, "keep_outbox", kept)

    # 3. Reading sessions ---------------------------------------------------------------------

    def hurried(self) -> AbstractContextManager[None]:
        return self._database.hurried()

    def waiting(self, limit: int) -> tuple[Head, ...]:
        return tuple(as_head(row) for row in self._rows("moved", at_most=limit))

    def page(self, after: str, limit: int) -> tuple[Head, ...]:
        return tuple(as_head(row) for row in self._rows("page", after=after, at_most=limit))

    def nth(self, number: int) -> str:
        rows = self._rows("nth", before=number)
        return str(rows[0][0]) if rows else ""

    def marks(self, name: str, first: str, last: str) -> dict[str, int]:
        return dict(self._rows("marks", of_name=name, first=first, last=last))

    def stream(self, head: Head) -> Stream:
        return self._stream(self._database.looked, head)

    def _head(self, look: Look, session_id: str) -> tuple[Head, bool] | None:
        """A session's head, and whether every projection has folded it as far."""
        rows = look(
            lambda cursor: self._statements.run(cursor, "head", in_session=session_id).fetchall()
        )
        return (as_head(rows[0][:-1]), rows[0][-1] == len(PROJECTED)) if rows else None

    def _streams(self, heads: Sequence[Head]) -> Iterator[Stream]:
        for begin in range(0, len(heads), RANGE):
            for head, events in self.side_by_side(heads[begin : begin + RANGE]):
                yield _verified(head, events)

    def side_by_side(self, heads: Sequence[Head]) -> Iterator[tuple[Head, tuple[Stored, ...]]]:
        """Sessions that lie together, read at once: a statement each costs twice as much."""
        rows = self._rows("read_range", first=heads[0].session_id, last=heads[-1].session_id)
        found = {key: list(theirs) for key, theirs in groupby(rows, itemgetter(0))}
        for head in heads:
            yield head, tuple([event_of(head, row[1:]) for row in found.pop(head.session_id, ())])

    def _stream(self, look: Look, head: Head) -> Stream:
        of = {"in_session": head.session_id, "after": 0}
        rows = look(lambda cursor: self._statements.run(cursor, "read", **of).fetchall())
        return _verified(head, tuple([event_of(head, row) for row in rows]))

    # 4. Reading rows -------------------------------------------------------------------------

    def columns(self, name: str) -> tuple[str, ...]:
        return columns(PROJECTED[name])

    def unfit(self, name: str, rows: Sequence[Row]) -> str:
        for row in rows:
            # Rows of the same kinds fit as well, apart from their values.
            kinds = (name, *map(type, row))
            if kinds in self._fitting and _are_held(row):
                continue
            try:
                msgspec.convert([row], shape(name))
            except msgspec.ValidationError as error:
                return str(error)
            if any("\0" in value for value in row if isinstance(value, str)):
                return "a text with NUL, which PostgreSQL does not take"
            self._fitting.add(kinds)
        return ""

    def rows(
        self, name: str, project: str | None, choice: Choice = "all", at: int = INT_MAX
    ) -> Iterator[dict[str, Any]]:
        names = self.columns(name)
        which = f"{'any' if project is None else 'some'}_{name}_{choice}"
        page = {"of_project": project, "after": "", "at_most": ROWS_PAGE, "at": at}
        while True:
            some = self._kept(name, which, **page)
            if not some:
                return
            page["after"] = after = some[-1][0]
            last = self._kept(name, f"last_{name}", in_session=after)
            # A session's rows are not torn apart by the end of a page.
            whole: list[Row] = [row for row in some if row[0] != after] + last
            yield from (dict(zip(names, row, strict=True)) for row in whole)

    def _kept(self, name: str, which: str, **values: Any) -> list[Row]:
        """Rows that are what their columns say, which SQLite does not see to."""
        try:
            with _readable(name):
                rows: list[Row] = msgspec.convert(self._rows(which, **values), shape(name))
        except msgspec.ValidationError as error:
            raise ProjectionDamaged(name, str(error)) from error
        return rows

    def kept(self, name: str, session_id: str) -> Kept:
        def look(cursor: Any) -> Kept:
            of = {"of_name": name, "in_session": session_id}
            ((version, complete, mark, waits),) = self._statements.run(
                cursor, "kept", **of
            ).fetchall()
            rows = self._statements.run(cursor, f"last_{name}", in_session=session_id).fetchall()
            # What is folded meanwhile moves rows and marks together, and looks like another state.
            return Kept(version, complete, mark, waits, tuple(map(tuple, rows)))

        with _readable(name):
            return self._database.looked(look)

    def strays(self, name: str, project: str | None) -> Iterator[str]:
        after = ""
        while some := self._rows(f"strays_{name}", after=after, at_most=ROWS_PAGE):
            for session_id, of_project, known in some:
                # PostgreSQL takes no NUL: a row's project may be spelled otherwise for that alone.
                is_its = isinstance(known, str) and known.replace("\0", "\ufffd") == of_project
                if known is None if project is None else of_project == project and not is_its:
                    yield str(session_id)
            after = some[-1][0]

    def counts(self) -> dict[str, int]:
        names = ("sessions", "events", "waiting")
        return {name: self._rows(f"count_{name}")[0][0] for name in names}

    def folded(self, name: str) -> int:
        count: int = self._rows("count_marks", of_name=name)[0][0]
        return count


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Within it, a text of a projection that no database reads is damage of the projection."""
    try:
        yield
    except LogDamaged as error:
        if "UTF-8" not in error.found:
            raise
        raise ProjectionDamaged(name, error.found) from error


def _verified(head: Head, events: tuple[Stored, ...]) -> Stream:
    try:
        verified(events, head.hash)
    except LogDamaged as damage:
        return Stream(head, events, str(damage))
    return Stream(head, events)


def registered_of(rows: Sequence[Any]) -> dict[str, Registered]:
    """The projections that were begun, by name."""
    return {
        name: Registered(name, as_version(version), as_version(generation), bool(complete))
        for name, version, generation, complete in rows
    }


def _are_held(row: Row) -> bool:
    """Whether every column of its kind can hold each value."""
    for value in row:
        if isinstance(value, str):
            if "\0" in value:
                return False
        elif isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
            return False
    return True


def _refuse_newer(found: Mapping[str, Registered], versions: Mapping[str, int]) -> None:
    """A process that does not know a projection must not take its unseen sessions.

    Raises:
        NewerProjection: a newer version of this program keeps one.
    """
    for name, one in found.items():
        if one.version > versions.get(name, 0 if name not in PROJECTED else one.version):
            raise NewerProjection(name)
