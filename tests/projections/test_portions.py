"""A rebuild goes through a log in pages, portions and ranges: where they end is of no matter."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.runtime import projector
from preflights_es.store import sql_projections
from tests.projections.given import from_zero, recorded, tampered
from tests.projections.recording import several
from tests.store.given import sql


@pytest.mark.parametrize(("page", "events", "at_once"), [(1, 1, 1), (5, 30, 2), (7, 1_000, 3)])
def test_a_rebuild_comes_to_the_same_however_it_is_divided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int, events: int, at_once: int
) -> None:
    with closing(sql(tmp_path)) as store:
        ids = recorded(store, several())
        tampered(
            store,
            f"DELETE FROM events WHERE session_id = '{ids[2]}'",
            f"DELETE FROM events WHERE session_id = '{ids[3]}' AND version = 1",
            f"UPDATE heads SET version = 1 WHERE session_id = '{ids[4]}'",
        )
        whole = from_zero(store)
        monkeypatch.setattr(projector, "PAGE", page)
        monkeypatch.setattr(projector, "EVENTS", events)
        monkeypatch.setattr(sql_projections, "RANGE", at_once)
        assert from_zero(store) == whole
        assert len(whole["sessions"]) == len(ids)
        assert [row["status"] for row in whole["sessions"]].count("damaged") == 2
