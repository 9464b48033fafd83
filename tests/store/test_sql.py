"""What is SQLite's own: addresses, settings, a disk that is full, a commit that fails."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.kernel.errors import LogDamaged, SettingsError, StoreUnavailable
from preflights_es.kernel.ports import Numbered
from preflights_es.store.sql import SqlStore, temporary_log
from preflights_es.store.sqlite import BUSY_TIMEOUT_MS, PAGE_SIZE
from preflights_es.store.stored_events import sealed, verified
from preflights_es.store.urls import file_of, parse_log_address, shown_url
from tests.each import each
from tests.fixed import PROJECT, Clock
from tests.store.given import Salt, batch, cursor, heard, opened, said, session_id, sql


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    made = sql(tmp_path)
    yield made
    made.close()


# 1. Addresses --------------------------------------------------------------------------------


@each(
    ("url", "file"),
    [
        ("/srv/log.db", "/srv/log.db"),
        ("log.db", "log.db"),
        ("a folder/log.db", "a folder/log.db"),
        ("/a?b/log.db", "/a?b/log.db"),
        ("/a#b/log.db", "/a#b/log.db"),
        ("/100%25/log.db", "/100%25/log.db"),
        ("/a@b:c/log.db", "/a@b:c/log.db"),
        ("/Küche 🛫/log.db", "/Küche 🛫/log.db"),
        ("C:\\logs\\log.db", "C:\\logs\\log.db"),
        ("sqlite:////srv/log.db", "/srv/log.db"),
        ("sqlite:///log.db", "log.db"),
        ("sqlite:////a%20folder/log.db", "/a folder/log.db"),
    ],
)
def test_an_address_is_a_path_or_a_url(url: str, file: str) -> None:
    assert file_of(parse_log_address(url)) == Path(file)
    assert shown_url(parse_log_address(url)) == file


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    names = ["a?b", "100%25", "a#b", "a b", "Küche 🛫", "'; --"]
    for name in names:
        with closing(SqlStore(str(tmp_path / name / "log.db"), Clock(), Salt())) as store:
            opened(store, 1)
        assert (tmp_path / name / "log.db").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {*names}


@each(
    "url",
    [
        *("mysql://ada:secret@host/log", "nonsense://", "postgresql+asyncpg://ada:secret@host/log"),
        *("postgresql://ada:secret@host", "postgresql://ada:secret@host/", "postgres://"),
        *("sqlite://", "sqlite:///", "sqlite:///:memory:", ":memory:", ""),
        *("://", "log\0.db"),
        "http://ada:secret@host:port/",
    ],
)
def test_an_address_that_names_no_log_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        SqlStore(url, Clock(), Salt())
    assert "expected sqlite:///PATH or a path" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_driver_that_is_missing_is_named() -> None:
    with pytest.raises(SettingsError, match="driver"):
        SqlStore("sqlite+nonesuch:///log.db", Clock(), Salt())


# 2. Settings ---------------------------------------------------------------------------------


def pragma(store: SqlStore, name: str) -> object:
    return cursor(store).execute(f"PRAGMA {name}").fetchone()[0]


def test_the_settings_are_those_of_the_specification_on_every_connection(store: SqlStore) -> None:
    opened(store, 1)
    assert pragma(store, "journal_mode") == "wal"
    assert pragma(store, "synchronous") == 2  # FULL
    assert pragma(store, "busy_timeout") == BUSY_TIMEOUT_MS
    assert pragma(store, "page_size") == PAGE_SIZE
    assert pragma(store, "secure_delete") == 1
    store.close()
    assert pragma(store, "synchronous") == 2
    assert pragma(store, "busy_timeout") == BUSY_TIMEOUT_MS


def test_a_temporary_log_waits_for_no_disk() -> None:
    with temporary_log(Clock(), Salt()) as log:
        assert pragma(log, "synchronous") == 0  # OFF


def test_an_append_waits_for_another_process_to_end(store: SqlStore, tmp_path: Path) -> None:
    script = (
        "import sqlite3, sys, time\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "print('locked', flush=True)\n"
        "time.sleep(0.3)\n"
        "c.execute('COMMIT')\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "log.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        head = opened(store, 1)
    assert store.head(session_id(1)) == head


def test_a_reader_does_not_wait_for_a_writer(store: SqlStore, tmp_path: Path) -> None:
    head = opened(store, 1)
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        cursor(store).execute("PRAGMA busy_timeout=0")
        assert store.head(session_id(1)) == head
        assert len(store.read(session_id(1))) == 2
        writer.execute("ROLLBACK")


def test_what_is_read_is_the_payload_as_the_file_has_it(store: SqlStore, tmp_path: Path) -> None:
    opened(store, 1)
    with closing(sqlite3.connect(tmp_path / "log.db")) as other:
        found = other.execute("SELECT data, typeof(data) FROM events").fetchall()
    assert found == [('{"text":"hello"}', "text")] * 2


def test_every_transaction_that_writes_is_immediate(store: SqlStore) -> None:
    # A deferred one that reads and then writes fails at once when another wrote in between.
    head = opened(store, 1)
    more = sealed(batch(1, said("more", "b"), after=head, opens=("call",)), 1, Salt())
    statements: list[str] = []
    cursor(store).connection.set_trace_callback(statements.append)
    opened(store, 2)
    store.insert(more, open_calls=("call",), number=Numbered("", 7))
    assert store.claim(session_id(1), "call", "ada", 1, 2) == "taken"
    begun = [statement for statement in statements if statement.startswith("BEGIN")]
    assert begun == ["BEGIN IMMEDIATE"] * 3


def test_every_append_is_noted_for_the_projections(store: SqlStore, tmp_path: Path) -> None:
    head = opened(store, 1)
    store.append([batch(1, said("more", "b"), after=head), batch(2, said("hi", "c"), heard("hi"))])
    with closing(sqlite3.connect(tmp_path / "log.db")) as other:
        found = other.execute("SELECT session_id, version FROM outbox ORDER BY 1, 2").fetchall()
    assert found == [(session_id(1), 2), (session_id(1), 3), (session_id(2), 2)]


# 3. A disk that is full ----------------------------------------------------------------------


def test_a_full_disk_refuses_an_append_and_keeps_what_was_there(store: SqlStore) -> None:
    head = opened(store, 1)
    before = store.read(session_id(1))
    pages = pragma(store, "page_count")
    cursor(store).execute(f"PRAGMA max_page_count={pages}")
    big = [said("x" * 100_000, "big"), heard("x")]
    with pytest.raises(StoreUnavailable, match="full"):
        store.append([batch(2, *big, opens=("call",), holds=1)])
    assert store.read(session_id(1)) == before
    assert store.head(session_id(2)) is None
    assert (store.open_calls(PROJECT), store.numbers(PROJECT)) == ((), {})
    cursor(store).execute("PRAGMA max_page_count=1073741823")
    store.append([batch(2, *big), batch(1, said("more", "b"), after=head)])
    verified(store.read(session_id(2)))


FILL = """
import resource, signal, sys
from preflights_es.kernel.errors import StoreError
from tests.store.given import batch, heard, said, sql
from pathlib import Path
store = sql(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
heads = {}
for n in range(1, 1_000):
    try:
        store.append([batch(n, said("x" * 20_000, f"input-{n}"), heard("x"))])
    except StoreError as error:
        print(f"{type(error).__name__} input-{n}", flush=True)
        break
    print(f"recorded input-{n}", flush=True)
store.close()
"""


def test_a_file_that_cannot_grow_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    # The write fails inside COMMIT, which neither a page limit nor a permission brings about.
    sql(tmp_path).close()
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    *recorded, (error, refused) = [line.split() for line in done.stdout.splitlines()]
    assert error in ("CommitUnknown", "StoreUnavailable")
    assert recorded
    with closing(sql(tmp_path)) as store:
        for word, input_id in recorded:
            assert word == "recorded"
            found = store.session_of_input(input_id)
            assert found is not None
            head = store.head(found)
            assert head is not None
            assert len(verified(store.read(found), head.hash)) == 2
        assert len(store.heads(None)) == len(recorded) + bool(store.session_of_input(refused))
        opened(store, 5_000)


# 4. Another program's changes ----------------------------------------------------------------

OTHER_KINDS = {
    "data": ("CAST(x'7b7d' AS BLOB)", "CAST(x'ff' AS TEXT)", "7"),
    "salt": ("'text'", "NULL", "7"),
    "digest": ("'text'", "7"),
    "hash": ("'text'", "7"),
    "type": ("x'00'", "CAST(x'ff' AS TEXT)"),
    "recorded_at": ("'soon'", "x'00'", "1.5"),
    "decider": ("x'00'",),
    "actor_kind": ("x'00'",),
    "input_id": ("x'00'",),
}


@pytest.mark.parametrize(
    ("column", "value"), [(column, v) for column, values in OTHER_KINDS.items() for v in values]
)
def test_a_column_of_another_kind_is_damage_and_no_crash(
    store: SqlStore, tmp_path: Path, column: str, value: str
) -> None:
    head = opened(store, 1)
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
        other.execute("DROP TRIGGER events_are_immutable")
        other.execute(f"UPDATE events SET {column} = {value} WHERE version = 1")
    with pytest.raises(LogDamaged):
        verified(store.read(session_id(1)), head.hash)
