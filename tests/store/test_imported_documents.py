"""What the log knows of documents that it does not owe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from preflights_es.kernel.ports import Arrival, Draft
from preflights_es.store.audit_evidence import SqlAuditing
from preflights_es.store.sql import SqlStore
from tests.fixed import Clock
from tests.store.given import Salt, chain_of, said, session_id


@pytest.fixture
def store(database: str) -> Iterator[SqlStore]:
    with closing(SqlStore(database, Clock(), Salt())) as made:
        yield made


def due(call: str) -> Draft:
    payload = b'{"call":"%s","template":"t.v1","path":"docs/1.md"}' % call.encode()
    return Draft("artifact.due.v1", payload, "toy/1")


def written(call: str, input_id: str) -> Draft:
    return Draft("artifact.written.v1", b'{"call":"%s"}' % call.encode(), "toy/1", input_id, "user")


def owed_elsewhere(store: SqlStore, number: int) -> frozenset[str]:
    return SqlAuditing(store).imported(session_id(number))


def test_what_is_taken_over_is_remembered_with_it(store: SqlStore) -> None:
    first, second = (chain_of(said("hello", f"i{n}"), due("artifact-1"), number=n) for n in (1, 2))
    assert store.insert_new([Arrival(first, imported=("artifact-1",)), Arrival(second)])
    third = chain_of(said("hello", "i3"), due("artifact-1"), due("artifact-2"), number=3)
    store.insert(third, imported=("artifact-1", "artifact-2"))
    found = [owed_elsewhere(store, number) for number in (1, 2, 3)]
    assert found == [{"artifact-1"}, set(), {"artifact-1", "artifact-2"}]
