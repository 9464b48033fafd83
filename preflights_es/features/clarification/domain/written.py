"""A question that an agent or person wrote (docs/specs/clarification.md, section 14).

It is judged as a model's. After it the rules lead.
"""

from __future__ import annotations

from typing import Final

from preflights_es.features.clarification.domain.lead import clarify_violations
from preflights_es.features.clarification.domain.state import State
from preflights_es.features.clarification.domain.values import Heuristics, HeuristicsConfig
from preflights_es.kernel.completions import Accepted
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import judged
from preflights_es.kernel.questions import WrittenQuestion

TOPIC: Final = "Decision"
"""The topic of a question whose writer names none."""
_UNASKED: Final = "the question cannot be asked: "


def response(written: WrittenQuestion) -> str:
    """The question as a model would have answered, with what only its writer knows."""
    best = written.recommended
    answer = {
        "outcome": "ask",
        "topic": written.topic or TOPIC,
        "question": written.question,
        "why": written.why,
        "options": [
            {"label": one.label, "description": one.description, "against": one.against}
            for one in written.options
        ],
        "recommended": {"option": best.option, "reason": best.reason} if best else None,
        "scope": written.scope,
        "consequences": list(written.consequences),
        "evidence": [{"path": one.path, "lines": one.lines} for one in written.evidence],
    }
    return encoded(answer).decode()


def tables_of(chosen: Heuristics | HeuristicsConfig) -> HeuristicsConfig:
    """The categories of a session that begins with these."""
    if isinstance(chosen, HeuristicsConfig):
        return chosen
    if chosen.pack is None:
        return chosen.tables
    from preflights_es.features.clarification.domain.pack import tables

    return tables(chosen.inlined, "en", chosen.tables)


def trouble(text: str, config: HeuristicsConfig) -> str:
    """Why a question cannot be asked, in one line; empty where it can.

    Args:
        text: its `response`.
    """
    # Imported where a response is judged: other sessions need no pydantic.
    from preflights_es.features.clarification.domain import contracts

    state = State(heuristics=config)
    verdict = judged(text, contracts.WRITTEN, lambda payload: clarify_violations(state, payload))
    if isinstance(verdict, Accepted):
        return ""
    named = (f"{v.pointer or '/'} {v.message}" for v in verdict.violations)
    return _UNASKED + ("; ".join(named) or verdict.details or verdict.kind)
