"""`export --all`, `import` of many, and `db backup`: a whole log travels."""

from __future__ import annotations

import gzip
import json
import sqlite3
import subprocess
from contextlib import closing
from typing import Any

import pytest

from preflights_es.store import jsonl
from tests.cli import tampering
from tests.cli.archives import many
from tests.cli.program import Project
from tests.cli.tampering import tampered

ELSEWHERE = {"PREFLIGHTS_PROJECT": "elsewhere"}


@pytest.fixture
def three(house: Project) -> list[str]:
    """Sessions of two projects: accepted, erased, and one of elsewhere; the project's first."""
    ids = [house.decided()["session_id"], house.started_session("Add a cache")]
    house.call("admin", "erase", ids[1], "--yes")
    done = house.call("start", "Not of here", "--json", env=ELSEWHERE)
    return [*ids, done.json["session_id"]]


def exported(house: Project, name: str, *args: str) -> bytes:
    done = house.call("admin", "export", "-o", name, *args)
    assert done.code == 0, done
    return (house.folder / name).read_bytes()


# 1. Out and in -------------------------------------------------------------------------------


def test_a_log_travels_whole_and_every_byte_is_the_same_there(
    house: Project, three: list[str]
) -> None:
    content = exported(house, "all.jsonl", "--any-project")
    taken = house.call("admin", "import", "all.jsonl", "--db", "copy.db", "--json").json["sessions"]
    assert [one["session_id"] for one in taken] == sorted(three)
    assert [one["erased"] for one in taken] == [id_ == three[1] for id_ in sorted(three)]
    assert exported(house, "again.jsonl", "--any-project", "--db", "copy.db") == content
    assert house.call("audit", "verify", "--all", "--db", "copy.db").code == 0
    house.call("audit", "checkpoint", "--all", "-o", "checkpoint.jsonl")
    against = ("audit", "verify", "--against", "checkpoint.jsonl", "--db", "copy.db")
    assert house.call(*against, "--json").json["against"]["same"] == 3


def test_an_import_into_another_project_says_how_to_see_it(
    house: Project, three: list[str]
) -> None:
    exported(house, "all.jsonl", "--all")
    into = ("admin", "import", "all.jsonl", "--db", "copy.db")
    assert "PREFLIGHTS_PROJECT=" not in house.call(*into).out
    done = house.call(*into, env={"PREFLIGHTS_PROJECT": "other"})
    assert "of the project house, and this is other: PREFLIGHTS_PROJECT=house" in done.out


def test_all_are_those_of_the_project_unless_every_project_is_meant(
    house: Project, three: list[str]
) -> None:
    content = exported(house, "project.jsonl", "--all")
    assert {json.loads(line)["session_id"] for line in content.splitlines()[1:]} == set(three[:2])
    assert house.call("admin", "export", "--all").out.encode() == content
    done = house.call("admin", "export", "--any-project", "-o", "all.jsonl", "--json").json
    events = (house.folder / "all.jsonl").read_bytes().count(b"\n") - 1
    assert done == {
        "format": "export/1",
        "session_id": None,
        "sessions": 3,
        "events": events,
        "file": "all.jsonl",
    }


def test_what_is_exported_is_said_in_one_way(house: Project) -> None:
    assert house.call("admin", "export", "last", "--all").code == 2
    empty = house.call("admin", "export", "--all", "-o", "all.jsonl")
    assert (empty.code, empty.err) == (1, "preflights: there is no session to export\n")
    assert not (house.folder / "all.jsonl").exists()


def test_a_log_that_does_not_verify_is_neither_exported_nor_copied(
    house: Project, three: list[str]
) -> None:
    tampered(house, three[0], tampering.flipped)
    done = house.call("admin", "export", "--all", "-o", "all.jsonl.gz")
    assert (done.code, done.out) == (4, "")
    assert f"session {three[0]}, event 2: its payload was changed" in done.err
    assert [path.name for path in house.folder.iterdir() if path.is_file()] == []
    done = house.call("admin", "db", "backup", "copy.db")
    assert (done.code, done.out) == (4, "")
    assert f"session {three[0]}, event 2: its payload was changed" in done.err
    assert [path.name for path in house.folder.iterdir() if path.is_file()] == []


def test_sessions_that_are_mixed_line_by_line_are_refused(house: Project, three: list[str]) -> None:
    first, *events = exported(house, "all.jsonl", "--any-project").splitlines(keepends=True)
    mixed = [first, *events, events[0]]
    done = house.call("admin", "import", "-", "--db", "copy.db", stdin=b"".join(mixed))
    assert done.code == 4
    assert "goes on after another one began: sort the lines by session" in done.err


