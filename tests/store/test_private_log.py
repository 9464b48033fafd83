"""A log that its owner alone can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from preflights_es.kernel.errors import StoreUnavailable
from preflights_es.store.sqlite import copied, make_private
from tests.store.given import at, opened, sql


def rights(folder: Path) -> dict[str, int]:
    """Each file of the folder, with what its owner, the group and others may do."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_an_open_log_becomes_its_owners_with_the_files_beside_it(tmp_path: Path) -> None:
    store = sql(tmp_path)
    opened(store, 1)
    for path in tmp_path.iterdir():
        path.chmod(0o644)

    assert make_private(str(tmp_path / "log.db")) is True
    assert rights(tmp_path) == dict.fromkeys(("log.db", "log.db-wal", "log.db-shm"), 0o600)
    opened(store, 2)
    store.close()


def test_files_that_sqlite_makes_later_have_the_rights_of_the_log(tmp_path: Path) -> None:
    sql(tmp_path).close()
    (tmp_path / "log.db").chmod(0o644)
    make_private(f"sqlite:///{tmp_path / 'log.db'}")
    assert set(rights(tmp_path)) == {"log.db"}

    umask = os.umask(0)
    try:
        store = sql(tmp_path)
        opened(store, 1)
        assert rights(tmp_path) == dict.fromkeys(("log.db", "log.db-wal", "log.db-shm"), 0o600)
        store.close()
    finally:
        os.umask(umask)


@pytest.mark.parametrize(("rights_of_log", "expected"), [(0o600, 0o600), (0o644, 0o644)])
def test_a_copy_is_as_private_as_the_log(tmp_path: Path, rights_of_log: int, expected: int) -> None:
    store = sql(tmp_path)
    opened(store, 1)
    store.close()
    log, copy = tmp_path / "log.db", tmp_path / "copy.db"
    log.chmod(rights_of_log)

    umask = os.umask(0o022)
    try:
        copied(str(log), copy)
    finally:
        os.umask(umask)
    assert rights(tmp_path)["copy.db"] == expected


def test_rights_that_are_narrower_stay(tmp_path: Path) -> None:
    sql(tmp_path).close()
    (tmp_path / "log.db").chmod(0o440)
    make_private(str(tmp_path / "log.db"))
    assert rights(tmp_path) == {"log.db": 0o400}


def test_a_log_on_a_server_is_left_to_the_roles_of_the_server(postgres: str) -> None:
    assert make_private(postgres) is False
    at(postgres).close()


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"no log at .*none\.db"):
        make_private(str(tmp_path / "none.db"))
