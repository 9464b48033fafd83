"""`memory`: the words of accepted decisions, by one query on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from preflights_es.core.decision_record import Decided
from preflights_es.core.ports import Head, Stored
from preflights_es.core.projection_ports import Stream
from preflights_es.core.word_stems import stems
from preflights_es.projections.memory import TERMS_MAX, weighed
from preflights_es.services.projections import reader
from preflights_es.store.sql import SqlStore
from tests.projections.given import following, kept, recorded
from tests.projections.recording import golden
from tests.projections.test_projector import erase
from tests.store.given import at, sql


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    """An empty log, in every engine."""
    is_file = request.param == "sqlite"
    with closing(sql(tmp_path) if is_file else at(request.getfixturevalue("postgres"))) as made:
        yield made


def patch_of(events: tuple[Stored, ...]) -> Decided:
    last = events[-1]
    head = Head(last.session_id, last.project, last.workflow, last.version, last.hash)
    return reader().read(Stream(head, events)).patches[-1]


def named(store: SqlStore, words: str) -> dict[str, Any]:
    rows = following(store).rows("memory", None, "named", terms=stems(words))
    return {row["term"]: row["weight"] for row in rows}


def test_a_word_weighs_as_much_as_the_best_place_where_it_stands(store: SqlStore) -> None:
    recorded(store, golden("one_decision_supersedes_another"))
    rows = list(following(store).rows("memory", None))
    decided = {row["session_id"]: row for row in following(store).rows("decisions", None)}
    assert {row["session_id"] for row in rows} == set(decided)
    assert {row["weight"] for row in rows} == {16, 8, 4, 2, 1}
    for row in rows:
        of = decided[row["session_id"]]
        for name in ("uid", "accepted_at", "superseded_at", "project"):
            assert row[name] == of[name]


def test_words_are_found_whatever_their_case_and_ending(store: SqlStore) -> None:
    recorded(store, golden("one_decision_supersedes_another"))
    found = named(store, "the databases, bitte")
    assert found == {"databa": 8}
    assert named(store, "unheard") == {}
    assert named(store, "") == {}


def test_a_word_loses_all_its_endings() -> None:
    assert stems("Speicher speichern Speicherungen") == ("speich",)
    assert stems("container, Containers and migrations, migrated") == ("contai", "migrat")
    assert stems("e" * 50_000) == ("eeee",)


def test_a_proposal_is_not_remembered(store: SqlStore) -> None:
    recorded(store, golden("an_abandoned_session"))
    assert list(following(store).rows("memory", None)) == []


def test_words_of_an_erased_decision_are_gone(store: SqlStore) -> None:
    session_id, *_ = recorded(store, golden("one_decision_supersedes_another"))
    following(store).catch_up()
    assert any(row["session_id"] == session_id for row in kept(store)["memory"])
    erase(store, session_id)
    rows = list(following(store).rows("memory", None))
    assert all(row["session_id"] != session_id for row in rows)


def test_the_heaviest_words_of_a_long_decision_are_kept() -> None:
    long = " ".join(f"aword{n}x" for n in range(TERMS_MAX + 50))
    patch = patch_of(golden("one_decision_supersedes_another")[0])
    found = weighed(replace(patch, fields=(("Type", "Zebra"),)), long)
    assert len(found) == TERMS_MAX
    assert ("zebra", 16) in found
    assert list(found) == sorted(found)
