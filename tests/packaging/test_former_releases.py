"""What former releases wrote is read, upgraded, shown, replayed and verified by today's program."""

from __future__ import annotations

import gzip
import json
import tarfile
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.program import Project
from tests.markdown import ROOT
from tests.packaging.record_release import SIGNERS, new_house, what_a_log_says
from tests.postgres import opened_log

RELEASES: Final = sorted(path.parent for path in (ROOT / "replays").glob("*/expected.json"))
"""The folder of each; they are recorded by tests/packaging/record_release.py, and stay."""

pytestmark = [
    pytest.mark.needs("ssh-keygen"),
    pytest.mark.parametrize("release", RELEASES, ids=[path.name for path in RELEASES]),
]


@pytest.fixture
def house(release: Path, tmp_path: Path) -> Project:
    """A clone of the repository before anything was recorded."""
    return new_house(tmp_path, release / SIGNERS)


def unpacked(house: Project, release: Path) -> None:
    """With the records and session files that the release left."""
    with tarfile.open(release / "repository.tar.gz") as files:
        files.extractall(house.folder, filter="data")


def expected(release: Path) -> Any:
    """What the release itself said of its logs."""
    return json.loads((release / "expected.json").read_text("utf-8"))


def test_its_log_is_upgraded_and_says_what_it_said(release: Path, house: Project) -> None:
    unpacked(house, release)
    house.log.parent.mkdir()
    house.log.write_bytes(gzip.decompress((release / "log.db.gz").read_bytes()))
    assert house.call("admin", "db", "upgrade").code == 0
    assert what_a_log_says(house.call) == expected(release)["sqlite"]


@pytest.mark.slow("second engine")
def test_its_log_in_postgresql_does_too(release: Path, house: Project, empty_database: str) -> None:
    with opened_log(empty_database) as connection:
        connection.execute(gzip.decompress((release / "log.sql.gz").read_bytes()))
    call = partial(house.call, env={"PREFLIGHTS_DATABASE_URL": empty_database})
    assert call("admin", "db", "upgrade").code == 0
    assert what_a_log_says(call) == expected(release)["postgres"]


def test_its_export_and_its_session_files_are_taken_over(release: Path, house: Project) -> None:
    unpacked(house, release)
    said = expected(release)["sqlite"]
    files = house.call("decisions", "--all", "--json").json["decisions"]
    assert files
    assert {one["session_id"]: one["title"] for one in files}.items() <= said["decisions"].items()
    done = house.call("admin", "import", str(release / "export.jsonl.gz"), "--yes", "--json")
    assert done.code == 0, done
    assert what_a_log_says(house.call) == said
