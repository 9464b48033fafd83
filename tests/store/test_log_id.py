"""What a log calls itself: chosen once, by chance, and kept."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.kernel.errors import LogDamaged
from preflights_es.store import sqlite
from preflights_es.store.sql import SqlStore
from tests.fixed import Clock
from tests.store.given import Salt


def named(place: str) -> str:
    """What the log at a place calls itself."""
    with closing(SqlStore(place, Clock(), Salt())) as store:
        return store.log_id()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "log.db")
    url: str = request.getfixturevalue("empty_database")
    return url


def test_a_log_keeps_its_id(place: str) -> None:
    first = named(place)
    assert re.fullmatch("[0-9a-f]{32}", first)
    assert named(place) == first


def test_two_logs_have_two_and_a_copy_has_the_same(tmp_path: Path) -> None:
    one, other, copy = (str(tmp_path / name) for name in ("one.db", "other.db", "copy.db"))
    assert named(one) != named(other)
    sqlite.copied(one, Path(copy))
    assert named(copy) == named(one)


def test_a_log_that_lost_it_is_damaged(place: str) -> None:
    with closing(SqlStore(place, Clock(), Salt())) as store:
        store.database.wrote(lambda cursor: cursor.execute("DELETE FROM log"))
        with pytest.raises(LogDamaged, match="does not say its id"):
            store.log_id()
