"""`plan`: what a pass reads of earlier ones, and what is refused."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli.compiler.conftest import Before
from tests.cli.compiler.planning import begun, documented, planned, sessions
from tests.cli.program import Project
from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

# 1. What is read -----------------------------------------------------------

CHAIN = ("project", "architecture", "scaffold", "tests")


def test_each_pass_reads_what_was_approved_before(house: Project, before: Before) -> None:
    ids = before(house, *CHAIN)
    read = begun(house)
    assert [one["id"] for one in read["plans"]] == [ids[name] for name in CHAIN[:3]]
    assert [one["standing"] for one in read["plans"]] == ["approved"] * 3
    assert house.show()["artifact"]["depends_on"] == [ids[name] for name in CHAIN[:3]]
    assert house.call("replay", house.newest()).code == 0


def test_an_approved_artifact_is_read_besides_by_the_beginning_of_its_id(
    house: Project, before: Before
) -> None:
    ids = before(house, "project", "architecture")
    found = planned(house, "project", "--use", ids["architecture"][:8])
    assert [one["id"] for one in found["artifacts"]] == [ids["architecture"]]


def test_an_implementation_reads_one_source_file_as_typed_in_a_folder(
    house: Project, before: Before
) -> None:
    before(house, *CHAIN)
    (house.folder / "old").mkdir()
    (house.folder / "old" / "legacy.py").write_text("import os\n")
    below = Project(house.folder / "old", house.home)
    found = planned(below, "impl", "legacy.py")
    assert found["target"] == "old/legacy.py"
    assert [one["path"] for one in found["documents"]] == ["old/legacy.py"]
    assert found["artifact"]["payload"]["target"] == "old/legacy.py"


def test_an_implementation_is_planned_for_a_file_of_the_scaffold_that_is_missing(
    house: Project, before: Before
) -> None:
    before(house, *CHAIN)
    files = begun(house)["plans"][2]["payload"]
    named = next(one["path"] for one in json.loads(files)["files"] if one["kind"] == "source")
    found = planned(house, "impl", named)
    assert (found["target"], found["documents"]) == (named, [])


def test_a_clone_reads_what_its_session_files_say_is_approved_and_decided(
    house: Project, colleague: Project, before: Before
) -> None:
    decided = house.decided()
    ids = before(house, "project")
    for name in (".preflights", "docs"):
        shutil.copytree(house.folder / name, colleague.folder / name)
    told = colleague.call("plan", "architecture", "--json")
    assert "warning: uses the ProjectPlan " in told.err
    assert ": approved by Ada, as .preflights/artifacts/.sessions/" in told.err
    found = told.json
    assert [one["id"] for one in found["artifacts"]] == [ids["project"]]
    assert found["decisions"] == [decided["uid"]]


def test_the_file_of_an_artifact_without_a_session_satisfies_no_pass(
    house: Project, colleague: Project, before: Before
) -> None:
    before(house, "project")
    shutil.copytree(house.folder / ".preflights", colleague.folder / ".preflights")
    shutil.rmtree(colleague.folder / ".preflights" / "artifacts" / ".sessions")
    colleague.call("plan", "architecture").refused(1, "needs an approved ProjectPlan, and none is")


def test_a_plan_that_waits_is_to_be_approved_not_made_anew(house: Project) -> None:
    id_ = planned(documented(house))["artifact"]["id"][:8]
    told = f"and none is: read it with `preflights artifacts show {id_}`, then `preflights approve"
    house.call("plan", "architecture").refused(1, "needs an approved ProjectPlan", told)


def test_a_pass_reads_a_plan_whose_documents_changed(house: Project, before: Before) -> None:
    ids = before(house, "project")
    (house.folder / ".preflights" / "glossary.md").write_text("# Glossary\n\nNew.\n")
    found = planned(house, "architecture")
    assert [one["id"] for one in found["artifacts"]] == [ids["project"]]


# 2. What is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "why"),
    [
        *FILED["what_cannot_be_read_is_refused_in_one_line_and_nothing_is_recorded"],
        (("refactor", "x" * 2_001), "the goal has 2,001 characters, at most 2,000 are taken"),
        (("project", "--use", "0" * 8 + "-0000-8000-8000-" + "0" * 12), "no artifact matches"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line_and_nothing_is_recorded(
    house: Project, words: tuple[str, ...], why: str
) -> None:
    documented(house)
    for name in ("src/main.py", "tests/test_main.py", "docs/Main.PY", "run"):
        path = house.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/python\nimport os\n\n\ndef main() -> None:\n    os._exit(0)\n")
    (house.folder / "notes.md").symlink_to("/etc/hostname")
    house.call("decisions")  # the projections are up to date
    before = house.recorded()
    done = house.call("plan", *words)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done.err
    assert why in done.err
    assert done.is_safe()
    assert (sessions(house), house.recorded()) == ([], before)


def test_a_draft_is_no_artifact_that_a_pass_reads(house: Project) -> None:
    draft = planned(documented(house), "project")["artifact"]["id"]
    done = house.call("plan", "project", "--use", draft)
    assert done.code == 1
    assert f"the ProjectPlan {draft[:8]} is draft: a pass reads only artifacts that are" in done.err
