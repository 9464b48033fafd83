"""Followers in the background: any number of them, killed at any moment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.runtime.projector import TAKEN, Follower
from preflights_es.store.projection_feed import SqlFollowing
from preflights_es.store.sql import SqlStore
from preflights_es.use.projections import projector
from tests.cli.following import follower, until
from tests.cli.program import Project
from tests.markdown import ROOT
from tests.postgres import hung_up
from tests.projections.given import address, following, kept, recorded
from tests.projections.recording import goldens
from tests.store.given import at, sql
from tests.store.mortal import Mortals


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    """An empty log, in every engine."""
    is_file = request.param == "sqlite"
    with closing(sql(tmp_path) if is_file else at(request.getfixturevalue("postgres"))) as made:
        yield made


@pytest.fixture
def house(tmp_path: Path) -> Project:
    """A folder in which followers are started."""
    return Project(tmp_path, tmp_path)


@pytest.mark.slow("kills")
def test_who_is_killed_while_following_leaves_rows_and_marks_that_fit(store: SqlStore) -> None:
    with Mortals("tests.projections.follower") as followers:
        for round_ in range(3):
            recorded(store, goldens(), first=1 + round_ * 1_000)
            followers.acknowledged(address(store))
            if store.database.dialect == "postgresql":
                hung_up(address(store), but=1)
            marks = SqlFollowing(store).marks("sessions", "", "~")
            left = {row["session_id"]: row["version"] for row in kept(store)["sessions"]}
            assert left == marks
        following(store).catch_up()
        caught_up = kept(store)
        assert len(caught_up["sessions"]) == len(goldens()) * 3
        following(store).rebuild()
        assert caught_up == kept(store)


@pytest.mark.slow("crowds")
def test_two_followers_and_eight_writers_end_with_what_a_rebuild_gives(
    house: Project, store: SqlStore
) -> None:
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(follower(house, "--db", address(store), "--every", "0.1"))
        writers = ("tests.projections.writer", address(store), "8", "600")
        subprocess.run([sys.executable, "-m", *writers], cwd=ROOT, check=True)
        until(lambda: SqlFollowing(store).counts()["waiting"] == 0)
        total = SqlFollowing(store).counts()["events"]
        followed = kept(store)
    assert total >= 600
    assert sum(row["version"] for row in followed["sessions"]) == total
    following(store).rebuild()
    assert kept(store) == followed


def test_it_tells_how_many_sessions_were_folded_and_stops_where_it_is_told(
    store: SqlStore,
) -> None:
    ids = recorded(store, goldens()[:5])
    told: list[int] = []

    def progress(sessions: int) -> None:
        told.append(sessions)
        made.stop()

    made = Follower(3_600, progress, print)
    made.follow(projector(SqlFollowing(store), made.folded).catch_up)
    assert told == [len(ids)]


def test_a_follower_that_is_told_to_stop_begins_no_other_transaction(store: SqlStore) -> None:
    following(store).catch_up()
    recorded(store, goldens())
    before = SqlFollowing(store).counts()["waiting"]
    assert before > TAKEN
    told: list[int] = []
    made = Follower(3_600, told.append, print)

    def folded(sessions: int) -> None:
        made.stop()
        made.folded(sessions)

    made.follow(projector(SqlFollowing(store), folded).catch_up)
    assert told == [SqlFollowing(store).folded("sessions")]
    assert SqlFollowing(store).counts()["waiting"] == before - TAKEN


def test_trouble_at_the_beginning_ends_it_and_trouble_later_is_waited_for() -> None:
    troubles: list[str] = []
    told: list[int] = []
    outcomes = [StoreUnavailable("no"), None, StoreUnavailable("not now"), None]

    def catch_up() -> None:
        if error := outcomes.pop(0):
            raise error

    def progress(sessions: int) -> None:
        told.append(sessions)
        if not outcomes:
            made.stop()

    made = Follower(0.01, progress, lambda error: troubles.append(str(error)))
    with pytest.raises(StoreUnavailable, match=r"^no$"):
        made.follow(catch_up)
    made.follow(catch_up)
    assert troubles == ["not now"]
    assert told == [0, 0], "once it had caught up, and once the trouble was over"
