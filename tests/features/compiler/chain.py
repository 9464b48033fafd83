"""The sample project and its six passes, each judged as a session does; without a log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from preflights_es.features.compiler.domain import lead, rules
from preflights_es.features.compiler.domain.events import (
    PASSES,
    Document,
    PassBegun,
    PassName,
    PlanType,
    schema_of,
)
from preflights_es.features.compiler.domain.rules import CONTRACTS
from preflights_es.features.compiler.domain.simulation import BANK, REFERENCES
from preflights_es.kernel.completions import Accepted, CompletionRequested, Message, Rejected
from preflights_es.kernel.json import canonical_json
from preflights_es.kernel.lead import judge_session_response
from preflights_es.words.simulation import Draws
from tests.features.compiler.passes_read import begun, read_plan

SAMPLE: Final = Path(__file__).parent / "sample"
GOAL: Final = "Move src/parcels.py to src/domain/parcels.py"
Payload = dict[str, Any]
Answer = Callable[[CompletionRequested], str]


def sample(name: str) -> str:
    """A document of the sample project."""
    return (SAMPLE / f"{name}.md").read_text("utf-8")


def sampled(
    name: PassName, plans: dict[PlanType, Payload] | None = None, **fields: Any
) -> PassBegun:
    """A pass over the sample project and the plans of the passes before."""
    one = PASSES[name]
    documents = (Document(f".preflights/{d}.md", "00" * 32, sample(d)) for d in one.documents)
    known = plans or {}
    read: dict[str, Any] = {
        "documents": tuple(documents),
        "plans": tuple(read_plan(p.type, known[p.type]) for p in one.plans if p.type in known),
        "layout": ("README.md", "src/parcels.py", "src/payments.py"),
        "target": "src/parcels.py" if one.target else "",
        "goal": GOAL if one.goal else "",
    }
    return begun(name, **{**read, **fields})


def request(first: PassBegun, *conversation: str) -> CompletionRequested:
    """What is asked for; behind the user message, replies and answers in turn."""
    roles = ("assistant", "user") * len(conversation)
    behind = [Message(role, text) for role, text in zip(roles, conversation, strict=False)]  # type: ignore[arg-type]  # both are roles
    opening = (Message("system", lead.system(first)), Message("user", lead.user_message(first)))
    return CompletionRequested(
        call="plan-1.1",
        provider="mock",
        model="compiler/1",
        messages=(*opening, *behind),
        contract=schema_of(first.pass_type),
    )


def verdict(first: PassBegun, text: str) -> Accepted | Rejected:
    """What a session makes of a response: every stage of the pipeline."""
    contract = CONTRACTS[schema_of(first.pass_type)]
    return judge_session_response(
        text, contract, lambda payload: rules.find_pass_violations(first, payload)
    )


def by_rules(first: PassBegun, *conversation: str) -> str:
    """The response of the reference."""
    return REFERENCES[PASSES[first.pass_type].schema](request(first, *conversation))


def by_seed(first: PassBegun, seed: int, *conversation: str) -> str:
    """The response of the simulator."""
    draws = Draws.of(first.pass_type, str(seed))
    return BANK[PASSES[first.pass_type].prompt].generate(draws, request(first, *conversation))


def chained(answer: Callable[[PassBegun], str]) -> dict[PlanType, Payload]:
    """The plans of all six passes, each read by the passes behind it."""
    plans: dict[PlanType, Payload] = {}
    for name, one in PASSES.items():
        first = sampled(name, plans)
        found = verdict(first, answer(first))
        assert isinstance(found, Accepted), (name, found)
        plans[one.writes] = found.payload
    return plans


def text_of(payload: Payload) -> str:
    """As a response."""
    return canonical_json(payload).decode()
