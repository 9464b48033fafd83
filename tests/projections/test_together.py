"""Several at once: who writes, follows, reads and rebuilds at one time loses nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from preflights_es.kernel.ports import Fold, Folded, Head, Registered, Stream
from preflights_es.projections.decisions import DECISIONS
from preflights_es.projections.usage import USAGE
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.use.process import projector
from tests.fixed import Clock
from tests.markdown import ROOT
from tests.projections.given import (
    NAMES,
    address,
    asked,
    changed,
    following,
    from_zero,
    kept,
    recorded,
)
from tests.projections.recording import goldens
from tests.store.given import Salt, at, sql

POLLED_S: Final = 0.02  # seconds between two looks at a sequence


# 1. Writing and following --------------------------------------------------------------------


def started(store: SqlStore, writers: int, events: int) -> subprocess.Popen[bytes]:
    """Writers, each a process with sessions of its own."""
    words = (address(store), str(writers), str(events))
    return subprocess.Popen([sys.executable, "-m", "tests.projections.writer", *words], cwd=ROOT)


class Poller:
    """Follows a sequence, as is often done: what lies behind the last position that it saw."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self.seen: set[tuple[str, int]] = set()
        self._last = 0
        changed(store, "ALTER TABLE events ADD COLUMN position bigserial UNIQUE")

    def follow(self, writers: subprocess.Popen[bytes]) -> None:
        """Until they are done, and once more."""
        while writers.poll() is None:
            self.look()
            time.sleep(POLLED_S)
        self.look()

    def look(self) -> None:
        query = "SELECT position, session_id, version FROM events WHERE position > {}"
        for position, session_id, version in asked(self._store, query.format(self._last)):
            self.seen.add((session_id, version))
            self._last = max(self._last, position)


@pytest.mark.slow("crowds")
def test_a_follower_of_a_sequence_loses_events_and_ours_none_of_6_000(empty_database: str) -> None:
    with closing(at(empty_database)) as store, ThreadPoolExecutor(1) as pool:
        poller, projections = Poller(store), following(store)
        projections.catch_up()
        writers = started(store, 8, 6_000)
        # No process is held up: a writer takes positions, and another one commits later ones first.
        polled = pool.submit(poller.follow, writers)
        while writers.poll() is None:
            projections.follow()
        polled.result()
        assert writers.returncode == 0
        projections.follow()
        total = SqlFollowing(store).counts()["events"]
        assert total >= 6_000
        lost = total - len(poller.seen)
        assert lost > 300, "two to four thousand, on one processor or two, busy or not"
        followed = kept(store)
        assert sum(row["version"] for row in followed["sessions"]) == total
        assert SqlFollowing(store).counts()["waiting"] == 0
        assert followed == from_zero(store)


@pytest.mark.slow("crowds")
def test_nothing_is_lost_while_several_write_and_one_rebuilds(tmp_path: Path) -> None:
    with closing(sql(tmp_path)) as store:
        writers = started(store, 4, 6_000)
        projections = following(store)
        looks = rebuilds = 0
        while writers.poll() is None:
            projections.catch_up()
            looks += 1
            if looks % 5 == 0:
                projections.rebuild(["usage"])
                rebuilds += 1
        assert writers.returncode == 0
        projections.catch_up()
        counts = SqlFollowing(store).counts()
        total = counts["events"]
        assert (total >= 6_000, counts["waiting"]) == (True, 0)
        assert rebuilds > 0, "it was rebuilt while they wrote"
        followed = kept(store)
        assert sum(row["version"] for row in followed["sessions"]) == total
        assert followed == from_zero(store)


# 2. Rebuilding -------------------------------------------------------------------------------


class Held(SqlFollowing):
    """A log that does something between the first time it folded and the write of those rows."""

    def __init__(self, store: SqlStore, meanwhile: Callable[[], None]) -> None:
        super().__init__(store)
        self._meanwhile = meanwhile
        self.sessions = 0
        """Folded so far."""

    def write(self, heads: Sequence[Head], versions: Mapping[str, int], fold: Fold) -> None:
        def held(streams: Iterable[Stream]) -> Folded:
            folded = fold(streams)
            if not self.sessions:
                self._meanwhile()
            self.sessions += len(folded.turns)
            return folded

        super().write(heads, versions, held)


def test_who_rebuilds_within_the_rebuild_of_another_begins_it_anew(store: SqlStore) -> None:
    recorded(store, goldens()[:9])
    expected = from_zero(store)
    theirs: list[int] = []
    log = Held(store, lambda: following(store).rebuild(progress=theirs.append))
    generation = log.registered()["usage"].generation
    projector(log).rebuild()
    assert (sum(theirs), log.sessions) == (9, 9), "both folded all, and one of them wrote"
    assert kept(store) == expected
    assert all(state.is_current for state in following(store).states())
    assert log.registered()["usage"].generation == generation + 2


def test_what_a_rebuild_that_died_left_out_is_folded_by_one_that_goes_on(store: SqlStore) -> None:
    recorded(store, goldens()[:9])
    following(store).catch_up()  # nothing waits: what a rebuild leaves out is missing for good
    expected = from_zero(store)
    assert expected["decisions"]
    log = SqlFollowing(store)
    looks: list[int] = []

    def others_die(sessions: int) -> None:
        """Two begin anew: one folded all, one nothing, and none said that it is done."""
        looks.append(sessions)
        if len(looks) == 1:
            with pytest.raises(Died):
                following(store).rebuild(["sessions"], progress=die)
            log.begin("decisions", DECISIONS.version)

    projector(log).rebuild(["sessions", "decisions"], progress=others_die)
    assert looks == [9, 9]
    assert kept(store) == expected
    assert log.registered()["decisions"].complete


class Died(BaseException):
    """Stands for the end of a process."""


def die(_sessions: int) -> None:
    raise Died


def test_a_rebuild_that_was_begun_anew_meanwhile_is_not_called_complete(store: SqlStore) -> None:
    recorded(store, goldens()[:3])
    log = SqlFollowing(store)
    following(store).catch_up()
    generation = log.registered()["usage"].generation
    log.begin("usage", USAGE.version)
    assert not log.finish("usage", generation)
    assert not log.registered()["usage"].complete
    (usage,) = (one for one in projector(log).states() if one.name == "usage")
    assert usage.sessions == 0


class Overtaken(SqlFollowing):
    """A log that another reader folds whole, as soon as this one knows that it must fold it."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__(store)
        self._store = store

    def registered(self) -> dict[str, Registered]:
        found = super().registered()
        if not found:
            following(self._store).catch_up()
        return found


def test_a_reader_that_was_overtaken_empties_nothing(store: SqlStore) -> None:
    recorded(store, goldens()[:3])
    log = Overtaken(store)
    projector(log).catch_up()
    assert [one.generation for one in log.registered().values()] == [1] * len(NAMES)
    assert kept(store) == from_zero(store)


@pytest.mark.slow("crowds")
def test_several_can_be_the_first_to_read(store: SqlStore) -> None:
    recorded(store, goldens())

    def look(_number: int) -> bool:
        with closing(SqlStore(address(store), Clock(), Salt())) as theirs:
            reader = following(theirs)
            found = len(list(reader.rows("sessions", None)))
            # A reader that waited too long for another one answers from what is there, and says so.
            return found == len(goldens()) or bool(reader.behind)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(look, range(8)))
    following(store).catch_up()  # where each waited too long for another one, a part is not folded
    assert kept(store) == from_zero(store)
