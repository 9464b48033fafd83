"""What the five routes of seed 1 answer: within their schema, about the data, and varied."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.kernel.errors import InvalidJSONError, SchemaViolationError
from preflights_es.providers.faults import FaultConfig
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.providers.simulator_bank import (
    CATEGORIES,
    ENTITIES_MAX,
    ENTITY_TYPES,
    EVOLUTIONS,
    FIVE,
    GENERIC,
    QUERIES_MAX,
    SCHEMAS,
)
from tests.each import each
from tests.providers.driving import driven, request

JSON_ROUTES = [name for name in FIVE if name != GENERIC]
INSTRUCTIONS = {
    "extract_entities": "Extract entities from: ",
    "rewrite_query": "Rewrite this query: ",
    "detect_evolution": "Detect evolution: ",
    "categorize": "Categorize: ",
    GENERIC: "",
}
DATA = (
    *("Alice", "Bob and Zoltan", "My sister", "The new manager at Acme Corp", "Frau Weiß"),
    *("nobody", "the neighbour", "Priya"),
)
DOES = (
    *("lives in", "moved to", "no longer works in", "visited", "dreams of", "wants to see"),
    *("never liked", "has a meeting in"),
)
PLACES = ("Berlin", "Springfield", "New York", "the office", "Köln", "a small town", "Rome", "tea")


def prompts(route: str) -> list[str]:
    """512 prompts about as many things."""
    return [f"{INSTRUCTIONS[route]}{a} {b} {c}" for a in DATA for b in DOES for c in PLACES]


def value(prompt: str, seed: int = 1, route: str | None = None) -> Any:
    return json.loads(driven(SimLLMProvider(seed).complete(prompt, route=route)))


# 1. The schema -------------------------------------------------------------------------------


@each("route", JSON_ROUTES)
def test_every_answer_meets_the_schema_of_its_route(route: str) -> None:
    schema = SCHEMAS[route]
    for seed, prompt in enumerate(prompts(route)):
        provider = SimLLMProvider(seed)
        assert provider.route(request(prompt)) == route
        assert driven(provider.complete_json(prompt, schema)) == value(prompt, seed)


@given(st.integers(), st.text(st.characters(), min_size=1, max_size=80))
def test_whatever_the_data_is(seed: int, data: str) -> None:
    for route in JSON_ROUTES:
        provider = SimLLMProvider(seed)
        # Named, since data on the instruction's line may say the words of another route.
        prompt = INSTRUCTIONS[route] + data
        driven(provider.complete_json(prompt, SCHEMAS[route], route=route))


def test_limits_stand_in_the_schemas() -> None:
    crowd = " and ".join(f"Zoltan{chr(97 + i)} Nagy" for i in range(26))
    for seed in range(50):
        entities = value("Extract entities from: " + crowd, seed)["entities"]
        assert 5 <= len(entities) <= ENTITIES_MAX
        assert len(value("Rewrite this query: " + crowd, seed)) <= QUERIES_MAX


# 2. Types of what is asked for ---------------------------------------------------------------


def test_arrays_and_objects_are_told_apart() -> None:
    provider = SimLLMProvider(1)
    assert isinstance(driven(provider.complete_json("Categorize: tea", list)), list)
    assert isinstance(driven(provider.complete_json("Detect evolution: tea", dict)), dict)
    with pytest.raises(SchemaViolationError):
        driven(provider.complete_json("Categorize: tea", dict))
    with pytest.raises(SchemaViolationError):
        driven(provider.complete_json("Detect evolution: tea", list))


def test_the_generic_route_answers_text() -> None:
    with pytest.raises(InvalidJSONError):
        driven(SimLLMProvider(1).complete_json("hello", dict))


def test_a_pydantic_class_is_a_schema() -> None:
    from pydantic import BaseModel

    class Evolution(BaseModel):
        type: str
        reason: str
        confidence: float

    class Other(BaseModel):
        type: int

    provider = SimLLMProvider(1)
    found = driven(provider.complete_json("Detect evolution: tea", Evolution))
    assert found == value("Detect evolution: tea")
    with pytest.raises(SchemaViolationError):
        driven(provider.complete_json("Detect evolution: tea", Other))


@each("schema", [int, "object", None, ["object"], {"type": "no such type"}])
def test_an_invalid_schema_is_refused_before_the_simulator_is_asked(schema: object) -> None:
    provider = SimLLMProvider(1, FaultConfig(llm_timeout=1.0))
    with pytest.raises(ValueError, match=r"expected a JSON Schema|not a valid JSON Schema"):
        driven(provider.complete_json("Categorize: tea", schema))


# 3. About the data ---------------------------------------------------------------------------


def test_names_are_found_as_whole_words() -> None:
    prompt = "Extract entities from: Albert also met Alan, Annabel, Europe and romeo"
    for seed in range(50):
        names = {entity["name"] for entity in value(prompt, seed)["entities"]}
        assert {"Alan", "Europe"} <= names
        assert not names & {"Al", "Ann", "Anna", "Rome", "Alb", "also"}


def test_known_names_have_their_type() -> None:
    prompt = (
        "Extract entities from:\nOn Monday Alice Smith left Siemens AG in Munich for Nagy "
        "Software. She uses PostgreSQL, and Bob lives in New York."
    )
    for seed in range(50):
        types = {entity["name"]: entity["type"] for entity in value(prompt, seed)["entities"]}
        assert types["Alice Smith"] == types["Bob"] == "person"
        assert types["Siemens AG"] == types["Nagy Software"] == "organization"
        assert types["Munich"] == types["New York"] == "place"
        assert types["PostgreSQL"] == "technology"
        assert types["Monday"] == "date"


@each(
    "prompt",
    [
        "Extract entities from: Alice met Bob",
        "Extract entities:\nAlice met Bob",
        "Extract entities\n\nAlice met Bob",
        "Extract entities, among them: people.\nAnswer as Sven does.\nText: Alice met Bob",
        "You are Sven.\nExtract entities from the memory.\n  User message:\nAlice met Bob",
        "Extract entities from Alice met Bob",
        "Extract entities from: Alice met Bob:",
    ],
)
def test_the_data_is_told_from_the_instruction(prompt: str) -> None:
    for seed in range(20):
        named = [e["name"] for e in value(prompt, seed)["entities"] if e["type"] != "topic"]
        assert named == ["Alice", "Bob"]
    said = request(("system", "Extract entities for Sven."), "Alice met Bob")
    assert "Sven" not in (driven(SimLLMProvider(1).respond(said)).text or "")


def test_entities_are_taken_from_the_data_and_from_nowhere_else() -> None:
    for seed, prompt in enumerate(prompts("extract_entities")):
        data = prompt.removeprefix(INSTRUCTIONS["extract_entities"]).lower()
        for entity in value(prompt, seed)["entities"]:
            assert entity["name"].lower() in data


def test_queries_begin_with_what_was_asked() -> None:
    found = value("Rewrite this query: what does Alice like for lunch in Berlin?")
    assert found[0] == "alice like lunch berlin"


def test_signs_in_the_data_make_a_type_likely() -> None:
    for sign, kind in (("moved", "update"), ("never", "contradict"), ("therefore", "derive")):
        counts = Counter(value(f"Detect evolution: Bob {sign} x", s)["type"] for s in range(600))
        assert counts.most_common(1)[0][0] == kind


def test_categories_lean_towards_what_is_spoken_of() -> None:
    counts = Counter(value("Categorize: my salary and my rent", s)[0] for s in range(600))
    assert counts.most_common(1)[0][0] == "finance"


@each("data", ["", "?", "\u202e", "1", "a b c", "\U0001f600"])
def test_data_without_words_is_answered_too(data: str) -> None:
    assert value(f"Extract entities:\n{data}") == {"entities": []}
    assert len(value(f"Rewrite query:\n{data}")) >= 2
    assert "the subject" in value(f"Detect evolution:\n{data}")["reason"].lower()
    assert value(f"Categorize:\n{data}")


# 4. Varied -----------------------------------------------------------------------------------

DISTINCT_MIN = {  # of 512 prompts; evolution and categories have fewer answers to give
    "extract_entities": 450,
    "rewrite_query": 480,
    "detect_evolution": 400,
    "categorize": 60,
    GENERIC: 512,
}


@pytest.mark.parametrize("route", FIVE)
@pytest.mark.parametrize("seed", [0, 42])
def test_many_prompts_get_many_answers(route: str, seed: int) -> None:
    provider = SimLLMProvider(seed)
    answers = Counter(driven(provider.complete(prompt)) for prompt in prompts(route))
    assert len(answers) >= DISTINCT_MIN[route]
    assert answers.most_common(1)[0][1] <= 0.15 * answers.total()


SHARE_MIN = 0.01  # of all answers; what is rarer has starved


def starved(counts: Counter[Any], options: Any) -> list[Any]:
    return [option for option in options if counts[option] < SHARE_MIN * counts.total()]


@pytest.mark.slow("fuzzing")
@each("data", ["tea", "Bob moved, never again, therefore unrelated", "Bob moved"])
def test_no_evolution_starves_over_seeds(data: str) -> None:
    prompt = f"Detect evolution: {data}"
    counts = Counter(value(prompt, seed)["type"] for seed in range(1_000))
    assert not starved(counts, EVOLUTIONS)


@pytest.mark.parametrize("data", ["tea", "my salary, my rent, my bank, my budget, my loan"])
def test_no_category_starves_over_seeds(data: str) -> None:
    prompt = f"Categorize: {data}"
    answers = [value(prompt, seed) for seed in range(1_000)]
    assert not starved(Counter(c for answer in answers for c in answer), CATEGORIES)
    assert not starved(Counter(len(answer) for answer in answers), (1, 2, 3))


@pytest.mark.slow("fuzzing")
@each("context", ["", "met ", "at ", "in ", "using ", "on "])
def test_no_type_of_an_unknown_name_starves_over_seeds(context: str) -> None:
    prompt = f"Extract entities from: we were {context}Xylo"
    answers = [value(prompt, seed)["entities"] for seed in range(1_000)]
    found = Counter(e["type"] for entities in answers for e in entities if e["name"] == "Xylo")
    assert not starved(found, ENTITY_TYPES)
    assert 0.05 < 1 - found.total() / 1_000 < 0.15  # overlooked
    confidences = {e["confidence"] for entities in answers for e in entities}
    assert len(confidences) > 50


def test_nothing_starves_over_prompts() -> None:
    evolutions = Counter(value(prompt)["type"] for prompt in prompts("detect_evolution"))
    assert not starved(evolutions, EVOLUTIONS)
    categories = Counter(c for prompt in prompts("categorize") for c in value(prompt))
    assert not starved(categories, CATEGORIES)
    lengths = Counter(len(value(prompt)) for prompt in prompts("rewrite_query"))
    assert not starved(lengths, (2, 3, 4))
