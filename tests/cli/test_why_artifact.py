"""`why` of an artifact: what its pass read, the response, and who decided on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import preflights_es
from tests.cli.clones import cloned, committed
from tests.cli.compiler.planning import accepted, asked, documented, plan_file, planned, requested
from tests.cli.program import Project
from tests.features.compiler.cases import PAYLOADS
from tests.providers.server import FakeAPI


@pytest.fixture
def shop(house: Project) -> Project:
    return documented(house)


def why(project: Project, what: str) -> Any:
    """The one artifact that is meant, as JSON."""
    done = project.call("why", what, "--json")
    assert done.code == 0, done.err
    assert done.json["values"] == []
    (artifact,) = done.json["artifacts"]
    return artifact


def test_why_tells_documents_response_and_approver_here_in_a_program_and_in_a_clone(
    shop: Project, tmp_path: Path
) -> None:
    plan = accepted(shop)
    files = why(shop, plan["artifact"]["id"])["files"]
    assert {file["path"]: file["sha256"] for file in files} == {
        file["path"]: file["sha256"] for file in plan["documents"]
    }
    assert ".preflights/glossary.md, SHA-256 " in shop.call("why", shop.newest()).out
    found = why(shop, plan["artifact"]["id"])
    assert found["response"]["provider"] == "mock"
    assert found["response"]["prompts"] == ["base.v1", "project_planner.v1", "project_plan.v1"]
    assert '"domains"' in found["response"]["text"]
    (change,) = found["standings"]
    assert (change["standing"], change["by"]) == ("approved", {"kind": "user", "name": "Ada"})
    assert change["relayed_by"]["kind"] == "script"
    assert found["path"] == plan_file(shop, plan).relative_to(shop.folder).as_posix()
    assert "  approved   by Ada, " in shop.call("why", shop.newest()).out
    id_ = plan["artifact"]["id"]
    assert why(shop, id_[:8])["id"] == why(shop, id_.upper())["id"] == id_
    done = shop.call("why", "0000")
    assert (done.code, "'0000' is no session" in done.err) == (1, True)
    done = shop.call("why", plan["session_id"], "Type")
    assert done.code == 1
    with shop._surroundings({}), preflights_es.open(shop.folder) as log:
        (found,) = log.why_artifact(plan["artifact"]["id"])
        assert (found.id, found.standing) == (plan["artifact"]["id"], "approved")
        assert log.why(plan["session_id"]) == []
    with requested(shop) as request:
        assert request.notices == []
    committed(shop)
    clone = cloned(shop, tmp_path / "clone")
    id_ = plan["artifact"]["id"]
    assert why(clone, id_) == why(shop, id_)
    assert "only .preflights/artifacts/.sessions/" in clone.call("why", id_).err
    assert shop.call("admin", "erase", plan["session_id"], "--yes").code == 0
    done = shop.call("why", plan["session_id"])
    assert (done.code, "erased" in done.err) == (1, True)
    done = shop.call("why", plan["artifact"]["id"])
    assert (done.code, "is no session" in done.err) == (1, True)


def test_the_artifacts_and_decisions_that_were_read_are_told_with_their_sessions(
    shop: Project,
) -> None:
    decision = shop.decided()
    project = accepted(shop)
    architecture = accepted(shop, "architecture")
    found = why(shop, architecture["artifact"]["id"])
    assert [(one["kind"], one["id"], one["source"]["session_id"]) for one in found["records"]] == [
        ("plan", project["artifact"]["id"], project["session_id"]),
        ("decision", decision["session_id"][-12:], decision["session_id"]),
    ]
    said = shop.call("why", shop.newest()).out
    assert f"  artifact   {project['artifact']['id']}, session {project['session_id'][-8:]}" in said
    assert f"  decision   {decision['session_id'][-12:]}, session " in said


def test_every_change_of_standing_and_every_field_is_told(shop: Project) -> None:
    session_id = planned(shop)["session_id"]
    shop.call("accept", session_id)
    shop.call("accept", session_id, "--by", "Ada")
    later = accepted(shop)
    found = why(shop, session_id)
    assert [change["standing"] for change in found["standings"]] == [
        *("proposed", "approved", "superseded")
    ]
    assert [change["by"]["kind"] for change in found["standings"]] == ["script", "user", "user"]
    assert found["superseded_by"] == later["artifact"]["id"]
    plan = accepted(shop, "project")
    id_, session = plan["artifact"]["id"], plan["session_id"]
    modules = plan["artifact"]["payload"]["modules"]
    for what in (id_, id_[:8], session, session[-8:]):
        (found,) = shop.call("why", what, "modules", "--json").json["artifacts"]
        assert (found["id"], found["field"], found["value"]) == (id_, "modules", modules)
    (found,) = shop.call("why", id_, "modules.0.name", "--json").json["artifacts"]
    assert found["value"] == modules[0]["name"]
    assert f"  modules    {modules[0]['name']} (domain " in shop.call("why", id_, "modules").out
    done = shop.call("why", id_[:8], "colour")
    assert (done.code, done.out) == (1, "")
    assert f"the ProjectPlan {id_[:8]} has no field 'colour': it has " in done.err


def test_an_answer_about_missing_information_is_told(shop: Project, api: FakeAPI) -> None:
    env = asked(shop, api, PAYLOADS["project"])
    session_id = shop.newest()
    done = shop.call("answer", session_id, "Billing and Orders", "--json", env=env)
    assert done.code in (0, 3), done.err
    found = shop.call("why", session_id, "--json").json["artifacts"]
    assert [one["type"] for one in found] == ["FailureReport", "ProjectPlan"]
    assert found[0]["answers"] == []
    assert [answer["values"] for answer in found[1]["answers"]] == [["Billing and Orders"]]
    assert found[0]["reason"] != ""
