"""The tables as migrations make them, what a log calls itself, and files that are no log."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from preflights_es.kernel.errors import (
    LogBusy,
    LogDamaged,
    LogFromDevelopment,
    LogFromFuture,
    PreflightsError,
    StoreUnavailable,
)
from preflights_es.store import core_tables, frozen, migrate, sqlite
from preflights_es.store.opening import database_at
from preflights_es.store.sql import SqlStore
from preflights_es.store.sqlite import PAGE_SIZE
from preflights_es.store.stored_events import verified
from preflights_es.store.urls import POSTGRES, parse_log_address
from tests.fixed import Clock
from tests.postgres import Server, connected
from tests.store.given import UPGRADER, Salt, batch, cursor, heard, opened, said, session_id, sql
from tests.store.mortal import ROOT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def open_and_close(place: Path | str) -> None:
    """Through the migrations, where there is work for them."""
    SqlStore(str(place), Clock(), Salt()).close()


def database(path: Path) -> closing[sqlite3.Connection]:
    """As any other program would open it: without our settings."""
    return closing(sqlite3.connect(path, isolation_level=None))


def rows(place: str, query: str) -> list[Any]:
    """What another program finds there, on either engine."""
    with closing(connected(place)) if "://" in place else database(Path(place)) as other:
        found: list[Any] = other.execute(query).fetchall()
    return found


def changed(place: str, *statements: str) -> None:
    """What another program does there, on either engine."""
    with closing(connected(place)) if "://" in place else database(Path(place)) as other:
        for statement in statements:
            other.execute(statement)


def refused(place: Path | str) -> PreflightsError:
    with pytest.raises(PreflightsError) as caught:
        open_and_close(place)
    return caught.value


# 1. The migrations and the tables ------------------------------------------------------------


def test_the_last_migration_is_the_schema_that_the_code_expects() -> None:
    script = ScriptDirectory.from_config(migrate.config())
    assert script.get_heads() == [frozen.read_frozen_revision()]


def differences(place: str) -> list[Any]:
    """Where the tables differ from those that the code describes."""
    is_file = "://" not in place
    url = make_url(f"sqlite:///{place}") if is_file else make_url(place).set(drivername=POSTGRES)
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        found: list[Any] = compare_metadata(context, core_tables.metadata)
    engine.dispose()
    return found


COLUMNS: Final = """
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'public' ORDER BY 1, 2
"""


def test_migrations_make_the_tables_of_the_code_and_again_change_nothing(place: str) -> None:
    shape = COLUMNS if "://" in place else "SELECT sql FROM sqlite_master ORDER BY name"
    with closing(SqlStore(place, Clock(), Salt())) as store:
        assert store.schema() == frozen.read_frozen_revision()
        opened(store, 1)
        before = store.read(session_id(1))
        log_id = store.log_id()
    assert re.fullmatch("[0-9a-f]{32}", log_id)
    tables_before = rows(place, shape)
    for _ in range(2):
        migrate.upgrade(database_at(parse_log_address(place)))
    assert rows(place, shape) == tables_before != []
    with closing(SqlStore(place, Clock(), Salt())) as store:
        assert store.read(session_id(1)) == before
        assert store.log_id() == log_id
    assert differences(place) == []
    changed(place, "DROP TABLE outbox")
    assert [difference[0] for difference in differences(place)] == ["add_table"]


def test_a_migration_has_no_package_file_that_would_hide_the_library() -> None:
    folder = migrate.script_location()
    assert (folder / "env.py").is_file()
    assert not (folder / "__init__.py").exists()


def test_the_folder_of_a_new_log_is_made(tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "a" / "b" / "log.db"), int, bytes)) as store:
        assert store.schema() == frozen.read_frozen_revision()


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """Where several logs may be made, on either engine."""
    if request.param == "sqlite":
        yield [str(tmp_path / f"log-{n}.db") for n in range(10)]
        return
    server: Server = request.getfixturevalue("server")
    names = [server.database() for _ in range(2)]
    yield [server.url(name) for name in names]
    for name in names:
        server.drop(name)


@pytest.mark.slow("crowds")
def test_processes_that_open_one_new_log_at_once_all_find_it_upgraded(places: list[str]) -> None:
    command = [sys.executable, "-c", UPGRADER, *places]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
                )
            )
            for _ in range(3)
        ]
        for place in places:
            assert [_line_from(process) for process in processes] == ["ready"] * 3
            for process in processes:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            assert [_line_from(process) for process in processes] == [
                frozen.read_frozen_revision()
            ] * 3
            assert rows(place, "SELECT version_num FROM alembic_version") == [
                (frozen.read_frozen_revision(),)
            ]
        for process in processes:
            process.communicate()
            assert process.returncode == 0


def _line_from(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


# 2. The id of a log, chosen once by chance ---------------------------------------------------


def named(place: str) -> str:
    """What the log at a place calls itself."""
    with closing(SqlStore(place, Clock(), Salt())) as store:
        return store.log_id()


def test_two_logs_have_two_and_a_copy_has_the_same(tmp_path: Path) -> None:
    one, other, copy = (str(tmp_path / name) for name in ("one.db", "other.db", "copy.db"))
    assert named(one) != named(other)
    sqlite.copied(one, Path(copy))
    assert named(copy) == named(one)


def test_a_log_that_lost_it_is_damaged(path: Path) -> None:
    with closing(sql(path.parent)) as store:
        changed(str(path), "DELETE FROM log")
        with pytest.raises(LogDamaged, match="does not say its id"):
            store.log_id()


# 3. Files that are no log of ours ------------------------------------------------------------


@pytest.mark.parametrize("revision", ["log_2", "log_10", "log_999999999"])
def test_a_newer_schema_is_of_the_future_and_is_not_touched(path: Path, revision: str) -> None:
    before = set_to(path, revision)
    error = refused(path)
    assert isinstance(error, LogFromFuture)
    assert str(error) == (
        f"the log {path} was written by a newer Preflights (schema {revision}, this version knows "
        f"{frozen.read_frozen_revision()}): upgrade preflights"
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "revision",
    [
        *("0001", "0012", "9999", "3f2a9c1b77aa", "zebra", "log_0", "log_", "log_1x"),
        *("log_\u0662", "log_" + "9" * 50, "../../x", "head", "+1"),
    ],
)
def test_a_schema_of_no_release_is_of_a_development_version(path: Path, revision: str) -> None:
    before = set_to(path, revision)
    error = refused(path)
    assert isinstance(error, LogFromDevelopment)
    assert str(error) == (
        f"the log {path} was written by a development version of Preflights (schema "
        f"{revision[:40]!r}), which no release reads: move it away to begin a new log"
    )
    assert path.read_bytes() == before


def set_to(path: Path, revision: str) -> bytes:
    """A log that says another schema, as its file is."""
    sql(path.parent).close()
    with database(path) as other:
        other.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


SECOND = '''"""A toy: a column more."""

import sqlalchemy as sa
from alembic import op

revision = "log_2"
down_revision = "log_1"


def upgrade() -> None:
    op.add_column("heads", sa.Column("toy", sa.BigInteger))
'''


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of a newer version."""
    folder = tmp_path / "alembic"
    shutil.copytree(migrate.script_location(), folder)
    (folder / "versions" / "log_2.py").write_text(SECOND)
    return folder


