"""The simulator and its parts: the same seed and prompt, the same response."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import preflights_es
from preflights_es import FaultConfig, FaultInjector, PromptRouter, ResponseBank, SimLLMProvider
from preflights_es.kernel.completions import Message
from preflights_es.kernel.errors import LLMAPIError, LLMError, LLMRateLimitError
from preflights_es.providers.base import LLMProvider
from preflights_es.words.simulation import GENERATION, Bank, Draws, Route
from tests.each import each
from tests.providers import pinned
from tests.providers.driving import Said, driven, request, run

ENTITIES = "Extract entities from: I met Alice at Acme Corp"
ANY_TEXT = st.text(st.characters(), min_size=1, max_size=60)  # surrogates among them
SEEDS = st.integers()

# 1. The seed's own examples ------------------------------------------------------------------


def test_the_same_seed_and_prompt_give_the_same_entities() -> None:
    first = run(SimLLMProvider(seed=42).complete(ENTITIES))
    assert first == run(SimLLMProvider(seed=42).complete(ENTITIES))
    names = {entity["name"]: entity["type"] for entity in json.loads(first)["entities"]}
    assert names["Alice"] == "person"
    assert names["Acme Corp"] == "organization"


def test_it_is_public_under_its_own_name() -> None:
    assert preflights_es.SimLLMProvider is SimLLMProvider
    assert preflights_es.FaultConfig is FaultConfig
    assert preflights_es.LLMProvider is LLMProvider
    assert isinstance(SimLLMProvider(1), LLMProvider)


# 2. A pure function --------------------------------------------------------------------------


@given(SEEDS, st.lists(ANY_TEXT, min_size=1, max_size=6))
def test_what_was_asked_before_does_not_matter(seed: int, prompts: list[str]) -> None:
    used = SimLLMProvider(seed)
    forward = {prompt: driven(used.complete(prompt)) for prompt in prompts}
    for prompt in reversed(prompts):
        assert driven(used.complete(prompt)) == forward[prompt]
        assert driven(SimLLMProvider(seed).complete(prompt)) == forward[prompt]


@given(SEEDS, ANY_TEXT, st.integers(1, 9))
def test_the_attempt_the_call_and_the_model_do_not_move_a_response(
    seed: int, prompt: str, attempt: int
) -> None:
    provider = SimLLMProvider(seed)
    first = driven(provider.respond(request(prompt)))
    again = driven(provider.respond(request(prompt, attempt=attempt, wait_ms=5)))
    assert again == first
    assert first.text == driven(provider.complete(prompt))
    assert first.text == driven(provider.chat([{"role": "user", "content": prompt}]))


def test_seeds_differ_and_so_do_signs() -> None:
    texts = {driven(SimLLMProvider(seed).complete("hello")) for seed in range(-500, 500)}
    assert len(texts) == 1_000


@each("seed", [None, 1.5, "42", True, b"1"])
def test_a_seed_is_an_int(seed: int) -> None:
    with pytest.raises(ValueError, match="expected an int"):
        SimLLMProvider(seed)


@each("said", [(), ("",), (("system", ""), ("user", ""))])
def test_an_empty_prompt_is_refused(said: tuple[str, ...]) -> None:
    for provider in (SimLLMProvider(1), SimLLMProvider(1, FaultConfig(llm_malformed=0.1))):
        with pytest.raises(ValueError, match="empty"):
            driven(provider.respond(request(*said)))
        with pytest.raises(ValueError, match="empty"):
            driven(provider.complete(""))
        with pytest.raises(ValueError, match="empty"):
            driven(provider.complete_json("", dict))
        with pytest.raises(ValueError, match="empty"):
            driven(provider.chat([]))


def test_a_message_without_a_role_is_refused() -> None:
    with pytest.raises(ValueError, match="expected role and content"):
        driven(SimLLMProvider(1).chat([{"role": "oracle", "content": "hello"}]))


def test_what_is_reported_follows_from_the_response() -> None:
    completion = driven(SimLLMProvider(1).respond(request(ENTITIES)))
    assert completion.text is not None
    assert completion.model == GENERATION
    assert completion.stop_reason == "end_turn"
    assert completion.request_id.startswith("sim-")
    assert completion.output_tokens == -(-len(completion.text) // 4)
    assert completion.input_tokens
    other = driven(SimLLMProvider(2).respond(request(ENTITIES)))
    assert other.request_id != completion.request_id


# 3. Conversations ----------------------------------------------------------------------------


def test_a_conversation_is_one_prompt_with_all_its_turns() -> None:
    provider = SimLLMProvider(3)
    turns: list[Said] = [
        ("system", "Be brief."),
        "rev?",
        ("assistant", "Which market?"),
        "Indonesia",
    ]
    texts = [driven(provider.respond(request(*turns[:i]))).text for i in (1, 2, 3, 4)]
    assert len(set(texts)) == 4
    swapped = request(("system", "rev?"), "Be brief.", *turns[2:])
    assert driven(provider.respond(swapped)).text not in texts


def test_where_a_message_ends_makes_a_difference() -> None:
    provider = SimLLMProvider(3)
    texts = {
        driven(provider.respond(request(*said))).text
        for said in (("ab", "c"), ("a", "bc"), ("abc",), (("assistant", "abc"),))
    }
    assert len(texts) == 4


def test_what_is_handed_over_is_not_kept() -> None:
    said = [Message("user", "one")]
    provider = SimLLMProvider(3)
    first = driven(provider.chat(said))
    said.append(Message("assistant", first))
    assert driven(provider.chat([Message("user", "one")])) == first


# 4. Frozen -----------------------------------------------------------------------------------


def test_the_responses_of_this_generation_never_change() -> None:
    assert pinned.pinned() == json.loads(pinned.FILE.read_text("utf-8"))


# 5. Hostile prompts --------------------------------------------------------------------------

HOSTILE = (
    *("\x00", "\ud800", "\udfff\ud800", "\u202e\u2066", " ", "\n", "\n\n\n", "\ufeff", "\r\n:"),
    *(":", ": ", "a" * 100_000, "A" * 100_000, "A " * 50_000, "A-" * 50_000, "A'" * 50_000),
    *("Extract entities: " + "\ud800Al\udfffice " * 50, "Extract entities: \u202eAlice\u2066 Bob"),
    *("Categorize {0} {} %s {name!r:>99}", "Rewrite query: {0} {1} {{}} {", "detect evolution {}"),
    "Extract entities:\n" + "日本語" * 300_000,
    "Extract entities:\n" + "x\n" * 500_000,
    "extract " * 130_000,
    "\u0130\u212a\u017f categorize \U000e0001 \U0010ffff",
)


@each("prompt", HOSTILE)
def test_any_prompt_is_answered_with_valid_text(prompt: str) -> None:
    for route in (None, "extract_entities", "rewrite_query", "detect_evolution", "categorize"):
        text = driven(SimLLMProvider(5).complete(prompt, route=route))
        assert text.encode()
        assert len(text) < 10_000
        if route:
            json.loads(text)


@given(SEEDS, ANY_TEXT)
def test_no_text_breaks_a_route(seed: int, prompt: str) -> None:
    for route in ("extract_entities", "rewrite_query", "detect_evolution", "categorize"):
        json.loads(driven(SimLLMProvider(seed).complete(prompt, route=route)).encode())


# 6. A bank of a workflow's own ---------------------------------------------------------------


def test_a_bank_answers_its_own_prompts_and_leaves_the_others_alone() -> None:
    bank: Bank = {
        "tea": Route(lambda draws, asked: f"{asked.model} {draws.below(9)}", ("brew tea",))
    }
    own, plain = SimLLMProvider(1, bank=bank), SimLLMProvider(1)
    assert driven(own.complete("Brew tea, please")).startswith(GENERATION)
    assert driven(own.complete(ENTITIES)) == driven(plain.complete(ENTITIES))


def test_a_bank_draws_from_the_prompt_and_not_from_its_route() -> None:
    def generate(draws: Draws, _: object) -> str:
        return draws.hex()

    provider = SimLLMProvider(1, bank={"a": Route(generate), "b": Route(generate)})
    assert driven(provider.complete("x", route="a")) == driven(provider.complete("x", route="b"))
    generic = driven(provider.complete("x"))
    assert generic == f"SimResponse[{driven(provider.complete('x', route='a'))}]"


PROMPTS = st.sampled_from(
    (ENTITIES, "Rewrite query: tea", "Detect evolution", "Categorize: tea", "hello")
)
FAULTS = FaultConfig(llm_timeout=0.2, llm_error=0.2, llm_malformed=0.2, llm_rate_limit=0.2)


def test_the_same_seed_and_prompt_give_the_same_response() -> None:
    first = ResponseBank(seed=42).generate("extract_entities", ENTITIES)
    assert first == ResponseBank(seed=42).generate("extract_entities", ENTITIES)
    assert {"Alice", "Acme Corp"} <= {one["name"] for one in json.loads(first)["entities"]}
    assert ResponseBank(42).generate("generic", ENTITIES).startswith("SimResponse[")
    with pytest.raises(ValueError, match="no route 'poetry'"):
        ResponseBank(42).generate("poetry", ENTITIES)
    with pytest.raises(ValueError, match="the prompt is empty"):
        ResponseBank(42).generate("generic", "")


def test_the_injector_alone_raises_a_certain_timeout() -> None:
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
