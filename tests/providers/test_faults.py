"""Faults on purpose: how often, which, around what; and never a moved response."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, fields, replace
from functools import cache
from typing import TypeVar

import jiter
import msgspec
import pydantic_core
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preflights_es.history.replayer import Replayer
from preflights_es.kernel.completions import Completion, CompletionRequested, Message
from preflights_es.kernel.errors import (
    CommitUnknown,
    Conflict,
    InvalidJSONError,
    LLMAPIError,
    LLMError,
    LLMRateLimitError,
    LLMTimeoutError,
    StoreError,
    StoreUnavailable,
)
from preflights_es.kernel.ports import Head, Provider, Store
from preflights_es.providers.base import LLMProvider
from preflights_es.providers.faults import (
    HINTS_MS,
    ORDER,
    FaultConfig,
    FaultyProvider,
    FaultyStore,
    damage_response_text,
)
from preflights_es.providers.simulator import SimLLMProvider
from preflights_es.runtime.runner import Handle, Runner
from preflights_es.store.memory import MemoryStore
from preflights_es.words.simulation import Draws
from tests import toy
from tests.each import each
from tests.fixed import PROJECT, Clock, Ids, salt
from tests.markdown import tables
from tests.providers.driving import driven, request
from tests.store.given import batch, heard, said, session_id

T = TypeVar("T")
NAMES = [field.name for field in fields(FaultConfig)]
ENTITIES = "Extract entities from: I met Alice at Acme Corp"
EACH = FaultConfig(llm_timeout=0.25, llm_error=0.25, llm_malformed=0.25, llm_rate_limit=0.25)
HALF = FaultConfig(llm_timeout=0.5)

# 1. How much ---------------------------------------------------------------------------------


def test_nothing_goes_wrong_unless_asked_for() -> None:
    assert FaultConfig() == FaultConfig.none()
    assert not any(getattr(FaultConfig(), name) for name in NAMES)


def test_chaos_has_some_of_everything() -> None:
    chaos = FaultConfig.chaos()
    assert all(0 < getattr(chaos, name) < 1 for name in NAMES)


@each("name", NAMES)
@each("value", [-0.1, 1.1, float("nan"), float("inf"), "0.5", None, True, 2, -1])
def test_a_probability_is_a_number_from_0_to_1(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} is"):
        FaultConfig(**{name: value})


def test_faults_of_one_call_add_up_to_1_at_most() -> None:
    with pytest.raises(ValueError, match="add up to"):
        FaultConfig(llm_timeout=0.6, llm_error=0.5)
    FaultConfig(llm_timeout=1.0, storage_read_error=1.0, storage_write_error=1)
    for shares in ((0.1, 0.2, 0.3, 0.4), (0.7, 0.1, 0.1, 0.1), (0.6, 0.3, 0.05, 0.05)):
        names = ("llm_timeout", "llm_error", "llm_rate_limit", "llm_malformed")
        FaultConfig(**dict(zip(names, shares, strict=True)))


def test_a_configuration_does_not_change() -> None:
    config = FaultConfig()
    with pytest.raises(FrozenInstanceError):
        config.llm_timeout = 0.5  # type: ignore[misc]  # what is tested
    with pytest.raises(ValueError, match="llm_error is 2"):
        replace(config, llm_error=2)


@each(
    ("text", "config"),
    [
        ("", FaultConfig()),
        ("none", FaultConfig()),
        ("chaos", FaultConfig.chaos()),
        ("timeout=0.2", FaultConfig(llm_timeout=0.2)),
        (" llm_timeout = 0.2 , error=.1", FaultConfig(llm_timeout=0.2, llm_error=0.1)),
        ("rate_limit=1", FaultConfig(llm_rate_limit=1.0)),
        ("malformed=0.5,storage_write_error=1e-3", FaultConfig(0, 0, 0.5, 0, 0, 0.001)),
    ],
)
def test_faults_are_read_from_words(text: str, config: FaultConfig) -> None:
    assert FaultConfig.parsed(text) == config
    assert FaultConfig.parsed(config.text()) == config


@each(
    "text",
    ["timeout", "timeout=", "timeout=x", "tea=0.1", "=1", "timeout=0.1,", "timeout=0,timeout=0"],
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|twice"):
        FaultConfig.parsed(text)


# 2. Which ------------------------------------------------------------------------------------

DRAWS = 20_000
ROWS = {
    "one in ten each": FaultConfig(0.1, 0.1, 0.1, 0.1),
    "timeout 0.2": FaultConfig(llm_timeout=0.2),
    "rate_limit 0.05, malformed 0.3": FaultConfig(llm_rate_limit=0.05, llm_malformed=0.3),
    "a quarter each": EACH,
}


@cache
def counted(config: FaultConfig) -> Counter[str]:
    """20,000 draws: seeds 0 to 9, 400 prompts, attempts 1 to 5."""
    providers = [FaultyProvider(SimLLMProvider(0), seed, config) for seed in range(10)]
    requests = [request(f"prompt {i}", attempt=a) for i in range(400) for a in range(1, 6)]
    return Counter(provider.drawn(one) or "none" for provider in providers for one in requests)


@each("row", ROWS)
def test_each_fault_comes_as_often_as_its_probability_says(row: str) -> None:
    config, counts = ROWS[row], counted(ROWS[row])
    assert sum(counts.values()) == DRAWS
    for fault in ORDER:
        share = getattr(config, f"llm_{fault}")
        assert abs(counts[fault] - DRAWS * share) <= 4 * (DRAWS * share * (1 - share)) ** 0.5


def test_the_table_of_the_docs_is_what_is_measured() -> None:
    measured = []
    for row, config in ROWS.items():
        counts = counted(config)
        shares = {fault: f"{counts[fault] / DRAWS:.4f}" for fault in (*ORDER, "none")}
        measured.append({"faults": row, **shares})
    assert tables("docs/simulator.md")["How often"] == measured


def test_thresholds_follow_in_order_so_that_a_greater_one_keeps_its_faults() -> None:
    small, great = (
        FaultyProvider(SimLLMProvider(0), 1, FaultConfig(llm_timeout=p)) for p in (0.1, 0.3)
    )
    for i in range(500):
        if small.drawn(request(f"{i}")):
            assert great.drawn(request(f"{i}")) == "timeout"


@given(st.integers(), st.text(min_size=1), st.integers(1, 5))
def test_a_certain_fault_is_certain(seed: int, prompt: str, attempt: int) -> None:
    for fault in ORDER:
        provider = FaultyProvider(SimLLMProvider(0), seed, FaultConfig(**{f"llm_{fault}": 1}))
        assert provider.drawn(request(prompt, attempt=attempt)) == fault


def test_a_fault_follows_from_seed_prompt_and_attempt() -> None:
    def drawn(seed: int, prompt: str, attempt: int) -> str | None:
        return FaultyProvider(SimLLMProvider(0), seed, EACH).drawn(request(prompt, attempt=attempt))

    assert len({drawn(seed, "x", 1) for seed in range(50)}) == 4
    assert len({drawn(1, f"{i}", 1) for i in range(50)}) == 4
    assert len({drawn(1, "x", attempt) for attempt in range(50)}) == 4
    assert drawn(42, "x", 1) == drawn(42, "x", 1)
    signs = [(drawn(s, "x", 1), drawn(-s, "x", 1)) for s in range(1, 60)]
    assert any(a != b for a, b in signs)


# 3. What is raised ---------------------------------------------------------------------------


def failing(**shares: float) -> SimLLMProvider:
    return SimLLMProvider(1, FaultConfig(**shares))


@each(
    ("fault", "kind"),
    [
        ("timeout", LLMTimeoutError),
        ("timeout", TimeoutError),
        ("error", LLMAPIError),
        ("rate_limit", LLMRateLimitError),
    ],
)
def test_each_fault_is_its_error(fault: str, kind: type[Exception]) -> None:
    provider = failing(**{f"llm_{fault}": 1.0})
    with pytest.raises(kind, match="simulated fault"):
        driven(provider.complete(ENTITIES))
    with pytest.raises(kind, match="simulated fault"):
        driven(provider.complete_json(ENTITIES, dict))
    with pytest.raises(kind, match="simulated fault"):
        driven(provider.chat([{"role": "user", "content": ENTITIES}]))
    with pytest.raises(kind, match="simulated fault"):
        driven(provider.respond(request(ENTITIES)))


def test_a_rate_limit_says_how_long_to_wait() -> None:
    hints = set()
    for i in range(100):
        with pytest.raises(LLMRateLimitError) as caught:
            driven(failing(llm_rate_limit=1.0).complete(f"{i}"))
        hints.add(caught.value.retry_after_ms)
    assert hints == set(HINTS_MS)


def test_a_malformed_response_is_no_json_and_no_json_can_be_had() -> None:
    provider = failing(llm_malformed=1.0)
    for prompt in (ENTITIES, "Rewrite this query: tea", "Categorize: tea", "hello"):
        broken = driven(provider.complete(prompt))
        assert not parsers_that_take(broken)
        assert broken != driven(SimLLMProvider(1).complete(prompt))
        with pytest.raises(InvalidJSONError) as caught:
            driven(provider.complete_json(prompt, list))
        assert isinstance(caught.value, ValueError)


# 4. Responses do not move, and a retry can succeed -------------------------------------------


@given(st.integers(), st.text(min_size=1), st.integers(1, 4))
def test_faults_never_move_a_response(seed: int, prompt: str, attempt: int) -> None:
    true = driven(SimLLMProvider(seed).respond(request(prompt)))
    faulty = SimLLMProvider(seed, FaultConfig.chaos())
    try:
        got = driven(faulty.respond(request(prompt, attempt=attempt)))
    except LLMError:
        return
    assert got.text == true.text or not parsers_that_take(got.text or "")
    assert msgspec.structs.replace(got, text=true.text) == true


def outcomes(provider: SimLLMProvider, prompt: str, calls: int) -> list[str]:
    found = []
    for _ in range(calls):
        try:
            found.append(driven(provider.complete(prompt)))
        except LLMError as error:
            found.append(error.kind)
    return found


def test_calls_without_an_attempt_are_counted_by_prompt() -> None:
    provider = SimLLMProvider(42, HALF)
    logged: list[str] = []
    for attempt in range(1, 21):
        fault = FaultyProvider(SimLLMProvider(42), 42, HALF).drawn(request("a", attempt=attempt))
        logged.append(str(fault) if fault else driven(SimLLMProvider(42).complete("a")))
    mixed = [outcomes(provider, prompt, 1)[0] for prompt in ("a", "b") * 20]
    assert mixed[::2] == logged
    assert mixed[1::2] == outcomes(SimLLMProvider(42, HALF), "b", 20)
    assert len(set(logged)) == 2


def test_requests_that_bear_an_attempt_are_not_counted() -> None:
    provider = SimLLMProvider(42, HALF)
    expected = outcomes(SimLLMProvider(42, HALF), "a", 10)
    for attempt in range(1, 5):
        with_attempt = FaultyProvider(SimLLMProvider(42), 42, HALF)
        with_attempt.drawn(request("a", attempt=attempt))
        try:
            driven(provider.respond(request("a", attempt=attempt)))
        except LLMTimeoutError:
            continue
    assert outcomes(provider, "a", 10) == expected


# 5. Any provider -----------------------------------------------------------------------------


class Echo(LLMProvider):
    """Says what was said."""

    name = "echo"
    model = "echo-1"

    async def respond(self, request: CompletionRequested) -> Completion:
        return Completion(request.messages[-1].content, model=self.model, input_tokens=3)

    closed = 0

    def asked(self, messages: Iterable[Message], attempt: int = 1) -> CompletionRequested:
        request = super().asked(messages, attempt)
        return msgspec.structs.replace(request, parameters=(("temperature", "0"),))

    async def aclose(self) -> None:
        self.closed += 1


class Bytes:
    """Bears no name, and answers what is not UTF-8."""

    async def respond(self, request: CompletionRequested) -> Completion:
        return Completion(None, text_base64="/w==")


def test_faults_stand_around_any_provider() -> None:
    calm = FaultyProvider(Echo(), 1, FaultConfig.none())
    assert (calm.name, calm.model) == ("echo", "echo-1")
    assert driven(calm.complete('{"a": 1}')) == '{"a": 1}'
    broken = FaultyProvider(Echo(), 1, FaultConfig(llm_malformed=1.0))
    got = driven(broken.respond(request('{"a": 1}')))
    assert not parsers_that_take(got.text or "")
    assert (got.model, got.input_tokens) == ("echo-1", 3)
    with pytest.raises(TimeoutError):
        driven(FaultyProvider(Echo(), 1, FaultConfig(llm_timeout=1)).complete("x"))


def test_what_the_provider_inside_sends_along_is_kept() -> None:
    faulty = FaultyProvider(Echo(), 1, FaultConfig.none())
    said = [Message("user", "x")]
    assert faulty.asked(said, 3) == Echo().asked(said, 3)
    assert [faulty.asked(said).attempt for _ in range(3)] == [1, 2, 3]
    assert faulty.asked(said).parameters == (("temperature", "0"),)


def test_closing_reaches_the_provider_inside() -> None:
    async def used(inner: Provider) -> str:
        async with FaultyProvider(inner, 1, FaultConfig.none()) as provider:
            return await provider.complete("x")

    inner = Echo()
    assert driven(used(inner)) == "x"
    assert inner.closed == 1
    assert driven(used(SimLLMProvider(1))) == driven(SimLLMProvider(1).complete("x"))
    with pytest.raises(LLMAPIError):
        driven(used(Bytes()))


def test_a_response_that_is_no_text_is_malformed_already() -> None:
    broken = FaultyProvider(Bytes(), 1, FaultConfig(llm_malformed=1.0))
    assert broken.name == "Bytes"
    assert driven(broken.respond(request("x"))) == Completion(None, text_base64="/w==")
    with pytest.raises(LLMAPIError, match=r"not valid UTF-8.*xff"):
        driven(broken.complete("x"))


# 6. Damage -----------------------------------------------------------------------------------


def parsers_that_take(text: str) -> list[str]:
    """The JSON parsers at hand, the lenient ones among them, that find a value."""
    data = text.encode("utf-8", "surrogatepass")
    parsers: dict[str, Callable[[], object]] = {
        "json": lambda: json.loads(text),
        "json, control characters allowed": lambda: json.loads(text, strict=False),
        "msgspec": lambda: msgspec.json.decode(data),
        "jiter": lambda: jiter.from_json(data, allow_inf_nan=True),
        "pydantic": lambda: pydantic_core.from_json(data, allow_inf_nan=True),
    }
    taken = []
    for name, parse in parsers.items():
        try:
            parse()
        except (ValueError, msgspec.DecodeError):
            continue
        taken.append(name)
    return taken


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.integers(0, 20), st.sampled_from([None, 1]))
def test_no_json_survives_damage(value: object, which: int, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    broken = damage_response_text(text, Draws.of("damage", str(which)))
    assert not parsers_that_take(broken)
    assert broken != text


@given(st.text(st.characters(), max_size=30) | st.text('{}[]",:\\ 1`\n', max_size=12))
@example("")
@example("{")
@example("}{")
@example('a":1}')
@example('[1] and {"a": 1}')
@example("```\nno json\n```")
@example("ab\\")
@example("NaN")
def test_neither_does_any_other_text(text: str) -> None:
    for which in range(6):
        broken = damage_response_text(text, Draws.of("damage", str(which)))
        assert not parsers_that_take(broken)
        assert broken != text


@given(st.dictionaries(st.text(), st.integers() | st.text(), max_size=3), st.integers(0, 20))
def test_the_whole_object_is_not_found_inside(value: dict[str, object], which: int) -> None:
    whole = json.dumps(value)
    for text in (whole, f"```json\n{whole}\n```", f"Here it is: {whole} Anything else?"):
        broken = damage_response_text(text, Draws.of("damage", str(which)))
        decoder = json.JSONDecoder()
        with pytest.raises(json.JSONDecodeError):
            decoder.raw_decode(broken, broken.index("{"))


def test_prose_does_not_pass_for_a_reply_in_words() -> None:
    for which in range(6):
        broken = damage_response_text("Which market do you need?", Draws.of("damage", str(which)))
        assert broken.startswith("{")


def test_damage_takes_more_than_one_form() -> None:
    text = json.dumps({"entities": [{"name": "Alice"}]})
    assert len({damage_response_text(text, Draws.of("damage", str(i))) for i in range(100)}) > 20


# 7. A store that fails -----------------------------------------------------------------------


def memory() -> MemoryStore:
    return MemoryStore(Clock(), salt)


def store(inner: Store, seed: int = 1, **shares: float) -> FaultyStore:
    return FaultyStore(inner, seed, FaultConfig(**shares))


def test_a_calm_store_keeps_every_promise() -> None:
    calm: Store = store(memory())
    (head,) = calm.append([batch(1, said("hello", "a"), heard("hello"), opens=("call-1",))])
    assert calm.head(session_id(1)) == head
    assert len(calm.read(session_id(1))) == 2
    assert len(calm.read(session_id(1), 1)) == 1
    assert calm.heads(PROJECT) == calm.heads(None, 5) == (head,)
    assert calm.matching(session_id(1)[:8]) == (session_id(1),)
    assert calm.session_of_input("a") == session_id(1)
    assert calm.open_calls(PROJECT) == ((session_id(1), "call-1"),)
    assert calm.claim(session_id(1), "call-1", "ada", 1, 9) == "taken"
    assert calm.claim(session_id(1), "call-1", "bob", 2, 9) == "held"
    calm.give_back(session_id(1), "call-1", "ada")
    assert calm.claim(session_id(1), "call-1", "bob", 2, 9) == "taken"
    assert calm.numbers(PROJECT) == {}
    with pytest.raises(Conflict):
        calm.append([batch(1, said("again", "b"))])
    calm.close()


def test_reads_fail_where_reads_are_to_fail() -> None:
    inner = memory()
    faulty = store(inner, storage_read_error=1.0)
    faulty.append([batch(1, said("hello", "a"))])
    reads: tuple[Callable[[], object], ...] = (
        lambda: faulty.read(session_id(1)),
        lambda: faulty.head(session_id(1)),
        lambda: faulty.heads(None),
        lambda: faulty.matching("x"),
        lambda: faulty.session_of_input("a"),
        lambda: faulty.open_calls(PROJECT),
        lambda: faulty.numbers(PROJECT),
    )
    for read in reads:
        with pytest.raises(StoreUnavailable, match="simulated fault: the log cannot be read"):
            read()
    assert faulty.operations == 8
    faulty.close()


def test_a_write_fails_before_or_after_it_or_in_between() -> None:
    seen: Counter[tuple[type[StoreError], bool]] = Counter()
    inner = memory()
    faulty = store(inner, storage_write_error=1.0)
    for i in range(1, 301):
        with pytest.raises(StoreError, match="simulated fault") as caught:
            faulty.append([batch(i, said("hello", f"{i}"))])
        seen[type(caught.value), inner.session_of_input(f"{i}") is not None] += 1
    assert set(seen) == {(StoreUnavailable, False), (CommitUnknown, False), (CommitUnknown, True)}
    assert min(seen.values()) > 70


def test_a_claim_is_a_write() -> None:
    inner = memory()
    inner.append([batch(1, said("hello", "a"), opens=tuple(f"call-{i}" for i in range(50)))])
    faulty = store(inner, storage_write_error=1.0)
    taken = Counter[bool]()
    for i in range(50):
        with pytest.raises(StoreError):
            faulty.claim(session_id(1), f"call-{i}", "ada", 1, 9)
        with pytest.raises(StoreError):
            faulty.give_back(session_id(1), f"call-{i}", "cyd")
        taken[inner.claim(session_id(1), f"call-{i}", "bob", 2, 9) == "held"] += 1
    assert taken[True] > 5
    assert taken[False] > 5


def test_what_is_refused_by_the_store_itself_is_said_as_it_is() -> None:
    inner = memory()
    inner.append([batch(1, said("hello", "a"))])
    kinds = set()
    for seed in range(50):
        with pytest.raises(StoreError) as caught:
            store(inner, seed, storage_write_error=1.0).append([batch(1, said("b", "b"))])
        kinds.add(type(caught.value))
    assert kinds == {StoreUnavailable, CommitUnknown, Conflict}


def history(seed: int, config: FaultConfig) -> list[str]:
    """What becomes of 200 operations, reads and writes in turn."""
    inner = memory()
    faulty = FaultyStore(inner, seed, config)
    found = []
    heads: dict[int, Head | None] = {}
    for i in range(100):
        number = i % 5 + 1
        try:
            heads[number] = faulty.head(session_id(number))
            event = said("hello", f"{i}")
            faulty.append([batch(number, event, after=heads[number])])
            found.append("done")
        except StoreError as error:
            found.append(str(error))
    return found


def test_a_stores_faults_follow_from_the_seed_and_the_number_of_the_operation() -> None:
    config = FaultConfig.chaos()
    assert history(1, config) == history(1, config)
    assert history(1, config) != history(2, config)
    assert history(1, FaultConfig.none()) == ["done"] * 100
    assert 2 < sum(one != "done" for one in history(1, config)) < 30


def test_faults_of_providers_and_of_stores_do_not_meet() -> None:
    assert history(1, FaultConfig(llm_timeout=1.0)) == ["done"] * 100
    provider = SimLLMProvider(1, FaultConfig(storage_read_error=1, storage_write_error=1))
    assert driven(provider.complete("x")) == driven(SimLLMProvider(1).complete("x"))


# 8. A session over both ----------------------------------------------------------------------


def insisting(step: Callable[[], T]) -> T:
    """What a step comes to when it is taken again after each failure of the store."""
    for _ in range(200):
        try:
            return step()
        except StoreError:
            continue
    message = "200 tries failed"
    raise AssertionError(message)


@each("seed", range(40))
def test_a_session_ends_and_replays_whatever_fails_below_it(seed: int) -> None:
    inner, ids = memory(), Ids()
    config = replace(FaultConfig.chaos(), storage_read_error=0.2, storage_write_error=0.3)
    faulty = FaultyStore(inner, seed, config)
    workflows = {toy.WORKFLOW.name: toy.WORKFLOW}
    runner = Runner(faulty, workflows, Clock(), ids)
    provider = SimLLMProvider(seed, config)
    session, first = ids(), ids()
    insisting(lambda: runner.open(toy.WORKFLOW, PROJECT, toy.asked("tea?"), session, first))

    def settled() -> Handle:
        return driven(runner.settle(runner.load(session), provider)).handle

    state = insisting(settled).session.state
    events = inner.read(session)
    assert sum(event.input_id == first for event in events) == 1
    assert state.answers or any(event.type == toy.GaveUp.tag for event in events)
    found = Replayer(workflows).replay(events, events[-1].hash)
    assert found.status == "identical"
