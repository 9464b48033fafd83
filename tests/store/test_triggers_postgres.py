"""Triggers that guard events on PostgreSQL: what was done to them is named, with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Final

import pytest

from preflights_es.store.side_tables import ON_POSTGRESQL, SqlAuditing
from preflights_es.store.sql import SqlStore
from tests.projections.given import changed
from tests.store.given import at

BODY: Final = "BEGIN RETURN NULL; END"
DAMAGE: Final = {
    "DROP TRIGGER events_are_kept ON events": "'events_are_kept', which guards events, is missing",
    "ALTER TABLE events DISABLE TRIGGER events_are_immutable": "the trigger 'events_are_immutable' "
    "is disabled: `ALTER TABLE events ENABLE TRIGGER events_are_immutable`",
    "ALTER TABLE events ENABLE REPLICA TRIGGER events_are_kept": "'events_are_kept' is disabled",
    "CREATE OR REPLACE FUNCTION events_are_kept() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ {BODY} $$": "the trigger 'events_are_kept', which guards events, was changed",
    "CREATE TRIGGER theirs AFTER INSERT ON claims FOR EACH ROW EXECUTE FUNCTION "
    "events_are_kept()": "the trigger 'theirs' is not of preflights",
    "CREATE RULE theirs AS ON INSERT TO marks DO INSTEAD NOTHING": "the rule 'theirs' is not of",
}


@pytest.fixture
def store(empty_database: str) -> Iterator[SqlStore]:
    with closing(at(empty_database)) as made:
        yield made


def test_the_guards_that_are_expected_are_those_of_the_migrations(store: SqlStore) -> None:
    assert list(SqlAuditing(store).guards()) == []
    assert len(ON_POSTGRESQL) == 3


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_was_done_to_a_guard_is_named(store: SqlStore, statement: str) -> None:
    changed(store, statement)
    assert DAMAGE[statement] in "\n".join(SqlAuditing(store).guards())


def test_stray_rows_and_numbers_are_found_on_a_server_as_well(store: SqlStore) -> None:
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