def test_a_second_migration_keeps_what_is_recorded(path: Path, later: Path) -> None:
    with closing(sql(path.parent)) as store:
        opened(store, 1)
        (head,) = store.heads(None)
    migrate.upgrade(database_at(parse_log_address(str(path))), scripts=later)
    with database(path) as other:
        assert other.execute("SELECT version_num FROM alembic_version").fetchall() == [("log_2",)]
        found = other.execute("SELECT session_id, head_hash, toy FROM heads").fetchall()
    assert found == [(head.session_id, head.hash, None)]
    assert isinstance(refused(path), LogFromFuture)


def test_a_reader_does_not_upgrade_while_another_writes(path: Path, later: Path) -> None:
    sql(path.parent).close()
    with database(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            migrate.upgrade(database_at(parse_log_address(str(path))), hurries=True, scripts=later)
        other.execute("ROLLBACK")
    migrate.upgrade(database_at(parse_log_address(str(path))), hurries=True, scripts=later)


def test_a_log_that_does_not_say_one_schema_is_damage(place: str) -> None:
    open_and_close(place)
    for statement, told in (
        ("INSERT INTO alembic_version VALUES ('log_2')", "says 2 schemas"),
        ("DELETE FROM alembic_version", "says 0 schemas"),
        ("DROP TABLE alembic_version", "is missing"),
    ):
        changed(place, statement)
        error = refused(place)
        assert isinstance(error, LogDamaged)
        assert told in str(error)


@pytest.mark.parametrize(
    "content", [b"hello", b"# notes\n" * 2_000, b"\x00" * 10_000, b"SQLite format 3\x00", b"PK\3\4"]
)
def test_a_file_that_is_no_database_is_damage_left_as_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    error = refused(path)
    assert isinstance(error, LogDamaged)
    assert path.read_bytes() == content


FOREIGN = {
    "a table": ["CREATE TABLE customers (id INTEGER PRIMARY KEY)"],
    "our words": ["CREATE TABLE events (id INTEGER)", "CREATE TABLE heads (id INTEGER)"],
    "its own migrations": [
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)",
        "INSERT INTO alembic_version VALUES ('0001')",
        "CREATE TABLE customers (id INTEGER PRIMARY KEY)",
    ],
    "its newer migrations": [
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)",
        "INSERT INTO alembic_version VALUES ('9f00')",
        "CREATE TABLE customers (id INTEGER PRIMARY KEY)",
    ],
}


