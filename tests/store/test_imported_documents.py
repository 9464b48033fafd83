"""What the log knows of documents that it does not owe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from preflights_es.kernel.ports import Arrival, Draft
from preflights_es.store import frozen
from preflights_es.store.side_tables import SqlAuditing
from preflights_es.store.sql import SqlStore
from tests.fixed import Clock
from tests.projections.given import changed, tampered
from tests.store.given import Salt, batch, chain_of, older, said, session_id


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


def test_an_upgrade_makes_no_document_due(store: SqlStore, database: str) -> None:
    has_row = batch(1, said("a", "i1"), due("artifact-1"), opens=("artifact-1",))
    has_none = batch(2, said("b", "i2"), due("artifact-1"), due("artifact-2"))
    is_written = batch(3, said("c", "i3"), due("artifact-1"), written("artifact-1", "i4"))
    store.append([has_row, has_none, is_written])
    older(database, "0005")
    with closing(SqlStore(database, Clock(), Salt())) as upgraded:
        assert upgraded.schema() == frozen.schema()
        found = [owed_elsewhere(upgraded, number) for number in (1, 2, 3)]
    assert found == [set(), {"artifact-1", "artifact-2"}, set()]


@pytest.mark.parametrize(
    "payload", ["", "{", "[]", '{"call":7}', '{"call":"\\ud800"}', "[" * 9_999]
)
def test_a_damaged_payload_does_not_end_an_upgrade(
    store: SqlStore, database: str, payload: str
) -> None:
    store.append([batch(1, said("a", "i1"), due("artifact-1"), due("artifact-2"))])
    tampered(store, f"UPDATE events SET data = '{payload}' WHERE version = 2")
    older(database, "0005")
    with closing(SqlStore(database, Clock(), Salt())) as upgraded:
        assert owed_elsewhere(upgraded, 1) == {"artifact-2"}


def test_bytes_that_are_no_text_do_not_end_an_upgrade(store: SqlStore, database: str) -> None:
    if "://" in database:
        with pytest.raises(Exception, match="invalid byte sequence"):
            changed(store, "SELECT convert_from('\\xff', 'UTF8')")
        return  # PostgreSQL keeps none
    store.append([batch(1, said("a", "i1"), due("artifact-1"), due("artifact-2"))])
    tampered(store, "UPDATE events SET data = CAST(x'ff' AS TEXT) WHERE version = 2")
    older(database, "0005")
    with closing(SqlStore(database, Clock(), Salt())) as upgraded:
        assert owed_elsewhere(upgraded, 1) == {"artifact-2"}
