"""`erase`, and what becomes of copies."""

from __future__ import annotations

from tests.cli.program import Project
from tests.cli.tampering import tampered
from tests.cli.test_erase import erased


def test_an_erased_session_stays_erased_whatever_a_copy_holds(house: Project) -> None:
    session_id = house.decided("Let Quimby in by a login")["session_id"]
    early = house.call("admin", "export", session_id).out.encode()
    house.call("admin", "import", "-", "--db", "copy.db", stdin=early)
    erased(house, session_id)
    assert (
        house.call("admin", "import", "-", "--json", stdin=early).json["sessions"][0]["new_events"]
        == 0
    ), "an old copy brings nothing back"
    assert house.show(session_id)["status"] == "erased"


def test_an_erasure_since_a_checkpoint_is_named(house: Project) -> None:
    session_id = house.decided()["session_id"]
    house.call("audit", "checkpoint", "-o", "checkpoint.jsonl")
    erased(house, session_id)
    done = house.call("audit", "verify", "--against", "checkpoint.jsonl")
    assert done.code == 0
    assert f"{session_id[-8:]} was erased since; its chain is what it was\n" in done.out


def test_the_payload_of_the_erasure_itself_cannot_go(house: Project) -> None:
    session_id = house.decided()["session_id"]
    erased(house, session_id)
    tampered(
        house,
        session_id,
        lambda log, id_: log.execute(
            "UPDATE events SET data = NULL, salt = NULL WHERE session_id = ?", (id_,)
        ),
    )
    done = house.call("audit", "verify")
    assert done.code == 4
    assert "event 12: its payload is gone without an erasure" in done.out
