"""What follows from an Input: the branches are here, the rules in `rules.py`."""

from __future__ import annotations

from functools import reduce

from preflights_es.features.recall.domain import lead, rules
from preflights_es.features.recall.domain.events import (
    ComparisonAsked,
    DecisionsFound,
    DecisionsRecalled,
    LearningAsked,
    RecallAsked,
    RecallRefused,
)
from preflights_es.features.recall.domain.state import State, evolve, is_terminal
from preflights_es.kernel.completions import CompletionFailed, CompletionReceived
from preflights_es.kernel.events import Decision, Input
from preflights_es.kernel.lead import LeadChanged, LeadTaken, StepRetried

Decisions = tuple[Decision, ...]


def decide(state: State, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case RecallAsked() | LearningAsked() | ComparisonAsked() if not state.is_open:
            return _asked(evolve(state, new))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return lead.answered(state, new)
        case StepRetried() if state.led.stalled:
            return _asked(state)
        case LeadChanged() if state.is_open and state.led.request is None:
            return _taken_over(state, new)
        case DecisionsFound() if state.queries is not None and state.results is None:
            return (DecisionsRecalled(uids=tuple(one.uid for one in rules.best(new.found))),)
        case _:
            return (RecallRefused(),)


def _asked(state: State) -> Decisions:
    """The model's step; the rules' answer where they lead, or where there is nothing to ask."""
    has_words = state.about is not None or rules.rewritten(state.question)
    if state.led.lead is None or not has_words:
        return (lead.by_rules(state),)
    return (lead.request(state),)


def _taken_over(state: State, new: LeadChanged) -> Decisions:
    """A new lead answers what the former one could not."""
    taken = (LeadTaken(),)
    after = reduce(evolve, taken, evolve(state, new))
    return taken + (_asked(after) if state.led.stalled and not is_terminal(state) else ())
