"""Files of artifacts and their sessions: written, read in clones, forged, killed, erased."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preflights_es.features.compiler.artifacts import plan_rows, plans_in_force
from tests.cli.clones import cloned, committed, pulled
from tests.cli.compiler.planning import (
    PLANS,
    SESSIONS,
    accepted,
    documented,
    plan_file,
    planned,
    requested,
    session_file,
)
from tests.cli.program import Project


@pytest.fixture
def shop(house: Project) -> Project:
    return documented(house)


@pytest.fixture
def plan(shop: Project) -> Any:
    """The project's plan, approved and committed."""
    made = accepted(shop)
    committed(shop)
    return made


@pytest.fixture
def clone(shop: Project, plan: Any, tmp_path: Path) -> Project:
    """A colleague's clone of it, in a folder of another name."""
    return cloned(shop, tmp_path / "another-name")


def in_force_of(project: Project) -> list[str]:
    """Ids of the artifacts that a pass would take."""
    with requested(project) as request:
        return [row.planned.id for row in plans_in_force(plan_rows(request))]


def strays(project: Project) -> list[str]:
    """Names of the files that no session speaks for."""
    done = project.call("artifacts", "--json")
    found = done.json["strays"]
    said = [line for line in project.call("artifacts").err.splitlines() if "for nothing" in line]
    why = "counts for nothing: no session says that it was approved"
    assert said == [f"warning: {path} {why}" for path in found]
    return [Path(path).name for path in found]


def states(project: Project) -> dict[str, str | None]:
    """How each artifact's file compares with the log, by id."""
    rows = project.call("artifacts", "--all", "--json").json["artifacts"]
    return {row["id"]: row["artifact_state"] for row in rows}


# 1. Written ----------------------------------------------------------------------------------


def test_an_approved_artifact_lies_as_its_envelope_and_no_edit_of_it_is_lost(shop: Project) -> None:
    plan = accepted(shop)
    content = plan_file(shop, plan).read_text()
    assert content == shop.call("admin", "render", shop.newest(), "--stdout").out
    assert content.count("\n") == 1
    envelope = json.loads(content)
    assert [*envelope] == [
        *("artifact_type", "artifact_version", "id", "status", "created_at", "created_by"),
        *("depends_on", "payload"),
    ]
    assert (envelope["status"], envelope["payload"]) == ("approved", plan["artifact"]["payload"])
    assert session_file(shop, plan).read_text() == shop.call("admin", "export", shop.newest()).out
    for name in ("README.md", "notes.json", f"{plan_file(shop, plan).name}.new"):
        (shop.folder / PLANS / name).write_text("mine")
    assert strays(shop) == []
    id_, file = plan["artifact"]["id"], plan_file(shop, plan)
    file.write_text("{}")
    assert states(shop) == {id_: "edited"}
    assert "  approved, file edited, session " in shop.call("artifacts", "show", id_).out
    assert shop.call("admin", "render", shop.newest(), "--check").code == 1
    done = shop.call("admin", "render", shop.newest())
    assert f"The document was edited: the rebuilt text lies in {PLANS}/{file.name}.new" in done.out
    assert (file.read_text(), states(shop)) == ("{}", {id_: "edited"})
    file.unlink()
    assert states(shop) == {id_: "missing"}
    assert in_force_of(shop) == [id_], "what the log says is in force"
    assert shop.call("admin", "render", shop.newest()).code == 0
    assert states(shop) == {id_: "same"}


def test_where_sessions_are_kept_is_said_once(shop: Project) -> None:
    first = shop.call("accept", planned(shop)["session_id"], "--by", "Ada")
    said = (
        "Sessions are kept beside their files, for your team: .preflights/artifacts/.sessions. "
        "`[records] sessions = false` turns it off.\n"
    )
    assert said in first.err
    assert said not in shop.call("accept", planned(shop)["session_id"], "--by", "Ada").err


def test_a_draft_has_no_file_and_its_file_is_a_stray(shop: Project) -> None:
    planned(shop)
    shop.call("accept", planned(shop)["session_id"])
    assert not (shop.folder / PLANS).exists()
    draft = planned(shop)
    (shop.folder / PLANS).mkdir()
    plan_file(shop, draft).write_text('{"status":"approved"}')
    assert strays(shop) == [plan_file(shop, draft).name]
    assert in_force_of(shop) == []


def test_a_setting_turns_the_sessions_off(shop: Project) -> None:
    (shop.folder / "preflights.toml").write_text("[records]\nsessions = false\n")
    plan = accepted(shop)
    assert plan_file(shop, plan).exists()
    assert not (shop.folder / SESSIONS).exists()
    (shop.folder / "preflights.toml").unlink()
    assert "Wrote 1 session file." in shop.call("sync").out
    assert session_file(shop, plan).exists()


