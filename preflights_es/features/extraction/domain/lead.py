"""What a model is asked for, and what becomes of its answers."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from preflights_es.features.extraction.domain import rules
from preflights_es.features.extraction.domain.events import ItemsExtracted, QuestionAsked
from preflights_es.features.extraction.domain.state import State
from preflights_es.kernel.completions import CompletionRequested, Message, Policy, Violation
from preflights_es.kernel.events import Decision, Outcome
from preflights_es.kernel.lead import Usable, concluded, requested
from preflights_es.kernel.questions import Question

PACKAGE: Final = "preflights_es.features.extraction"
PROMPTS: Final[dict[str, str]] = {"extract": "extract.v1"}
POLICY: Final = Policy(bad_output=1, failed_transport=1, then="person")
CONTRACT: Final = "extraction.v1"
ANSWER: Final = "answer"
"""Key of a question that names no field."""


def request(state: State) -> CompletionRequested:
    """The whole of what is sent, derived from the log: the note, each reply, each answer."""
    said = (Message("user", _note(state)), *state.led.said)
    return requested(state.led, "extract", CONTRACT, (PACKAGE, "extract", PROMPTS["extract"]), said)


def _note(state: State) -> str:
    when = f"{state.noted_at} ({state.time_zone})" if state.time_zone else state.noted_at
    return f"Noted at: {when}\nLanguage: {state.language}\n\nNote:\n{state.note}"


def answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the items and the question, or what was recorded instead."""
    # Imported where a response is judged: sessions without a lead need no pydantic.
    from preflights_es.features.extraction.domain.contracts import EXTRACTION

    verdict = concluded(state.led, outcome, EXTRACTION, partial(violations, state))
    if not isinstance(verdict, Usable):
        return verdict
    decisions: list[Decision] = [
        verdict.accepted,
        ItemsExtracted(
            items=rules.items(
                verdict.payload["items"],
                (*state.listed, *state.items),
                state.touched,
                state.numbers,
            )
        ),
    ]
    if asked := verdict.payload.get("question"):
        decisions.append(_question(asked))
    return tuple(decisions)


def violations(state: State, payload: dict[str, Any]) -> tuple[Violation, ...]:
    """What the contract alone cannot say: one question a session."""
    if state.asked and "question" in payload:
        return (Violation("/question", "expected none: one was asked already"),)
    return ()


def _question(asked: dict[str, Any]) -> QuestionAsked:
    field: str = asked.get("field", "")
    return QuestionAsked(
        question=Question(field or ANSWER, "free_text", asked["question"]), field=field
    )
