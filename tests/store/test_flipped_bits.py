"""A file of SQLite with one bit flipped: it is read, or it is damage; it never is a bug."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from preflights_es.kernel.errors import LogDamaged, LogFromFuture
from preflights_es.kernel.ports import Access
from preflights_es.store.sql import SqlStore
from preflights_es.store.sql_projections import SqlFollowing
from preflights_es.store.sqlite import PAGE_SIZE
from preflights_es.use import process as kept
from tests.fixed import PROJECT, Clock
from tests.store.given import Salt, opened, sql

HEADER: Final = 100  # bytes of the file's header
FLIPS: Final = 100  # of each kind


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A log with two sessions, in one file."""
    folder = tmp_path_factory.mktemp("whole")
    with closing(sql(folder)) as store:
        opened(store, 1)
        opened(store, 2)
        kept.projector(SqlFollowing(store)).catch_up()
    with closing(sqlite3.connect(folder / "log.db")) as log:
        log.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (folder / "log.db").read_bytes()


def read_all(path: Path) -> None:
    """As the commands do that look."""
    with closing(SqlStore(str(path), Clock(), Salt(), access=Access.WRITE)) as store:
        for head in store.heads(None):
            store.read(head.session_id)
        following = SqlFollowing(store)
        for name in ("sessions", "decisions", "usage"):
            list(kept.projector(following).rows(name, PROJECT))
        store.open_calls(PROJECT)
        store.numbers(PROJECT)
        store.headless()
        store.check()


@pytest.mark.slow("fuzzing")
@pytest.mark.parametrize("kind", ["header", "schema"])
def test_a_flipped_bit_is_damage_or_does_no_harm(whole: bytes, tmp_path: Path, kind: str) -> None:
    first, last = 0, HEADER
    if kind == "schema":
        first = whole.index(b"CREATE TABLE")
        last = min(first + PAGE_SIZE, len(whole))
    chance = random.Random(kind)
    met: Counter[str] = Counter()
    for _ in range(FLIPS):
        place, bit = chance.randrange(first, last), chance.randrange(8)
        changed = bytearray(whole)
        changed[place] ^= 1 << bit
        for file in tmp_path.iterdir():
            file.unlink()
        (tmp_path / "log.db").write_bytes(changed)
        try:
            read_all(tmp_path / "log.db")
        except (LogDamaged, LogFromFuture) as error:  # any other one is a bug
            met[type(error).__name__] += 1
    assert 0 < met["LogDamaged"] < FLIPS
