"""`artifacts` and `artifacts show`."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from tests.cli.clones import cloned, committed, pulled
from tests.cli.compiler.conftest import Before
from tests.cli.compiler.planning import approved, asked, documented, planned
from tests.cli.compiler.test_approving import BY, drafted, refused, standings
from tests.cli.program import Project
from tests.features.compiler.cases import PAYLOADS
from tests.providers.server import FakeAPI

REQUIREMENTS = ".preflights/requirements.md"


@pytest.fixture
def shop(house: Project) -> Project:
    return documented(house)


def listed(project: Project, *words: str) -> Any:
    """The rows, by id."""
    rows = project.call("artifacts", *words, "--json").json["artifacts"]
    return {row["id"]: row for row in rows}


# 1. The list ---------------------------------------------------------------------------------


def test_the_list_has_type_id_standing_and_what_each_depends_on(
    shop: Project, before: Before
) -> None:
    ids = before(shop, "project", "architecture")
    rows = listed(shop)
    assert [row["type"] for row in rows.values()] == ["ProjectPlan", "ArchitecturePlan"]
    row = rows[ids["architecture"]]
    assert (row["standing"], row["depends_on"]) == ("approved", [ids["project"]])
    assert row["changed_by"] == {"kind": "user", "name": "Ada"}
    assert row["session_id"] == shop.show()["session_id"]
    heading, _, first, *_, second = shop.call("artifacts", "-q").out.splitlines()
    assert heading.split() == ["artifact", "id", "standing", "session", "made", "from"]
    assert first.split()[:3] == ["ProjectPlan", ids["project"][:8], "approved"]
    assert ids["project"][:8] in second
    digest = sha256((shop.folder / REQUIREMENTS).read_bytes()).hexdigest()
    assert f"requirements.md {digest[:8]}" in first
    documents = rows[ids["project"]]["documents"]
    assert documents[0] == {"path": REQUIREMENTS, "sha256": digest}
    one = ids["project"]
    envelope = shop.call("artifacts", "show", one[:8], "--json").json["envelope"]
    assert (envelope["id"], envelope["status"], envelope["created_by"]) == (
        *(one, "approved"),
        "system",
    )
    shown = shop.call("artifacts", "show", one).out
    assert shown.startswith(f"ProjectPlan {one}\n")
    assert '\n  "status": "approved",\n' in shown
    assert f"  made from {REQUIREMENTS}, sha256 {digest}\n" in shown


def test_what_has_ended_is_listed_with_all(shop: Project) -> None:
    one = drafted(shop)
    shop.call("reject", one, "--reason", "No", *BY)
    other = drafted(shop)
    assert [*listed(shop)] == [other]
    assert listed(shop, "--all")[one]["reason"] == "No"
    assert "1 artifact ended: preflights artifacts --all" in shop.call("artifacts").out


def test_a_draft_that_is_given_up_is_abandoned(shop: Project) -> None:
    one = drafted(shop)
    assert shop.call("abandon", shop.newest()).code == 0
    assert standings(shop) == {one: "abandoned"}
    assert "was abandoned" in refused(shop, "approve", one, *BY)


def test_a_project_without_artifacts_says_so(house: Project) -> None:
    assert house.call("artifacts").out == "There are no artifacts.\n"
    assert house.call("artifacts", "--json").json["artifacts"] == []


# 2. One of them ----------------------------------------------------------------------


def test_show_prints_a_report_too_also_behind_the_artifact_of_its_session(
    house: Project, api: FakeAPI
) -> None:
    env = asked(house, api, PAYLOADS["project"])
    house.call("answer", house.newest(), "Billing", env=env)
    (report, plan) = standings(house)
    for id_, type_ in ((report, "FailureReport"), (plan, "ProjectPlan")):
        envelope = house.call("artifacts", "show", id_, "--json").json["envelope"]
        assert (envelope["id"], envelope["artifact_type"]) == (id_, type_)


# 3. Elsewhere --------------------------------------------------------------------------------


def test_a_clone_lists_what_session_files_have_and_approves_it_after_a_sync(
    shop: Project, tmp_path: Any, before: Before
) -> None:
    (one,) = before(shop, "project").values()
    committed(shop)
    clone = cloned(shop, tmp_path / "clone")
    row = listed(clone)[one]
    assert row["standing"] == "approved"
    assert row["file"].startswith(".preflights/artifacts/.sessions/")
    other = drafted(clone)
    assert "only .preflights/artifacts/.sessions/" in refused(clone, "approve", other, *BY)
    assert clone.call("sync").code == 0
    assert clone.call("approve", other, *BY).code == 0
    assert standings(clone) == {one: "superseded", other: "approved"}


def test_two_branches_approve_one_each_and_the_next_approval_supersedes_both(
    shop: Project, tmp_path: Any
) -> None:
    shop.decided()  # a clone knows the project by it
    committed(shop)
    clone = cloned(shop, tmp_path / "clone")
    (one,), (other,) = (approved(each, "project").values() for each in (shop, clone))
    for each in (clone, shop):
        committed(each)
    pulled(shop, clone)
    assert shop.call("sync").code == 0
    assert standings(shop) == {one: "approved", other: "approved"}
    (read,) = planned(shop, "architecture")["artifacts"]
    assert read["id"] == other, "it was approved last"
    third = approved(shop, "project")["project"]
    found = standings(shop)
    assert [found[id_] for id_ in (one, other, third)] == ["superseded", "superseded", "approved"]
