"""Router, bank and injector of seed 1: alone, and together the simulator."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es import FaultConfig, FaultInjector, PromptRouter, ResponseBank, SimLLMProvider
from preflights_es.kernel.errors import LLMAPIError, LLMError, LLMRateLimitError
from preflights_es.kernel.simulation import Draws, Route
from preflights_es.providers.base import LLMProvider
from tests.providers.driving import driven, run

ENTITIES = "Extract entities from: I met Alice at Acme Corp"
PROMPTS = st.sampled_from(
    (ENTITIES, "Rewrite query: tea", "Detect evolution", "Categorize: tea", "hello")
)
FAULTS = FaultConfig(llm_timeout=0.2, llm_error=0.2, llm_malformed=0.2, llm_rate_limit=0.2)


@pytest.mark.parametrize(
    ("prompt", "route"),
    [
        ("extract entities", "extract_entities"),
        ("rewrite query", "rewrite_query"),
        ("detect evolution", "detect_evolution"),
        ("categorize", "categorize"),
        ("any prompt", "generic"),
    ],
)
def test_a_prompt_goes_where_the_table_of_the_seed_says(prompt: str, route: str) -> None:
    assert PromptRouter().classify(f"Please {prompt.upper()} now") == route


def test_the_same_seed_and_prompt_give_the_same_response() -> None:
    first = ResponseBank(seed=42).generate("extract_entities", ENTITIES)
    assert first == ResponseBank(seed=42).generate("extract_entities", ENTITIES)
    assert {"Alice", "Acme Corp"} <= {one["name"] for one in json.loads(first)["entities"]}
    assert ResponseBank(42).generate("generic", ENTITIES).startswith("SimResponse[")
    with pytest.raises(ValueError, match="no route 'poetry'"):
        ResponseBank(42).generate("poetry", ENTITIES)
    with pytest.raises(ValueError, match="the prompt is empty"):
        ResponseBank(42).generate("generic", "")


def test_a_certain_timeout_is_a_timeout_error() -> None:
    injector = FaultInjector(seed=42, faults=FaultConfig(llm_timeout=1.0))
    assert injector.drawn("any prompt") == "timeout"
    with pytest.raises(TimeoutError):
        run(injector.inject("any prompt", "ok"))


def test_each_fault_is_what_the_configuration_says() -> None:
    for kind, error in (("llm_error", LLMAPIError), ("llm_rate_limit", LLMRateLimitError)):
        with pytest.raises(error):
            run(FaultInjector(1, FaultConfig(**{kind: 1.0})).inject("p", "ok"))
    broken = run(FaultInjector(1, FaultConfig(llm_malformed=1.0)).inject("p", '{"a": 1}'))
    with pytest.raises(ValueError, match=r"."):
        json.loads(broken)
    assert run(FaultInjector(1).inject("p", "ok")) == "ok"
    assert FaultInjector(1).drawn("p") is None


def test_a_workflow_brings_routes_of_its_own() -> None:
    def poem(draws: Draws, _: object) -> str:
        return f"roses are {draws.pick(('red', 'blue'))}"

    bank = {"poetry": Route(poem, ("a poem",))}
    assert PromptRouter(bank).classify("Write a poem") == "poetry"
    assert ResponseBank(1, bank).generate("poetry", "Write a poem").startswith("roses are ")


async def _asked(asked: LLMProvider, prompt: str) -> str:
    try:
        return await asked.complete(prompt)
    except LLMError as error:
        return f"{type(error).__name__}: {error}"


async def _put_together(seed: int, prompt: str) -> str:
    response = ResponseBank(seed).generate(PromptRouter().classify(prompt), prompt)
    try:
        return await FaultInjector(seed, FAULTS).inject(prompt, response)
    except LLMError as error:
        return f"{type(error).__name__}: {error}"


@given(st.integers(), PROMPTS)
def test_together_they_are_the_simulator(seed: int, prompt: str) -> None:
    simulator = SimLLMProvider(seed, FAULTS)
    assert driven(_asked(simulator, prompt)) == driven(_put_together(seed, prompt))
