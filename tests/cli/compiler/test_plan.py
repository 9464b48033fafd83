"""`plan`: passes as people and scripts meet them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable

import pytest

from tests.cli.compiler.planning import LACKS, asked, begun, documented, planned, sessions
from tests.cli.program import Project, Result
from tests.features.compiler.cases import PAYLOADS
from tests.providers.server import FakeAPI, cut_off, text

SECRET = "sk-ant-api03-Zb9Qv1xT7LmPo3Rk5Ys8Wd2Hf4Jg6NcAeUiXyBv0MnQpRsTuVwXyZa1B"


# 1. What comes of a pass ---------------------------------------------------------------------


def test_documents_become_a_draft_and_json_says_what_was_read(house: Project) -> None:
    done = documented(house).call("plan", "project")
    assert (done.code, done.err) == (3, "")
    lines = done.out.splitlines()
    assert lines[0] == "ProjectPlan"
    assert lines[1].endswith(", ready")
    assert "draft, no model wrote it: the smallest artifact" in lines[2]
    assert '"responsibility": "No model wrote this."' in done.out
    assert lines[-1].startswith("Approve it with: preflights approve ")
    found = planned(documented(house), "project")
    assert (found["format"], found["status"], found["pass_type"]) == ("plan/1", "ready", "project")
    assert [one["path"] for one in found["documents"]] == [
        ".preflights/requirements.md",
        ".preflights/constraints.md",
        ".preflights/glossary.md",
    ]
    artifact = found["artifact"]
    assert (artifact["type"], artifact["standing"], artifact["created_by"]) == (
        *("ProjectPlan", "draft"),
        "system",
    )
    assert [one["name"] for one in artifact["payload"]["domains"]] == ["Stub"]
    assert house.call("show", house.newest(), "--json").json == found
    assert house.call("replay", house.newest()).code == 0


def test_a_script_stops_at_the_question_and_answers_it(house: Project, api: FakeAPI) -> None:
    env = asked(house, api, PAYLOADS["project"])
    found = house.show()
    assert found["questions"][0]["question"] == LACKS["details"]
    (report,) = found["reports"]
    assert report["payload"]["recovery_action"] == "human_input_required"
    answered = house.call("answer", house.newest(), "Billing", "--json", env=env)
    assert (answered.code, answered.json["status"]) == (3, "ready")
    assert answered.json["artifact"]["payload"] == PAYLOADS["project"]


def test_an_unusable_response_ends_with_a_report_and_exit_code_1(house: Project) -> None:
    failing = ("--provider", "sim", "--faults", "malformed=1")
    done = documented(house).call("plan", "project", *failing)
    assert done.code == 1
    assert "no artifact: validation error (report " in done.out
    assert (
        "The response is not used. Run the pass again: preflights plan project --model" in done.out
    )
    assert "See the response with: preflights log " in done.out
    assert house.call("resume", house.newest(), "--json").json["status"] == "stopped"
    assert house.call("show", house.newest()).code == 0


@pytest.fixture
def answered(house: Project, api: FakeAPI) -> Callable[[str], Result]:
    """A pass that is answered by a provider's server, at its only try."""

    def asked(response: str) -> Result:
        api.script(text(response))
        env = {"OPENAI_API_KEY": "sk-test-0123456789", "PREFLIGHTS_BASE_URL": api.openai}
        words = ("plan", "project", "--provider", "openai", "--model", "gpt-5.1-mini")
        return documented(house).call(*words, env=env)

    return asked


@pytest.mark.parametrize(
    ("model", "said", "sent"),
    [
        ("gpt-4o", {}, {"temperature": 0.0}),
        ("gpt-4o", {"PREFLIGHTS_TEMPERATURE": "0.7"}, {"temperature": 0.7}),
        ("gpt-4o", {"PREFLIGHTS_TOP_P": "0.3"}, {"top_p": 0.3}),
        ("gpt-6", {}, {}),
    ],
)
def test_a_pass_sends_a_temperature_of_zero_where_the_model_takes_one(
    house: Project, api: FakeAPI, model: str, said: dict[str, str], sent: dict[str, float]
) -> None:
    api.script(text("{}"))
    env = {"OPENAI_API_KEY": "sk-test-0123456789", "PREFLIGHTS_BASE_URL": api.openai, **said}
    documented(house).call("plan", "project", "--provider", "openai", "--model", model, env=env)
    named = dict(begun(house)["setup"]["lead"]["parameters"])
    body = api.requests[0].body
    for name in ("temperature", "top_p"):
        assert body.get(name) == sent.get(name)
        assert (name in named) == (name in sent)


def test_a_report_or_a_draft_of_a_model_obeys_no_escape(
    house: Project, answered: Callable[[str], Result]
) -> None:
    done = answered('{"domains": [], "modules": [], "constraints": "\\u001b[2J"}')
    assert (done.code, done.is_safe()) == (1, True)
    lines = [line.strip() for line in done.out.splitlines()]
    assert sum(line.startswith(("/domains ", "/modules ", "/constraints ")) for line in lines) == 3
    name = "Billing\x1b[2J\u202e"
    payload = {
        "domains": [{"name": name, "responsibility": "x" * 900_000}],
        "modules": [{"name": "billing", "domain": name}],
        "constraints": {"architecture": "hexagonal", "languages": ["python"]},
    }
    done = answered(json.dumps(payload))
    assert (done.code, done.is_safe(), "no model wrote it" in done.out) == (3, True, False)
    assert house.show()["artifact"]["created_by"] == "llm"
    assert len(done.out) < 5_000
    assert "... 1 line cut: preflights artifacts show " in done.out


