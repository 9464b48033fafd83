"""The frozen files of SQLite are what SQLAlchemy and the migrations make today."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from preflights_es.store import frozen, migrate
from preflights_es.store.core_statements import rooms
from preflights_es.store.opening import database_at
from preflights_es.store.sql import SqlStore
from preflights_es.store.sqlite import SqliteDatabase
from preflights_es.store.urls import SqliteFile, parse_log_address
from tests.each import each
from tests.fixed import Clock
from tests.store import freeze
from tests.store.given import Salt


def test_the_frozen_statements_and_tables_are_those_of_today() -> None:
    assert frozen.STATEMENTS.read_text("utf-8") == freeze.statements(), "run `make freeze`"
    assert frozen.TABLES.read_text("utf-8") == freeze.new_tables(), "run `make freeze`"


def test_freezing_writes_the_columns_of_projections_on_the_page() -> None:
    text = freeze.PAGE.read_text("utf-8")
    assert freeze.page(text) == text, "run `make freeze`"
    lacking = text.replace("`turns`, ", "").replace("`fell_back`, `intention`", "`old`")
    assert lacking != text
    assert freeze.page(lacking) == text


def test_a_new_log_is_what_the_migrations_make(tmp_path: Path) -> None:
    migrate.upgrade(database_at(parse_log_address(str(tmp_path / "upgraded.db"))))
    SqlStore(str(tmp_path / "made.db"), Clock(), Salt()).close()
    upgraded, made = contents(tmp_path / "upgraded.db"), contents(tmp_path / "made.db")
    assert made == upgraded
    assert len(made["sqlite_master"]) > 20
    assert made["alembic_version"] == [(frozen.read_frozen_revision(),)]
    assert made["log"] == [(32,)]


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """What is declared, white space aside, and the rows of each table; of log ids their lengths."""
    with closing(sqlite3.connect(path)) as log:
        declared = log.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
        found: dict[str, list[tuple[object, ...]]] = {
            "sqlite_master": sorted(
                (*names, " ".join((said or "").split())) for *names, said in declared
            ),
            "pragmas": [
                log.execute(f"PRAGMA {name}").fetchone()
                for name in ("page_size", "journal_mode", "user_version", "encoding")
            ],
        }
        for kind, name, *_ in declared:
            if kind == "table":
                column = "length(id)" if name == "log" else "*"
                found[name] = log.execute(f"SELECT {column} FROM {name}").fetchall()
        return found


def test_making_a_log_that_is_there_already_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    SqlStore(str(path), Clock(), Salt()).close()
    before = contents(path)
    with closing(SqliteDatabase(SqliteFile(str(path)))) as late:
        assert late.made()
    assert contents(path) == before


@each("room", rooms("sqlite"))
def test_sqlite_takes_every_frozen_statement(tmp_path: Path, room: str) -> None:
    with closing(SqlStore(str(tmp_path / "log.db"), Clock(), Salt())) as store:
        cursor = store.database.cursor()  # type: ignore[attr-defined]  # SQLite's own
        statements = frozen.Room(room)
        for name in frozen.frozen().rooms[room]:
            statement = statements[name]
            values = dict.fromkeys(statement.names or ())
            explained = cursor.execute(f"EXPLAIN {statement.sql}", statement.bound(values))
            assert explained.fetchall(), name


def test_engines_have_the_same_statements() -> None:
    there = {room: some.keys() for room, some in rooms("postgresql").items()}
    assert {room: some.keys() for room, some in frozen.frozen().rooms.items()} == there
