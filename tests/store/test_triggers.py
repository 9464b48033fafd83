"""What the database refuses to every client: an event is not changed, deleted or replaced."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from preflights_es.store.audit_evidence import ON_POSTGRESQL, SqlAuditing
from tests.each import each
from tests.postgres import connected
from tests.projections.given import changed
from tests.store.given import at, batch, erased, heard, opened, said, session_id, sql

ONE: Final = f"session_id = '{session_id(1)}'"
TWO: Final = f"session_id = '{session_id(2)}'"
"""Of the two sessions, this one was erased."""
GONE: Final = "data = NULL, salt = NULL"
COLUMNS: Final = (
    *("session_id", "version", "input_id", "type", "recorded_at", "actor_kind", "decider"),
    *("data", "salt", "digest", "hash"),
)
KEYS: Final = "session_id, version, input_id, type, recorded_at, decider, digest, hash"


class Foreign:
    """Another program's connection, as the log's owner."""

    def __init__(self, connection: Any, blob: str) -> None:
        self._connection = connection
        self.is_file = isinstance(connection, sqlite3.Connection)
        self.blob = blob
        """A literal of one byte."""

    def done(self, statement: str) -> Any:
        """What came of it."""
        said_ = statement if self.is_file else statement.encode()
        return self._connection.execute(said_)

    def rows(self) -> list[Any]:
        """Every event, and where it lies."""
        of_file = "SELECT rowid, * FROM events ORDER BY rowid"
        of_server = "SELECT * FROM public.events ORDER BY session_id, version"
        return list(self.done(of_file if self.is_file else of_server).fetchall())

    def refused(self, statement: str, why: str = "events are never changed") -> None:
        """The database does not do it, and says why."""
        before = self.rows()
        with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError), match=why):
            self.done(statement)
        assert self.rows() == before

    def value(self, column: str) -> str:
        """A literal that no event has in that column."""
        values = {
            "version": "99",
            "recorded_at": "0",
            "data": "'{}'",
            **dict.fromkeys(("salt", "digest", "hash"), self.blob),
        }
        return values.get(column, "'forged'")

    def inserted(self, values: str) -> str:
        """A statement that inserts an event; values of its three keys."""
        return f"INTO events ({KEYS}) VALUES ({values}, 'forged', 0, 'x', {self.blob}, {self.blob})"


@pytest.fixture(params=["sqlite", "postgres"])
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Foreign]:
    """A log with one session that was erased and one that was not."""
    is_file = request.param == "sqlite"
    url = "" if is_file else request.getfixturevalue("postgres")
    with closing(sql(tmp_path) if is_file else at(url)) as store:
        opened(store, 1)
        store.append([batch(2, said("secret", "secret"), heard("secret"), erased())])
    if is_file:
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as file:
            yield Foreign(file, "x'00'")
    else:
        with closing(connected(url)) as connection:
            yield Foreign(connection, "'\\x00'")


# 1. On every engine --------------------------------------------------------------------------


@each("column", COLUMNS)
@each("session", [ONE, TWO])
def test_no_column_of_an_event_is_changed(foreign: Foreign, column: str, session: str) -> None:
    foreign.refused(f"UPDATE events SET {column} = {foreign.value(column)} WHERE {session}")


@each("column", COLUMNS)
def test_an_erasure_changes_nothing_on_the_side(foreign: Foreign, column: str) -> None:
    if column in ("data", "salt"):
        changes = f"{'salt' if column == 'data' else 'data'} = NULL"
    else:
        changes = f"{GONE}, {column} = {foreign.value(column)}"
    foreign.refused(f"UPDATE events SET {changes} WHERE {TWO} AND version = 1")


def test_an_erasure_is_the_one_change_that_is_permitted_and_stays(foreign: Foreign) -> None:
    for _ in range(2):
        foreign.done(f"UPDATE events SET {GONE} WHERE {TWO} AND version < 3")
    query = f"SELECT data, salt FROM events WHERE {TWO} ORDER BY version"
    assert foreign.done(query).fetchall()[:2] == [(None, None)] * 2
    foreign.refused(f"UPDATE events SET {GONE}")
    foreign.refused(f"UPDATE events SET {GONE} WHERE {ONE}")
    foreign.done(f"UPDATE events SET {GONE} WHERE {TWO} AND version = 1")
    blob = foreign.blob
    for changes in (f"data = '{{}}', salt = {blob}", "version = 2", f"hash = {blob}"):
        foreign.refused(f"UPDATE events SET {changes} WHERE {TWO} AND version = 1")


@each("which", ["", " WHERE version = 2", f" WHERE {TWO}"])
def test_no_event_is_deleted(foreign: Foreign, which: str) -> None:
    foreign.refused(f"DELETE FROM events{which}", "events are never deleted")


def test_no_event_is_replaced_by_an_upsert(foreign: Foreign) -> None:
    insert = "INSERT " + foreign.inserted(f"'{session_id(1)}', 1, NULL")
    foreign.refused(insert, "events are never replaced|duplicate key")
    upsert = f"{insert} ON CONFLICT (session_id, version) DO UPDATE SET data = '{{}}'"
    foreign.refused(upsert, "events are never")


def test_an_event_with_keys_of_its_own_is_inserted(foreign: Foreign) -> None:
    # Keeps the tests above from passing because nothing can be inserted at all.
    for version in (3, 4):
        foreign.done("INSERT " + foreign.inserted(f"'{session_id(1)}', {version}, NULL"))
    assert len(foreign.rows()) == 7


# 2. On one of them ---------------------------------------------------------------------------

SQLITE: Final = pytest.mark.parametrize("foreign", ["sqlite"], indirect=True)
POSTGRES: Final = pytest.mark.parametrize("foreign", ["postgres"], indirect=True)


@SQLITE
@each("column", [*COLUMNS, "rowid"])
@each("verb", ["UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE"])
def test_no_event_is_changed_by_a_verb_of_sqlite(foreign: Foreign, column: str, verb: str) -> None:
    value = "99" if column == "rowid" else foreign.value(column)
    for session in (ONE, TWO):
        foreign.refused(f"{verb} events SET {column} = {value} WHERE {session}")


@SQLITE
def test_no_row_id_of_an_erased_event_is_changed(foreign: Foreign) -> None:
    foreign.done(f"UPDATE events SET {GONE} WHERE {TWO} AND version = 1")
    for verb in ("UPDATE", "UPDATE OR REPLACE"):
        for changes in (f"{GONE}, rowid = 99", "rowid = 1", "version = 2"):
            foreign.refused(f"{verb} events SET {changes} WHERE {TWO} AND version = 1")


IN_THE_WAY: Final = {
    "the same version": f"NULL, '{session_id(1)}', 1, NULL",
    "the same input": f"NULL, '{session_id(9)}', 1, 'input-1'",
    "the same row": f"1, '{session_id(9)}', 1, NULL",
    "all of them": f"1, '{session_id(1)}', 1, 'input-1'",
}


@SQLITE
@each("key", IN_THE_WAY)
@each("verb", ["INSERT", "INSERT OR REPLACE", "REPLACE", "INSERT OR ROLLBACK"])
@each("recursive", [0, 1])
def test_no_event_is_replaced(foreign: Foreign, key: str, verb: str, recursive: int) -> None:
    foreign.done(f"PRAGMA recursive_triggers={recursive}")
    insert = foreign.inserted(IN_THE_WAY[key]).replace(KEYS, f"rowid, {KEYS}")
    foreign.refused(f"{verb} {insert}", "events are never replaced")


@POSTGRES
def test_the_table_is_not_truncated(foreign: Foreign) -> None:
    foreign.refused("TRUNCATE events", "events are never deleted")


@POSTGRES
def test_an_erasure_of_another_table_of_that_name_covers_nothing(foreign: Foreign) -> None:
    foreign.done("CREATE TEMP TABLE events AS SELECT * FROM public.events")
    foreign.done("UPDATE pg_temp.events SET type = 'session.erased.v1'")
    foreign.refused("UPDATE public.events SET data = NULL, salt = NULL")


# 3. What was done to them on a server ---------------------------------------------------------


BODY: Final = "BEGIN RETURN NULL; END"
DAMAGE: Final = {
    "ALTER TABLE events DISABLE TRIGGER events_are_immutable": "the trigger 'events_are_immutable' "
    "is disabled: `ALTER TABLE events ENABLE TRIGGER events_are_immutable`",
    "CREATE OR REPLACE FUNCTION events_are_kept() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ {BODY} $$": "the trigger 'events_are_kept', which guards events, was changed",
    "ALTER TABLE events ENABLE REPLICA TRIGGER events_are_kept": "'events_are_kept' is disabled",
    "DROP TRIGGER events_are_kept ON events": "'events_are_kept', which guards events, is missing",
    "CREATE TRIGGER theirs AFTER INSERT ON claims FOR EACH ROW EXECUTE FUNCTION "
    "events_are_kept()": "the trigger 'theirs' is not of preflights",
    "CREATE RULE theirs AS ON INSERT TO marks DO INSTEAD NOTHING": "the rule 'theirs' is not of",
}


def test_what_was_done_to_a_guard_is_named_and_nothing_else(empty_database: str) -> None:
    store = at(empty_database)
    assert list(SqlAuditing(store).guards()) == []
    assert len(ON_POSTGRESQL) == 3
    said_ = ""
    for statement, named in DAMAGE.items():
        assert named not in said_
        changed(store, statement)
        said_ = "\n".join(SqlAuditing(store).guards())
        assert named in said_
    store.close()


def test_stray_rows_and_numbers_are_found_on_a_server_as_well(postgres: str) -> None:
    store = at(postgres)
    gone = "00000001-0000-7000-8000-000000000001"
    changed(
        store,
        f"INSERT INTO marks VALUES ('theirs', '{gone}', 3)",
        f"INSERT INTO outbox VALUES ('{gone}', 3)",
        f"INSERT INTO claims VALUES ('{gone}', 'artifact-1', 'house', '', 0)",
        "INSERT INTO projections VALUES ('theirs', 2, 1, 1)",
    )
    auditing = SqlAuditing(store)
    assert [table for _, table, _ in auditing.strays(None)] == ["marks", "outbox", "claims"]
    assert list(auditing.newer({})) == [("theirs", 2)]
    assert list(auditing.claimed()) == [gone]
    assert (list(auditing.asking()), list(auditing.numbers(None))) == ([], [])
    assert (auditing.count_numbers(None), list(auditing.untyped(None))) == (0, [])
    store.close()
