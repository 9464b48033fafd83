"""Who speaks where an agent's environment is seen: no word of the agent makes it a person."""

from __future__ import annotations

import pytest

from tests.cli.program import Project
from tests.cli.terminal import terminal

AGENT = {"CLAUDECODE": "1"}
READY = ("start", "Add login", "--answer", "auth_strategy=OAuth", "--no-input")


@pytest.mark.parametrize(
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


def test_an_agent_is_told_what_to_do_in_place_of_by(house: Project) -> None:
    house.call(*READY, env=AGENT)
    done = house.call("accept", "last", "--by", "Ada", "--as", "user:Ada", env=AGENT)
    assert done.code == 1
    assert "an agent (claude-code) cannot accept for 'Ada': a person accepts" in done.err
    assert "`preflights accept" in done.err
    assert "at a terminal; without --by it is proposed" in done.err


def test_an_agent_may_say_its_name(house: Project) -> None:
    done = house.call(*READY, "--accept", "--json", "-v", "--as", "agent:claude 2.1", env=AGENT)
    assert done.json["acknowledged_by"] == {"kind": "agent", "name": "claude 2.1"}
    assert "acting as the agent claude 2.1" in done.err


def test_a_person_at_the_agents_terminal_is_a_person(house: Project) -> None:
    session = house.call(*READY, "--json", env=AGENT).json["session_id"]
    with terminal(house, "accept", session, env=AGENT) as t:
        assert t.code() == 0
    assert house.call("show", session, "--json").json["status"] == "accepted"


def test_an_agent_trusts_no_file(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('actor = "Eve"\n')
    done = house.call("trust", env=AGENT)
    assert done.code == 1
    assert "only a person at a terminal can trust it" in done.err


def test_a_file_of_the_repository_says_not_who_acts(house: Project) -> None:
    (house.folder / "preflights.toml").write_text('actor = "user:Eve"\n')
    assert house.call("show", env=AGENT).code == 2
