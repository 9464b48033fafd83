"""Commands that look while another process writes: they answer soon, from what is there."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from preflights_es.runtime.projector import BUSY
from tests.cli.program import Project

SOON_S: Final = 8  # seconds; one that waits for the lock takes 15 or 30
LOOKING: Final = (
    *("artifacts", "decisions", "sessions", "sessions --all", "usage", "why Strategy"),
    *("note list", "show", "log", "audit trail", "admin projections status"),
)


@contextmanager
def locked(house: Project) -> Iterator[None]:
    """Within it, another process has begun to write."""
    with closing(sqlite3.connect(house.log, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_command_that_looks_answers_while_another_process_writes(house: Project) -> None:
    house.decided()
    assert house.call("decisions").code == 0
    house.decided("Add SSO")
    with locked(house):
        for words in map(str.split, LOOKING):
            began = time.monotonic()
            done = house.call(*words)
            assert time.monotonic() - began < SOON_S, words
            assert done.code == 0, done
            if words[0] in ("decisions", "usage", "why"):
                assert done.err == f"warning: {BUSY.text}\n"
            if words[0] == "decisions":
                assert "Use OAuth" in done.out


def test_json_says_whether_an_answer_may_be_older(house: Project) -> None:
    def behind() -> list[bool]:
        every = (("decisions",), ("usage",), ("why", "Strategy"))
        return [house.call(*words, "--json").json["behind"] for words in every]

    house.decided()
    with locked(house):
        assert behind() == [True] * 3, "the acceptance waits"
    assert behind() == [False] * 3
    house.decided("Add SSO")
    with locked(house):
        assert behind() == [True] * 3


def test_a_document_that_is_owed_is_left_to_the_next_command(house: Project) -> None:
    house.owing()
    with locked(house):
        began = time.monotonic()
        assert (house.call("decisions").code, house.call("sessions").err) == (0, "")
        assert time.monotonic() - began < SOON_S
    assert house.call("sessions").code == 0
    assert house.call("admin", "render", "--check").code == 0
    (document,) = (house.folder / "docs" / "decisions").glob("*.md")
    assert document.name == "0001-use-oauth-for-authentication.md"
