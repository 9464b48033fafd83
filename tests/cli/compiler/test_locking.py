"""`lock tests`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.compiler.conftest import Before
from tests.cli.compiler.test_approving import BY, drafted, last_input, refused, standings
from tests.cli.program import Project


@pytest.fixture
def shop(house: Project, before: Before) -> Project:
    """With an approved TestPlan."""
    before(house, "project", "architecture", "scaffold", "tests")
    return house


def newest(project: Project) -> Any:
    """The one that stands last in the list."""
    rows = project.call("artifacts", "--all", "--json").json["artifacts"]
    return [row for row in rows if row["type"] == "TestPlan"][-1]


def test_a_locked_plan_gives_way_only_to_lock_tests_on_another_one(shop: Project) -> None:
    assert shop.call("lock", "tests", *BY).code == 0
    one = newest(shop)["id"]
    assert last_input(shop, "plan_locked")["evidence"]["variables"] == []
    envelope = shop.call("artifacts", "show", one, "--json").json["envelope"]
    assert envelope["status"] == "locked"
    assert shop.call("replay", shop.newest()).code == 0
    other = drafted(shop, "tests")
    assert shop.call("approve", other, *BY).code == 0
    found = standings(shop)
    assert (found[one], found[other]) == ("locked", "approved"), "it waits beside the locked one"
    assert one in {read["id"] for read in _read_by(shop, "impl", "src/stub.txt")}
    assert shop.call("lock", "tests", *BY).code == 0
    found = standings(shop)
    assert (found[one], found[other]) == ("superseded", "locked")
    (former,) = last_input(shop, "plan_locked", _session(shop, other))["former"]
    assert former["session_id"] == _session(shop, one)


def _read_by(project: Project, *words: str) -> Any:
    done = project.call("plan", *words, "--json")
    assert done.code == 3, done.err
    return done.json["artifacts"]


def _session(project: Project, id_: str) -> str:
    found: str = project.call("artifacts", "show", id_, "--json").json["row"]["session_id"]
    return found


def test_only_an_approved_test_plan_is_locked_and_not_by_a_script(shop: Project) -> None:
    assert "only a person can" in refused(shop, "lock", "tests")
    draft = drafted(shop, "tests")
    assert "an approved one is locked" in refused(shop, "lock", "tests", draft, *BY)
    scaffold = next(
        row["id"]
        for row in shop.call("artifacts", "--json").json["artifacts"]
        if row["type"] == "ScaffoldPlan"
    )
    assert "only a TestPlan is locked" in refused(shop, "lock", "tests", scaffold, *BY)
    assert shop.call("lock", "tests", *BY).code == 0
    locked = standings(shop)
    assert "is locked, and no other is approved" in refused(shop, "lock", "tests", *BY)
    assert standings(shop) == locked
