"""What is PostgreSQL's own: addresses, settings, tables, and texts that it cannot hold."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.engine import make_url

from preflights_es.kernel.errors import (
    LogDamaged,
    LogFromDevelopment,
    LogFromFuture,
    PreflightsError,
    Refused,
    SettingsError,
    StoreUnavailable,
)
from preflights_es.kernel.ports import Draft
from preflights_es.store import frozen
from preflights_es.store.postgres import (
    CONNECT_TIMEOUT_S,
    IDLE_TIMEOUT_MS,
    POOL_SIZE,
    RECONNECT_S,
    STATEMENT_TIMEOUT_MS,
    TRIES,
)
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import verified
from preflights_es.store.urls import file_of, parse_log_address, shown_url
from tests import markdown
from tests.each import each
from tests.fixed import Clock
from tests.markdown import ticked
from tests.postgres import Server, connected
from tests.store.given import INPUT, Salt, at, batch, heard, opened, said, session_id
from tests.store.mortal import ROOT


@pytest.fixture
def store(postgres: str) -> Iterator[SqlStore]:
    with closing(at(postgres)) as made:
        yield made


def refused(url: str) -> PreflightsError:
    with pytest.raises(PreflightsError) as caught:
        SqlStore(url, int, bytes).close()
    return caught.value


def found(store: SqlStore, query: str) -> Any:
    return store.database.looked(lambda cursor: cursor.execute(query).fetchone())[0]


# 1. Addresses --------------------------------------------------------------------------------


@each(
    ("url", "shown"),
    [
        ("postgresql://ada@host/log", "postgresql://ada@host/log"),
        ("postgres://host:5433/log", "postgresql://host:5433/log"),
        ("postgresql+psycopg://host/log", "postgresql://host/log"),
        ("postgresql:///log?host=/run/postgresql", "postgresql:///log?host=%2Frun%2Fpostgresql"),
        ("postgresql://ada:tUlip@host/log", "postgresql://ada:***@host/log"),
        ("postgresql://ada:tU%40lip@host/log", "postgresql://ada:***@host/log"),
        ("postgresql://host/log?user=ada&password=tUlip", None),
        ("postgresql://host/log?sslpassword=tUlip", None),
    ],
)
def test_an_address_of_a_server_is_shown_without_its_password(url: str, shown: str | None) -> None:
    made = parse_log_address(url)
    assert file_of(made) is None
    assert "tU" not in shown_url(made)
    assert shown in (None, shown_url(made))


@each(
    ("url", "said"),
    [
        ("postgresql://ada:tUlip@127.0.0.1:1/log", "127.0.0.1"),
        ("postgresql://ada@/log?host=127.0.0.1&port=1&password=tUlip", "127.0.0.1"),
        ("postgresql://ada:tUlip@/log?host=/nowhere", "/nowhere"),
        ("postgresql://ada:tUlip@nowhere.invalid/log", "nowhere.invalid"),
        ("postgresql://ada:tUlip@/log?host=127.0.0.1:1&host=127.0.0.2:1", "127.0.0.2"),
    ],
)
def test_a_missing_server_is_named_in_one_line_without_the_password(url: str, said: str) -> None:
    error = refused(url)
    assert isinstance(error, StoreUnavailable)
    assert said in str(error)
    assert "tU" not in str(error)
    assert "\n" not in str(error)


@each(
    "query",
    [
        *("nonsense=1", "autocommit=0", "prepare_threshold=0", "'; --=1", "row_factory=x"),
        *("host=a&host=b&port=1", "host=a:b:c&host=d", "connect_timeout=x"),
    ],
)
def test_an_option_that_the_driver_does_not_know_is_refused(query: str) -> None:
    error = refused(f"postgresql://ada:tUlip@127.0.0.1:1/log?{query}")
    assert isinstance(error, SettingsError)
    assert "database URL" in str(error)
    assert "tU" not in str(error)


WITHOUT = """
import sys
import time
sys.modules["psycopg"] = None  # as where it is not installed
from preflights_es.kernel.errors import SettingsError
from preflights_es.store.sql import SqlStore
SqlStore(sys.argv[1], int, bytes).close()
for _ in range(2):
    try:
        SqlStore("postgresql://ada:tUlip@host/log", int, bytes)
    except SettingsError as error:
        print(error)
