"""`lock tests` and `lock verify`."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.compiler.conftest import Before
from tests.cli.compiler.test_approving import BY, drafted, last_input, refused, standings
from tests.cli.program import Project

TESTS = ("tests/test_billing.py", "tests/test_catalogue.py")


@pytest.fixture
def shop(house: Project, before: Before) -> Project:
    """With an approved TestPlan."""
    before(house, "project", "architecture", "scaffold", "tests")
    return house


def written(project: Project, *paths: str) -> None:
    for path in paths:
        file = project.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# {path}\n")


def newest(project: Project) -> Any:
    """The one that stands last in the list."""
    rows = project.call("artifacts", "--all", "--json").json["artifacts"]
    return [row for row in rows if row["type"] == "TestPlan"][-1]


def verified(project: Project) -> dict[str, str]:
    """How each file compares."""
    done = project.call("lock", "verify", "--json")
    found = {one["path"]: one["state"] for one in done.json["files"]}
    assert done.code == (0 if {*found.values()} == {"same"} else 1)
    return found


def test_each_test_file_of_the_scaffold_is_recorded_with_its_hash(shop: Project) -> None:
    written(shop, *TESTS)
    done = shop.call("lock", "tests", *BY)
    assert (done.code, newest(shop)["standing"]) == (0, "locked")
    files = last_input(shop, "plan_locked")["files"]
    assert last_input(shop, "plan_locked")["evidence"]["variables"] == []
    assert files == [
        {"path": path, "sha256": sha256(f"# {path}\n".encode()).hexdigest()} for path in TESTS
    ]
    envelope = shop.call("artifacts", "show", newest(shop)["id"], "--json").json["envelope"]
    assert envelope["status"] == "locked"
    assert shop.call("replay", shop.newest()).code == 0


def test_a_missing_test_file_is_named_and_nothing_is_locked(shop: Project) -> None:
    written(shop, TESTS[0])
    why = f"a test file is missing ({TESTS[1]}): nothing is locked"
    assert refused(shop, "lock", "tests", *BY) == why
    assert newest(shop)["standing"] == "approved"


def test_a_test_file_behind_a_link_out_of_the_repository_is_not_read(
    shop: Project, tmp_path: Path
) -> None:
    written(shop, TESTS[0])
    (tmp_path / "elsewhere.py").write_text("secret\n")
    os.symlink(tmp_path / "elsewhere.py", shop.folder / TESTS[1])
    assert "leads out of the repository" in refused(shop, "lock", "tests", *BY)


def test_verify_names_each_file_that_changed_or_is_gone(shop: Project) -> None:
    written(shop, *TESTS)
    shop.call("lock", "tests", *BY)
    assert verified(shop) == dict.fromkeys(TESTS, "same")
    (shop.folder / TESTS[0]).write_text("def test_nothing(): ...\n")
    (shop.folder / TESTS[1]).unlink()
    assert verified(shop) == {TESTS[0]: "changed", TESTS[1]: "gone"}
    done = shop.call("lock", "verify")
    assert (done.code, done.out) == (1, f"changed  {TESTS[0]}\ngone     {TESTS[1]}\n")


def test_a_locked_plan_gives_way_only_to_lock_tests_on_another_one(shop: Project) -> None:
    written(shop, *TESTS)
    shop.call("lock", "tests", *BY)
    one = newest(shop)["id"]
    other = drafted(shop, "tests")
    assert shop.call("approve", other, *BY).code == 0
    found = standings(shop)
    assert (found[one], found[other]) == ("locked", "approved"), "it waits beside the locked one"
    assert one in {read["id"] for read in _read_by(shop, "impl", "src/billing.py")}
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


def test_only_an_approved_test_plan_is_locked(shop: Project) -> None:
    written(shop, *TESTS)
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


def test_without_a_locked_plan_there_is_nothing_to_verify(shop: Project) -> None:
    assert "no TestPlan is locked" in refused(shop, "lock", "verify")


def test_a_script_locks_nothing(shop: Project) -> None:
    written(shop, *TESTS)
    assert "only a person can" in refused(shop, "lock", "tests")