def test_a_superseded_artifact_says_what_took_its_place_also_once_erased(shop: Project) -> None:
    former = accepted(shop)
    before = plan_file(shop, former).read_bytes()
    later = accepted(shop)
    assert plan_file(shop, former).read_bytes() == before
    exported = shop.call("admin", "export", former["session_id"]).out
    assert session_file(shop, former).read_text() == exported
    assert later["artifact"]["id"] in exported
    assert states(shop) == {former["artifact"]["id"]: "same", later["artifact"]["id"]: "same"}
    former, later = accepted(shop), accepted(shop)
    done = shop.call("admin", "erase", former["session_id"], "--dry-run", "--json")
    (quote,) = done.json["quotes"]
    assert (quote["session_id"], quote["how"], quote["documents"]) == (
        *(later["session_id"], "named", []),
    )


@pytest.mark.parametrize("place", [PLANS, SESSIONS, Path(".preflights")])
def test_nothing_is_written_through_a_link(shop: Project, tmp_path: Path, place: Path) -> None:
    session_id = planned(shop)["session_id"]
    outside = tmp_path / "outside"
    folder = shop.folder / place
    if place == Path(".preflights"):
        folder.rename(outside)
    else:
        outside.mkdir()
        folder.parent.mkdir(exist_ok=True)
    folder.symlink_to(outside)
    before = sorted(outside.rglob("*"))
    done = shop.call("accept", session_id, "--by", "Ada")
    assert done.code != 0
    assert sorted(outside.rglob("*")) == before


# 2. Read in a clone --------------------------------------------------------------------------


def test_a_fresh_clone_takes_and_shows_the_artifact_of_a_session_file(
    shop: Project, clone: Project, plan: Any
) -> None:
    session_id = plan["session_id"]
    told = f"warning: only {SESSIONS}/{session_id[-12:]}.jsonl has this session: "
    for command in (("show",), ("replay",), ("log",), ("why",), ("audit", "trail", "--session")):
        here, there = clone.call(*command, session_id), shop.call(*command, session_id)
        assert (here.code, here.out) == (0, there.out), command
        assert here.err.startswith(told)
    assert not clone.log.exists()
    id_ = plan["artifact"]["id"]
    assert in_force_of(clone) == [id_]
    assert states(clone) == {id_: "same"}
    assert strays(clone) == []
    made = planned(clone, "architecture")
    assert [one["id"] for one in made["artifacts"]] == [id_]


def test_sync_takes_over_what_a_colleague_superseded(
    shop: Project, clone: Project, plan: Any
) -> None:
    assert clone.call("sync").code == 0
    later = accepted(clone)
    committed(clone)
    pulled(shop, clone)
    assert "there session" in shop.call("why", plan["session_id"]).err
    assert shop.call("sync", "--yes").code == 0
    assert in_force_of(shop) == [later["artifact"]["id"]]
    assert shop.call("audit", "verify").code == 0


def test_a_session_that_lies_in_another_folder_counts_for_nothing(
    shop: Project, clone: Project, plan: Any
) -> None:
    file = session_file(clone, plan)
    moved = clone.folder / "docs" / "decisions" / ".sessions" / file.name
    moved.parent.mkdir(parents=True)
    file.rename(moved)
    assert in_force_of(clone) == []
    done = clone.call("sync")
    assert (done.code, "its place is .preflights/artifacts/.sessions" in done.err) == (1, True)
    shop.decided()
    committed(shop)
    (record,) = (shop.folder / "docs" / "decisions" / ".sessions").glob("*.jsonl")
    (clone.folder / SESSIONS / record.name).write_bytes(record.read_bytes())
    assert "its place is docs/decisions/.sessions" in clone.call("sync").err


# 3. Forged -----------------------------------------------------------------------------------


def test_a_session_that_is_missing_or_does_not_verify_satisfies_no_pass(
    clone: Project, plan: Any
) -> None:
    file = session_file(clone, plan)
    file.write_text(file.read_text().replace("Billing", "Admins"))
    assert in_force_of(clone) == []
    assert strays(clone) == [plan_file(clone, plan).name]
    session_file(clone, plan).unlink()
    assert in_force_of(clone) == []
    assert strays(clone) == [plan_file(clone, plan).name]
    done = clone.call("plan", "architecture", "--provider", "mock")
    assert done.code == 1
    assert "needs an approved ProjectPlan" in done.err


# 4. Killed -----------------------------------------------------------------------------------


