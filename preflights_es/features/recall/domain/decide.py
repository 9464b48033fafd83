"""What follows from an Input: what a model is asked for, and what becomes of its answers."""

from __future__ import annotations

from typing import Any

from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.events import (
    QUERIES_MAX,
    QUERY_MAX,
    DecisionsFound,
    DecisionsRecalled,
    QueriesRewritten,
    RecallAsked,
    RecallRefused,
)
from preflights_es.features.recall.domain.rules import CONTRACT, PACKAGE, STEP
from preflights_es.features.recall.domain.state import RecallState, evolve, is_terminal
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Violation,
)
from preflights_es.kernel.events import Decision, Input, Outcome
from preflights_es.kernel.lead import (
    FellBack,
    LeadChanged,
    StepRetried,
    Usable,
    concluded,
    decide_lead_takeover,
    requested,
)
from preflights_es.kernel.text import one_line, shortened
from preflights_es.words.language import collect_search_words

Decisions = tuple[Decision, ...]


def decide(state: RecallState, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case RecallAsked() if not state.question:
            return _decide_rewriting(evolve(state, new))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return decide_rewrite_outcome(state, new)
        case StepRetried() if state.led.stalled:
            return _decide_rewriting(state)
        case LeadChanged() if state.question and state.led.request is None:
            # A new lead answers what the former one could not.
            goes_on = bool(state.led.stalled) and not is_terminal(state)
            return decide_lead_takeover(evolve, state, new, _decide_rewriting, goes_on=goes_on)
        case DecisionsFound() if state.queries is not None and state.results is None:
            return (DecisionsRecalled(uids=tuple(one.uid for one in rules.best(new.found))),)
        case _:
            return (RecallRefused(),)


def _decide_rewriting(state: RecallState) -> Decisions:
    """The model's step; the rules' answer where they lead, or where there is nothing to ask."""
    if state.led.lead is None or not rules.rewritten(state.question):
        return (rewrite_by_rules(state),)
    return (request_query_rewriting(state),)


# 1. Asking a model -----------------------------------------------------------------------------


def request_query_rewriting(state: RecallState) -> CompletionRequested:
    """The whole of what is sent, derived from the log."""
    said = Message("user", f"Language: {state.language}\n\nQuestion:\n{state.question}")
    return requested(state.led, STEP, CONTRACT, (PACKAGE, STEP, CONTRACT), messages=(said,))


# 2. Judging its answers ------------------------------------------------------------------------


def decide_rewrite_outcome(state: RecallState, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: what it says, or what was recorded instead."""
    from preflights_es.features.recall.domain.contracts import REWRITE  # most ask no model

    verdict = concluded(state.led, outcome, REWRITE, query_violations)
    if isinstance(verdict, Usable):
        queries = tuple(shortened(one_line(one), QUERY_MAX) for one in verdict.payload)
        said = QueriesRewritten(queries=queries[:QUERIES_MAX], source="model")
        return verdict.accepted, said
    if any(isinstance(one, FellBack) for one in verdict):
        return *verdict, rewrite_by_rules(state)
    return verdict


def rewrite_by_rules(state: RecallState) -> QueriesRewritten:
    """What the rules answer."""
    return QueriesRewritten(queries=rules.rewritten(state.question), source="rules")


def query_violations(payload: Any) -> tuple[Violation, ...]:
    """What the schema cannot say: a query has words."""
    return tuple(
        Violation(f"/{n}", "expected words to look for")
        for n, query in enumerate(payload[:QUERIES_MAX])
        if not collect_search_words(query)
    )
