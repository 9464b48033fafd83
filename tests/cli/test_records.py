"""Records by the numbers that their documents bear, and what became of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflights_es.kernel.ids import iso
from tests.cli.program import Project
from tests.each import each
from tests.persons import git_repository


@pytest.mark.parametrize("name", ["ADR-0002", "adr-2", "Adr-02", "adr2", "ADR-000000002"])
def test_a_record_is_named_by_its_number_in_any_case(house: Project, name: str) -> None:
    house.decided()
    second = house.decided("Add SSO")
    assert house.show(name)["session_id"] == second["session_id"]


def test_every_command_that_names_a_session_takes_a_record(house: Project) -> None:
    one = house.decided()
    for words in (
        ("why",),
        ("log",),
        ("prompt",),
        ("admin", "export"),
        ("replay",),
        ("admin", "render"),
    ):
        done = house.call(*words, "ADR-0001")
        assert done.code == 0, (words, done)
    later = house.decided("Add SSO", "--supersedes", "ADR-1")
    assert later["supersedes"]["uid"] == one["uid"]
    (value,) = house.call("why", "ADR-1", "Strategy", "--json").json["values"]
    assert value["session_id"] == one["session_id"]
    assert house.call("audit", "trail", "--session", "ADR-0001").code == 0
    assert house.call("admin", "erase", "ADR-0001", "--yes").code == 0
    assert house.show("ADR-0001")["status"] == "erased", "its number stays taken"


@each("name", ["ADR-0002", "ADR-0", "ADR-", "ADR-1x", "ADR-9999999999"])
def test_a_number_that_no_record_bears_matches_nothing(shop: Project, name: str) -> None:
    shop.call("show", name).refused(1, f"no session matches '{name}'")


def test_a_record_is_one_of_this_project_and_found_by_its_new_number_alone(house: Project) -> None:
    house.decided()
    done = house.call("show", "ADR-0001", env={"PREFLIGHTS_PROJECT": "elsewhere"})
    assert done.code == 1
    one = house.decided()
    folder = house.folder / "docs" / "decisions"
    (folder / "0001-older.md").write_text('---\ndate: "2000-01-01"\n---\n')
    assert house.call("admin", "renumber").code == 0
    assert house.show("ADR-0002")["session_id"] == one["session_id"]
    assert house.call("show", "ADR-0001", "--json").json["format"] == "record/1"
    assert house.call("log", "ADR-0001").code == 1


def test_a_number_that_two_branches_gave_is_refused_by_naming_both(
    house: Project, tmp_path: Path, home: Path
) -> None:
    other = Project(git_repository(tmp_path / "other"), home)
    (other.folder / "preflights.toml").write_text('project = "house"\n')
    theirs, ours = other.decided("Add SSO"), house.decided()
    assert (
        house.call(
            "admin", "import", "-", stdin=other.call("admin", "export", "last").out.encode()
        ).code
        == 0
    )
    for words in (("show",), ("why",), ("admin", "erase", "--dry-run")):
        house.call(*words, "ADR-1").refused(
            1, theirs["session_id"][-8:], ours["session_id"][-8:], "preflights admin renumber"
        )


# What became of them -------------------------------------------------------------------------


def test_a_superseded_decision_is_shown_and_listed_with_its_successor(house: Project) -> None:
    former = house.decided()
    later = house.decided("Add SSO", "--supersedes", former["uid"])
    old, new = former["session_id"][-8:], later["session_id"][-8:]
    listed = {
        s["session_id"]: s["status"] for s in house.call("sessions", "--json").json["sessions"]
    }
    assert listed == {former["session_id"]: "superseded", later["session_id"]: "accepted"}
    for status, one in (("superseded", former), ("accepted", later)):
        shape = house.call("sessions", "--status", status, "--json").json
        assert [s["session_id"] for s in shape["sessions"]] == [one["session_id"]]
    assert f"session {old}, superseded" in house.call("show", old).out
    assert f"preflights show {new}" in house.call("show", old).out
    lines = house.call("decisions", "--all").out.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith(old))
    assert lines[place].split()[:3] == [old, "superseded", "by"]
    assert lines[place + 1].split()[:1] == [new], "the successor stands in the same cell"
    for _ in range(20):
        house.started_session()
    rows = house.call("sessions", "--all", "--json").json["sessions"]
    assert {s["session_id"]: s["status"] for s in rows}[former["session_id"]] == "superseded"


def test_a_decision_of_an_earlier_day_has_the_document_of_that_day(house: Project) -> None:
    former = house.decided()
    (then,) = house.call("decisions", "--json").json["decisions"]
    moment = house.events()[-1]["recorded_at"]
    house.decided("Add SSO", "--supersedes", former["uid"])
    folded = house.call("decisions", "--all", "--json").json["decisions"]
    now = next(one for one in folded if one["uid"] == former["uid"])
    assert now["sha256"] != then["sha256"], "it was written anew, with its successor"
    (found,) = house.call("decisions", "--at", iso(moment), "--json").json["decisions"]
    assert found == then
