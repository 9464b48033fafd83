"""The program itself, stopped or killed while it asks, and resumed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from preflights_es.providers.capabilities import DEFAULT_MODELS
from tests.cli.program import TIMEOUT_S, Project
from tests.persons import git_repository
from tests.providers import server
from tests.providers.server import FakeAPI, wait_until
from tests.scripted import asks

FOREVER_S = 60  # seconds that a call takes whose caller is gone
MODEL = DEFAULT_MODELS["openai"]
START_S = 30.0  # seconds until a program asks, on a machine that is busy


@pytest.fixture
def api() -> Iterator[FakeAPI]:
    with FakeAPI() as made:
        yield made


@pytest.fixture
def house(tmp_path: Path) -> Project:
    made = Project(tmp_path / "house", tmp_path)
    git_repository(made.folder)
    return made


def surroundings(api: FakeAPI) -> dict[str, str]:
    return {"PREFLIGHTS_PROVIDER": "openai", "PREFLIGHTS_BASE_URL": api.openai}


def asking(house: Project, api: FakeAPI) -> subprocess.Popen[bytes]:
    """The program, while it waits for a response that does not come."""
    api.script(server.slow(server.text(), FOREVER_S), server.text("I'd rather not."))
    process = house.started("start", "Add login", env=surroundings(api))
    wait_until(lambda: len(api.requests) == 1, START_S)
    return process


FRAMED = json.dumps(asks("Authentication", "Which way in?", "OAuth", "Passkeys"))


@pytest.mark.slow("whole runs")
def test_what_is_said_while_another_process_asks_is_recorded_and_no_failure(
    house: Project, api: FakeAPI
) -> None:
    api.script(server.text(FRAMED))
    env = surroundings(api)
    begun = house.call("start", "Add login", "--json", env=env)
    id_ = begun.json["session_id"][-8:]
    api.script(server.slow(server.text(), FOREVER_S))
    asked = len(api.requests)
    process = house.started("answer", id_, "OAuth", env=env)
    wait_until(lambda: len(api.requests) > asked, START_S)
    before = len(house.events(id_))
    done = house.call("answer", id_, "auth_library=Authlib", "--json", env=env)
    plain = house.call("revise", id_, "auth_strategy=Magic Link", env=env)
    process.kill()
    process.communicate(timeout=TIMEOUT_S)
    assert (done.code, done.json["status"], done.json["refused"]) == (0, "waiting", []), done
    assert (plain.code, plain.out) == (0, f"Recorded in {id_}.\n")
    assert re.fullmatch(
        rf"warning: another process is asking the provider \(openai {MODEL}\) and holds the call "
        rf"until \d\d:\d\d:\d\d UTC: see the result with `preflights show {id_}`\n",
        plain.err,
    )
    assert len(api.requests) == asked + 1
    names = [event["type"] for event in house.events(id_)[before:]]
    assert names.count("clarification.answer_accepted.v1") == 2
    assert house.call("replay", id_).code == 0


def failures(house: Project) -> list[Any]:
    """The kinds of failures that are recorded."""
    events = house.events()
    return [e["data"]["kind"] for e in events if e["type"] == "completion.failed.v1"]


@pytest.mark.slow("kills")
def test_a_call_that_control_c_stops_counts_and_the_next_command_makes_the_second(
    house: Project, api: FakeAPI
) -> None:
    process = asking(house, api)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=TIMEOUT_S)
    saved = f"Saved. Go on with: preflights resume {house.show()['session_id'][-8:]}"
    assert (process.returncode, err.decode().strip()) == (130, saved)
    assert failures(house) == []
    resumed = house.call("resume", "last", env=surroundings(api))
    assert "Traceback" not in resumed.err
    assert (len(api.requests), api.most_at_once) == (2, 1)
    assert failures(house) == ["lost"]
    # The second answered with no JSON, and the rules went on.
    assert house.show()["status"] == "needs_answers"
    assert house.call("replay", "last").code == 0


@pytest.mark.slow("kills")
def test_a_call_whose_program_was_killed_is_not_made_again_while_it_may_be_answered(
    house: Project, api: FakeAPI
) -> None:
    process = asking(house, api)
    process.kill()
    process.communicate(timeout=TIMEOUT_S)
    resumed = house.call("resume", "last", env=surroundings(api))
    assert resumed.code == 1
    assert "another process is asking the provider" in resumed.err
    assert f"`preflights show {house.show()['session_id'][-8:]}`" in resumed.err
    assert len(api.requests) == 1
    assert house.show()["status"] == "waiting"


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("lacking", ["jiter", "httpcore2"])
def test_nothing_is_recorded_where_the_package_of_a_provider_lacks_one_of_its_own(
    house: Project, api: FakeAPI, tmp_path: Path, lacking: str
) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    error = f"No module named {lacking!r}"
    (hidden / f"{lacking}.py").write_text(f"raise ModuleNotFoundError({error!r})\n")
    env = {**surroundings(api), "PYTHONPATH": str(hidden)}
    done = house.run("start", "Add login", env=env)
    assert (done.code, done.out) == (5, "")
    assert done.err == (
        "preflights: the provider openai needs the package 'openai', which cannot be imported "
        f"(ModuleNotFoundError: {error}): `pip install --upgrade openai`\n"
    )
    assert house.call("sessions", "--json").json["sessions"] == []
    # Nor is an answer that the model would hear.
    api.script(server.text(FRAMED))
    begun = house.call("start", "Add login", "--json", env=surroundings(api)).json
    assert house.run("answer", "last", "OAuth", env=env).code == 5
    assert house.show()["version"] == begun["version"]
    assert house.run("accept", "last", env=env).code == 1  # it asks no provider: refused for itself
