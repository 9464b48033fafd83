"""What the log needs of a database, whichever engine it is of, and statements run by name in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar

import msgspec

from preflights_es.kernel.ports import Head, Stored
from preflights_es.store.frozen import SqlStatement

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from preflights_es.store.urls import Address


T = TypeVar("T")
Dialect = Literal["sqlite", "postgresql"]
Look = Callable[[Callable[[Any], Any]], Any]
"""Hands a cursor to a function that reads."""

PATIENCE_S: Final = 15.0  # for other processes that change the tables, as long as a writer waits
WAIT_S: Final = 0.1  # seconds between two tries
HURRY_MS: Final = 250  # milliseconds that a reader waits for a writer, before it does without


class Race(Exception):
    """Another writer was first in a place that no head guards: roll back, then try again."""


class Database(Protocol):
    """Connections that begin as the log needs them, and errors that are ours."""

    dialect: Dialect
    begin: str
    """The statement that begins a transaction which writes."""
    taken: type[Exception]
    """What the driver raises where a row with the same key is there already."""
    keeps: str
    """What is left of an erasure where it is not `scrubbed`, in words for a person."""

    @property
    def url(self) -> Address:
        """Its address."""

    @property
    def engine(self) -> Engine:
        """SQLAlchemy's, for migrations."""

    def statements(self, room: str) -> Mapping[str, SqlStatement]:
        """Those of a room, by name."""

    def tables(self) -> frozenset[str]:
        """Names of the tables that are there; none where the database is not there yet."""

    def begun(self, cursor: Any) -> None:
        """Begin a transaction that writes; nothing is waited for."""

    def looked(self, look: Callable[[Any], T]) -> T:
        """What is found with a cursor, outside of a transaction; tried again where it broke.

        Raises:
            LogDamaged: the database is not what it was.
            StoreUnavailable: it cannot be read.
        """

    def wrote(self, work: Callable[[Any], T], *, begins: bool = True) -> T:
        """What came of work in one transaction, which is durable when this returns.

        The work is done once more, in a new transaction, where the engine asks for that.

        Args:
            begins: False where the work calls `begun` itself, in one trip with what follows.

        Raises:
            CommitUnknown: the outcome of the commit is not known.
            LogDamaged: the database is not what it was.
            StoreUnavailable: it cannot be written; nothing was.
        """

    def hurried(self) -> AbstractContextManager[None]:
        """Within it, work that meets another process's lock gives up after `HURRY_MS`.

        Raises:
            LogBusy: it did.
        """

    def made(self) -> bool:
        """Make the tables of a new log, without migrations; False where only those can."""

    def prepared(self) -> None:
        """What must be so before the first table is made."""

    def alone(self, connection: Connection) -> None:
        """Keep others from migrating until this transaction ends, as far as there are tables."""

    def raced(self, error: Exception) -> bool:
        """Whether a migration failed only because another process was at it."""

    def translated(self) -> AbstractContextManager[None]:
        """Within it, errors of the driver become ours."""

    def size(self) -> int:
        """What the log takes on disk, in bytes."""

    def check(self) -> None:
        """Ask the engine whether what it keeps is whole.

        Raises:
            LogDamaged: it is not.
        """

    def scrubbed(self) -> bool:
        """Whether nothing is left in journals of what was overwritten, once they were emptied."""

    def close(self) -> None:
        """Give connections back."""


class Statements:
    """Those of one room, by name; a frozen one on SQLite, else compiled when it is first used."""

    def __init__(self, room: str, database: Database) -> None:
        self._of: Mapping[str, SqlStatement] = database.statements(room)

    def run(self, cursor: Any, which: str, /, **values: Any) -> Any:
        """Run one; the cursor, for what it found."""
        statement = self._of[which]
        cursor.execute(statement.sql, statement.bound(values))
        return cursor

    def many(self, cursor: Any, which: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run one for each row, all together; nothing where there are none."""
        if rows:
            statement = self._of[which]
            cursor.executemany(statement.sql, [statement.bound(row) for row in rows])

    def rows(
        self, cursor: Any, which: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> None:
        """As `many`, for rows without names."""
        if not rows:
            return
        statement = self._of[which]
        if statement.names == tuple(columns):
            cursor.executemany(statement.sql, rows)
        else:
            self.many(cursor, which, [dict(zip(columns, row, strict=True)) for row in rows])


class Looking:
    """A room that looks rows up by statements of its own."""

    def __init__(self, room: str, database: Database) -> None:
        self.database = database
        self._statements = Statements(room, database)

    def _rows(self, which: str, /, **values: Any) -> list[Any]:
        rows: list[Any] = self.database.looked(
            lambda cursor: self._statements.run(cursor, which, **values).fetchall()
        )
        return rows


def encode_value_list(values: Sequence[Any]) -> str:
    """Values as a statement on many takes them: an array of JSON."""
    return msgspec.json.encode(values).decode()


def together(cursor: Any) -> AbstractContextManager[Any]:
    """Within it, what is run is sent in one trip, where the driver can: psycopg's pipeline.

    What a statement found or changed is known when the block ends, and an error as well, even where
    later ones ran on: only then is it known which one failed.
    """
    pipeline = getattr(cursor.connection, "pipeline", None)
    return _ONE_BY_ONE if pipeline is None else pipeline()


_ONE_BY_ONE: Final[AbstractContextManager[Any]] = nullcontext()


def event_of(head: Head, row: Sequence[Any]) -> Stored:
    """An event of a session, as the statement `read` finds it."""
    version, type_, at, input_id, actor, decider, data, salt, digest, hash_ = row
    # Bytes here are a payload that another program wrote: the chain will say so.
    raw = data.encode() if isinstance(data, str) else data
    return Stored(
        session_id=head.session_id,
        project=head.project,
        workflow=head.workflow,
        version=version,
        type=type_,
        recorded_at=at,
        input_id=input_id,
        actor_kind=actor,
        decider=decider,
        data=raw,
        salt=salt,
        digest=digest,
        hash=hash_,
    )