"""


def test_a_file_needs_no_driver_and_a_missing_one_is_named_with_its_extra(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path / "log.db")],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.stderr == ""
    first, second = done.stdout.splitlines()
    assert first == second
    assert "a log in PostgreSQL needs the extra `postgres`" in first


@pytest.mark.parametrize("name", ["a'b\"c; DROP TABLE x -- 🛫", "Küche%20b?c&d=e/f@g"])
def test_a_database_may_have_any_name(server: Server, name: str) -> None:
    quoted = name.replace('"', '""')
    server.said(f'CREATE DATABASE "{quoted}"')
    try:
        with closing(SqlStore(server.url(name), Clock(), Salt())) as store:
            opened(store, 1)
            assert found(store, "SELECT current_database()") == name
            assert make_url(shown_url(store.url)).database == name
    finally:
        server.drop(name)


@each("name", ["nonesuch", "none'such; --", "🛫"])
def test_a_database_that_does_not_exist_is_named(server: Server, name: str) -> None:
    error = refused(server.url(name))
    assert isinstance(error, StoreUnavailable)
    assert f'"{name}" does not exist' in str(error)


# 2. Settings ---------------------------------------------------------------------------------


def test_every_connection_has_its_settings_and_prepares_what_repeats(store: SqlStore) -> None:
    for _ in range(2):
        assert found(store, "SELECT current_setting('synchronous_commit')") == "on"
        assert found(store, _milliseconds("statement_timeout")) == str(STATEMENT_TIMEOUT_MS)
        idle = _milliseconds("idle_in_transaction_session_timeout")
        assert found(store, idle) == str(IDLE_TIMEOUT_MS)
        assert found(store, "SELECT current_setting('client_encoding')") == "UTF8"
        store.close()
    head = opened(store, 1)
    for n in range(8):
        (head,) = store.append([batch(1, said("x", f"x-{n}"), heard("x"), after=head)])
    prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%events%'"
    assert found(store, prepared) > 0


def test_the_pages_name_the_settings_that_the_code_has() -> None:
    rows = markdown.tables("docs/specs/log.md")["PostgreSQL"]
    settings = {ticked(row["Setting"]): row["Value"] for row in rows}
    assert settings["statement_timeout",] == f"{STATEMENT_TIMEOUT_MS:,} ms"
    assert settings["idle_in_transaction_session_timeout",] == f"{IDLE_TIMEOUT_MS:,} ms"
    limits = {
        row["what"].strip("`"): row["value"]
        for row in markdown.tables("docs/operations.md")["Limits and failures"]
    }
    assert limits == {
        "statement_timeout": f"{STATEMENT_TIMEOUT_MS // 1_000} s",
        "idle_in_transaction_session_timeout": f"{IDLE_TIMEOUT_MS // 1_000} s",
        "connections": (
            f"{POOL_SIZE} at most of one process, as many as it has threads at work; "
            "in SQLite one for each thread"
        ),
        "connecting": f"{CONNECT_TIMEOUT_S} s at most",
        "a server that was there and is gone": f"looked for during {RECONNECT_S} s",
        "a transaction that others crossed (deadlock, serialization)": (
            f"made again, {TRIES} times at most"
        ),
    }


def _milliseconds(name: str) -> str:
    return f"SELECT setting FROM pg_settings WHERE name = '{name}'"


def test_what_the_address_says_comes_first(postgres: str) -> None:
    url = f"{postgres}&options=-c%20statement_timeout=7s&application_name=mine"
    with closing(at(url)) as store:
        assert found(store, _milliseconds("statement_timeout")) == "7000"
        assert found(store, "SELECT current_setting('synchronous_commit')") == "on"
        assert found(store, "SELECT current_setting('application_name')") == "mine"


def test_an_append_is_durable_whatever_the_server_says(server: Server, postgres: str) -> None:
    name = make_url(postgres).database
    server.said(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    try:
        with closing(at(postgres)) as store:
            assert found(store, "SELECT current_setting('synchronous_commit')") == "on"
    finally:
        server.said(f'ALTER DATABASE "{name}" RESET synchronous_commit')


def test_nothing_is_left_open_between_two_pieces_of_work(store: SqlStore, postgres: str) -> None:
    opened(store, 1)
    store.read(session_id(1))
    idle = "SELECT array_agg(state) FROM pg_stat_activity WHERE datname = current_database()"
    with closing(connected(postgres)) as other:
        states = other.execute(f"{idle} AND pid <> pg_backend_pid()").fetchone()
    assert states == (["idle"],)


# 3. Tables -----------------------------------------------------------------------------------


def test_texts_are_compared_byte_by_byte(postgres: str) -> None:
    query = (
        "SELECT DISTINCT collation_name FROM information_schema.columns "
        "WHERE table_name IN ('heads', 'events') AND data_type IN ('text', 'character varying')"
    )
    with closing(connected(postgres)) as other:
        assert other.execute(query).fetchall() == [("C",)]


def test_a_payload_is_text_and_lies_there_as_it_is_hashed(store: SqlStore, postgres: str) -> None:
    data = b'{"z":1.0,"a":[1e2,0.10,-0],"m":"\\u0000 \xf0\x9f\x9b\xab","z":2}'
    store.append([batch(1, Draft(INPUT, data, "toy/1", "a", "user"))])
    with closing(connected(postgres)) as other:
        row = other.execute("SELECT convert_to(data, 'UTF8'), pg_typeof(data)::text FROM events")
        assert row.fetchone() == (data, "text")
    verified(store.read(session_id(1)))


def test_a_log_lives_in_a_schema_of_its_own_where_the_address_says_so(empty_database: str) -> None:
    with closing(connected(empty_database)) as other:
        other.execute("CREATE TABLE public.shop (id int)")
        other.execute("CREATE SCHEMA flights")
    error = refused(empty_database)
    assert isinstance(error, LogDamaged)
    assert "another program's database" in str(error)
    with closing(at(f"{empty_database}&options=-c%20search_path=flights")) as store:
        opened(store, 1)
        assert store.schema() == frozen.read_frozen_revision()
        with closing(connected(empty_database)) as other:
            assert other.execute("SELECT count(*) FROM flights.events").fetchone() == (2,)
            other.execute("DROP TABLE flights.heads")
        with pytest.raises(LogDamaged, match="not a log of preflights"):
            store.heads(None)


@each(("revision", "kind"), [("log_2", LogFromFuture), ("0012", LogFromDevelopment)])
def test_a_schema_of_another_version_is_refused(
    postgres: str, revision: str, kind: type[PreflightsError]
) -> None:
    with closing(connected(postgres)) as other:
        other.execute("UPDATE alembic_version SET version_num = %s", (revision,))
        try:
            error = refused(postgres)
        finally:
            other.execute(
                "UPDATE alembic_version SET version_num = %s", (frozen.read_frozen_revision(),)
            )
    assert isinstance(error, kind)
    assert revision in str(error)


def test_a_database_that_cannot_hold_every_text_is_refused(server: Server) -> None:
    name = f"preflights_test_latin_{os.getpid()}"
    server.said(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    try:
        error = refused(server.url(name))
    finally:
        server.drop(name)
    assert isinstance(error, SettingsError)
    assert "LATIN1" in str(error)


# 4. From one engine to the other -------------------------------------------------------------


def test_any_text_comes_back_as_it_was(server: Server) -> None:
    with server.log() as url, closing(at(url)) as store:
        count = iter(range(1, 10_000))

        @given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
        def comes_back(text: str) -> None:
            number = next(count)
            data = b'{"text":"%s"}' % text.encode()
            store.append([batch(number, Draft(INPUT, data, "toy/1", None, "user"), project=text)])
            (event,) = store.read(session_id(number))
            assert (event.data, event.project) == (data, text)
            assert session_id(number) in {head.session_id for head in store.heads(text)}
            verified([event])

        comes_back()


def test_what_a_column_cannot_hold_is_refused_and_nothing_is_recorded(store: SqlStore) -> None:
    head = opened(store, 1)
    for draft in (
        Draft(INPUT, b'{"text":"a\0b"}', "toy/1", "new", "user"),
        Draft(INPUT, b"{}", "toy/1\0", "new", "user"),
        Draft(INPUT, b"{}", "toy/1", "n\0w", "user"),
        Draft(INPUT, b"{}", "toy/1", "x" * 101, "user"),
    ):
        with pytest.raises(Refused, match="nothing was recorded"):
            store.append([batch(2, said("fine", "fine")), batch(3, draft)])
        assert store.heads(None) == (head,)
        assert store.session_of_input("fine") is None
