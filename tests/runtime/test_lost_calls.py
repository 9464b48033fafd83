"""Rows of open calls that are lost, and what the log says in their place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.kernel.ports import Head
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.store.sql import SqlStore
from preflights_es.testing import ScriptedProvider
from tests import toy
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.postgres import SECOND_ENGINE
from tests.projections.given import changed

SESSION = "00000001-0000-7000-8000-000000000001"


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    """An empty log, in every engine."""
    is_file = request.param == "sqlite"
    url = str(tmp_path / "log.db") if is_file else request.getfixturevalue("postgres")
    with closing(SqlStore(url, Clock(), salt)) as made:
        yield made


def begun(store: SqlStore | MemoryStore) -> tuple[Runner, Handle]:
    run = Runner(store, {"toy": toy.WORKFLOW}, Clock(), Ids())
    first = toy.asked("why?")
    return run, run.open(toy.WORKFLOW, PROJECT, first, SESSION, "first").handle


def head(store: SqlStore | MemoryStore) -> Head:
    found = store.head(SESSION)
    assert found is not None
    return found


def test_a_session_that_waits_is_resumed_though_its_row_is_lost(store: SqlStore) -> None:
    run, handle = begun(store)
    changed(store, "DELETE FROM claims")
    provider = ScriptedProvider("because")
    step = asyncio.run(run.settle(handle, provider))
    assert len(provider.requests) == 1
    assert step.handle.session.calls == ()
    assert store.open_calls(PROJECT) == ()


def test_a_call_is_put_back_only_where_the_session_stands_as_it_was_read(store: SqlStore) -> None:
    run, handle = begun(store)
    (call,) = [call.call for call in handle.session.calls]
    before = head(store)
    changed(store, "DELETE FROM claims")
    store.reopen(before, [call])
    store.reopen(before, [call])
    assert store.calls_of(SESSION) == {call}
    asyncio.run(run.settle(handle, ScriptedProvider("because")))
    store.reopen(before, [call])
    assert store.calls_of(SESSION) == frozenset()


def test_the_store_in_memory_puts_calls_back_as_well() -> None:
    memory = MemoryStore(Clock(), salt)
    _, handle = begun(memory)
    (call,) = [call.call for call in handle.session.calls]
    memory.reopen(head(memory), [call, "another"])
    assert memory.calls_of(SESSION) == {call, "another"}
