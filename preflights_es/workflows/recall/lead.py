"""What a model is asked for, and what becomes of its answers."""

from __future__ import annotations

from typing import Any, Final

from preflights_es.core.completion_step import Usable, concluded, requested
from preflights_es.core.completions import CompletionRequested, Message
from preflights_es.core.events import Decision, Outcome
from preflights_es.core.lead import FellBack
from preflights_es.core.text import one_line, shortened
from preflights_es.core.verdict import Violation
from preflights_es.core.word_stems import stems
from preflights_es.workflows.recall import rules
from preflights_es.workflows.recall.events import QueriesRewritten
from preflights_es.workflows.recall.state import State
from preflights_es.workflows.recall.values import QUERIES_MAX, QUERY_MAX

PACKAGE: Final = "preflights_es.workflows.recall"
PROMPTS: Final[dict[str, str]] = {"rewrite": "rewrite_query.v1"}
CONTRACT: Final = "rewrite_query.v1"


def request(state: State) -> CompletionRequested:
    """The whole of what is sent, derived from the log: the question."""
    said = (Message("user", f"Language: {state.language}\n\nQuestion:\n{state.question}"),)
    return requested(state.led, "rewrite", CONTRACT, (PACKAGE, "rewrite", PROMPTS["rewrite"]), said)


def answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: the queries, or what was recorded instead."""
    from preflights_es.workflows.recall.contracts import REWRITE_QUERY

    verdict = concluded(state.led, outcome, REWRITE_QUERY, violations)
    if isinstance(verdict, Usable):
        queries = tuple(shortened(one_line(one), QUERY_MAX) for one in verdict.payload)
        return verdict.accepted, QueriesRewritten(queries=queries[:QUERIES_MAX], source="model")
    if any(isinstance(one, FellBack) for one in verdict):
        queries = rules.rewritten(state.question)
        return *verdict, QueriesRewritten(queries=queries, source="rules")
    return verdict


def violations(payload: Any) -> tuple[Violation, ...]:
    """What the schema cannot say: every query has a word to look for."""
    return tuple(
        Violation(f"/{n}", "expected words to look for")
        for n, query in enumerate(payload[:QUERIES_MAX])
        if not stems(query)
    )
