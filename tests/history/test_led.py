"""Strict replay of sessions that a model led: what changed is named, and code answers again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preflights_es.history.child import causes
from preflights_es.kernel.completions import CompletionRequested, Message
from preflights_es.kernel.errors import LogDamaged
from preflights_es.kernel.ports import Stored
from preflights_es.use import leads as own_providers
from tests.each import each
from tests.history.sessions import Led, asking, real, replayed, requests, sim
from tests.store.given import resealed

FAULTS = st.lists(st.integers(0, 10), min_size=4, max_size=4).map(
    lambda tenths: (
        ",".join(
            f"{name}={min(tenth, 10 - sum(tenths[:i])) / 10}"
            for i, (name, tenth) in enumerate(
                zip(("timeout", "error", "rate_limit", "malformed"), tenths, strict=True)
            )
            if min(tenth, 10 - sum(tenths[:i])) > 0
        )
        or "none"
    )
)
"""Any schedule whose probabilities add up to 1 at most, in tenths."""


def with_payload(stored: list[Stored], tag: str, **values: Any) -> list[Stored]:
    """The log in which the first event of a type says something else; it verifies."""
    at = next(i for i, one in enumerate(stored) if one.type == tag)
    data = json.dumps({**json.loads(stored[at].data or b""), **values}, separators=(",", ":"))
    return resealed([*stored[:at], replace(stored[at], data=data.encode()), *stored[at + 1 :]])


# 1. Causes -----------------------------------------------------------------------------------

ASKED = requests(Led(sim(27)).events)[0]


@each(
    ("changes", "cause"),
    [
        ({"model": "gpt-7"}, "model changed"),
        ({"provider": "openai"}, "provider changed"),
        ({"parameters": (("seed", "4"), ("faults", "none"))}, "parameter seed changed"),
        ({"parameters": (("seed", "27"),)}, "parameter faults changed"),
        ({"contract": "clarify.v2"}, "contract changed"),
        ({"wait_ms": 7}, "wait_ms changed"),
        ({"prompts": (("clarify.v1", "00" * 32),)}, "prompt clarify.v1 changed"),
        ({"prompts": (("clarify.v2", "00" * 32),)}, "prompt clarify.v1 became clarify.v2"),
        ({"prompts": ()}, "prompt clarify.v1 is gone"),
        ({"messages": (ASKED.messages[0],)}, "message 2 is gone"),
        ({"messages": (*ASKED.messages, Message("user", "x"))}, "message 3 is new"),
        ({"messages": (ASKED.messages[0], Message("user", "x"))}, "message 2 changed"),
        ({"messages": (Message("system", "x"), ASKED.messages[1])}, "message 1 changed"),
    ],
)
def test_what_changed_in_a_request_is_the_first_divergence_with_its_cause(
    changes: dict[str, Any], cause: str
) -> None:
    found = replayed(Led(sim(27)).stored, asking(**changes))
    assert found.status == "diverged"
    first = found.divergences[0]
    assert (first.version, first.type, first.cause) == (2, CompletionRequested.tag, cause)


def test_a_prompt_explains_its_own_message_and_nothing_else() -> None:
    changed = replace(
        ASKED,
        prompts=(("clarify.v1", "00" * 32),),
        messages=(Message("system", "other words"), Message("user", "another intention")),
        model="gpt-7",
    )
    named = ("prompt clarify.v1 changed", "model changed", "message 2 changed")
    assert causes(ASKED, changed) == named
    assert causes(ASKED, ASKED) == ()
    found = replayed(Led(sim(27)).stored, asking(call="other"))
    assert [one.cause for one in found.divergences] == [""]


# 2. The simulator is asked again -------------------------------------------------------------


@given(st.integers(-(2**63), 2**63 - 1), FAULTS, st.sampled_from(("Add login", "Order things")))
def test_what_the_simulator_said_it_says_again(seed: int, faults: str, intention: str) -> None:
    led = Led(sim(seed, faults), intention).answer()
    found = replayed(led.stored)
    assert (found.status, found.divergences, found.generation) == ("identical", (), "")
    assert found.reasked == len(requests(led.events))


def test_a_response_that_the_simulator_never_gave_is_found() -> None:
    stored = Led(sim(27)).stored
    text = json.loads(stored[2].data or b"")["text"].replace("Infra", "Backend")
    found = replayed(with_payload(stored, "completion.received.v1", text=text))
    first = found.divergences[0]
    assert (found.status, first.version, first.pointer) == ("diverged", 3, "/text")
    assert first.cause == "the simulator answers otherwise"
    assert "Infra" in first.computed


@each(
    ("field", "value"),
    [("model", "x"), ("stop_reason", "x"), ("request_id", "x"), ("output_tokens", 1)],
)
def test_all_that_the_simulator_says_is_compared(field: str, value: Any) -> None:
    found = replayed(with_payload(Led(sim(27)).stored, "completion.received.v1", **{field: value}))
    assert [(d.version, d.pointer) for d in found.divergences] == [(3, f"/{field}")]


def test_neither_a_lost_call_nor_how_long_one_took_is_compared_but_a_failure_is() -> None:
    stored = with_payload(Led(sim(27)).stored, "completion.received.v1", latency_ms=90_000, at=7)
    assert replayed(stored).status == "identical"
    stored = Led(sim(3, "timeout=1")).stored
    found = replayed(with_payload(stored, "completion.failed.v1", kind="api_error"))
    assert (found.divergences[0].pointer, found.divergences[0].computed) == ("/kind", "timeout")
    lost = with_payload(stored, "completion.failed.v1", kind="lost", message="never reported back")
    assert replayed(lost).reasked == 1, "the retry alone"


def test_neither_a_model_nor_a_simulator_of_another_generation_is_asked_again() -> None:
    led = Led(replace(sim(3), model="simllm/0"))
    found = replayed(led.stored)
    assert (found.status, found.reasked, found.generation) == ("identical", 0, "simllm/0")
    found = replayed(Led(real()).answer().stored)
    assert (found.status, found.reasked, found.generation) == ("identical", 0, "")


@each("parameters", [(("seed", "three"), ("faults", "none")), (("seed", "3"),)])
def test_a_lead_that_is_never_recorded_is_damage(parameters: tuple[tuple[str, str], ...]) -> None:
    unknown = replace(sim(3), parameters=parameters)
    with pytest.raises(LogDamaged, match="recorded parameters do not fit the provider"):
        replayed(Led(unknown, provider=own_providers.simulated(sim(3))).stored)
