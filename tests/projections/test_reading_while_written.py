"""Readers that may not write, or would have to wait: they answer soon, and say how old it is."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from preflights_es.kernel.errors import LogBusy
from preflights_es.runtime import projector as projecting
from preflights_es.runtime.projector import BUSY, UNWRITTEN, Projector
from preflights_es.store.database import HURRY_MS
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from tests.fixed import Clock
from tests.projections.given import address, following, kept, recorded
from tests.projections.recording import goldens
from tests.store.given import Salt, sql

PATIENCE_S: Final = 8  # seconds; a reader that waits for the lock takes 15


@contextmanager
def written_by_another(store: SqlStore) -> Iterator[None]:
    """Within it, another connection holds the locks of a writer."""
    if store.database.dialect == "postgresql":
        url = address(store).replace("+psycopg", "")
        with closing(psycopg.connect(url, autocommit=True)) as server:
            server.execute("BEGIN")
            server.execute("LOCK TABLE marks, projections IN EXCLUSIVE MODE")
            yield
            server.execute("ROLLBACK")
        return
    with closing(sqlite3.connect(address(store), isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        yield
        file.execute("ROLLBACK")


def ids(projector: Projector) -> list[Any]:
    """Of sessions that a reader finds, soon."""
    began = time.monotonic()
    found = [row["session_id"] for row in projector.rows("sessions", None)]
    assert time.monotonic() - began < PATIENCE_S
    return found


def test_a_reader_answers_without_the_lock_and_says_that_it_may_be_older(store: SqlStore) -> None:
    first = recorded(store, goldens()[:2])
    with written_by_another(store):
        assert ids(following(store)) == first, "it folds for itself what was never folded"
    projector = following(store)
    assert ids(projector) == first
    with written_by_another(store):
        assert ids(projector) == first
    assert projector.behind is None, "nothing has moved"
    second = recorded(store, goldens()[2:4], 3)
    with written_by_another(store):
        assert ids(projector) == [*first, *second]
    assert projector.behind == BUSY
    assert len(kept(store)["sessions"]) == 2, "nothing was written"


def test_a_lock_is_given_up_soon_within_a_hurry_and_waited_for_after_it(store: SqlStore) -> None:
    log = SqlFollowing(store)
    with written_by_another(store):
        began = time.monotonic()
        with pytest.raises(LogBusy), log.hurried():
            log.begin("sessions", 1)
        assert HURRY_MS / 1_000 <= time.monotonic() - began < PATIENCE_S
    log.begin("sessions", 1)
    assert "sessions" in log.registered()


def test_a_log_that_is_only_read_is_folded_as_far_as_that_is_little(tmp_path: Path) -> None:
    with closing(sql(tmp_path)) as store:
        first = recorded(store, goldens()[:1])
        ids(following(store))
        few = recorded(store, goldens()[:1] * projecting.WAITING, 2)
        with closing(SqlStore(f"sqlite:///{address(store)}?mode=ro", Clock(), Salt())) as readable:
            projector = following(readable)
            assert ids(projector) == [*first, *few]
            assert projector.behind is None
            recorded(store, goldens()[:1], 2 + projecting.WAITING)
            assert ids(projector) == first
            assert projector.behind == UNWRITTEN


def test_what_another_process_folds_now_is_read_as_it_will_be(store: SqlStore) -> None:
    if store.database.dialect == "sqlite":
        return  # only one writes at a time there
    made = recorded(store, goldens()[:2])
    url = address(store).replace("+psycopg", "")
    following(store).catch_up()
    new = recorded(store, goldens()[2:4], 3)
    with closing(psycopg.connect(url)) as server:
        server.execute("SELECT * FROM outbox FOR UPDATE")
        reader = following(store)
        assert ids(reader) == sorted([*made, *new])
        assert reader.behind is None
