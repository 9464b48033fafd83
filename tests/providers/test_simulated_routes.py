"""Which generator a prompt goes to."""

from __future__ import annotations

from typing import Any

import pytest

from preflights_es.kernel.completions import prompt
from preflights_es.providers.simulator import CACHED_MAX, SimLLMProvider, unversioned
from preflights_es.providers.simulator_bank import FIVE
from preflights_es.runtime.features import FEATURES, WORKFLOWS
from preflights_es.use.leads import bank
from preflights_es.words.simulation import Bank, Draws, Route
from tests.each import each
from tests.filed_cases import filed_cases
from tests.markdown import tables
from tests.providers.driving import Said, driven, request

FILED = filed_cases(__file__)


def route_of(*said: Said, bank: Bank | None = None, **fields: Any) -> str:
    return SimLLMProvider(1, bank=bank).route(request(*said, **fields))


# 1. The table of seed 1 ----------------------------------------------------------------------

INSTRUCTIONS = FILED["INSTRUCTIONS"]


@each(("prompt", "route"), INSTRUCTIONS)
def test_an_instruction_names_its_route(prompt: str, route: str) -> None:
    assert route_of(prompt) == route
    assert route_of(("system", prompt), "hello") == route
    assert route_of(f"{prompt}\nsome data") == route


def test_the_table_of_the_docs_is_the_table() -> None:
    rows = tables("docs/simulator.md")["Which prompt goes where"]
    assert [row["route"].strip("`") for row in rows] == list(FIVE)
    for row in rows[:-1]:
        route = row["route"].strip("`")
        assert FIVE[route].phrases == (row["phrase"],)
        assert route_of(row["phrase"]) == route_of(row["keywords"]) == route
        first, _, second = row["keywords"].partition(", ")
        assert route_of(f"{second} and {first}") == route
        if second:
            assert route_of(first) == route_of(second) == "generic"


@each("prompt", FILED["only_whole_words_count"])
def test_only_whole_words_count(prompt: str) -> None:
    assert route_of(prompt) == "generic"


def test_the_instruction_goes_before_the_data() -> None:
    assert route_of("Categorize this\nextract entities, rewrite query") == "categorize"
    assert route_of(("system", "Categorize"), "Extract entities from this") == "categorize"
    assert route_of("extract entities", ("system", "Detect evolution")) == "detect_evolution"
    assert route_of("\n\n  Rewrite query\nextract entities") == "rewrite_query"


def test_the_data_is_asked_where_the_instruction_is_silent() -> None:
    assert route_of("You are a memory.\nExtract entities from: x") == "extract_entities"
    assert route_of(("system", "You are a memory."), "Rewrite this query") == "rewrite_query"


def test_what_the_model_said_is_neither() -> None:
    assert route_of("hello", ("assistant", "categorize?"), "yes") == "generic"


def test_the_first_of_the_table_wins() -> None:
    assert route_of("categorize, detect evolution, rewrite query") == "rewrite_query"
    assert route_of("categorize and detect evolution") == "detect_evolution"
    assert route_of("rewrite query, then extract entities") == "extract_entities"


def test_long_instructions_are_read_though_not_remembered() -> None:
    assert route_of("x " * CACHED_MAX + "categorize") == "categorize"
    provider = SimLLMProvider(1)
    for i in range(2_000):  # more than are remembered
        assert provider.route(request(f"Categorize number {i}")) == "categorize"


# 2. Named routes -----------------------------------------------------------------------------


def test_a_caller_may_name_the_route() -> None:
    named = request("extract entities", parameters=(("route", "categorize"),))
    assert SimLLMProvider(1).route(named) == "categorize"
    provider = SimLLMProvider(1)
    assert driven(provider.complete("hello", route="rewrite_query")).startswith("[")
    assert driven(provider.complete("extract entities", route="generic")).startswith("SimResponse[")
    assert "type" in driven(provider.complete_json("hello", dict, route="detect_evolution"))


def test_a_route_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no route 'tea': expected one of extract_entities"):
        driven(SimLLMProvider(1).complete("hello", route="tea"))


def answer(_draws: Draws, _request: object) -> str:
    return "{}"


BANK: Bank = {
    "clarify": Route(answer, ("clarify an intention",)),
    "decide.v7": Route(answer, keywords=("decide|decision", "patch|patches")),
    "tasks": Route(answer, ("extract entities and tasks",)),
}


@each(
    ("fields", "route"),
    [
        ({"contract": "clarify.v1"}, "clarify"),
        ({"contract": "clarify.v12"}, "clarify"),
        ({"contract": "clarify"}, "clarify"),
        ({"contract": "decide.v7"}, "decide.v7"),
        ({"contract": "decide.v1"}, "categorize"),
        ({"contract": "unknown.v1"}, "categorize"),
        ({"prompts": (("clarify.v1", "ab" * 32),)}, "clarify"),
        ({"contract": "decide.v7", "prompts": (("clarify.v1", "ab" * 32),)}, "decide.v7"),
        ({"contract": "clarify.v1", "parameters": (("route", "tasks"),)}, "tasks"),
        ({"parameters": (("temperature", "0"),)}, "categorize"),
        ({}, "categorize"),
    ],
)
def test_a_contract_or_prompt_file_names_the_route(fields: dict[str, Any], route: str) -> None:
    assert route_of("Categorize this", bank=BANK, **fields) == route


def test_a_bank_is_asked_before_the_table_of_seed_1() -> None:
    assert route_of("Extract entities and tasks", bank=BANK) == "tasks"
    assert route_of("Extract the entities", bank=BANK) == "extract_entities"
    assert route_of("Which patch was decided?", bank=BANK) == "decide.v7"
    assert route_of("Clarify  an\tintention", bank=BANK) == "clarify"


def test_a_bank_may_replace_a_route_of_seed_1() -> None:
    bank = {"categorize": Route(lambda _draws, _request: "own", ("categorize",))}
    assert driven(SimLLMProvider(1, bank=bank).complete("Categorize this")) == "own"


@each(
    ("name", "bare"),
    [
        ("clarify.v1", "clarify"),
        ("a.b.v10", "a.b"),
        ("clarify", "clarify"),
        ("clarify.vx", "clarify.vx"),
        ("", ""),
        (".v1", ""),
    ],
)
def test_a_name_without_its_version(name: str, bare: str) -> None:
    assert unversioned(name) == bare


# 3. The prompts of the workflows -------------------------------------------------------------

PROMPTS = [(name, id_) for name, workflow in WORKFLOWS.items() for _, id_ in workflow.led.prompts]


@each(("name", "id_"), PROMPTS)
def test_every_prompt_of_every_workflow_goes_to_its_own_route(name: str, id_: str) -> None:
    text = prompt(f"preflights_es.features.{name}", id_).text
    said = "Extract entities, rewrite this query, categorize, clarify, decide and extract items."
    route = {"extract": "extraction", "ask": "metrics"}.get(unversioned(id_), unversioned(id_))
    assert route_of(("system", text), said, bank=bank()) == route
    assert route_of(text, bank=bank()) == route


def test_no_two_workflows_have_one_route() -> None:
    routes = [r for one in FEATURES.values() if one.bank for r in one.loaded(one.bank)]
    assert sorted(routes) == sorted(bank())
