"""Projections on the command line, after another program wrote their rows."""

from __future__ import annotations

from tests.cli.program import Project
from tests.cli.tampering import changed
from tests.each import each

FORGED = (
    "UPDATE projected_decisions SET decided = "
    "replace(replace(decided, 'OAuth', 'SAML'), 'Ada Lovelace', 'Mallory')"
)


def test_a_forged_decision_is_found_and_its_projection_and_session_named(house: Project) -> None:
    session_id = house.decided()["session_id"]
    house.call("decisions")
    assert house.call("audit", "verify").code == 0
    changed(house, FORGED)
    done = house.call("audit", "verify")
    assert done.code == 4
    assert done.out == (
        "1 session, 11 events: every chain holds.\n"
        f"{session_id[-8:]}: the projection 'decisions': its rows are not what its events fold to\n"
        "They differ from the log: rebuild them with "
        "`preflights admin projections rebuild decisions`.\n"
    )
    shape = house.call("audit", "verify", session_id, "--json").json
    assert shape["broken"] == []
    assert shape["projections"] == [
        {
            "projection": "decisions",
            "session_id": session_id,
            "found": "its rows are not what its events fold to",
        }
    ]
    assert house.call("admin", "projections", "rebuild", "decisions").code == 0
    assert house.call("audit", "verify", "--all").code == 0
    assert "SAML" not in house.call("decisions").out


def test_a_forged_row_beside_a_rebuild_is_named_as_not_compared_and_never_shown(
    house: Project,
) -> None:
    house.decided()
    house.call("decisions")
    changed(house, FORGED)
    changed(house, "UPDATE projections SET complete = 0")
    done = house.call("audit", "verify")
    left_out = "the projection decisions, which is being rebuilt"
    assert (done.code, left_out in done.out) == (0, True)
    assert left_out in house.call("audit", "verify", "--json").json["skipped"]
    said = "".join(house.call(*words).out for words in (("prompt",), ("decisions",)))
    assert "OAuth" in said
    assert "SAML" not in said
    assert house.call("audit", "verify").out == "1 session, 11 events: every chain holds.\n"


STRAY = (
    "INSERT INTO projected_decisions SELECT '00000000-0000-7000-8000-000000000000', version, "
    "project, uid, standing, category, 1, NULL, decided FROM projected_decisions"
)


@each(
    "statement",
    ["UPDATE projected_decisions SET accepted_at = 1", "DELETE FROM projected_decisions", STRAY],
)
def test_what_is_in_force_cannot_be_written_unseen(house: Project, statement: str) -> None:
    house.call("start", "Add OAuth login", "--answer", "auth_strategy=OAuth")
    house.call("decisions")
    changed(house, statement)
    done = house.call("audit", "verify")
    assert done.code == 4, done
    assert "the projection 'decisions'" in done.out
    assert house.call("audit", "verify", env={"PREFLIGHTS_PROJECT": "elsewhere"}).code == 0


def test_nothing_is_found_before_the_last_events_are_folded(house: Project) -> None:
    house.decided()
    house.call("decisions")
    house.decided("Add SSO")
    assert house.call("audit", "verify", "--json").json["projections"] == []
    session_id = house.started_session()
    assert house.call("admin", "erase", session_id, "--yes").code == 0
    assert house.call("audit", "verify", "--all").code == 0


def test_why_tells_what_the_log_says_and_that_a_row_says_otherwise(house: Project) -> None:
    session_id = house.decided()["session_id"]
    house.call("decisions")
    changed(house, FORGED)
    done = house.call("why", "Strategy")
    assert done.out.startswith("Authentication.Strategy: OAuth\n")
    assert "accepted   by Ada Lovelace" in done.out
    assert "SAML" not in done.out
    assert "Mallory" not in done.out
    assert f"keeps of session {session_id[-8:]} what its log does not say" in done.err
    assert "preflights audit verify" in done.err


def test_why_does_not_tell_of_a_decision_that_only_a_row_says_is_in_force(house: Project) -> None:
    house.call("start", "Add OAuth login", "--answer", "auth_strategy=OAuth")
    house.call("decisions")
    changed(house, "UPDATE projected_decisions SET accepted_at = 1")
    house.call("why", "Strategy").refused(1, "nothing that a decision in force names")


@each(
    ("value", "words"),
    [
        ("decided = '{'", ("decisions",)),
        ("decided = x'ff'", ("decisions", "--all")),
        ("accepted_at = 'now'", ("why", "Strategy")),
        ("decided = CAST(x'ff' AS TEXT)", ("decisions", "--json")),
    ],
)
def test_a_row_that_cannot_be_read_says_what_makes_it_again(
    house: Project, value: str, words: tuple[str, ...]
) -> None:
    house.decided()
    house.call("decisions")
    changed(house, f"UPDATE projected_decisions SET {value}")
    done = house.call(*words)
    assert (done.code, done.out) == (4, "")
    assert "`preflights admin projections rebuild decisions` rebuilds it from the log" in done.err
    assert done.err.count("\n") == 1 + ("--json" in words)
    assert house.call("audit", "verify").code == 4
    assert house.call("admin", "projections", "rebuild", "decisions").code == 0
    assert house.call(*words).code == 0
    assert house.call("audit", "verify").code == 0
