"""What follows from an Input: the branches are here, the rules in `rules.py`."""

from __future__ import annotations

from functools import reduce

from preflights_es.core.completions import CompletionFailed, CompletionReceived
from preflights_es.core.events import Decision, Input
from preflights_es.core.lead import LeadChanged, LeadTaken, StepRetried
from preflights_es.workflows.recall import lead, rules
from preflights_es.workflows.recall.events import (
    DecisionsFound,
    DecisionsRecalled,
    QueriesRewritten,
    RecallAsked,
    RecallRefused,
)
from preflights_es.workflows.recall.state import State, evolve

Decisions = tuple[Decision, ...]


def decide(state: State, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case RecallAsked() if not state.question:
            return _asked(evolve(state, new))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return lead.answered(state, new)
        case StepRetried() if state.led.stalled:
            return _asked(state)
        case LeadChanged() if state.question and state.led.request is None:
            return _taken_over(state, new)
        case DecisionsFound() if state.queries is not None and state.results is None:
            return (DecisionsRecalled(uids=tuple(one.uid for one in rules.best(new.found))),)
        case _:
            return (RecallRefused(),)


def _asked(state: State) -> Decisions:
    """The model's step; the rules' queries where they lead, or where no word is asked for."""
    queries = rules.rewritten(state.question)
    if state.led.lead is None or not queries:
        return (QueriesRewritten(queries=queries, source="rules"),)
    return (lead.request(state),)


def _taken_over(state: State, new: LeadChanged) -> Decisions:
    """A new lead rewrites what the former one could not."""
    taken = (LeadTaken(),)
    after = reduce(evolve, taken, evolve(state, new))
    return taken + (_asked(after) if state.led.stalled and state.results is None else ())
