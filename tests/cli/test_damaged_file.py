"""A log whose database is damaged, read by commands."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

from tests.cli.program import Project

HEADER: Final = 100  # bytes of the file's header
PAGE_SIZE: Final = 8192  # bytes; the schema lies on the first page


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
