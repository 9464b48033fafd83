"""Rows of documents that are owed and were lost: made again from the log, never for an import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from preflights_es.store.audit_evidence import SqlAuditing
from preflights_es.store.sql import SqlStore
from tests.cli.program import Project
from tests.fixed import Clock
from tests.postgres import SECOND_ENGINE
from tests.projections.given import asked, changed
from tests.store.given import Salt

DOCUMENT = "docs/decisions/0001-use-oauth-for-authentication.md"


@pytest.fixture(params=["sqlite", SECOND_ENGINE])
def address(request: pytest.FixtureRequest, house: Project, tmp_path: Path) -> str:
    """Of an empty log, in every engine."""
    house.named()
    if request.param == "sqlite":
        return str(tmp_path / "elsewhere.db")
    url: str = request.getfixturevalue("postgres")
    return url


@pytest.fixture
def log(address: str) -> Iterator[SqlStore]:
    """As another program would open it."""
    with closing(SqlStore(address, Clock(), Salt())) as store:
        yield store


@contextmanager
def unwritable(house: Project) -> Iterator[None]:
    """Within it, no document can be written."""
    (house.folder / "docs").write_text("a file where a folder belongs")
    yield
    (house.folder / "docs").unlink()


def owing(house: Project, *db: str) -> str:
    """A decision whose document is not written; its session."""
    house.owing(env={"PREFLIGHTS_DATABASE_URL": db[1]} if db else {})
    return str(house.call("show", "last", "--json", *db).json["session_id"])


def claims(log: SqlStore) -> list[Any]:
    return [tuple(row) for row in asked(log, "SELECT session_id, call FROM claims")]


def imported(house: Project, address: str) -> str:
    """A session of another log, which owes its document there."""
    with unwritable(house):
        session_id = owing(house)
        assert house.call("admin", "export", "last", "-o", "owing.jsonl").code == 0
    assert house.call("admin", "import", "owing.jsonl", "--db", address).code == 0
    return session_id


def test_a_lost_row_is_named_put_back_and_the_document_written(
    house: Project, address: str, log: SqlStore
) -> None:
    db = ("--db", address)
    with unwritable(house):
        session_id = owing(house, *db)
    before = claims(log)
    assert before == [(session_id, "artifact-1")]
    changed(log, "DELETE FROM claims")

    for scope in ((), ("--all",), (session_id,)):
        done = house.call("audit", "verify", *scope, *db)
        assert done.code == 4
        assert f"it owes the document '{DOCUMENT}', which no row of 'claims' has: " in done.out
        assert "`preflights admin projections rebuild` puts it back" in done.out
    shape = house.call("audit", "verify", "--json", *db).json
    assert [one["session_id"] for one in shape["broken"]] == [session_id]
    assert shape["unwritten"] == []

    assert house.call("admin", "projections", "rebuild", "--json", *db).json["reopened"] == 1
    assert claims(log) == before
    assert house.call("audit", "verify", *db).code == 0
    assert not (house.folder / DOCUMENT).exists()
    assert house.call("sessions", *db).code == 0
    assert (house.folder / DOCUMENT).is_file()
    assert house.call("admin", "render", "--check", *db).code == 0
    assert claims(log) == []


def test_an_import_owes_no_document_and_verify_says_how_to_write_it(
    house: Project, address: str, log: SqlStore
) -> None:
    db = ("--db", address)
    session_id = imported(house, address)
    for words in (("admin", "projections", "rebuild"), ("sessions",), ("decisions",)):
        assert house.call(*words, *db).code == 0
    assert (claims(log), (house.folder / "docs").exists()) == ([], False)

    done = house.call("audit", "verify", *db)
    id_ = session_id[-8:]
    assert done.code == 0, done
    assert (
        f"{id_}: {DOCUMENT} came with an import and was not written here: "
        f"`preflights resume {id_}` writes it\n" in done.out
    )
    shape = house.call("audit", "verify", "--json", *db).json
    assert shape["unwritten"] == [{"session_id": session_id, "path": DOCUMENT}]

    assert house.call("resume", id_, *db).code == 0
    assert (house.folder / DOCUMENT).is_file()
    assert house.call("audit", "verify", "--json", *db).json["unwritten"] == []


def test_a_document_that_a_tail_asks_for_is_not_owed_and_one_of_before_stays_so(
    house: Project, address: str, log: SqlStore
) -> None:
    db = ("--db", address)
    with unwritable(house):
        session_id = owing(house, *db)
        assert house.call("admin", "export", "last", "-o", "here.jsonl", *db).code == 0
        changed(log, "DELETE FROM claims")
        assert house.call("admin", "import", "here.jsonl").code == 0
        house.owing("--supersedes", session_id)
        assert house.call("admin", "export", "--all", "-o", "grown.jsonl").code == 0
    assert house.call("admin", "import", "grown.jsonl", "--yes", *db).code == 0

    found = SqlAuditing(log).imported(session_id)
    assert "artifact-1" not in found
    assert len(found) == 1
    assert house.call("admin", "projections", "rebuild", "--json", *db).json["reopened"] == 1
    assert claims(log) == [(session_id, "artifact-1")]


def test_a_session_that_was_moved_is_named_on_every_engine(
    house: Project, address: str, log: SqlStore
) -> None:
    db = ("--db", address)
    with unwritable(house):
        owing(house, *db)
    changed(log, "UPDATE heads SET project = 'other'")
    done = house.call("audit", "verify", *db)
    assert done.code == 4
    assert "and its head says 'other'" in done.out
