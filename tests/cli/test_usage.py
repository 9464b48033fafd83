"""`usage`."""

from __future__ import annotations

import json
import re

import pytest

from preflights_es.settings.file import PriceTable
from tests.cli.program import Project, Result
from tests.each import each
from tests.markdown import ROOT

SIM = ("--provider", "sim", "--seed", "3")


def priced(house: Project, *entries: str) -> Result:
    """The sums, where the settings say what the simulator costs."""
    text = "".join(
        "[[prices]]\nprovider = 'sim'\nmodel = 'simllm/1'\noutput_per_million = 0\n"
        f"currency = 'EUR'\n{entry}\n"
        for entry in entries
    )
    (house.folder / "preflights.toml").write_text(text)
    return house.call("usage", "--by", "model", "--json")


def test_calls_are_summed_and_cost_what_the_dated_price_says_if_there_is_one(
    house: Project,
) -> None:
    house.call("note", "Call the dentist", *SIM)
    (one,) = house.call("usage", "--json").json["usage"]
    assert (one["provider"], one["calls"], one["costs"]) == ("sim", one["calls"], [])
    assert one["unpriced"] == one["calls"] > 0
    assert one["input_tokens"] > 0
    assert house.call("usage").out.splitlines()[2].endswith(" ?")
    assert house.call("usage", "--since", "9999-01-01").out == "No call fits the filter.\n"
    assert house.call("usage", "--until", "2020-01-01").out == "No call fits the filter.\n"
    elsewhere = {"PREFLIGHTS_PROJECT": "elsewhere"}
    none = house.call("usage", "--until", "2020-01-01", env=elsewhere)
    assert none.out == "No model was asked anything.\n"
    (free,) = priced(house).json["usage"]
    (one,) = priced(
        house,
        "from = 2020-01-01\ninput_per_million = 2.5",
        "from = 9000-01-01\ninput_per_million = 1000",
    ).json["usage"]
    (cost,) = one["costs"]
    assert cost["currency"] == "EUR"
    assert float(cost["amount"]) == pytest.approx(free["input_tokens"] * 2.5 / 1_000_000)
    assert one["unpriced"] == 0
    (unknown,) = priced(house, "from = 9000-01-01\ninput_per_million = 2.5").json["usage"]
    assert (unknown["costs"], unknown["unpriced"]) == ([], one["calls"])


def test_a_call_without_tokens_lacks_no_price(empty: Project) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    responses = [{"choices": [{"message": {"content": "b"}}], "usage": one} for one in (usage, {})]
    lines = [{"request": {"model": "m", "messages": []}, "response": one} for one in responses]
    (empty.folder / "calls.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    assert empty.call("calls", "import", "calls.jsonl").code == 0
    lacking, unpriced = "did not report their tokens", "Configure prices"
    for from_day, is_priced in (("2020", True), ("9000", False)):
        (empty.folder / "preflights.toml").write_text(
            f"[[prices]]\nprovider = 'openai'\nmodel = 'm'\nfrom = {from_day}-01-01\n"
            "input_per_million = 1\noutput_per_million = 1\ncurrency = 'EUR'\n"
        )
        told = empty.call("usage").out
        assert (lacking in told, unpriced in told) == (True, not is_priced), told


@each(
    ("entry", "found"),
    [
        ("from = 2020-01-01", "`input_per_million`"),
        ("from = 'soon'\ninput_per_million = 1", "prices.from"),
        ("from = 2020-01-01\ninput_per_million = -1", "found -1, expected a number from 0"),
        ("from = 2020-01-01\ninput_per_million = nan", "found nan"),
        ("from = 2020-01-01\ninput_per_million = 'much'", "prices.input_per_million"),
        ("from = 2020-01-01\ninput_per_million = 1\nweekday = 1", "weekday: unknown key"),
    ],
)
def test_a_price_that_is_wrong_is_named(house: Project, entry: str, found: str) -> None:
    done = priced(house, entry)
    assert (done.code, done.out) == (2, "")
    assert found in done.err
    assert done.err.startswith("preflights: preflights.toml")
    assert done.err.count("\n") == 2  # in words, and as JSON


def test_every_key_of_a_price_is_documented_and_two_of_one_day_are_refused(house: Project) -> None:
    entry = "from = 2020-01-01\ninput_per_million = 1"
    assert "entry 2: a second price" in priced(house, entry, entry).err
    (house.folder / "preflights.toml").write_text(
        (house.folder / "preflights.toml").read_text().replace("EUR", "euros")
    )
    assert "expected three capital letters" in house.call("usage").err
    names = {name.replace("since", "from") for name in PriceTable.__struct_fields__}
    page = (ROOT / "docs/configuration.md").read_text("utf-8")
    (block,) = re.findall(r"^\[\[prices\]\]\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"^(\w+) = ", block, re.MULTILINE)) == names
