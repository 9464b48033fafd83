"""Who speaks where an agent's environment is seen: no word of the agent makes it a person."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import preflights_es
from preflights_es.kernel.events import Actor
from preflights_es.settings.places import SIGNS
from tests.cli.program import Project
from tests.cli.terminal import ANSWER, terminal
from tests.each import each

AGENT = {"CLAUDECODE": "1"}
READY = ("start", "Add login", "--answer", "auth_strategy=OAuth", "--no-input")


@each(
    ("words", "env"),
    [
        ((), {}),
        (("--as", "user:Ada"), {}),
        (("--as", "Ada"), {}),
        (("--as", "script:nightly"), {}),
        ((), {"PREFLIGHTS_ACTOR": "user:Ada"}),
        ((), {"CI": "true"}),
    ],
)
def test_an_agent_proposes_whatever_it_says(
    house: Project, words: tuple[str, ...], env: dict[str, str]
) -> None:
    done = house.call(*READY, "--accept", "--json", *words, env={**AGENT, **env})
    assert (done.code, done.json["status"]) == (0, "proposed")
    assert [one["by"] for one in done.json["provenance"] if one["source"] == "chosen"] == ["agent"]
    assert done.json["acknowledged_by"] == {"kind": "agent", "name": "claude-code"}


def test_an_agent_says_its_name_and_is_told_what_to_do_in_place_of_by(house: Project) -> None:
    house.call(*READY, env=AGENT)
    done = house.call("accept", "last", "--by", "Ada", "--as", "user:Ada", env=AGENT)
    assert done.code == 1
    said = "an agent (claude-code; CLAUDECODE is set) cannot accept for 'Ada': a person accepts"
    assert said in done.err
    assert "`preflights accept" in done.err
    assert "in a terminal of their own; without --by it is proposed" in done.err
    done = house.call(*READY, "--accept", "--json", "-v", "--as", "agent:claude 2.1", env=AGENT)
    assert done.json["acknowledged_by"] == {"kind": "agent", "name": "claude 2.1"}
    assert "acting as the agent claude 2.1" in done.err
    (house.folder / "preflights.toml").write_text('actor = "user:Eve"\n')
    assert house.call("show", env=AGENT).code == 2


@each("sign", SIGNS)
def test_each_sign_of_an_agent_is_seen(house: Project, sign: tuple[str, str]) -> None:
    name, _, value = sign[1].partition("=")
    done = house.call(*READY, "--accept", "--json", env={name: value or "1"})
    assert (done.code, done.json["status"]) == (0, "proposed")
    assert done.json["acknowledged_by"]["kind"] == "agent"


@pytest.mark.parametrize("sign", SIGNS[::10], ids=lambda sign: sign[1])
def test_no_terminal_of_an_agent_makes_a_person_of_it(
    house: Project, sign: tuple[str, str]
) -> None:
    name, _, value = sign[1].partition("=")
    session = house.call(*READY, "--json").json["session_id"]
    with terminal(house, "accept", session, env={name: value or "1"}) as t:
        said = " ".join(t.rest().split())
    assert f"{name} is set: an agent (" in said
    assert "only proposed: accept it in a terminal of your own, with `preflights accept" in said
    found = house.call("show", session, "--json").json
    assert (found["status"], found["acknowledged_by"]["kind"]) == ("proposed", "agent")
    with terminal(house, "accept", session) as t:
        assert t.code() == 0
    assert house.call("show", session, "--json").json["acknowledged_by"]["kind"] == "user"


@each(
    ("words", "env"),
    [
        (("--as", "user:Ada"), {}),
        ((), {"PREFLIGHTS_ACTOR": "user:Ada"}),
        (("--as", "script:nightly"), {"CI": ""}),
        ((), {"CLAUDECODE": "", "PREFLIGHTS_ACTOR": "agent:claude-code"}),
    ],
)
def test_no_word_helps_an_agent_at_a_terminal(
    house: Project, words: tuple[str, ...], env: dict[str, str]
) -> None:
    session = house.call(*READY, "--json").json["session_id"]
    with terminal(house, "accept", session, *words, env={**AGENT, **env}) as t:
        assert t.code() == 0
    found = house.call("show", session, "--json").json
    assert found["acknowledged_by"] == {"kind": "agent", "name": "claude-code"}


def test_an_agent_answers_at_its_terminal_and_its_key_only_proposes(house: Project) -> None:
    with terminal(house, "start", "Add login", env=AGENT) as t:
        t.expect(ANSWER)
        t.type("1")
        t.proposal()
        t.press("a")
        assert "A person confirms it at a terminal with: preflights accept" in t.rest()
        assert t.code() == 0
    found = house.call("show", "last", "--json").json
    assert found["status"] == "proposed"
    assert {one["by"] for one in found["provenance"] if one["source"] == "chosen"} == {"agent"}


def test_an_agent_confirms_nothing_of_the_inbox(house: Project) -> None:
    house.call(*READY, "--accept", env=AGENT)
    with terminal(house, "inbox", env=AGENT) as t:
        assert "Confirm" not in t.rest()
    with terminal(house, "inbox", "--all", env=AGENT) as t:
        assert "cannot confirm a proposal, only a person can" in " ".join(t.rest().split())
        assert t.code() == 1
    assert house.call("inbox", "--all", "--by", "Ada", env=AGENT).code == 1
    assert house.call("show", "last", "--json").json["status"] == "proposed"


def test_an_agent_erases_nothing_of_a_person_and_its_programs_are_its_own(
    house: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = house.call(*READY, "--accept", "--by", "Ada", "--json").json["session_id"]
    own = house.call("start", "Store invoices", "--json").json["session_id"]
    done = house.call("admin", "erase", kept, "--yes", env=AGENT)
    assert done.code == 1
    assert "an agent (claude-code; CLAUDECODE is set) cannot erase session" in done.err
    assert "which a person accepted" in done.err
    assert house.call("admin", "erase", own, "--yes", env=AGENT).code == 0
    assert house.call("show", kept, "--json").json["status"] == "accepted"
    assert house.call("show", own, "--json").json["status"] == "erased"
    assert house.call("admin", "erase", kept, "--yes").code == 0
    monkeypatch.setenv("CODEX_CI", "1")
    with preflights_es.open(house.folder) as log:
        assert log.request(actor="Ada", kind="user").actor == Actor("agent", "codex")
        assert log.request(actor="codex 0.169", kind="agent").actor.name == "codex 0.169"


def test_the_page_lists_the_variables_that_count() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    begins = rows.index(["agent", "variable", "version", "how"]) + 2
    listed = rows[
        begins : next(n for n, row in enumerate(rows) if row[:2] == ["any", "`AI_AGENT`"])
    ]
    assert [row[:2] for row in listed] == [[agent, f"`{name}`"] for agent, name in SIGNS]
    said = re.compile(r"we ran it|\[(?:read|reported)\]\(https://\S+\)")
    assert all(version and said.fullmatch(how) for _, _, version, how in listed)


# What was seen --------------------------------------------------------------------------------


def test_each_acceptance_says_what_was_seen_of_who_was_at_work(house: Project) -> None:
    one = house.call(*READY, "--accept", "--by", "Ada", "--json").json
    assert one["evidence"] == {"variables": [], "terminal": False, "client": ""}
    invoices = ("start", "Store invoices in a database", "--answer", "db_type=PostgreSQL", "--json")
    two = house.call(*invoices).json["session_id"]
    env = {"CODEX_CI": "1", "CODEX_THREAD_ID": "019d-of-the-agent"}
    with terminal(house, "accept", two, env=env) as t:
        assert t.code() == 0
    seen = {"variables": ["CODEX_CI", "CODEX_THREAD_ID"], "terminal": True, "client": ""}
    assert house.call("show", two, "--json").json["evidence"] == seen
    words = "CODEX_CI, CODEX_THREAD_ID, a terminal"
    assert f"seen: {words}" in house.call("why", two).out
    told = f"evidence {words}".replace(" ", "")
    for command in (("log", two), ("audit", "trail", "--session", two)):
        assert told in "".join(house.call(*command).out.split())
    assert "019d-of-the-agent" not in house.call("log", two, "--json").out, "never a value"
    with terminal(house, "accept", two) as t:
        assert t.code() == 0
    (value,) = (v for v in house.call("why", two, "--json").json["values"] if v["field"] == "Type")
    assert value["acknowledged"]["evidence"] == {"variables": [], "terminal": True, "client": ""}
    assert "seen: a terminal" in house.call("why", two).out


def test_a_key_is_about_what_was_said_and_not_about_what_was_seen(house: Project) -> None:
    session = house.call(*READY, "--json").json["session_id"]
    words = ("accept", session, "--key", "once", "--as", "agent:codex")
    first = house.call(*words, "--json").json
    again = house.call(*words, "--json", env={"CODEX_CI": "1"})
    assert (again.code, again.json["version"]) == (0, first["version"])
    assert again.json["evidence"]["variables"] == []