def test_a_plan_that_fits_no_later_request_is_refused_by_its_size(
    answered: Callable[[str], Result],
) -> None:
    payload = {
        "domains": [{"name": "Billing", "responsibility": "x" * 1_000_000}],
        "modules": [{"name": "billing", "domain": "Billing"}],
        "constraints": {"architecture": "hexagonal", "languages": ["python"]},
    }
    done = answered(json.dumps(payload))
    assert done.code == 1
    assert "expected at most 1,000,000 bytes, the plan has 1,000," in done.out


def test_a_response_that_is_cut_off_names_the_limit(house: Project, api: FakeAPI) -> None:
    api.script(*[cut_off('{"domains": [')] * 3)
    env = {"OPENAI_API_KEY": "sk-test-0123456789", "PREFLIGHTS_BASE_URL": api.openai}
    words = ("plan", "project", "--provider", "openai", "--model", "gpt-5.1-mini")
    done = documented(house).call(*words, env=env)
    assert done.code == 1
    assert "cut off at `max_tokens`: raise it in the settings, then: preflights plan" in done.out


@pytest.mark.slow("whole runs")
def test_a_failed_transport_waits_until_it_is_resumed(house: Project) -> None:
    failing = ("--provider", "sim", "--faults", "timeout=1")
    done = documented(house).call("plan", "project", *failing)
    assert done.code == 5
    assert "no artifact: timeout" in done.out
    assert "preflights resume" in done.out
    resumed = house.call("resume", house.newest(), "--provider", "mock", "--json")
    assert (resumed.code, resumed.json["status"]) == (3, "ready")


def test_a_pass_begins_with_no_text_alone_and_reads_decisions_in_force(house: Project) -> None:
    done = house.call("start", "--workflow", "compiler", "Plan it")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "takes more than a text to begin" in done.err
    house.decided("Add a login", key="auth_strategy=OAuth")
    house.started_session("Add SSO")
    found = planned(documented(house), "project")
    (decision,) = begun(house)["decisions"]
    assert found["decisions"] == [decision["uid"]]
    assert "OAuth" in [one["value"] for one in decision["fields"]]
    assert len(decision["source"]["hash"]) == 64


def test_a_key_runs_a_pass_once_and_the_next_is_named_after_an_approval(house: Project) -> None:
    first = planned(documented(house), "project", "--key", "k1")
    (house.folder / ".preflights" / "glossary.md").unlink()
    assert planned(house, "project", "--key", "k1") == first
    assert len(sessions(house)) == 1
    for words in (("architecture",), ("project", "--use", "notes.md")):
        other = house.call("plan", *words, "--key", "k1")
        assert "was used for something else" in other.err
    documented(house)
    for words, following in (
        (("project",), "preflights plan architecture"),
        (("architecture",), "preflights plan scaffold"),
        (("scaffold",), "preflights plan tests"),
        (("tests",), "preflights lock tests, and preflights plan impl FILE"),
    ):
        planned(house, *words)
        assert f". Next: {following}" in house.call("approve", "last", "--by", "Ada").out
    locked = house.call("lock", "tests", "--by", "Ada").out
    assert ". Next: preflights plan impl FILE, and preflights plan refactor GOAL" in locked


# 2. What is read -----------------------------------------------------------------------------


def test_the_secrets_of_documents_are_never_recorded(house: Project) -> None:
    text = f"# Shop\n\n## Billing {SECRET}\n\nPassword: hunter2hunter2.\n"
    done = documented(house, requirements=text).call("plan", "project", "--use", "README.md")
    assert done.code == 1
    done = house.call("plan", "project")
    assert "2 secrets were taken out before recording" in done.err
    recorded = house.recorded()
    for secret in (SECRET, "hunter2hunter2"):
        assert secret.encode() not in recorded
        assert secret not in done.out


def test_the_layout_is_what_git_lists_and_runs_nothing_of_a_repository(house: Project) -> None:
    documented(house)
    ran = house.folder / "ran"
    harm = house.folder / "harm.sh"
    harm.write_text(f"#!/bin/sh\ntouch {ran}\n")
    harm.chmod(0o755)
    house.git("add", ".")
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand"):
        house.git("config", name, str(harm))
    (house.folder / "untracked.md").write_text("# Not listed\n")
    planned(house, "project")
    assert begun(house)["layout"] == ["harm.sh"], "nothing of .preflights"
    assert not ran.exists()
    folder = house.folder.parent / "plain"
    (house.folder / ".preflights").rename(house.folder.parent / "documents")
    folder.mkdir()
    (house.folder.parent / "documents").rename(folder / ".preflights")
    plain = Project(folder, house.home)
    database = ("--db", str(folder.parent / "plain.db"))
    done = plain.call("plan", "project", "--json", *database)
    assert done.code == 3
    lines = plain.call("log", done.json["session_id"], "--json", *database).out.splitlines()
    assert '"layout":[]' in lines[0]


def test_the_layout_has_no_name_that_is_no_text_and_no_secret(house: Project) -> None:
    documented(house)
    for name in (b"b\xff.md", b"new\nline.md", b" blank.md"):
        path = os.path.join(os.fsencode(house.folder), name)
        with open(path, "wb") as file:
            file.write(b"# Odd\n")
    subprocess.run(["git", "add", "."], cwd=house.folder, check=True)
    found = planned(house, "project")
    assert begun(house)["layout"][0] == " blank.md"
    assert found["left_out"] == [{"what": "layout", "count": 2}]
    (house.folder / "AKIAIOSFODNN7EXAMPLE.md").write_text("# Ada\n")
    house.git("add", ".")
    planned(house, "project")
    assert begun(house)["layout"][-1] == "[redacted:key].md"
    assert begun(house)["redacted"] == ["key"]
    assert b"AKIAIOSFODNN7EXAMPLE" not in house.recorded()
