"""Logs and files of other versions: named in a line, and left as they are."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from preflights_es.store import jsonl
from preflights_es.store.frozen import read_frozen_revision
from tests.cli.clones import session_file
from tests.cli.program import Project
from tests.each import each

DEVELOPMENT = "was written by a development version of Preflights ("
NEWER = "was written by a newer Preflights ("
SAID = {"0012": DEVELOPMENT, "log_2": NEWER}


def set_to(house: Project, schema: str) -> bytes:
    """A log that says another schema, as its file is."""
    with closing(sqlite3.connect(house.log, isolation_level=None)) as log:
        log.execute("UPDATE alembic_version SET version_num = ?", (schema,))
        log.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return house.log.read_bytes()


@pytest.mark.parametrize("schema", SAID)
def test_each_command_refuses_a_log_of_another_version(house: Project, schema: str) -> None:
    house.decided()
    before = set_to(house, schema)
    for words in (
        *(("show",), ("sessions",), ("decisions",), ("inbox",), ("why",), ("prompt",), ("log",)),
        *(("start", "Add SSO"), ("answer", "last", "OAuth"), ("accept",), ("note", "buy milk")),
        *(("replay", "last"), ("regress",), ("audit", "verify"), ("sync",), ("usage",)),
        *(("admin", "db", "status"), ("admin", "db", "upgrade"), ("admin", "db", "backup", "b")),
        *(("admin", "export"), ("admin", "projections", "rebuild"), ("ask", "sessions")),
    ):
        done = house.call(*words)
        assert (done.code, done.out) == (4, ""), (words, done)
        assert done.err.startswith(f"preflights: the log {house.log} {SAID[schema]}"), words
        assert done.err.count("\n") == 1
        if SAID[schema] == NEWER:
            assert f"this version knows {read_frozen_revision()}): upgrade preflights" in done.err
    assert house.log.read_bytes() == before


@pytest.mark.parametrize("schema", SAID)
def test_a_hook_blocks_nothing_where_the_log_is_of_another_version(
    house: Project, schema: str
) -> None:
    house.decided()
    before = set_to(house, schema)
    edit = {"file_path": "app/queue.py", "old_string": "", "new_string": "import kafka"}
    said = {"session_id": "c-1", "cwd": str(house.folder), "tool_name": "Edit", "tool_input": edit}
    for event in ("SessionStart", "PreToolUse"):
        words = ("hook", event, "--agent", "claude")
        done = house.call(*words, stdin=json.dumps({**said, "hook_event_name": event}).encode())
        assert (done.code, done.out, done.err) == (0, "{}\n", "")
        assert SAID[schema] in (house.log.parent / "hooks.log").read_text().splitlines()[-1]
    assert house.log.read_bytes() == before


def development(content: bytes) -> bytes:
    """A file as versions before the first release wrote it."""
    return content.removeprefix(jsonl.FIRST).replace(b'{"session_id":', b'{"log":1,"session_id":')


def newer(content: bytes) -> bytes:
    return content.replace(jsonl.FIRST, b'{"format":2}\n')


FILES = {development: DEVELOPMENT, newer: NEWER}


@each("form", FILES)
def test_a_file_of_another_version_is_not_read(house: Project, form: type) -> None:
    house.decided()
    content = house.call("admin", "export").out.encode()
    (house.folder / "s.jsonl").write_bytes(form(content))
    for words in (("replay", "s.jsonl"), ("admin", "import", "s.jsonl", "--db", "copy.db")):
        done = house.call(*words)
        assert (done.code, done.out) == (4, "")
        assert done.err.startswith(f"preflights: s.jsonl {FILES[form]}")
        assert done.err.count("\n") == 1
    done = house.call("regress", "s.jsonl", "--json")
    assert done.code == 4
    (case,) = done.json["cases"]
    assert case["message"].startswith(f"s.jsonl {FILES[form]}")


@each("form", FILES)
def test_a_session_file_of_another_version_is_named_and_left(house: Project, form: type) -> None:
    session = house.decided()["session_id"]
    file = session_file(house, session)
    file.write_bytes(form(file.read_bytes()))
    before = file.read_bytes()
    path = Path(file).relative_to(house.folder).as_posix()
    synced = house.call("sync")
    assert synced.code == 1
    assert f"{path} is left out: it {FILES[form]}" in synced.err
    assert f"{path} was left as it is (another version of Preflights wrote it)" in synced.err
    assert house.decided("Add SSO", "--supersedes", session)["status"] == "accepted"
    assert file.read_bytes() == before
