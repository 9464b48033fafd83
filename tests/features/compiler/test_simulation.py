"""The simulator varies around the reference, and at times fails as a model does."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

from preflights_es.features.compiler.domain.events import PASSES, PassName, PlanType
from preflights_es.features.compiler.domain.rules import CONTRACTS
from preflights_es.features.compiler.domain.simulation import BANK
from preflights_es.kernel.completions import Accepted, CompletionRequested, Message, Rejected
from preflights_es.words.simulation import Draws
from tests.each import each
from tests.features.compiler.chain import by_rules, by_seed, chained, sampled, verdict

NAMES = tuple(PASSES)
SEEDS = range(100)
PLANS: dict[PlanType, dict[str, Any]] = chained(by_rules)


@cache
def drawn(name: PassName) -> list[tuple[str, Accepted | Rejected]]:
    """Pairs of a response and its verdict, one a seed."""
    first = sampled(name, PLANS)
    texts = [by_seed(first, seed) for seed in SEEDS]
    return [(text, verdict(first, text)) for text in texts]


@each("name", NAMES)
def test_its_responses_break_only_final_checks_and_differ_by_seed_alone(name: PassName) -> None:
    kinds = Counter("plan" if isinstance(one, Accepted) else one.kind for _, one in drawn(name))
    assert set(kinds) == {"plan", "schema_violation", "missing_information", "invalid_request"}
    assert kinds["plan"] > len(SEEDS) / 2
    refused = [text for text, found in drawn(name) if _broken(found)]
    assert refused
    for text in refused:
        payload = json.loads(text.removeprefix("```json\n").removesuffix("\n```"))
        assert CONTRACTS[f"{PASSES[name].schema}.v1"].judge(json.dumps(payload)) == Accepted(
            payload
        )
    first = sampled(name, PLANS)
    texts = [text for text, _ in drawn(name)]
    assert texts[:20] == [by_seed(first, seed) for seed in SEEDS[:20]]
    assert len(set(texts)) > 10
    assert any(text.startswith("```") for text in texts)


def _broken(found: Accepted | Rejected) -> bool:
    return isinstance(found, Rejected) and found.kind == "schema_violation"


def test_its_plans_chain_where_each_of_them_passes() -> None:
    chains = 0
    for seed in range(25):
        plans: dict[PlanType, dict[str, Any]] = {}
        for name, one in PASSES.items():
            first = sampled(name, plans)
            found = verdict(first, by_seed(first, seed))
            if isinstance(found, Rejected):
                found = verdict(first, by_rules(first))
            if name == "refactor" or isinstance(found, Rejected):
                break
            plans[one.writes] = found.payload
        chains += len(plans) == 5
    assert chains == 25


def test_it_does_not_ask_again_once_a_person_has_answered() -> None:
    first = sampled("architecture", PLANS)
    said = ('{"error": "missing_information"}', "Two layers.")
    kinds = {
        found.kind
        for seed in SEEDS
        if isinstance(found := verdict(first, by_seed(first, seed, *said)), Rejected)
    }
    assert "missing_information" not in kinds


@each("name", BANK)
def test_any_request_gets_an_object(name: str) -> None:
    for messages in ((), (Message("user", "{}"),), (Message("user", "["),)):
        asked = CompletionRequested(call="x", provider="sim", model="m", messages=messages)
        for seed in range(30):
            text = BANK[name].generate(Draws.of(name, str(seed)), asked)
            assert isinstance(json.loads(text.removeprefix("```json").removesuffix("```")), dict)
