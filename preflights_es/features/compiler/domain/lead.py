"""What a model is asked for, and what becomes of its answers."""

from __future__ import annotations

from functools import partial
from typing import Any

from preflights_es.features.compiler.domain import context, reports
from preflights_es.features.compiler.domain.events import PassBegun, PlanDrafted
from preflights_es.features.compiler.domain.identity import plan_id
from preflights_es.features.compiler.domain.passes import PASSES
from preflights_es.features.compiler.domain.prompting import PACKAGE, prompts_of, schema_of
from preflights_es.features.compiler.domain.state import State, made
from preflights_es.kernel.completions import CompletionRequested, Message
from preflights_es.kernel.events import Decision, Outcome
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import Usable, concluded, requested


def contract_id(begun: PassBegun) -> str:
    """What the response of a pass must meet, `name.vN`."""
    return schema_of(begun.pass_type)


def request(state: State) -> CompletionRequested:
    """The whole of what is sent, derived from the log: what was read, each reply, each answer."""
    begun = state.begun
    assert begun is not None, "a pass has begun"
    (base, version), own = prompts_of(begun.pass_type)
    return requested(
        state.led,
        "plan",
        contract_id(begun),
        (PACKAGE, base, version),
        (Message("user", context.said(begun)), *state.led.said),
        behind=(own,),
        schema_id=schema_of(begun.pass_type),
    )


def answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the draft, a retry, or a report."""
    # Imported where a response is judged: no other command needs a library for it.
    from preflights_es.features.compiler.domain.checks import violations
    from preflights_es.features.compiler.domain.contracts import CONTRACTS

    begun = state.begun
    assert begun is not None, "an outcome answers a call of a pass"
    contract = CONTRACTS[contract_id(begun)]
    verdict = concluded(state.led, outcome, contract, partial(violations, begun))
    if isinstance(verdict, Usable):
        return (verdict.accepted, _drafted(state, begun, outcome, verdict.payload))
    return (*verdict, *reports.reported(state, begun, outcome, verdict))


def _drafted(state: State, begun: PassBegun, outcome: Outcome, payload: Any) -> PlanDrafted:
    from preflights_es.features.compiler.domain.findings import findings, perhaps

    lead = state.led.lead
    return PlanDrafted(
        id=plan_id(begun, made(state) + 1),
        type=PASSES[begun.pass_type].writes,
        payload=encoded(payload).decode(),
        created_at=outcome.at,
        created_by="system" if lead is not None and lead.provider == "mock" else "llm",
        depends_on=tuple(one.id for one in begun.plans),
        findings=findings(begun, payload),
        perhaps=perhaps(begun, payload),
    )
