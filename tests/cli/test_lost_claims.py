"""Rows of open calls that are lost: the log says which are open, and sessions go on."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tests.cli.program import Project
from tests.cli.tampering import changed

LED: Final = Path(__file__).parents[2] / "replays" / "clarification" / "a_model_leads.jsonl"
GOLDEN: Final = {"PREFLIGHTS_PROJECT": "golden"}


def forgotten(house: Project) -> None:
    """Every row of open calls."""
    changed(house, "DELETE FROM claims")


def claims(house: Project) -> int:
    """How many calls are open, as rows say."""
    with closing(sqlite3.connect(house.log)) as log:
        (count,) = log.execute("SELECT count(*) FROM claims").fetchone()
        return int(count)


def waiting(house: Project) -> str:
    """A session of another project that waits for the response of a model."""
    (house.folder / "waiting.jsonl").write_bytes(
        b"".join(LED.read_bytes().splitlines(True)[: 1 + 2])
    )
    done = house.call("admin", "import", "waiting.jsonl", "--json")
    assert done.code == 0, done
    assert claims(house) == 1
    return str(house.call("sessions", "--json", env=GOLDEN).json["sessions"][0]["session_id"])


def owing(house: Project) -> None:
    """A decision whose document was not written."""
    before = claims(house)
    house.owing()
    assert claims(house) == before + 1


def test_a_session_goes_on_and_a_document_is_written_without_their_rows(house: Project) -> None:
    session_id = waiting(house)
    forgotten(house)
    for words in (("show", session_id), ("log", session_id), ("sessions",)):
        assert house.call(*words, env=GOLDEN).code == 0
    done = house.call("resume", session_id, env=GOLDEN)
    assert done.code == 3, done
    assert house.call("show", session_id, "--json", env=GOLDEN).json["questions"]
    owing(house)
    forgotten(house)
    assert house.call("sessions").code == 0
    assert not (house.folder / "docs").exists()
    assert house.call("resume", "last").code == 0
    assert house.call("admin", "render", "--check").code == 0
    assert house.call("show", "--json").json["artifacts"] == [
        "docs/decisions/0001-use-oauth-for-authentication.md"
    ]


def test_a_rebuild_puts_back_what_models_and_documents_owe(house: Project) -> None:
    session_id = waiting(house)
    owing(house)
    forgotten(house)
    damaged = house.call("audit", "verify", session_id)
    assert damaged.code == 4
    assert "which no row of 'claims' has: `preflights admin projections rebuild`" in damaged.out
    rebuilt = house.call("admin", "projections", "rebuild")
    assert "Restored 2 open calls without a row.\n" in rebuilt.out
    assert (
        "docs/decisions/0001-use-oauth-for-authentication.md was never written: the next command"
        in rebuilt.out
    )
    assert claims(house) == 2
    assert house.call("audit", "verify", "--all").code == 0
    assert house.call("admin", "projections", "rebuild", "--json").json["reopened"] == 0


# Rows that say something else ----------------------------------------------------------------


def test_a_row_under_another_project_is_named_and_made_again_once_it_is_deleted(
    house: Project,
) -> None:
    owing(house)
    changed(house, "UPDATE claims SET project = 'other'")
    for scope in ((), ("last",), ("--all",)):
        done = house.call("audit", "verify", *scope)
        assert done.code == 4, done
        assert (
            "the row of 'claims' for 'artifact-1' says the project 'other', expected 'house': "
            "delete the row, `preflights admin projections rebuild` puts it back\n" in done.out
        )
        assert "nothing needs it" not in done.out
    forgotten(house)
    assert house.call("admin", "projections", "rebuild", "--json").json["reopened"] == 1
    assert house.call("audit", "verify", "--all").code == 0
    assert house.call("sessions").code == 0
    assert (house.folder / "docs/decisions/0001-use-oauth-for-authentication.md").is_file()


@pytest.mark.slow("crowds")
@pytest.mark.parametrize("until", ["9000000000000000000", "'soon'"])
def test_a_claim_that_never_ends_is_named_and_made_again_once_it_is_deleted(
    house: Project, until: str
) -> None:
    session_id = waiting(house)
    changed(house, f"UPDATE claims SET owner = 'a process that was killed', until = {until}")
    done = house.call("audit", "verify", session_id)
    assert done.code == 4, done
    assert f"says that a process has it until {until}, expected at most 600 seconds" in done.out
    forgotten(house)
    assert house.call("admin", "projections", "rebuild").code == 0
    assert house.call("audit", "verify", session_id).code == 0
    assert house.call("resume", session_id, env=GOLDEN).code == 3


def test_a_claim_that_can_be_one_is_left_alone(house: Project) -> None:
    session_id = waiting(house)
    soon = (time.time_ns() // 1_000) + 500_000_000
    changed(house, f"UPDATE claims SET owner = 'a process at work', until = {soon}")
    assert house.call("audit", "verify", session_id).code == 0
    assert house.call("admin", "projections", "rebuild", "--json").json["reopened"] == 0
    assert house.call("resume", session_id, env=GOLDEN).code == 1
