"""Findings on the command line: they block, a person waives each with a reason, and all see it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import preflights_es
from preflights_es.kernel.errors import Refused
from tests.cli.compiler.planning import approved, documented, planned
from tests.cli.compiler.test_approving import AGENT, BY, last_input, refused, standings
from tests.cli.program import Project
from tests.cli.test_foreign_records import filed
from tests.each import each

STATES = "Use MySQL instead of PostgreSQL"
MENTIONS = "Import the rows of the old MySQL database once"
REASON = "MySQL stays until the import in March"


def decided(house: Project, text: str = "Use PostgreSQL") -> str:
    """The uid of a decision that a person accepted."""
    (house.folder / "preflights.toml").write_text('[clarification]\nheuristics = "standard"\n')
    house.call("start", text, "--no-input")
    assert house.call("accept", "last", "--by", "Ada Lovelace").code == 0
    return str(house.show()["uid"])


def domains(house: Project, *names: str) -> Project:
    """The reference plans a domain of each heading."""
    headings = "\n\n".join(f"## {name}\n\nText." for name in names)
    return documented(house, requirements=f"# Shop\n\n{headings}\n")


def drafted(house: Project, *names: str) -> Any:
    """A ProjectPlan, as JSON."""
    return planned(domains(house, *(names or (STATES,))), "project")


def of_decision(plan: Any) -> str:
    """The name of its one finding."""
    (finding,) = plan["findings"]
    assert finding["kind"] == "decision"
    return str(finding["name"])


# 1. What blocks ------------------------------------------------------------------------------


def test_a_draft_names_its_findings_and_the_command_that_waives_them(house: Project) -> None:
    uid = decided(house)
    done = domains(house, STATES).call("plan", "project")
    assert done.code == 3
    plan = house.show()
    name, id_ = of_decision(plan), plan["artifact"]["id"][:8]
    assert f'  finding {name}: /domains/0/name states "MySQL", but the decision {uid}' in done.out
    assert f"preflights approve {id_} --waive {name}=REASON" in done.out


def test_an_open_finding_refuses_every_way_to_approve(house: Project) -> None:
    decided(house)
    plan = drafted(house)
    name, id_ = of_decision(plan), plan["artifact"]["id"]
    for words in (("approve", id_, *BY), ("approve", id_), ("accept", plan["session_id"], *BY)):
        why = refused(house, *words)
        assert why.startswith(f"the ProjectPlan {id_[:8]} has an open finding: {name} (/domains/0")
        assert why.endswith(f"with `preflights approve {id_[:8]} --waive {name}=REASON`")
    assert refused(house, "approve", id_, env=AGENT).startswith("the ProjectPlan")
    assert standings(house) == {id_: "draft"}


@pytest.mark.parametrize("name", [MENTIONS, "Use postgres for the orders", "Use PostgreSQL 16"])
def test_what_states_nothing_against_a_decision_blocks_nothing(house: Project, name: str) -> None:
    decided(house)
    plan = drafted(house, name)
    assert plan["findings"] == []
    assert house.call("approve", plan["artifact"]["id"], *BY).code == 0


def test_a_mention_is_told_and_recorded(house: Project) -> None:
    uid = decided(house)
    done = domains(house, MENTIONS).call("plan", "project")
    assert f'perhaps: /domains/0/name names "MySQL", but the decision {uid}' in done.out
    told = house.call("approve", "last", *BY)
    assert (told.code, "perhaps: /domains/0/name" in told.err) == (0, True)
    assert last_input(house, "plan_approved")["perhaps"][0]["pointer"] == "/domains/0/name"
    (checked,) = house.call("plan", "check", "--json").json["plans"]
    assert (checked["findings"], len(checked["perhaps"])) == ([], 1)


def test_a_decision_between_the_draft_and_its_approval_counts(house: Project) -> None:
    plan = drafted(house)
    assert plan["findings"] == []
    uid = decided(house)
    why = refused(house, "approve", plan["artifact"]["id"], *BY)
    assert f"but the decision {uid}" in why


# 2. Who waives, and how ----------------------------------------------------------------------


def test_a_person_waives_a_finding_and_everything_shows_it(house: Project) -> None:
    decided(house)
    plan = drafted(house)
    name, id_ = of_decision(plan), plan["artifact"]["id"]
    words = ("approve", id_, *BY, "--waive", f"{name}={REASON}")
    done = house.call(*words)
    assert (done.code, standings(house)) == (0, {id_: "approved"})
    assert f"waived {name}: /domains/0/name" in done.out
    new = last_input(house, "plan_approved")
    assert new["waivers"] == [{"finding": name, "reason": REASON}]
    assert new["actor"] == {"kind": "user", "name": "Ada Lovelace"}
    assert [one["name"] for one in new["findings"]] == [name]
    assert len(new["quoted"]) == 1, "what it says of another session has its source"

    (told,) = house.show()["waived"]
    assert (told["name"], told["reason"], told["by"]["name"]) == (name, REASON, "Ada Lovelace")
    assert told["relayed_by"]["kind"] == "script"
    assert house.call("artifacts", "show", id_, "--json").json["row"]["waived"] == [told]
    assert house.call("why", id_, "--json").json["artifacts"][0]["waived"] == [told]
    (checked,) = house.call("plan", "check", "--json").json["plans"]
    assert (checked["findings"], checked["waived"]) == ([], [told])
    for shown in (
        ("show", plan["session_id"]),
        ("artifacts", "show", id_),
        ("why", id_),
        ("plan", "check"),
        ("audit", "trail", "--session", plan["session_id"]),
    ):
        said = " ".join(house.call(*shown).out.split())
        assert (name in said, REASON in said, "Ada Lovelace" in said) == (True, True, True), shown
    assert house.call("replay", plan["session_id"]).code == 0
    assert house.call("audit", "verify").code == 0


def test_only_a_person_waives(house: Project) -> None:
    decided(house)
    plan = drafted(house)
    waive = ("approve", plan["artifact"]["id"], "--waive", f"{of_decision(plan)}={REASON}")
    why = refused(house, *waive)
    assert "cannot waive findings of an artifact, only a person can" in why
    assert why.endswith("or let a script name the person by --by")
    assert "only a person can" in refused(house, *waive, env=AGENT)
    assert "only a person can" in refused(house, *waive, *BY, env=AGENT)


@each("reason", ["", "=", "= ", "=TBD", "=n/a", "=?"])
def test_a_waiver_without_a_reason_is_refused(house: Project, reason: str) -> None:
    decided(house)
    plan = drafted(house)
    name = of_decision(plan)
    why = refused(house, "approve", plan["artifact"]["id"], *BY, "--waive", f"{name}{reason}")
    assert why == f"the waiver of {name} says no reason: expected {name}=REASON"


def test_a_waiver_of_a_finding_that_is_not_there_is_refused(house: Project) -> None:
    decided(house)
    plan = drafted(house)
    name, id_ = of_decision(plan), plan["artifact"]["id"]
    said = ("--waive", f"{name}={REASON}", "--waive", "file-000000=It is there")
    why = refused(house, "approve", id_, *BY, *said)
    assert why == f"the ProjectPlan {id_[:8]} has no finding 'file-000000': it has {name}"
    other = drafted(house, "Billing")["artifact"]["id"]
    why = refused(house, "approve", other, *BY, *said)
    assert why.endswith("it has none")
    assert house.call("approve", id_, *BY, *said[:2], *said[:2]).code == 2


def test_a_reason_is_recorded_without_its_secrets(house: Project) -> None:
    decided(house)
    plan = drafted(house)
    waive = f"{of_decision(plan)}=The password=hunter2hunter2 is theirs"
    done = house.call("approve", "last", *BY, "--waive", waive)
    assert (done.code, "1 secret was taken out" in done.err) == (0, True)
    new = last_input(house, "plan_approved")
    assert "hunter2" not in json.dumps(new)
    assert new["redacted"]


def test_under_one_key_it_is_waived_once(house: Project) -> None:
    decided(house)
    plan = drafted(house)
    waive = ("--waive", f"{of_decision(plan)}={REASON}")
    words = ("approve", plan["artifact"]["id"], *BY, *waive, "--key", "k", "--json")
    first, again = house.call(*words), house.call(*words)
    assert (first.code, again.code) == (0, 0), again.err
    assert first.json["waived"] == again.json["waived"]
    kinds = [event["type"] for event in house.events()]
    assert kinds.count("compiler.plan_approved.v1") == 1
    assert "compiler.findings_waived.v1" not in kinds


# 3. Plans in force ---------------------------------------------------------------------------


def test_a_later_decision_opens_a_finding_that_a_person_waives(house: Project) -> None:
    domains(house, STATES)
    id_ = approved(house, "project")["project"]
    assert house.call("plan", "check").code == 0
    uid = decided(house)
    done = house.call("plan", "check")
    assert (done.code, f"but the decision {uid}" in done.out) == (1, True)
    (plan,) = house.call("plan", "check", "--json").json["plans"]
    name = of_decision(plan)
    assert f"preflights approve {id_[:8]} --waive {name}=REASON" in done.out

    waive = ("approve", id_, "--waive", f"{name}={REASON}")
    assert "only a person can" in refused(house, *waive)
    assert "only a person can" in refused(house, *waive, env=AGENT)
    done = house.call(*waive, *BY)
    assert (done.code, standings(house)) == (0, {id_: "approved"}), done.err
    session = plan["session_id"]
    assert last_input(house, "findings_waived", session)["waivers"][0]["reason"] == REASON
    done = house.call("plan", "check")
    assert (done.code, REASON in done.out) == (0, True)
    assert house.call("replay", session).code == 0
    why = refused(house, "approve", id_, *BY, "--waive", "test-000000=It is there")
    assert why == f"the ProjectPlan {id_[:8]} has no finding 'test-000000': it has {name}"


def test_plans_in_force_are_compared_with_each_other(house: Project) -> None:
    domains(house, "Billing", "Catalogue")
    ids = approved(house, "project", "architecture", "scaffold", "tests")
    done = house.call("plan", "check")
    assert (done.code, done.out) == (0, "4 plans checked: no open finding.\n")
    domains(house, "Billing", "Catalogue", "Delivery")
    approved(house, "project")
    done = house.call("plan", "check", "--json")
    found = {one["id"]: one for one in done.json["plans"]}
    (finding,) = found[ids["scaffold"]]["findings"]
    assert (done.code, finding["kind"]) == (1, "name")
    assert '"delivery"' in finding["message"]
    assert found[ids["scaffold"]]["stale"], "which a check says as well"


def test_a_draft_is_checked_by_its_id_and_a_report_has_nothing_to_check(house: Project) -> None:
    decided(house)
    plan = drafted(house)
    assert house.call("plan", "check").out == "No plan is in force.\n"
    done = house.call("plan", "check", plan["artifact"]["id"], "--json")
    assert (done.code, done.json["plans"][0]["standing"]) == (1, "draft")
    documented(house, requirements="# Shop\n\nA customer pays.\n").call("plan", "project")
    assert house.call("plan", "check", "last", "--json").json["plans"] == []
    assert "no artifact matches" in refused(house, "plan", "check", "0000")


# 4. Records of other tools -------------------------------------------------------------------


def recorded(house: Project, title: str) -> None:
    """A record that another tool wrote."""
    filed(house, "docs/decisions/0007-orders.md", title=title)


def test_a_record_of_another_tool_is_perhaps_contradicted_and_never_blocks(house: Project) -> None:
    recorded(house, "Use PostgreSQL for the orders")
    done = domains(house, "Use MySQL for the orders").call("plan", "project")
    assert (done.code, "0007-orders.md" in done.err) == (3, True), done.err
    assert 'states "MySQL"' in done.err
    assert house.call("plan", "check", "last").code == 0
    done = house.call("approve", "last", *BY)
    assert (done.code, "0007-orders.md" in done.err) == (0, True)
    (told, *_) = last_input(house, "plan_approved")["perhaps"]
    assert 'has "PostgreSQL"' in told["message"]
    (checked,) = house.call("plan", "check", "--json").json["plans"]
    assert [one["name"] for one in checked["perhaps"]][:1] == [told["name"]]


@pytest.mark.parametrize("title", ["Use PostgreSQL for the carts", "How we store orders"])
def test_a_record_of_something_else_says_nothing(house: Project, title: str) -> None:
    recorded(house, title)
    done = domains(house, "Use PostgreSQL for the orders").call("plan", "project")
    assert (done.code, "perhaps" in done.err) == (3, False)


# 5. From Python ------------------------------------------------------------------------------


def test_the_api_takes_the_same_waivers(house: Project) -> None:
    decided(house)
    plan = drafted(house)
    name, id_ = of_decision(plan), plan["artifact"]["id"]
    with house._surroundings({}), preflights_es.open(house.folder) as log:
        with pytest.raises(Refused) as caught:
            log.approve(id_, by="Ada")
        assert (caught.value.code, caught.value.fields["findings"]) == ("findings_open", (name,))
        found: Any = log.approve(id_, by="Ada", waive={name: REASON})
        assert [one.reason for one in found.waived] == [REASON]
    assert standings(house) == {id_: "approved"}
