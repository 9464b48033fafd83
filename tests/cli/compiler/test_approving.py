"""`approve` and `reject`: who may, what gives way, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.compiler.planning import approved, documented, planned
from tests.cli.program import Project

BY = ("--by", "Ada Lovelace")
AGENT = {"CLAUDECODE": "1"}


def drafted(project: Project, *words: str) -> str:
    """The id of a new draft."""
    return str(planned(project, *(words or ("project",)))["artifact"]["id"])


def standings(project: Project) -> dict[str, str]:
    """By id, of all artifacts."""
    rows = project.call("artifacts", "--all", "--json").json["artifacts"]
    return {row["id"]: row["standing"] for row in rows}


def refused(project: Project, *words: str, env: Any = None) -> str:
    """Why a command refuses, which records nothing."""
    before = len(project.events())
    done = project.call(*words, env=env)
    assert (done.code, done.out) == (1, ""), done
    assert len(project.events()) == before
    assert done.err.count("\n") == 1, "one line"
    return done.err.removeprefix("preflights: ").removesuffix("\n")


def last_input(project: Project, kind: str, session: str = "") -> Any:
    """The payload of the last Input of a kind."""
    found = [e["data"] for e in project.events(session) if e["type"] == f"compiler.{kind}.v1"]
    return found[-1]


@pytest.fixture
def shop(house: Project) -> Project:
    return documented(house)


# 1. Who may ----------------------------------------------------------------------------------


def test_a_person_approves_a_draft(shop: Project) -> None:
    one = drafted(shop)
    done = shop.call("approve", one, *BY)
    assert (done.code, standings(shop)) == (0, {one: "approved"})
    assert "no model wrote it" in done.out
    new = last_input(shop, "plan_approved")
    assert (new["actor"], new["id"]) == ({"kind": "user", "name": "Ada Lovelace"}, one)
    assert new["relayed_by"]["kind"] == "script", "the log shows who passed the word on"


def test_what_a_script_approves_is_proposed_and_satisfies_no_pass(shop: Project) -> None:
    one = drafted(shop)
    assert shop.call("approve", one).code == 3
    assert standings(shop) == {one: "proposed"}
    assert "needs an approved ProjectPlan" in shop.call("plan", "architecture").err
    short = one[:8]
    why = f"the ProjectPlan {short} is proposed already: a person approves it"
    assert refused(shop, "approve", one) == why
    assert shop.call("approve", one, *BY).code == 0
    assert standings(shop) == {one: "approved"}


def test_an_agent_proposes_and_never_approves_rejects_or_locks(shop: Project) -> None:
    one = drafted(shop)
    why = refused(shop, "approve", one, *BY, env=AGENT)
    assert (
        "an agent (claude-code; CLAUDECODE is set) cannot approve an artifact, only a person can"
        in why
    )
    assert why.endswith(": run it in a terminal of your own")
    proposing = shop.call("approve", one, "--json", env=AGENT)
    assert (proposing.code, proposing.json["evidence"]["variables"]) == (3, ["CLAUDECODE"])
    assert "CLAUDECODE is set: an agent (claude-code) accepts" in proposing.err
    assert "seen: CLAUDECODE" in shop.call("why", one).out
    assert standings(shop) == {one: "proposed"}
    for words in (("reject", one, "--reason", "No"), ("lock", "tests")):
        assert "only a person can" in refused(shop, *words, env=AGENT)
        assert "only a person can" in refused(shop, *words, *BY, env=AGENT)


def test_a_rejection_needs_a_name_and_words_and_an_id_four_characters(shop: Project) -> None:
    one = drafted(shop)
    assert "cannot reject an artifact" in refused(shop, "reject", one, "--reason", "No")
    assert standings(shop) == {one: "draft"}
    assert "no artifact matches" in refused(shop, "approve", one[:3], *BY)
    assert "no artifact matches" in refused(shop, "approve", "none of these", *BY)
    assert shop.call("approve", one[:4].upper(), *BY).code == 0


# 2. What gives way ---------------------------------------------------------------------------


def test_approving_supersedes_the_former_of_the_type_in_the_same_transaction(shop: Project) -> None:
    one, other = approved(shop, "project")["project"], drafted(shop)
    former = shop.call("artifacts", "show", one, "--json").json["row"]["session_id"]
    assert shop.call("approve", other, *BY).code == 0
    assert standings(shop) == {one: "superseded", other: "approved"}
    ended = last_input(shop, "plan_superseded", former)
    newer = shop.show()["session_id"]
    assert (ended["id"], ended["by"], ended["session"]) == (one, other, newer)
    (source,) = last_input(shop, "plan_approved")["former"]
    assert source["session_id"] == former
    row = shop.call("artifacts", "show", one, "--json").json["row"]
    assert row["superseded_by"] == other
    for session in (former, newer):
        assert shop.call("replay", session).code == 0


def test_plans_of_two_files_are_in_force_together_and_of_one_file_the_newer_one(
    shop: Project,
) -> None:
    approved(shop, "project", "architecture", "scaffold", "tests")
    paths = ("src/billing.py", "src/catalogue.py", "src/billing.py")
    (shop.folder / "src").mkdir()
    for path in paths:
        (shop.folder / path).touch()
    ids = []
    for path in paths:
        ids.append(drafted(shop, "impl", path))
        assert shop.call("approve", ids[-1], *BY).code == 0
    found = standings(shop)
    assert [found[one] for one in ids] == ["superseded", "approved", "approved"]


# 3. What is refused --------------------------------------------------------------------------


def test_a_rejected_artifact_keeps_its_reason_without_its_secrets(shop: Project) -> None:
    one = drafted(shop)
    done = shop.call("reject", one, "--reason", "Billing is no domain", *BY)
    assert (done.code, standings(shop)) == (0, {one: "rejected"})
    assert last_input(shop, "plan_rejected")["evidence"]["terminal"] is False
    why = f"the ProjectPlan {one[:8]} is rejected already: Billing is no domain"
    assert refused(shop, "approve", one, *BY) == why
    assert refused(shop, "reject", one, "--reason", "Again", *BY) == why
    one = drafted(shop)
    assert shop.call("reject", one, "--reason", " ", *BY).code == 2
    assert shop.call("reject", one, *BY).code == 2
    shop.call("reject", one, "--reason", "It says password=hunter2hunter2", *BY)
    new = last_input(shop, "plan_rejected")
    assert "hunter2" not in json.dumps(new)
    assert new["redacted"]


def test_an_approved_artifact_is_approved_once_under_a_key_and_never_again(shop: Project) -> None:
    one = drafted(shop)
    words = ("approve", one, *BY, "--key", "k", "--json")
    first, again = shop.call(*words), shop.call(*words)
    assert (first.code, again.code) == (0, 0)
    other = drafted(shop)
    said = ("reject", other, "--reason", "No", *BY, "--key", "r", "--json")
    first, again = shop.call(*said), shop.call(*said)
    assert (first.code, again.code) == (0, 0)
    assert standings(shop) == {one: "approved", other: "rejected"}
    for id_, kind in ((one, "plan_approved"), (other, "plan_rejected")):
        session = shop.call("artifacts", "show", id_, "--json").json["row"]["session_id"]
        events = [event["type"] for event in shop.events(session)]
        assert events.count(f"compiler.{kind}.v1") == 1
    one = drafted(shop)
    version = shop.show()["version"]
    assert "is at version" in refused(shop, "approve", one, *BY, "--expect", str(version - 1))
    assert shop.call("approve", one, *BY, "--expect", str(version)).code == 0


# 4. What the inbox says ----------------------------------------------------------------------


def test_the_inbox_names_the_command_that_approves_a_plan(shop: Project) -> None:
    one = drafted(shop)
    (waiting,) = shop.call("inbox", "--json").json["waiting"]
    assert (waiting["kind"], waiting["workflow"]) == ("proposal", "compiler")
    assert shop.call("approve", one).code == 3, "a script proposes it"
    (row,) = shop.call("inbox", "--json").json["waiting"]
    assert row["command"] == f"preflights approve {row['session_id'][-8:]}"
    done = shop.call(*row["command"].split()[1:], *BY)
    assert (done.code, standings(shop)) == (0, {one: "approved"})
    assert shop.call("inbox", "--json").json["waiting"] == []


def test_approve_and_accept_point_to_each_other_where_there_is_none(house: Project) -> None:
    assert refused(house, "approve", "last") == (
        "this project has no artifact: `preflights artifacts --all` lists those of this project; "
        "`preflights accept` is for decisions"
    )
    assert "`preflights approve` is for plans" in refused(house, "accept")
    assert "`preflights approve` is for plans" in refused(house, "accept", "last")


def test_last_is_the_newest_plan_and_no_report(shop: Project) -> None:
    older, newer = drafted(shop), drafted(shop)
    failing = ("--provider", "sim", "--faults", "malformed=1")
    assert shop.call("plan", "project", *failing).code == 1
    assert shop.call("artifacts", "show", "last", "--json").json["row"]["standing"] == "failed"
    assert shop.call("reject", "last", "--reason", "No", *BY).code == 0
    assert (standings(shop)[older], standings(shop)[newer]) == ("draft", "rejected")
