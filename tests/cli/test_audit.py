"""`audit`: what is wrong with a log is found, and named."""

from __future__ import annotations

import pytest

from tests.cli import tampering
from tests.cli.program import Project
from tests.cli.tampering import Tampering, tampered
from tests.each import each


def test_an_empty_log_is_no_proof_and_an_untouched_one_verifies(house: Project) -> None:
    for args in ((), ("--all",)):
        done = house.call("audit", "verify", *args)
        assert (done.code, done.err) == (0, "")
        assert done.out == "0 sessions: nothing was verified, since nothing is recorded here.\n"
    house.decided()
    house.started_session()
    done = house.call("audit", "verify")
    assert (done.code, done.err) == (0, "")
    assert done.out == "2 sessions, 14 events: every chain holds.\n"
    assert house.call("audit", "verify", "--json").json == {
        "format": "audit-verify/1",
        "sessions": 2,
        "events": 14,
        "erased": 0,
        "broken": [],
        "projections": [],
        "skipped": [],
        "unwritten": [],
        "against": None,
    }


FOUND: dict[Tampering, tuple[int, str]] = {
    tampering.flipped: (2, "its payload was changed"),
    tampering.deleted: (3, "missing: the next one is 4"),
    tampering.deleted_and_closed_ranks: (3, "its hash does not follow from the one before"),
    tampering.inserted: (3, "its hash does not follow from the one before"),
    tampering.swapped: (2, "its hash does not follow from the one before"),
    tampering.nulled: (1, "its payload is gone without an erasure"),
    tampering.cut: (10, "it is the last one, but not the session's head"),
    tampering.set_back: (3, "it lies behind the session's head"),
    tampering.emptied: (1, "missing: only the head is left"),
}


@pytest.mark.parametrize("tampering", FOUND, ids=lambda t: t.__name__)
def test_what_was_done_to_a_session_is_found_and_its_first_event_named(
    house: Project, tampering: Tampering
) -> None:
    session_id, other = house.decided()["session_id"], house.started_session()
    tampered(house, session_id, tampering)
    version, found = FOUND[tampering]
    done = house.call("audit", "verify")
    assert done.code == 4
    assert done.out.splitlines()[0] == f"{session_id[-8:]}, event {version}: {found}"
    assert "2 sessions, " in done.out
    assert "1 broken." in done.out
    assert done.is_safe()
    shape = house.call("audit", "verify", "--all", "--json").json
    assert shape["broken"] == [{"session_id": session_id, "version": version, "found": found}]
    assert house.call("audit", "verify", session_id).code == 4
    assert house.call("audit", "verify", other).code == 0, "the others are not affected"


@each(
    "value", ["project = x'ff'", "workflow = 7", "version = 'many'", "version = 0", "head_hash = 1"]
)
def test_a_head_of_the_wrong_kind_is_damage_and_no_crash(house: Project, value: str) -> None:
    session_id = house.started_session()
    tampered(
        house,
        session_id,
        lambda log, id_: log.execute(f"UPDATE heads SET {value} WHERE session_id = ?", (id_,)),
    )
    done = house.call("audit", "verify", "--all")
    assert done.code == 4, done
    assert done.out.startswith(session_id[-8:])


def test_sessions_of_other_projects_are_verified_when_all_are(house: Project) -> None:
    session_id = house.decided()["session_id"]
    tampered(house, session_id, tampering.flipped)
    elsewhere = {"PREFLIGHTS_PROJECT": "elsewhere"}
    assert house.call("audit", "verify", env=elsewhere).code == 0
    assert house.call("audit", "verify", "--all", env=elsewhere).code == 4


def test_a_session_that_is_not_there_or_has_no_head_is_no_reason_for_silence(
    house: Project,
) -> None:
    done = house.call("audit", "verify", "nosuch")
    assert (done.code, done.out) == (1, "")
    assert house.call("audit", "verify", "last", "--all").code == 2
    session_id = house.decided()["session_id"]
    tampered(house, session_id, tampering.beheaded)
    done = house.call("audit", "verify", "--all")
    assert done.code == 4
    assert done.out.startswith(f"{session_id[-8:]}: its events are there, and its head is not")
