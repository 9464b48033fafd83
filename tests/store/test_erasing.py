"""An erasure in every store: payloads go, the chain stays, nothing else moves."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from preflights_es.kernel.errors import Conflict
from preflights_es.kernel.events import ERASED_TAG
from preflights_es.kernel.ports import Head, Numbered
from preflights_es.store import core_tables
from preflights_es.store.frozen import PROJECTED, columns
from preflights_es.store.sql import SqlStore
from preflights_es.store.stored_events import erased_before, verified
from tests.fixed import PROJECT
from tests.postgres import connected
from tests.projections.given import following, recorded
from tests.projections.given import kept as kept_rows
from tests.projections.recording import golden
from tests.store.gate import Gate
from tests.store.given import (
    AnyStore,
    at,
    batch,
    cursor,
    erased,
    heard,
    opened,
    said,
    session_id,
    sql,
)
from tests.store.test_contract import source, store

__all__ = ["source", "store"]


def head_of(store: AnyStore, number: int) -> Head:
    head = store.head(session_id(number))
    assert head is not None
    return head


def erase(store: AnyStore, number: int, clear: tuple[str, ...] = ()) -> Head:
    covering = (erased(), heard("closed"))
    return store.erase(batch(number, *covering, after=head_of(store, number)), clear)


def test_payloads_and_salts_go_and_everything_else_stays(store: AnyStore) -> None:
    opened(store, 1)
    opened(store, 2)
    before, other = store.read(session_id(1)), store.read(session_id(2))
    head = erase(store, 1)
    after = store.read(session_id(1))
    assert after[:2] == tuple(replace(event, data=None, salt=None) for event in before)
    assert after[2].type == ERASED_TAG
    assert [event.data is None for event in after] == [True, True, False, False]
    assert head == head_of(store, 1)
    assert verified(after, head.hash) is after
    assert erased_before(after) == 3
    assert store.read(session_id(2)) == other
    assert store.headless() == ()


def test_open_calls_go_and_numbers_stay_taken(store: AnyStore) -> None:
    store.append([batch(1, said("hello", "a"), heard("hello"), opens=("call",), holds=7)])
    store.append([batch(2, said("hello", "b"), heard("hello"), opens=("call",))])
    erase(store, 1)
    assert store.open_calls(PROJECT) == ((session_id(2), "call"),)
    assert store.numbers(PROJECT) == {Numbered("", 7): session_id(1)}
    assert store.claim(session_id(1), "call", "owner", 1, 2) == "not_open"


def test_a_head_that_moved_erases_nothing(store: AnyStore) -> None:
    head = opened(store, 1)
    store.append([batch(1, said("more", "b"), heard("more"), after=head)])
    before = store.read(session_id(1))
    with pytest.raises(Conflict):
        store.erase(batch(1, erased(), after=head))
    assert store.read(session_id(1)) == before


def test_what_an_erasure_covers_is_not_taken_over_though_a_file_still_has_it(
    source: AnyStore, store: AnyStore
) -> None:
    opened(source, 1)
    whole = source.read(session_id(1))
    erase(source, 1)
    store.insert((*whole, *source.read(session_id(1), after=2)))
    assert store.read(session_id(1)) == source.read(session_id(1))


def test_an_erasure_travels_and_takes_payloads_with_it(source: AnyStore, store: AnyStore) -> None:
    opened(source, 1)
    store.insert(source.read(session_id(1)), open_calls=("call",))
    erase(source, 1)
    store.insert(source.read(session_id(1), after=2))
    assert store.read(session_id(1)) == source.read(session_id(1))
    assert store.open_calls(PROJECT) == ()
    assert verified(store.read(session_id(1)), head_of(source, 1).hash)


# In SQL --------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(sql(tmp_path)) as made:
        yield made


def test_the_erasure_is_left_for_projections_and_what_came_before_is_not(log: SqlStore) -> None:
    head = opened(log, 1)
    log.append([batch(1, said("more", "b"), heard("more"), after=head)])
    opened(log, 2)
    at = erase(log, 1)
    rows = cursor(log).execute(str(select(core_tables.outbox))).fetchall()
    assert sorted(rows) == [(session_id(1), at.version), (session_id(2), 2)]


def test_rows_of_projections_go_in_the_same_transaction(log: SqlStore) -> None:
    head = opened(log, 1)
    names = tuple(PROJECTED.values())
    for number in (1, 2):
        columns = "session_id, version, project, workflow, call, provider, model, prompt, at"
        cursor(log).execute(
            f"INSERT INTO projected_usage ({columns}, attempt, outcome, judged, fell_back) "
            "VALUES (?, 1, 'p', 'w', 'c', 'x', 'm', 'p', 1, 1, 'o', 'j', 0)",
            (session_id(number),),
        )
    with pytest.raises(Conflict):
        log.erase(batch(1, erased(), after=replace(head, hash=bytes(32))), names)
    assert _users(log) == [session_id(1), session_id(2)], "nothing of it was done"
    erase(log, 1, names)
    assert _users(log) == [session_id(2)]


def _users(log: SqlStore) -> list[str]:
    statement = "SELECT session_id FROM projected_usage ORDER BY session_id"
    return [row[0] for row in cursor(log).execute(statement)]


def test_a_mark_of_every_projection_makes_an_earlier_fold_come_too_late(log: SqlStore) -> None:
    opened(log, 1)
    cursor(log).execute("INSERT INTO marks VALUES ('weather', ?, 2)", (session_id(1),))
    at = erase(log, 1)
    marks = cursor(log).execute("SELECT projection, version FROM marks").fetchall()
    assert dict(marks) == dict.fromkeys((*PROJECTED, "weather"), at.version - 1)


def test_every_table_of_a_projection_can_be_cleared_by_session() -> None:
    for table in PROJECTED.values():
        assert "session_id" in columns(table)


def test_nothing_of_it_is_left_in_the_file_or_its_journal(tmp_path: Path, log: SqlStore) -> None:
    secret = "a word that stands nowhere else"
    log.append([batch(1, said(secret * 1_000, "a"), heard(secret))])
    opened(log, 2)
    assert secret.encode() in _bytes(tmp_path)
    erase(log, 1)
    assert log.scrubbed()
    assert secret.encode() not in _bytes(tmp_path)
    assert b"hello" in _bytes(tmp_path)


def test_a_reader_delays_the_journal_and_that_is_said(tmp_path: Path, log: SqlStore) -> None:
    log.append([batch(1, said("secret", "a"), heard("secret"))])
    with closing(sql(tmp_path)) as reader:
        looking = cursor(reader)
        looking.execute("BEGIN")
        looking.execute("SELECT * FROM events").fetchone()
        erase(log, 1)
        assert not log.scrubbed()
        looking.execute("ROLLBACK")
        assert log.scrubbed()


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("log.db*"))


# While another process folds ------------------------------------------------------------------


@pytest.mark.parametrize("place", ["marks", "projected_sessions"])
def test_what_a_fold_was_about_to_write_when_its_session_was_erased_goes_too(
    empty_database: str, place: str
) -> None:
    """It was not folded before, so that no mark tells the fold that it comes too late."""
    with closing(at(empty_database)) as store, closing(connected(empty_database)) as other:
        following(store).catch_up()
        (one,) = recorded(store, golden("a_model_leads"))
        head = store.head(one)
        assert head is not None
        gate = Gate(other)
        gate.close(place, f"NEW.version = {head.version}")
        covering = batch(1, erased(), heard("closed"), after=head, project=head.project)
        covering = replace(covering, session_id=one, workflow=head.workflow)
        with ThreadPoolExecutor(2) as pool:
            folds = pool.submit(following(store).rebuild)
            gate.wait(1)
            erases = pool.submit(store.erase, covering, [*PROJECTED.values()])
            gate.wait(2, erases.done)
            gate.open()
            folds.result()
            assert erases.result().version == head.version + 2
        rows = kept_rows(store)
        assert (rows["decisions"], rows["usage"]) == ([], [])
        assert [row["version"] for row in rows["sessions"]] in ([], [head.version + 2])
