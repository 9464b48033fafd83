"""Stops a transaction in its midst, until a test lets it go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import psycopg

from tests.postgres import UP_S

HELD: Final = 7  # the key of the lock by which a test holds a fold up
WAITING: Final = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


class Gate:
    """Stops a process that inserts into a table, in the midst of its transaction."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self._connection = connection

    def close(self, table: str, when: str) -> None:
        """For rows of which that is true."""
        body = f"IF {when} THEN PERFORM pg_advisory_xact_lock({HELD}); END IF; RETURN NEW;"
        for statement in (
            f"SELECT pg_advisory_lock({HELD})",
            f"CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$",
            f"CREATE TRIGGER held BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION held()",
        ):
            self._connection.execute(statement.encode())

    def open(self) -> None:
        """Let them go on."""
        self._connection.execute(f"SELECT pg_advisory_unlock({HELD})".encode())

    def wait(self, count: int, done: Callable[[], bool] = lambda: False) -> None:
        """Until so many wait, for this gate or for each other, or something is done."""
        until = time.monotonic() + UP_S
        while self._connection.execute(WAITING).fetchall() != [(count,)] and not done():
            assert time.monotonic() < until, "no process comes"
            time.sleep(0.005)
