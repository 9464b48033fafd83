"""`regress --live`: a model answers what the recording does not say, once that was announced."""

from __future__ import annotations

import pytest

from tests.cli.program import Project
from tests.cli.test_regress import regress
from tests.cli.test_replay_rerun import ANSWER, PATCH
from tests.providers import server
from tests.providers.server import FakeAPI

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

    api.script(server.text(ANSWER), server.text(PATCH))
    done = house.call("regress", *CHANGE, "--live", "--json", env=here)
    assert done.code == 6, done.err
    assert "asking models for 1 session: at most " in done.err
    assert "cost -" in done.err
    (case,) = done.json["cases"]
    assert (case["outcome"], case["live_calls"]) == ("same", len(api.requests) - paid)
    assert done.json["live_calls"] == case["live_calls"] > 0
    assert case["repeat"].endswith("--prompt clarify=new.md --live")

    asked = len(api.requests)
    resumed = house.call("regress", *CHANGE, "--live", "--resume", "--json", env=here)
    assert {**resumed.json, "seconds": None} == {**done.json, "seconds": None}
    assert len(api.requests) == asked, "it was kept, and no model is asked twice"

    (house.folder / "preflights.toml").write_text(PRICES)
    priced = house.call("regress", *CHANGE, "--live", env=here)
    assert "cost 0.0" in priced.err
    assert "EUR" in priced.err


def test_the_limit_of_calls_ends_it_in_order(
    house: Project, here: dict[str, str], api: FakeAPI
) -> None:
    paid = len(api.requests)
    words = ("regress", *CHANGE, "--live", "--max-calls", "1", "--json")
    done = house.call(*words, env=here)
    assert (done.code, len(api.requests)) == (6, paid + 1), done.err
    assert done.json["cases"][0]["outcome"] == "open"
    assert house.call("regress", "--max-calls", "1").code == 2


def test_the_unchanged_side_shows_the_noise_of_a_model(
    house: Project, here: dict[str, str], api: FakeAPI
) -> None:
    other = PATCH.replace("Here", "There")
    api.script(
        *(server.text(ANSWER), server.text(PATCH)),  # of the change, which is asked anew, too
        *(server.text(ANSWER), server.text(PATCH)),
        *(server.text(ANSWER), server.text(other)),  # not what was answered, so it is refused
    )
    done = house.call("regress", *CHANGE, "--live", "--repeat", "2", "--json", env=here)
    assert done.json["verdict"]["noise"] == {"runs": 2, "agreement": 0.0, "validity": 1.0}
    assert house.call("regress", "--repeat", "2").code == 1


def test_an_unchanged_side_alone_is_announced_too(
    house: Project, here: dict[str, str], api: FakeAPI
) -> None:
    api.script(*[server.text(ANSWER), server.text(PATCH)] * 2)
    same = ("--parameter", "timeout=1", "--repeat", "2", "--live")
    sent = len(api.requests)
    done = house.call("regress", *same, env=here)
    assert (len(api.requests) > sent) is ("asking models for 1 session: at most " in done.err)


def test_with_repeat_a_change_is_compared_with_the_unchanged_side_asked_anew(
    house: Project, here: dict[str, str], api: FakeAPI
) -> None:
    done = house.call("accept", "last", "--by", "Ada", env=here)
    assert done.code == 0, done.err
    other = [server.text(ANSWER), server.text(PATCH.replace("Infra", "Product"))]

    def agreement(*words: str) -> tuple[int, int, int]:
        api.script(*other * 3)
        found = house.call("regress", *CHANGE, "--live", "--json", *words, env=here).json
        (test,) = [one for one in found["verdict"]["tests"] if one["measure"] == "agreement"]
        return found["counts"]["failed"], test["worse"], test["pairs"]

    assert agreement() == (0, 0, 1)  # what it decides behind its question was recorded
    assert agreement("--repeat", "2") == (1, 0, 1)  # both sides lose it by chance


def test_a_run_without_leave_needs_no_key(house: Project, here: dict[str, str]) -> None:
    assert here
    found = regress(house, *CHANGE, code=6)
    assert found["counts"]["open"] == 1
