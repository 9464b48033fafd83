"""`erase --older-than`, and what becomes of copies."""

from __future__ import annotations

from tests.cli import tampering
from tests.cli.program import Project
from tests.cli.tampering import tampered
from tests.cli.test_erase import erased
from tests.each import each

# 1. Retention --------------------------------------------------------------------------------


def test_sessions_that_rested_long_enough_are_erased(house: Project) -> None:
    ids = {house.decided()["session_id"], house.started_session()}
    assert (
        house.call("admin", "erase", "--older-than", "1d", "--yes").out
        == "No session is that old.\n"
    )
    shape = house.call("admin", "erase", "--older-than", "0d", "--dry-run", "--json").json
    assert {one["session_id"] for one in shape["sessions"]} == ids
    assert (shape["erased"], shape["scrubbed"]) == (False, None)
    done = house.call("admin", "erase", "--older-than", "0d", "--yes", "--json")
    assert (done.code, done.json["erased"]) == (0, True)
    assert {house.show(one)["status"] for one in ids} == {"erased"}
    again = house.call("admin", "erase", "--older-than", "0d", "--yes", "--json").json
    assert (again["erased"], again["sessions"]) == (False, [])


def test_a_damaged_session_holds_no_other_up(house: Project) -> None:
    damaged, sound = house.decided()["session_id"], house.started_session()
    tampered(house, damaged, tampering.flipped)
    done = house.call("admin", "erase", "--older-than", "0d", "--yes")
    assert done.code == 4
    assert f"Erased {sound[-8:]}.\n" in done.out
    assert f"warning: damaged log: session {damaged}" in done.err


@each(
    "args",
    [
        (),
        ("last", "--older-than", "1d"),
        ("--older-than", "1"),
        ("--older-than", "1y"),
        ("--older-than", "-1d"),
        ("--older-than", "99999d"),
        ("--older-than", "٣d"),
        ("--older-than", ""),
        ("--older-than", "\x1b[2J"),
    ],
)
def test_what_is_to_be_erased_is_said_in_one_way(house: Project, args: tuple[str, ...]) -> None:
    done = house.call("admin", "erase", "--yes", *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert done.is_safe()


# 2. Copies -----------------------------------------------------------------------------------


def test_an_erasure_travels_to_a_copy(house: Project) -> None:
    session_id = house.decided("Let Quimby in by a login")["session_id"]
    early = house.call("admin", "export", session_id).out.encode()
    house.call("admin", "import", "-", "--db", "copy.db", stdin=early)
    erased(house, session_id)
    late = house.call("admin", "export", session_id).out.encode()
    house.call("admin", "import", "-", "--erase", "--db", "copy.db", stdin=late)
    assert house.call("admin", "export", session_id, "--db", "copy.db").out.encode() == late
    assert (
        house.call("admin", "import", "-", "--db", "copy.db", "--json", stdin=early).json[
            "sessions"
        ][0]["new_events"]
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
