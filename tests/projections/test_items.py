"""`items`: what the notes of a project hold, by one query."""

from __future__ import annotations

from preflights_es.store.sql import SqlStore
from tests.projections.given import following, kept, recorded
from tests.projections.recording import golden
from tests.projections.test_projector import erase


def test_a_note_gives_a_row_an_item_with_the_place_it_was_read_at(store: SqlStore) -> None:
    (session_id,) = recorded(store, golden("items_are_filed_by_hand", "extraction"))
    _, task, event = following(store).rows("items", None)
    head = store.head(session_id)
    assert head is not None
    assert (task["number"], task["type"], task["status"]) == (2, "task", "open")
    assert (task["title"], task["importance"], task["energy"]) == ("Write it", None, "creative")
    assert (task["duration_min"], task["duration_max"], task["due"]) == (5, None, "2026-12-01")
    assert (event["type"], event["title"], event["start_time"]) == ("event", "Record it", "10:00")
    assert event["date"] == "2026-12-01"
    for row in (task, event):
        assert (row["version"], row["hash"]) == (head.version, head.hash.hex())


def test_a_session_that_holds_nothing_has_no_row(store: SqlStore) -> None:
    recorded(store, golden("a_model_leads"))
    assert list(following(store).rows("items", None)) == []


def test_items_of_an_erased_note_are_gone(store: SqlStore) -> None:
    (session_id,) = recorded(store, golden("items_are_filed_by_hand", "extraction"))
    following(store).catch_up()
    assert kept(store)["items"]
    erase(store, session_id)
    assert list(following(store).rows("items", None)) == []
