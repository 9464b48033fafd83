"""An acceptance without a signature is called claimed where a signed one is called signed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clones import cloned
from tests.cli.compiler.planning import documented, planned
from tests.cli.program import Project

AGENT = {"CLAUDECODE": "1"}
BY = ("--by", "Ada")


def said(house: Project, session: str) -> dict[str, str]:
    """By command: what it says of a session, on one line."""
    named: list[tuple[str, ...]] = [("show", session), ("decisions", "--all"), ("why", session)]
    named.append(("audit", "trail", "--session", session))
    return {words[0]: " ".join(house.call(*words).out.split()) for words in named}


def test_an_unsigned_acceptance_is_claimed_wherever_one_is_signed(
    house: Project, decided: str
) -> None:
    found = said(house, decided)
    assert "accepted, 100 % claimed, not signed " in found["show"]
    assert "(claimed) " in found["decisions"]
    assert found["why"].count(", claimed") == 2, "of each value"
    assert found["audit"].count("claimed") == 1
    (record,) = (house.folder / "docs" / "decisions").glob("*.md")
    assert "* Bears no signature: the acceptance is claimed\n" in record.read_text()


def test_a_decision_that_was_superseded_was_claimed_as_well(house: Project, decided: str) -> None:
    house.decided("Add login", "--supersedes", decided, key="auth_strategy=Magic Link")
    found = said(house, decided)
    assert "superseded, 100 % claimed, not signed " in found["show"]
    assert found["decisions"].count("(claimed)") == 2
    assert ", claimed" in found["why"]


def test_what_no_person_accepted_is_not_claimed(house: Project) -> None:
    session = house.started_session()
    assert not any("claimed" in one for one in said(house, session).values())
    house.call("answer", session, "OAuth")
    house.call("accept", session, env=AGENT)
    assert house.show(session)["status"] == "proposed"
    assert not any("claimed" in one for one in said(house, session).values())


@pytest.mark.parametrize(
    ("env", "is_claimed"), [({}, True), (AGENT, False)], ids=["person", "agent"]
)
def test_what_an_agent_imported_is_the_files_word(
    house: Project, decided: str, colleague: Project, env: dict[str, str], is_claimed: bool
) -> None:
    lines = house.call("admin", "export", decided).out.encode()
    assert colleague.call("admin", "import", "-", stdin=lines, env=env).code == 0
    found = said(colleague, decided)
    assert {name for name, one in found.items() if "claimed" in one} == (
        set(found) if is_claimed else set()
    )
    brief = colleague.call("prompt", decided).out
    assert ("\nIts acceptance: claimed, not signed.\n" in brief) == is_claimed
    heading = "Decided, do not reconsider" if is_claimed else "Proposed, not accepted yet"
    assert f"\n## {heading}\n" in brief


def test_a_clone_without_a_log_says_it_as_well(
    house: Project, decided: str, tmp_path: Path
) -> None:
    clone = cloned(house, tmp_path / "clone")
    assert "(claimed)" in clone.call("decisions").out
    assert clone.call("decisions", "--json").json["decisions"][0]["signature"] is None


def test_a_plan_that_a_person_approved_is_claimed(house: Project) -> None:
    documented(house)
    made = planned(house, "project")
    id_, session = made["artifact"]["id"], made["session_id"]
    assert "claimed" not in house.call("show", session).out
    assert house.call("approve", id_, *BY).code == 0
    assert "\n  claimed, not signed\n" in house.call("show", session).out
    assert ", claimed\n" in house.call("why", id_).out
    assert "claimed" in house.call("audit", "trail", "--session", session).out


def test_an_act_that_a_script_or_an_agent_did_is_not_claimed(house: Project) -> None:
    documented(house)
    made = planned(house, "project")
    assert house.call("approve", made["artifact"]["id"]).code == 3
    assert "claimed" not in house.call("audit", "trail", "--session", made["session_id"]).out
    assert "claimed" not in house.call("show", made["session_id"]).out