@pytest.mark.slow("kills")
def test_a_kill_between_approval_file_session_and_log_loses_nothing(shop: Project) -> None:
    root = str(Path(__file__).parents[2])
    env = {"PYTHONPATH": f"{root}{os.pathsep}{root}/cli"}
    for n in range(1, 80):
        session_id = planned(shop)["session_id"]
        kill = ("python", "-m", "tests.cli.killing", str(n))
        done = shop.run("accept", session_id, "--by", "Ada", program=kill, env=env)
        assert shop.call("sessions").code == 0  # finishes what is open
        listed = shop.call("sessions", "--json", "--all", "--workflow", "compiler").json["sessions"]
        filed = [one for one in listed if one["status"] in ("accepted", "superseded")]
        assert sum(one["status"] == "accepted" for one in filed) == bool(filed)
        for one in filed if done.code == 0 else filed[:2]:  # this one, and what it supersedes
            id_ = one["session_id"]
            assert shop.call("admin", "render", id_, "--check").code == 0
            exported = shop.call("admin", "export", id_).out
            assert session_file(shop, one).read_text() == exported
        lie = [path for path in (shop.folder / PLANS).glob("*") if path.name != ".sessions"]
        assert len(lie) == len(filed)
        if done.code == 0:
            break
    assert done.code == 0


# 5. Exported and erased ----------------------------------------------------------------------


def test_a_session_of_another_log_owes_no_file_here(shop: Project, plan: Any) -> None:
    plan_file(shop, plan).unlink()
    db = ("--db", "other.db")
    assert shop.call("admin", "export", "--all", "-o", "all.jsonl").code == 0
    assert shop.call("admin", "import", "all.jsonl", *db).code == 0
    shown = shop.call("show", plan["session_id"], "--json", *db).json
    assert {**shown, "project": ""} == {
        **shop.call("show", plan["session_id"], "--json").json,
        "project": "",
    }
    assert shop.call("audit", "verify", "--all", *db).code == 0
    assert not plan_file(shop, plan).exists()


def test_an_erased_session_that_a_pass_read_is_listed_as_quoted(shop: Project, plan: Any) -> None:
    reader = accepted(shop, "architecture")
    done = shop.call("admin", "erase", plan["session_id"], "--yes", "--json")
    file = plan_file(shop, plan).relative_to(shop.folder).as_posix()
    assert done.json["sessions"][0]["documents"] == [file]
    (quote,) = done.json["quotes"]
    assert (quote["session_id"], quote["how"]) == (reader["session_id"], "known")
    assert quote["documents"] == [plan_file(shop, reader).relative_to(shop.folder).as_posix()]
    assert "Billing" not in session_file(shop, plan).read_text()
    assert strays(shop) == [plan_file(shop, plan).name]
    assert in_force_of(shop) == [reader["artifact"]["id"]]


def test_an_erased_decision_that_a_pass_read_is_listed_as_quoted(shop: Project) -> None:
    decision = shop.decided()["session_id"]
    reader = accepted(shop)
    file = plan_file(shop, reader)
    done = shop.call("admin", "erase", decision, "--dry-run", "--json")
    assert [(quote["session_id"], quote["how"]) for quote in done.json["quotes"]] == [
        (reader["session_id"], "known")
    ]
    assert done.json["quotes"][0]["documents"] == [], "the file names no decision"
    file.write_text(file.read_text() + f"\nsee {decision[-12:]}\n")
    done = shop.call("admin", "erase", decision, "--yes")
    name = file.relative_to(shop.folder).as_posix()
    assert f"Edit yourself, since they name it: {name}.\n" in done.out


def test_a_reason_repeats_no_document_and_may_name_the_pass(shop: Project, plan: Any) -> None:
    accepted(shop, "architecture")
    words = ("admin", "erase", shop.newest(), "--dry-run", "--reason")
    assert shop.call(*words, "The approved project is over, see ProjectPlan").code == 0
    erasing = ("admin", "erase", plan["session_id"], "--dry-run", "--reason")
    done = shop.call(*erasing, "they said: a customer pays an invoice")
    assert (done.code, "the reason repeats a text" in done.err) == (1, True)


def test_a_session_that_only_a_file_has_is_erased_there(clone: Project, plan: Any) -> None:
    done = clone.call("admin", "erase", plan["session_id"], "--yes")
    assert done.code == 0, done.err
    assert f"{SESSIONS}/{plan['session_id'][-12:]}.jsonl erased: commit this" in done.err
    assert "Billing" not in session_file(clone, plan).read_text()
    assert in_force_of(clone) == []


def test_the_text_goes_from_a_copy_in_another_folder_of_sessions(shop: Project, plan: Any) -> None:
    file = session_file(shop, plan)
    copy = shop.folder / "docs" / "decisions" / ".sessions" / file.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(file.read_bytes())
    assert shop.call("admin", "erase", plan["session_id"], "--yes").code == 0
    assert "Billing" not in copy.read_text() + file.read_text()