@pytest.mark.parametrize("statements", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_database_is_refused_and_left_as_it_is(path: Path, statements: list[str]) -> None:
    with database(path) as connection:
        for statement in statements:
            connection.execute(statement)
    before = path.read_bytes()
    error = refused(path)
    assert isinstance(error, LogDamaged)
    assert "another program's database" in str(error)
    assert path.read_bytes() == before


def test_a_database_without_tables_becomes_a_log(path: Path) -> None:
    for made in ((), ("PRAGMA user_version=7", "VACUUM")):
        path.unlink(missing_ok=True)
        path.touch()
        changed(str(path), *made)
        with closing(SqlStore(str(path), Clock(), Salt())) as store:
            opened(store, 1)
            assert store.schema() == frozen.read_frozen_revision()


@pytest.mark.parametrize("table", ["events", "heads", "claims", "numbers", "outbox"])
def test_a_log_that_lacks_a_table_is_damage(path: Path, table: str) -> None:
    with closing(sql(path.parent)) as store:
        opened(store, 1)
    with database(path) as connection:
        connection.execute(f"DROP TABLE {table}")
    with pytest.raises(LogDamaged):
        _use(path)


def _use(path: Path) -> None:
    with closing(sql(path.parent)) as store:
        store.read(session_id(1))
        store.append([batch(2, said("hi", "b"), opens=("call",), holds=1)])


@pytest.fixture
def large(path: Path) -> Path:
    """A log of several pages, in one file."""
    with closing(sql(path.parent)) as store:
        for n in range(1, 40):
            store.append([batch(n, said("x" * 900, f"i{n}"), heard("y" * 900))])
    with database(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    return path


def _read_all(path: Path) -> int:
    with closing(sql(path.parent)) as store:
        store.check()
        return sum(
            len(verified(store.read(head.session_id), head.hash)) for head in store.heads(None)
        )


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_a_log_that_was_cut_short_is_damage(large: Path, share: float) -> None:
    content = large.read_bytes()
    assert _read_all(large) == 78
    large.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(LogDamaged):
        _read_all(large)


@pytest.mark.parametrize("page", [1, 2, 3, 4])
def test_a_page_that_was_overwritten_is_damage(large: Path, page: int) -> None:
    content = bytearray(large.read_bytes())
    size = PAGE_SIZE
    content[page * size : (page + 1) * size] = b"\xff" * size
    large.write_bytes(content)
    with pytest.raises(LogDamaged):
        _read_all(large)


# 4. A world that fails -----------------------------------------------------------------------


def test_a_place_that_takes_no_log_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "device.db").symlink_to("/dev/full")
    for place in (
        tmp_path / "folder.db",
        tmp_path / "file" / "log.db",
        tmp_path / ("x" * 300) / "log.db",  # a name that no file can have
        tmp_path / "device.db",
        Path("/proc/self/log.db"),  # not even root makes files there
    ):
        assert isinstance(refused(place), StoreUnavailable), place


def test_a_log_that_another_process_keeps_locked_names_the_writer(path: Path) -> None:
    with closing(sql(path.parent)) as store, database(path) as other:
        opened(store, 1)
        cursor(store).execute("PRAGMA busy_timeout=10")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LogBusy) as caught:
            opened(store, 2)
        other.execute("ROLLBACK")
        opened(store, 2)
    assert isinstance(caught.value, StoreUnavailable)
    assert str(caught.value) == (
        "the database is locked, another process is writing: wait for it or end it, "
        "then run this again"
    )
