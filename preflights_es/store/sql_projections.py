"""Projections in a database: their rows are read, and what moved in the log is folded into them
(docs/decisions/0011). What a row means stays in `projections`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import msgspec

from preflights_es.kernel.errors import LogDamaged, NewerProjection, ProjectionDamaged
from preflights_es.kernel.events import INT_MAX
from preflights_es.kernel.ports import (
    TERMS_MAX,
    Choice,
    Fold,
    Folded,
    FoldedSession,
    Head,
    KeptRows,
    Registered,
    Row,
    Stored,
    Stream,
)
from preflights_es.store.database import Look, Looking, encode_value_list, event_of
from preflights_es.store.frozen import PROJECTED, build_row_shape, columns
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import verified

NAME: Final = "sessions"
LAST: Final = "\U0010ffff"  # behind every id, on any engine
HEAD: Final = 5  # columns of a head
INT_MIN: Final = -INT_MAX - 1  # the smallest whole number that every database keeps
ROWS_PAGE: Final = 1_000  # sessions whose rows are read at once


class SqlRows(Looking):
    """Pages of sessions and of rows; what is no row that this program writes is damage."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("projections", store.database)
        self._fitting: set[tuple[Any, ...]] = set()
        """Projections with the kinds of values of rows that its columns held."""

    def newest(
        self, project: str | None, before: str | None, limit: int
    ) -> list[tuple[Head, dict[str, Any] | None]]:
        """Heads, newest first, each with its row of the projection; None where it has none.

        Args:
            project: None for all of them.
            before: the last id of the page before; None begins.

        Raises:
            ProjectionDamaged: a row is not one that this program writes.
        """
        page = {"before": LAST if before is None else before, "at_most": limit}
        which = "any_newest" if project is None else "newest"
        found = self._rows(which, of_project=project, **page)
        kept = [row[HEAD:] for row in found if row[HEAD] is not None]
        try:
            msgspec.convert(kept, build_row_shape(NAME))
        except msgspec.ValidationError as error:
            raise ProjectionDamaged(NAME, str(error)) from error
        names = self.columns(NAME)
        return [
            (
                as_head(row[:HEAD]),
                None if row[HEAD] is None else dict(zip(names, row[HEAD:], strict=True)),
            )
            for row in found
        ]

    def within(
        self, project: str | None, since: int, until: int, after: str, limit: int
    ) -> tuple[Head, ...]:
        """Heads of sessions with events in a time, oldest first.

        Also those that are damaged or faulted, and those that wait to be folded.

        Args:
            since: in microseconds since 1970 UTC, as `until`; both belong to the time.
            after: the last id of the page before; empty begins.
        """
        page = {"of_project": project, "after": after, "at_most": limit}
        which = "any_" if project is None else ""
        found = self._rows(f"{which}within", since=since, until=until, **page)
        found += self._rows(f"{which}waiting", **page)
        heads = {row[0]: as_head(row) for row in found}
        return tuple(heads[session_id] for session_id in sorted(heads)[:limit])

    def columns(self, name: str) -> tuple[str, ...]:
        """Names of a projection's columns, in the order of a row."""
        return columns(PROJECTED[name])

    def unfit(self, name: str, rows: Sequence[Row]) -> str:
        """Why rows cannot be kept, on any engine; empty where they can."""
        for row in rows:
            # Rows of the same kinds fit as well, apart from their values: a conversion of the few
            # rows of one session takes 25 us, and a rebuild a fifth longer.
            kinds = (name, *map(type, row))
            if kinds in self._fitting and _are_held(row):
                continue
            try:
                msgspec.convert([row], build_row_shape(name))
            except msgspec.ValidationError as error:
                return str(error)
            if any("\0" in value for value in row if isinstance(value, str)):
                return "a text with NUL, which PostgreSQL does not take"
            self._fitting.add(kinds)
        return ""

    def rows(
        self,
        name: str,
        project: str | None,
        choice: Choice = "all",
        at: int = INT_MAX,
        terms: Sequence[str] = (),
    ) -> Iterator[dict[str, Any]]:
        """Rows of a projection by column, for a project (for all: None), oldest session first.

        Args:
            at: the time of the choice, in microseconds since 1970 UTC.
            terms: the words of the choice; at most `TERMS_MAX`.

        Raises:
            ProjectionDamaged: one of them is not a row that this program writes.
        """
        names = self.columns(name)
        which = f"{'any' if project is None else 'some'}_{name}_{choice}"
        page = {"of_project": project, "after": "", "at_most": ROWS_PAGE, "at": at}
        if choice == "named":
            page |= _terms(terms)
        while True:
            some = self._kept(name, which, **page)
            if len(some) < ROWS_PAGE:
                yield from (dict(zip(names, row, strict=True)) for row in some)
                return
            page["after"] = after = some[-1][0]
            last = self._kept(name, f"rows_{name}", ids=encode_value_list([after]))
            # A session's rows are not torn apart by the end of a page.
            whole: list[Row] = [row for row in some if row[0] != after] + last
            yield from (dict(zip(names, row, strict=True)) for row in whole)

    def _kept(self, name: str, which: str, **values: Any) -> list[Row]:
        """Rows that are what their columns say, which SQLite does not see to."""
        try:
            with readable(name):
                found = self._rows(which, **values)
                rows: list[Row] = msgspec.convert(found, build_row_shape(name))
        except msgspec.ValidationError as error:
            raise ProjectionDamaged(name, str(error)) from error
        return rows

    def rows_of_sessions(
        self, name: str, session_ids: Sequence[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Rows of a projection by session; of a session that has none there is no entry.

        Raises:
            ProjectionDamaged: as `rows`.
        """
        names, found = self.columns(name), defaultdict[str, list[dict[str, Any]]](list)
        for row in self._kept(name, f"rows_{name}", ids=encode_value_list(session_ids)):
            found[row[0]].append(dict(zip(names, row, strict=True)))
        return found

    def kept(self, name: str, session_id: str) -> KeptRows:
        """What a projection keeps of a session.

        Raises:
            ProjectionDamaged: something of it cannot be read.
        """

        def look(cursor: Any) -> KeptRows:
            of = {"of_name": name, "in_session": session_id}
            kept = self._statements.run(cursor, "kept", **of).fetchall()
            ((version, complete, mark, waits),) = kept
            ids = encode_value_list([session_id])
            rows = self._statements.run(cursor, f"rows_{name}", ids=ids).fetchall()
            # What is folded meanwhile moves rows and marks together, and looks like another state.
            return KeptRows(version, complete, mark, waits, rows=tuple(map(tuple, rows)))

        with readable(name):
            return self.database.looked(look)

    def strays(self, name: str, project: str | None) -> Iterator[str]:
        """Ids under which a projection has rows, though the project (the log: None) has none."""
        after = ""
        while some := self._rows(f"strays_{name}", after=after, at_most=ROWS_PAGE):
            for session_id, of_project, known in some:
                # PostgreSQL takes no NUL: a row's project may be spelled otherwise for that alone.
                is_its = isinstance(known, str) and known.replace("\0", "\ufffd") == of_project
                if known is None if project is None else of_project == project and not is_its:
                    yield str(session_id)
            after = some[-1][0]

    def counts(self) -> dict[str, int]:
        """How many `sessions` and `events` the log has, and what is `waiting` in the outbox."""
        names = ("sessions", "events", "waiting")
        return {name: self._rows(f"count_{name}")[0][0] for name in names}

    def folded(self, name: str) -> int:
        """How many sessions a projection has folded."""
        count: int = self._rows("count_marks", of_name=name)[0][0]
        return count


def _are_held(row: Row) -> bool:
    """Whether every column of its kind can hold each value."""
    for value in row:
        if isinstance(value, str):
            if "\0" in value:
                return False
        elif isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
            return False
    return True


def _terms(words: Sequence[str]) -> dict[str, str]:
    """Values for a statement on `TERMS_MAX` words: the first of them, and empty ones."""
    padded = [*words, *[""] * TERMS_MAX][:TERMS_MAX]
    return {f"term_{n}": word for n, word in enumerate(padded)}


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Within it, a text of a projection that no database reads is damage of the projection."""
    try:
        yield
    except LogDamaged as error:
        if "UTF-8" not in error.found:
            raise
        raise ProjectionDamaged(name, error.found) from error


def as_head(row: Sequence[Any]) -> Head:
    """A head whose version is none is folded like one that has not moved yet."""
    session_id, project, workflow, version, hash_ = row
    return Head(session_id, project, workflow, as_version(version), hash=hash_)


def as_version(found: object) -> int:
    """SQLite keeps what it is given, whatever the column's type says."""
    return found if isinstance(found, int) else 0


class SqlComparing(Looking):
    """Rows of the projections `memory` and `decisions`, as they lie there."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__("projections", store.database)

    def is_current(self, versions: Mapping[str, int]) -> bool:
        """Whether these projections lack only what waits: this version of each is complete.

        Where nothing was ever folded, every session waits.
        """
        rows = self._rows("registered")
        return not rows or versions.items() <= {row[0]: row[1] for row in rows if row[3]}.items()

    def waiting(self, limit: int) -> list[Head]:
        """Sessions that moved and are not folded yet."""
        return [Head(*row) for row in self._rows("moved", at_most=limit)]

    def payloads(self, tag: str) -> dict[str, str]:
        """By session that waits: the payload of its last event with a tag."""
        rows = self._rows("unfolded_events", of_type=tag)
        return {session_id: data for session_id, data in rows if data is not None}

    def words(self, project: str, first: str, last: str, limit: int) -> list[str]:
        """The distinct words of decisions from one up to before another, sorted."""
        rows = self._rows("words", of_project=project, first=first, last=last, at_most=limit)
        return [row[0] for row in rows if isinstance(row[0], str)]

    def documents(self, project: str) -> tuple[int, int]:
        """How many decisions there are, and how many words they have together."""
        ((count, length),) = self._rows("documents", of_project=project)
        return int(count), int(length or 0)

    def rows(self, project: str, terms: Sequence[str], limit: int) -> list[tuple[str, str]]:
        """Pairs of session and decision, as JSON: the best match first, then the newest.

        None while a projection is being rebuilt: what lies there may be of another hand.

        Args:
            terms: words of values, categories and fields; the first `TERMS_MAX` count.
        """
        if not {"memory", "decisions"} <= {row[0] for row in self._rows("registered") if row[3]}:
            return []
        rows = self._rows("compared", of_project=project, at_most=limit, **_terms(terms))
        return [(session_id, decided) for session_id, decided in rows]


RANGE: Final = 200  # sessions whose events are read, and held, at once


class SqlFollowing(SqlRows):
    """What moved, sessions, and a place for rows and marks.

    Rows and the marks that say how far they go are written in one transaction; a session that a
    projection has folded as far already, or farther, stays as it is.
    """

    # 1. Which there are ----------------------------------------------------------------------

    def registered(self) -> dict[str, Registered]:
        """The projections that were ever begun, by name."""
        return registered_of(self._rows("registered"))

    def begin(self, name: str, version: int, *, again: bool = True) -> None:
        """Begin a projection from zero: its rows and marks go.

        Also where it is under way: a process that died, or another hand, may have left rows that
        no fold made. Another process that lives goes on with the new generation.

        Args:
            again: also where this version of it is complete.
        """

        def work(cursor: Any) -> None:
            run = self._statements.run
            found = registered_of(run(cursor, "registered_alone").fetchall()).get(name)
            if found is None:
                values = {"name": name, "version": version, "generation": 1, "complete": 0}
                if not run(cursor, "register", **values).rowcount:
                    return  # another process was first
            else:
                _refuse_newer({name: found}, {name: version})
                if found.version == version and found.complete and not again:
                    return
                generation = found.generation + 1
                run(cursor, "begin", of_name=name, version=version, generation=generation)
            # Also those that were there before the projection, and have no owner.
            run(cursor, "empty_marks", of_name=name)
            run(cursor, f"empty_{name}")

        self.database.wrote(work)

    def finish(self, name: str, generation: int) -> bool:
        """Say that every session was folded since `begin`; False where it was begun again."""
        of = {"of_name": name, "of_generation": generation}
        run = self._statements.run
        return bool(self.database.wrote(lambda cursor: run(cursor, "finish", **of).rowcount))

    # 2. Following ----------------------------------------------------------------------------

    def follow(
        self, after: tuple[str, int], limit: int, versions: Mapping[str, int], fold: Fold
    ) -> tuple[str, int] | None:
        """Fold some of the sessions that moved, and take them out of the outbox.

        Args:
            after: session id and version of the last one that was taken.
            versions: of the projections that are folded.

        Returns:
            The last that was taken now; None where none is left.

        Raises:
            NewerProjection: a newer version of this program keeps one of the projections.
        """

        def taken(cursor: Any) -> list[tuple[str, int]]:
            place = {"after_session": after[0], "after_version": after[1], "at_most": limit}
            rows = self._statements.run(cursor, "take", **place).fetchall()
            return [(row[0], row[1]) for row in rows]

        def folded(look: Look, pairs: Sequence[tuple[str, int]]) -> Folded:
            return fold(self._stream(look, head) for head in self._unfolded(look, pairs))

        def work(cursor: Any) -> tuple[str, int] | None:
            pairs = taken(cursor)
            if not pairs:
                return None
            self._write(cursor, folded(lambda look: look(cursor), pairs), versions, pairs)
            return pairs[-1]

        if self.database.dialect != "sqlite":
            return self.database.wrote(work)
        pairs: list[tuple[str, int]] = self.database.looked(taken)
        if not pairs:
            return None
        done = folded(self.database.looked, pairs)
        self.database.wrote(lambda cursor: self._write(cursor, done, versions, pairs))
        return pairs[-1]

    def write(self, heads: Sequence[Head], versions: Mapping[str, int], fold: Fold) -> None:
        """Fold sessions, whether they moved or not.

        Raises:
            NewerProjection: a newer version of this program keeps one of the projections.
        """
        self.put(fold(self._streams(heads)), versions)

    def put(self, done: Folded, versions: Mapping[str, int]) -> None:
        """Write what sessions fold to, whether they moved or not; as `write`."""
        self.database.wrote(lambda cursor: self._write(cursor, done, versions, ()))

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
        known = [name for name in versions if name in found]
        names = [name for name in known if found[name].version == versions[name]]
        turns = sorted(done.turns, key=lambda turn: turn.session_id)
        turns = self._standing(cursor, turns) if names and turns else []
        marked = self._marked(cursor, turns, names) if turns else {}
        for name in marked:
            moved = [turn for turn in turns if turn.session_id in marked[name]]
            ids = encode_value_list([turn.session_id for turn in moved])
            self._statements.run(cursor, f"delete_{name}", ids=ids)
            rows = [row for turn in moved for row in turn.rows[name]]
            self._statements.rows(cursor, f"insert_{name}", self.columns(name), rows)
        if not pairs and PROJECTED.keys() == set(names):
            self._drop_folded(cursor, turns)
        self._settle(cursor, done, pairs)

    def _standing(self, cursor: Any, turns: Sequence[FoldedSession]) -> list[FoldedSession]:
        """Without those that were erased since: what they held must not come back."""
        ids = encode_value_list([turn.session_id for turn in turns])
        found = dict(self._statements.run(cursor, "heads", ids=ids).fetchall())

        def stands(turn: FoldedSession) -> bool:
            is_newest = as_version(found.get(turn.session_id)) <= turn.version
            return is_newest or not self._erased(cursor, turn)

        return [*filter(stands, turns)]

    def _erased(self, cursor: Any, turn: FoldedSession) -> bool:
        of = {"in_session": turn.session_id, "upto": turn.version}
        return self._statements.run(cursor, "erased", **of).fetchone() is not None

    def _marked(
        self, cursor: Any, turns: Sequence[FoldedSession], names: Sequence[str]
    ) -> dict[str, set[str]]:
        """By projection: the sessions that it had not folded as far."""
        marked: dict[str, set[str]] = defaultdict(set)
        upto = encode_value_list([(turn.session_id, turn.version) for turn in turns])
        self._statements.run(cursor, "mark", names=encode_value_list(names), turns=upto)
        for name, session_id in cursor.fetchall():
            marked[name].add(session_id)
        return marked

    def _drop_folded(self, cursor: Any, turns: Sequence[FoldedSession]) -> None:
        """What every projection has folded leaves the outbox, on PostgreSQL with the next fold.

        There, another process may hold these rows and wait for our marks.
        """
        if self.database.dialect == "sqlite":
            folded = [{"in_session": turn.session_id, "upto": turn.version} for turn in turns]
            self._statements.many(cursor, "delete_folded", folded)

    def _settle(self, cursor: Any, done: Folded, pairs: Sequence[tuple[str, int]]) -> None:
        """The outbox: what was folded leaves, what another process must fold stays."""
        left = set(done.left)  # also an id without a session, which cannot be folded
        folded = [pair for pair in pairs if pair[0] not in left]
        seen = [{"in_session": id_, "of_version": version} for id_, version in folded]
        self._statements.many(cursor, "delete_outbox", seen)
        if not pairs:
            kept = [{"session_id": session_id, "version": 0} for session_id in done.left]
            self._statements.many(cursor, "keep_outbox", kept)

    # 3. Reading sessions ---------------------------------------------------------------------

    def hurried(self) -> AbstractContextManager[None]:
        """Within it, what meets another process's lock raises `LogBusy` soon."""
        return self.database.hurried()

    def waiting(self, limit: int) -> tuple[Head, ...]:
        """Sessions of the outbox, in the order of their ids: they moved and are not folded yet."""
        return tuple(as_head(row) for row in self._rows("moved", at_most=limit))

    def folded_elsewhere(self, limit: int) -> tuple[Head, ...]:
        """Sessions that other processes fold now, where several can; their rows are older here."""
        return () if self.database.dialect == "sqlite" else self.waiting(limit)

    def page(self, after: str, limit: int) -> tuple[Head, ...]:
        """Heads in the order of their ids, behind one."""
        return tuple(as_head(row) for row in self._rows("page", after=after, at_most=limit))

    def marks(self, name: str, first: str, last: str) -> dict[str, int]:
        """How far a projection has folded the sessions between two ids, both included."""
        return dict(self._rows("marks", of_name=name, first=first, last=last))

    def marked_rows(self, name: str, ids: Sequence[str]) -> dict[str, tuple[Any, tuple[Row, ...]]]:
        """By session: how far a projection has folded it (None: not at all), and its rows.

        Raises:
            ProjectionDamaged: something of it cannot be read.
        """

        def look(cursor: Any) -> tuple[list[Any], list[Any]]:
            run, of = self._statements.run, encode_value_list(ids)
            marks = run(cursor, "found_marks", of_name=name, ids=of).fetchall()
            return marks, run(cursor, f"rows_{name}", ids=of).fetchall()

        with readable(name):
            marks, rows = self.database.looked(look)
        marked = dict(marks)
        found: dict[str, list[Row]] = {session_id: [] for session_id in ids}
        for row in rows:
            found[row[0]].append(tuple(row))
        return {one: (marked.get(one), tuple(theirs)) for one, theirs in found.items()}

    def stream(self, head: Head) -> Stream:
        """A session, read and verified."""
        return self._stream(self.database.looked, head)

    def _unfolded(self, look: Look, pairs: Sequence[tuple[str, int]]) -> list[Head]:
        """Of some sessions that moved: those that a projection has not folded as far."""
        ids = {session_id for session_id, _ in pairs}
        of = {"first": pairs[0][0], "last": pairs[-1][0]}
        rows = look(lambda cursor: self._statements.run(cursor, "moved_between", **of).fetchall())
        return [as_head(row[:-1]) for row in rows if row[0] in ids and row[-1] < len(PROJECTED)]

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


def _refuse_newer(found: Mapping[str, Registered], versions: Mapping[str, int]) -> None:
    """A process that does not know a projection must not take its unseen sessions.

    Raises:
        NewerProjection: a newer version of this program keeps one.
    """
    for name, one in found.items():
        if one.version > versions.get(name, 0 if name not in PROJECTED else one.version):
            raise NewerProjection(name)
