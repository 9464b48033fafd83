"""`memory`: the words of accepted decisions, by one query on both engines."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from preflights_es.kernel.ports import VALUE, Head, Stored, Stream
from preflights_es.projections.memory import TERMS_MAX, counted_words
from preflights_es.store.sql import SqlStore
from preflights_es.use.process import build_projection_reader
from preflights_es.words.decisions import DecidedPatch
from preflights_es.words.language import collect_search_words
from tests.projections.given import following, kept, recorded
from tests.projections.recording import golden
from tests.projections.test_projector import erase


def patch_of(events: tuple[Stored, ...]) -> DecidedPatch:
    last = events[-1]
    head = Head(last.session_id, last.project, last.workflow, last.version, last.hash)
    return build_projection_reader().read(Stream(head, events)).patches[-1]


def named(store: SqlStore, text: str) -> dict[str, Any]:
    rows = following(store).rows("memory", None, "named", terms=collect_search_words(text))
    return {row["term"]: row["field"] for row in rows}


def test_a_word_is_kept_with_the_first_of_its_places(store: SqlStore) -> None:
    recorded(store, golden("one_decision_supersedes_another"))
    rows = list(following(store).rows("memory", None))
    decided = {row["session_id"]: row for row in following(store).rows("decisions", None)}
    assert {row["session_id"] for row in rows} == set(decided)
    assert {row["field"] for row in rows} >= {0, 1, 2, 4, 5}
    assert all(row["count"] >= 1 for row in rows if row["field"])
    for row in rows:
        of = decided[row["session_id"]]
        for name in ("uid", "accepted_at", "superseded_at", "project"):
            assert row[name] == of[name]


def test_words_are_kept_as_they_are_but_for_their_case(store: SqlStore) -> None:
    recorded(store, golden("one_decision_supersedes_another"))
    found = named(store, "the DataBase, bitte")
    assert found == {"database": 2}
    assert named(store, "databases") == {}
    assert named(store, "unheard") == {}
    assert named(store, "") == {}
    assert collect_search_words("Ma\u00dfe, M\u00c4RZ and the x") == ("masse", "maerz")
    assert collect_search_words("e" * 50_000) == ("e" * 40,)


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
    found = counted_words(replace(patch, fields=(("Type", "Zebra"),)), long)
    assert len(found.terms) == TERMS_MAX
    assert ("zebra", VALUE, 1) in found.terms
    assert list(found.terms) == sorted(found.terms)
    assert found.length > TERMS_MAX + 50