def test_a_log_travels_between_engines_and_its_erasures_with_it(
    house: Project, three: list[str], postgres: str
) -> None:
    content = exported(house.named(), "all.jsonl", "--any-project")
    server = ("--db", postgres)
    assert house.call("admin", "import", "all.jsonl", *server).code == 0
    assert exported(house, "again.jsonl", "--any-project", *server) == content
    done = house.call("admin", "erase", three[0], "--yes", *server)
    assert done.code == 0, done
    assert "the server's files hold what was erased until VACUUM FULL" in done.err
    assert house.call("audit", "verify", "--all", *server).code == 0
    assert house.call("show", three[0], "--json", *server).json["status"] == "erased"
    later = exported(house, "later.jsonl", "--any-project", *server)
    assert b"OAuth login" not in later
    assert house.call("decisions").code == 0
    assert b"OAuth login" in house.recorded(), "projections hold it as well"
    assert house.call("admin", "import", "later.jsonl").code == 0
    assert house.call("admin", "erase", three[0], "--yes").code == 0
    assert b"OAuth login" not in house.recorded()


# 2. Compressed -------------------------------------------------------------------------------


def test_a_compressed_archive_is_the_same_every_time_and_read_by_its_first_bytes(
    house: Project, three: list[str]
) -> None:
    plain = exported(house, "all.jsonl", "--any-project")
    packed = exported(house, "all.jsonl.gz", "--any-project")
    assert gzip.decompress(packed) == plain
    assert packed[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff", "of every machine"
    assert exported(house, "again.jsonl.gz", "--any-project") == packed
    (house.folder / "named-otherwise").write_bytes(packed)
    assert house.call("admin", "import", "named-otherwise", "--db", "copy.db").code == 0
    assert exported(house, "copy.jsonl", "--any-project", "--db", "copy.db") == plain
    assert house.call("admin", "import", "-", "--db", "second.db", stdin=packed).code == 0
    kept = exported(house, "one.jsonl.gz", three[0])
    assert kept[:2] == jsonl.GZIP
    assert house.call("replay", "one.jsonl.gz").out.count("identical") == 1


@pytest.mark.parametrize("command", ["admin import", "replay"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "followed", "only-magic", "no-deflate"])
def test_a_damaged_archive_is_refused(house: Project, command: str, damage: str) -> None:
    house.started_session()
    packed = bytearray(exported(house, "one.jsonl.gz", "last"))
    if damage == "cut":
        del packed[-20:]
    elif damage == "flipped":
        packed[len(packed) // 2] ^= 0xFF
    elif damage == "followed":
        packed += b"and more"
    else:
        packed = bytearray(jsonl.GZIP + (b"" if damage == "only-magic" else b"\x08" + b"x" * 50))
    (house.folder / "bad.jsonl.gz").write_bytes(packed)
    done = house.call(*command.split(), "bad.jsonl.gz", "--db", "copy.db")
    assert (done.code, done.out) == (4, ""), done
    assert done.err.startswith("preflights: damaged log: bad.jsonl.gz")
    assert done.is_safe()


@pytest.mark.slow("sizes")
@pytest.mark.parametrize("unit", [b"x", b" ", b"\n"])
def test_what_swells_when_it_is_unpacked_is_refused_before_it_fills_the_memory(
    house: Project, unit: bytes
) -> None:
    bomb = gzip.compress(unit * (50_000_000 // len(unit)), 1, mtime=0)
    assert len(bomb) < 500_000
    (house.folder / "bomb.jsonl.gz").write_bytes(bomb)
    done = house.run("admin", "import", "bomb.jsonl.gz", limits="-v 800000")
    assert (done.code, done.out) == (4, ""), done


# 3. Many -------------------------------------------------------------------------------------


def test_only_the_first_of_many_are_named(house: Project) -> None:
    events = many(house.folder / "many.jsonl", 30).count(b"\n") - 1
    done = house.call("admin", "import", "many.jsonl")
    assert done.out.count("\n") == 21
    assert done.out.endswith(f"30 sessions, {events} new events.\n")
    again = house.call("admin", "import", "many.jsonl")
    assert (again.err, again.out.splitlines()[-1]) == ("", "30 sessions, 0 new events.")


def test_a_pipe_can_be_imported_though_it_is_read_twice(house: Project) -> None:
    content = many(house.folder / "many.jsonl", 3)
    done = house.run(program=("bash", "-c", "preflights admin import <(cat many.jsonl)"))
    assert done.code == 0, done
    assert exported(house, "again.jsonl", "--all") == content


# 4. Backup -----------------------------------------------------------------------------------


def test_a_backup_is_a_log_that_verifies(house: Project, three: list[str]) -> None:
    done = house.call("admin", "db", "backup", "copy.db", "--json")
    assert done.code == 0, done
    shape = done.json
    assert (shape["format"], shape["file"], shape["sessions"]) == ("db-backup/1", "copy.db", 3)
    assert shape["bytes"] == (house.folder / "copy.db").stat().st_size
    content = exported(house, "all.jsonl", "--any-project")
    assert exported(house, "copy.jsonl", "--any-project", "--db", "copy.db") == content
    assert house.call("start", "Go on", "--db", "copy.db").code == 3
    with closing(sqlite3.connect(house.folder / "copy.db")) as copy:
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_backup_overwrites_nothing_and_leaves_nothing_behind(
    house: Project, three: list[str]
) -> None:
    (house.folder / "copy.db").write_text("mine")
    done = house.call("admin", "db", "backup", "copy.db")
    assert (done.code, done.err) == (1, "preflights: copy.db exists: name a new file\n")
    assert (house.folder / "copy.db").read_text() == "mine"
    assert house.call("admin", "db", "backup", "no/such/folder.db").code == 5
    assert house.call("admin", "db", "backup", ".").code == 1
    assert [path.name for path in house.folder.iterdir() if path.is_file()] == ["copy.db"]


def test_a_backup_goes_to_no_stream_and_needs_a_log(house: Project, three: list[str]) -> None:
    refused = house.call("admin", "db", "backup", "-")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "name a new file" in refused.err
    assert not (house.folder / "-").exists()
    done = house.call("admin", "db", "backup", "copy.db", "--db", "typo.db")
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith("preflights: there is no log at typo.db: ")
    assert [path.name for path in house.folder.iterdir() if path.is_file()] == []


def test_what_is_wrong_with_a_log_is_not_said_of_its_copy(house: Project, three: list[str]) -> None:
    with closing(sqlite3.connect(house.log, isolation_level=None)) as log:
        log.execute("UPDATE alembic_version SET version_num = 'log_2'")
        newer = house.call("admin", "db", "backup", "copy.db")
        log.execute("DELETE FROM alembic_version")
        nameless = house.call("admin", "db", "backup", "copy.db")
    assert (newer.code, newer.out) == (4, "")
    assert newer.err.startswith(f"preflights: the log {house.log} was written by a newer ")
    assert nameless.code == 4
    said = f"preflights: damaged log: {house.log}: its table 'alembic_version' says 0 "
    assert nameless.err.startswith(said)
    assert not (house.folder / "copy.db").exists()


@pytest.mark.slow("crowds")
def test_writers_go_on_while_a_backup_is_made(house: Project) -> None:
    many(house.folder / "many.jsonl", 800)
    writer = house.started("admin", "import", "many.jsonl")
    backups = 0
    while writer.poll() is None and backups < 20:
        done = house.call("admin", "db", "backup", f"copy-{backups}.db")
        assert done.code == 0, done
        backups += 1
    assert _wait(writer) == 0
    assert backups > 1
    last = house.call("sessions", "--all", "--json").json["sessions"]
    assert len(last) == 800


def _wait(process: subprocess.Popen[bytes]) -> int:
    process.communicate(timeout=60)
    return process.returncode


def test_a_backup_holds_what_was_committed_and_nothing_is_torn(house: Project) -> None:
    ids = {house.started_session(f"Session {n}") for n in range(3)}
    with closing(sqlite3.connect(house.log, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM outbox")
        assert house.call("admin", "db", "backup", "copy.db").code == 0, "a writer is at work"
        writer.execute("ROLLBACK")
    listed = house.call("sessions", "--json", "--db", "copy.db").json["sessions"]
    assert {row["session_id"] for row in listed} == ids


def test_the_log_in_postgresql_is_left_to_its_own_tools(house: Project, postgres: Any) -> None:
    done = house.call("admin", "db", "backup", "copy.db", "--db", postgres)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "pg_dump --format=custom" in done.err
    assert not (house.folder / "copy.db").exists()
