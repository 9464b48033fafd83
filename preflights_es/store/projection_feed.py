"""What projections need of the log: what moved, sessions to fold, and a place for their rows.

On PostgreSQL, rows of the outbox are taken with `SKIP LOCKED`, so that processes in parallel share
the work. SQLite has one writer: there, sessions are folded before the transaction begins, so that
no recording process waits for a fold. Both may fold a session twice at the same time; the mark lets
one of them write (docs/decisions/0011).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from preflights_es.kernel.errors import LogDamaged, NewerProjection
from preflights_es.kernel.ports import (
    Fold,
    Folded,
    FoldedSession,
    Head,
    Registered,
    Row,
    Stored,
    Stream,
)
from preflights_es.store.chain import verified
from preflights_es.store.database import Look, encode_value_list, event_of
from preflights_es.store.frozen import PROJECTED
from preflights_es.store.projection_rows import SqlRows, as_head, as_version, readable

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
            return [
                (row[0], row[1]) for row in self._statements.run(cursor, "take", **place).fetchall()
            ]

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
        names = [
            name for name in versions if name in found and found[name].version == versions[name]
        ]
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
        marked: dict[str, set[str]] = defaultdict(set)
        upto = [(turn.session_id, turn.version) for turn in turns]
        self._statements.run(
            cursor, "mark", names=encode_value_list(names), turns=encode_value_list(upto)
        )
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
