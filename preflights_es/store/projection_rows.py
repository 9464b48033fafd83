"""Reads what projections keep: rows, pages of sessions with their rows, words of decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from preflights_es.kernel.errors import LogDamaged, ProjectionDamaged
from preflights_es.kernel.events import INT_MAX
from preflights_es.kernel.ports import TERMS_MAX, Choice, Head, KeptRows, Row
from preflights_es.store.database import Looking, encode_value_list
from preflights_es.store.frozen import PROJECTED, build_row_shape, columns
from preflights_es.store.sql import SqlStore

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
                rows: list[Row] = msgspec.convert(
                    self._rows(which, **values), build_row_shape(name)
                )
        except msgspec.ValidationError as error:
            raise ProjectionDamaged(name, str(error)) from error
        return rows

    def kept(self, name: str, session_id: str) -> KeptRows:
        """What a projection keeps of a session.

        Raises:
            ProjectionDamaged: something of it cannot be read.
        """

        def look(cursor: Any) -> KeptRows:
            of = {"of_name": name, "in_session": session_id}
            ((version, complete, mark, waits),) = self._statements.run(
                cursor, "kept", **of
            ).fetchall()
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
