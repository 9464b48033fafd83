"""What a model is asked for, and what becomes of its answers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from preflights_es.features.metrics.domain.events import (
    CandidatesOffered,
    ClarificationAsked,
    SqlAnswered,
    TurnsExhausted,
)
from preflights_es.features.metrics.domain.state import State
from preflights_es.features.metrics.domain.values import (
    TEXT_MAX,
    TURNS_MAX,
    Catalogue,
    Matched,
    Metric,
    Saved,
)
from preflights_es.kernel.completions import CompletionRequested, Message, Policy, Violation
from preflights_es.kernel.events import Decision, Outcome
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import Usable, concluded, requested
from preflights_es.kernel.questions import Question

NEWER: Final = ("unit", "words", "values", "numbers")
PACKAGE: Final = "preflights_es.features.metrics"
PROMPTS: Final[dict[str, str]] = {"ask": "ask.v1"}
POLICY: Final = Policy(bad_output=1, failed_transport=1, then="report")
CONTRACT: Final = "metrics.v1"
WHICH: Final = {
    "en": "The question can mean several things. Which one?",
    "de": "Die Frage kann mehreres bedeuten. Was davon?",
}


def request(state: State) -> CompletionRequested:
    """The whole of what is sent, derived from the log: the catalogue, then the conversation."""
    prompt = (PACKAGE, "ask", PROMPTS["ask"])
    made = requested(state.led, "ask", CONTRACT, prompt, tuple(state.led.said))
    system, *said = made.messages
    assert state.catalogue is not None, "a session begins with its catalogue"
    catalogue = known(state.catalogue, state.matched, state.saved)
    told = f"{system.content}\n{catalogue}\n{situation(state)}"
    return replace(made, messages=(Message("system", told), *said))


def known(
    catalogue: Catalogue, matched: Iterable[Matched] = (), saved: Iterable[Saved] = ()
) -> str:
    """The catalogue as a model reads it: one JSON object a line.

    Args:
        matched: values of the database that stand in what the person said.
        saved: questions that a person saved with their queries, as examples.
    """
    lines = [encoded({"table": one.name, "columns": one.columns}) for one in catalogue.tables]
    lines += [encoded(_told(one)) for one in catalogue.metrics]
    lines += [encoded({"value": one.value, "column": one.column}) for one in matched]
    lines += [
        encoded({"saved": one.name, "question": one.question, "sql": one.sql}) for one in saved
    ]
    return f"SQL dialect: {catalogue.dialect}\n" + "\n".join(line.decode() for line in lines)


def _told(metric: Metric) -> dict[str, Any]:
    """What a model is told of a metric; of the newer keys those that it has."""
    newer = {name: getattr(metric, name) for name in NEWER}
    return {
        "metric": metric.name,
        "aliases": metric.aliases,
        "description": metric.description,
        "sql": metric.sql,
        "dimensions": metric.dimensions,
        "date": metric.date,
        **{name: value for name, value in newer.items() if value},
    }


def situation(state: State) -> str:
    """When the question is asked, and in which language."""
    zone = f" ({state.time_zone})" if state.time_zone else ""
    return f"Asked at: {state.asked_at}{zone}\nLanguage: {state.language}"


def answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: an answer, a question, or what was recorded instead."""
    # Imported where a response is judged: everything else needs no reader of JSON Schema.
    from preflights_es.features.metrics.domain.contracts import METRICS

    verdict = concluded(state.led, outcome, METRICS, partial(violations, state))
    if not isinstance(verdict, Usable):
        return verdict
    return (verdict.accepted, _follows(state, verdict.payload))


def _follows(state: State, payload: Any) -> Decision:
    if isinstance(payload, dict) and payload["type"] == "sql":
        return SqlAnswered(sql=payload["sql"])
    candidates = () if isinstance(payload, str) else tuple(payload["candidates"])
    text = payload if isinstance(payload, str) else WHICH[state.language]
    if state.turns >= TURNS_MAX:
        return TurnsExhausted(open=" / ".join(candidates) or text)
    question = Question(f"q{state.asked + 1}", "free_text", text, candidates)
    made = CandidatesOffered if candidates else ClarificationAsked
    return made(question=question)


def violations(state: State, payload: Any) -> tuple[Violation, ...]:
    """What the contract alone cannot say: the query is one that the catalogue allows."""
    if isinstance(payload, str):
        too_long = Violation("", f"expected at most {TEXT_MAX:,} characters of words")
        return (too_long,) if len(payload) > TEXT_MAX else ()
    if payload["type"] != "sql" or state.catalogue is None:
        return ()
    from preflights_es.features.metrics.domain.sql_check import findings

    found = findings(payload["sql"], state.catalogue.dialect, state.catalogue.tables)
    return tuple(Violation("/sql", one) for one in found)
