"""`regress --live`: a model answers what the recording does not say, once that was announced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import TIMEOUT_S, Project
from tests.cli.test_regress import regress
from tests.cli.test_replay_rerun import ANSWER, PATCH
from tests.each import each
from tests.providers import server
from tests.providers.server import FakeAPI, wait_until

PRICES = """\
[[prices]]
provider = "openai"
model = "gpt-4o"
from = 2020-01-01
input_per_million = 1000
output_per_million = 1000
currency = "EUR"
"""
CHANGE = ("--prompt", "clarify=new.md")


@pytest.fixture
def here(house: Project, api: FakeAPI) -> dict[str, str]:
    """The environment of a person whose model led one session and is asked again."""
    env = {
        "PREFLIGHTS_PROVIDER": "openai",
        "PREFLIGHTS_MODEL": "gpt-4o",
        "PREFLIGHTS_BASE_URL": api.openai,
        "PREFLIGHTS_OPENAI_API_KEY": "sk-test-0123456789",
    }
    api.script(server.text(ANSWER), server.text(PATCH))
    assert house.call("start", "Keep orders safe", "--no-input", env=env).code == 3
    assert house.call("answer", "last", "Here", env=env).code in (0, 3)
    (house.folder / "new.md").write_text("Ask one question about the intention.")
    return env


def test_calls_and_cost_are_said_before_a_model_is_asked(
    house: Project, here: dict[str, str], api: FakeAPI
) -> None:
    paid = len(api.requests)
    waiting = house.call("regress", "--json", *CHANGE, env=here)
    assert (waiting.code, len(api.requests)) == (6, paid)
    (case,) = waiting.json["cases"]
    assert (case["outcome"], case["calls_needed"] > 0) == ("open", True)

    api.script(*[server.text(ANSWER), server.text(PATCH)] * 2)
    done = house.call("regress", *CHANGE, "--live", "--json", env=here)
    assert done.code == 6, done.err
    assert "asking models for 1 session: at most " in done.err
    assert "cost unknown" in done.err
    (case,) = done.json["cases"]
    assert (case["outcome"], case["live_calls"]) == ("same", len(api.requests) - paid)
    assert done.json["live_calls"] == case["live_calls"] == 4, "two of each side"
    most = int(done.err.partition("at most ")[2].partition(" ")[0])
    assert case["calls_needed"] == 0 < case["live_calls"] <= most
    assert case["repeat"].endswith("--prompt clarify=new.md --live")

    (house.folder / "preflights.toml").write_text(PRICES)
    priced = house.call("regress", *CHANGE, "--live", env=here)
    assert "cost 0.15 EUR" in priced.err, "of both sides"


@pytest.mark.slow("kills")
@pytest.mark.parametrize("ends", ["killed", "out of calls"])
def test_what_was_paid_is_kept_until_the_run_is_done(
    house: Project, here: dict[str, str], api: FakeAPI, ends: str
) -> None:
    answers = [server.text(ANSWER), server.text(PATCH)]
    api.script(*answers)
    assert house.call("start", "Keep invoices safe", "--no-input", env=here).code == 3
    assert house.call("answer", "last", "Here", env=here).code in (0, 3)
    words = ("regress", *CHANGE, "--live", "--json")
    whole = len(api.requests) + 4  # of the first session, both sides
    api.script(*answers * 2, server.slow(server.text(ANSWER), TIMEOUT_S))
    if ends == "killed":
        process = house.started(*words, env=here)
        wait_until(lambda: len(api.requests) > whole, TIMEOUT_S)
        process.kill()
        process.communicate()
    else:
        assert house.call(*words, "--max-calls", "4", env=here).code == 6
    kept_here = (house.home / ".cache" / "preflights" / "regress").iterdir()
    (kept,) = filter(Path.is_file, kept_here)  # beside it lies what runs of calls kept
    assert kept.stat().st_mode & 0o777 == 0o600
    with kept.open("ab") as file:
        file.write(b'{"session_id":"cut o')

    api.script(*answers * 2)
    begins = len(api.requests)
    resumed = house.call(*words, "--resume", env=here)
    assert resumed.json["counts"]["same"] == 2, resumed.err
    assert len(api.requests) - begins == 4, "no model is asked twice for the first session"
    assert not kept.exists()
    api.script(*answers * 4)
    anew = house.call(*words, env=here)
    assert {**resumed.json, "seconds": None} == {**anew.json, "seconds": None}


def test_the_limit_of_calls_ends_it_in_order(
    house: Project, here: dict[str, str], api: FakeAPI
) -> None:
    paid = len(api.requests)
    words = ("regress", *CHANGE, "--live", "--max-calls", "1", "--json")
    done = house.call(*words, env=here)
    assert (done.code, len(api.requests)) == (6, paid + 1), done.err
    assert done.json["cases"][0]["outcome"] == "open"
    assert house.call("regress", "--max-calls", "1").code == 2


def agreement(found: dict[str, Any]) -> tuple[int, int, int]:
    """Sessions that failed, pairs that got worse, and all pairs."""
    (test,) = [one for one in found["verdict"]["tests"] if one["measure"] == "agreement"]
    return found["counts"]["failed"], test["worse"], test["pairs"]


def test_three_runs_of_each_side_are_announced_counted_and_show_the_noise(
    house: Project, here: dict[str, str], api: FakeAPI
) -> None:
    once = house.call("regress", *CHANGE, "--json", env=here).json["cases"][0]["calls_needed"]
    other = server.text(PATCH.replace("Here", "There"))  # not what was answered, so it is refused
    api.script(*[server.text(ANSWER), server.text(PATCH)] * 5, server.text(ANSWER), other)
    paid = len(api.requests)
    done = house.call("regress", *CHANGE, "--live", "--repeat", "3", "--json", env=here)
    assert f"at most {3 * once:,} calls in all" in done.err
    assert done.json["live_calls"] == len(api.requests) - paid <= 3 * once
    assert done.json["verdict"]["noise"] == {"runs": 3, "agreement": 0.0, "validity": 0.5}
    assert done.json["cases"][0]["repeat"].endswith("--live --repeat 3")


@each("words", [("--live", "--repeat", "2"), ("--repeat", "3"), ("--recorded",), ("--resume",)])
def test_what_says_nothing_of_both_sides_is_refused(house: Project, words: tuple[str, ...]) -> None:
    done = house.call("regress", *CHANGE[:1], "clarify=v1", *words)
    assert (done.code, done.out) == (2, "")
    assert "odd number" in done.err if "2" in words else "give --live" in done.err


@pytest.mark.parametrize("words", [("--set", "/a=1"), ("--from-model", "m"), ("--words",)])
def test_what_is_for_calls_alone_is_refused_elsewhere(
    house: Project, words: tuple[str, ...]
) -> None:
    done = house.call("regress", *CHANGE[:1], "clarify=v1", *words)
    assert (done.code, done.out) == (2, "")
    assert f"{words[0]} is for calls of other programs" in done.err


def test_live_asks_both_sides_and_recorded_says_that_chance_counts_as_loss(
    house: Project, here: dict[str, str], api: FakeAPI
) -> None:
    done = house.call("accept", "last", "--by", "Ada", env=here)
    assert done.code == 0, done.err
    other = [server.text(ANSWER), server.text(PATCH.replace("Infra", "Product"))]

    def live(*words: str) -> dict[str, Any]:
        api.script(*other * 2)
        found = house.call("regress", *CHANGE, "--live", "--json", *words, env=here).json
        assert isinstance(found, dict)
        return found

    paid = len(api.requests)
    asked = live()
    firsts = [one.body["messages"][0]["content"] for one in api.requests[paid:]]
    assert 0 < firsts.count("Ask one question about the intention.") < len(firsts)
    assert agreement(asked) == (0, 0, 1), "both sides lose it by chance"
    assert asked["live_calls"] == len(api.requests) - paid
    assert asked["verdict"]["chance_is_loss"] is False
    assert "hance" not in asked["verdict"]["why"]

    kept = live("--recorded")
    assert kept["live_calls"] < asked["live_calls"]
    assert kept["verdict"]["chance_is_loss"] is True
    assert "Chance counts as loss" in kept["verdict"]["figures"]


def test_a_run_without_leave_needs_no_key(house: Project, here: dict[str, str]) -> None:
    assert here
    found = regress(house, *CHANGE, code=6)
    assert found["counts"]["open"] == 1
