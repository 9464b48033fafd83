"""Rows of the wrong kind, which a database keeps whatever its column says; a damaged schema."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

import pytest

from tests.cli.program import Project
from tests.cli.tampering import noted, tampered
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)


@pytest.mark.parametrize("change", FILED["a_row_of_the_wrong_kind_is_damage_and_no_crash"])
def test_a_row_of_the_wrong_kind_is_damage_and_no_crash(house: Project, change: str) -> None:
    session_id = house.decided()["session_id"]
    noted(house)
    tampered(house, session_id, lambda log, _: log.execute(f"UPDATE events SET {change}"))
    for args in (
        ("audit", "verify", "--against", "checkpoint.jsonl"),
        ("admin", "db", "backup", "c.db"),
    ):
        done = house.call(*args)
        assert done.code == 4, done
        assert done.is_safe()
        assert session_id[-8:] in done.out + done.err
    assert house.call("admin", "erase", session_id, "--yes").code == 4
    assert house.call("admin", "export", "--all", "-o", "all.jsonl").code == 4


OPERATIONAL = {
    "INSERT INTO outbox VALUES ('{}', 'x')": 0,
    "UPDATE projections SET version = 'x'": 0,
    "UPDATE projections SET generation = 'x'": 0,
    "UPDATE numbers SET number = 'x'": 4,
}


@pytest.mark.parametrize("statement", OPERATIONAL)
def test_a_row_of_the_wrong_kind_that_says_nothing_of_events_is_mended_or_damage(
    house: Project, statement: str
) -> None:
    session_id = house.decided()["session_id"]
    assert house.call("decisions").code == 0, "now they are there"
    tampered(house, session_id, lambda log, _: log.execute(statement.format(session_id)))
    for command, code in (("decisions", OPERATIONAL[statement]), ("usage", 0)):
        done = house.call(command)
        assert (done.code, done.is_safe()) == (code, True), done
        assert ("the table `numbers`: 'x' is no number" in done.err) is (code == 4)
    again = ("start", "Add SSO", "--answer", "auth_strategy=OAuth", "--accept", "--by", "Ada")
    assert house.call(*again).code == OPERATIONAL[statement]
    assert house.call("audit", "verify").code == OPERATIONAL[statement]


# A name that is no text ----------------------------------------------------------------------


HEADER: Final = 100  # bytes of the file's header
PAGE_SIZE: Final = 8192  # bytes; the schema lies on the first page


@pytest.mark.slow("fuzzing")
def test_a_name_in_the_schema_that_is_no_text_ends_with_exit_code_4(house: Project) -> None:
    house.decided()
    with closing(sqlite3.connect(house.log)) as log:
        log.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = house.log.read_bytes()
    met: set[int] = set()
    for name in (b"recorded_at", b"head_hash", b"events"):
        place = before.index(name, HEADER)
        while 0 < place < PAGE_SIZE:
            changed = bytearray(before)
            changed[place] ^= 0x80
            house.log.write_bytes(changed)
            done = house.call("sessions")
            assert done.code in (0, 4), (name, place, done)
            met.add(done.code)
            place = before.find(name, place + 1)
    assert met == {0, 4}
