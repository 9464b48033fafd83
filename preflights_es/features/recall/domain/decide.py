"""What follows from an Input: what a model is asked for, and what becomes of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from preflights_es.features.recall.domain import rules
from preflights_es.features.recall.domain.events import (
    QUERIES_MAX,
    QUERY_MAX,
    ComparisonAsked,
    DecisionsFound,
    DecisionsRecalled,
    EntitiesExtracted,
    EvolutionDetected,
    LearningAsked,
    QueriesRewritten,
    RecallAsked,
    RecallRefused,
    WordsLearned,
)
from preflights_es.features.recall.domain.rules import PACKAGE, PROMPTS
from preflights_es.features.recall.domain.state import State, evolve, is_terminal
from preflights_es.kernel.completions import (
    CompletionFailed,
    CompletionReceived,
    CompletionRequested,
    Message,
    Violation,
)
from preflights_es.kernel.events import Decision, Input, Outcome
from preflights_es.kernel.json import encoded
from preflights_es.kernel.lead import (
    FellBack,
    LeadChanged,
    StepRetried,
    Usable,
    concluded,
    requested,
    taken_over,
)
from preflights_es.kernel.text import one_line, shortened
from preflights_es.kernel.words import words

Decisions = tuple[Decision, ...]


def decide(state: State, new: Input) -> Decisions:
    """Total and never empty: what does not fit is answered by a refusal."""
    match new:
        case RecallAsked() | LearningAsked() | ComparisonAsked() if not state.is_open:
            return _asked(evolve(state, new))
        case CompletionReceived() | CompletionFailed() if state.led.request and state.led.lead:
            return answered(state, new)
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
        return (by_rules(state),)
    return (request(state),)


def _taken_over(state: State, new: LeadChanged) -> Decisions:
    """A new lead answers what the former one could not."""
    goes_on = bool(state.led.stalled) and not is_terminal(state)
    return taken_over(evolve, state, new, _asked, goes_on=goes_on)


# 1. Asking a model -----------------------------------------------------------------------------


def step(state: State) -> str:
    """What a model is asked for next."""
    if isinstance(state.about, ComparisonAsked):
        return "evolution"
    if isinstance(state.about, LearningAsked):
        return "extract" if state.names is None else "categorize"
    return "rewrite"


def request(state: State) -> CompletionRequested:
    """The whole of what is sent, derived from the log."""
    asked = step(state)
    said = (Message("user", _data(state)),)
    return requested(state.led, asked, PROMPTS[asked], (PACKAGE, asked, PROMPTS[asked]), said)


def _data(state: State) -> str:
    about = state.about
    if about is None:
        return f"Language: {state.language}\n\nQuestion:\n{state.question}"
    if isinstance(about, LearningAsked):
        told = (about.title, f"{about.category}: {_values(about.fields)}", about.intention)
        return "Decision:\n" + "\n".join(map(one_line, told))
    new = _decision(about.decision, about.category, about.fields) | {"intention": about.intention}
    older = [_decision(one.related.uid, one.category, one.fields) for one in about.older]
    return "\n".join((f"New:\n{_line(new)}\n\nOlder:", *map(_line, older)))


def _decision(uid: str, category: str, fields: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return {"uid": uid, "category": category, "fields": dict(fields)}


def _values(fields: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name} {value}" for name, value in fields)


def _line(decision: Mapping[str, Any]) -> str:
    return encoded(decision).decode()


# 2. Judging its answers ------------------------------------------------------------------------


def answered(state: State, outcome: Outcome) -> tuple[Decision, ...]:
    """What follows from an outcome: what it says, or what was recorded instead."""
    from preflights_es.features.recall.domain.contracts import CONTRACTS  # most ask no model

    asked = step(state)
    verdict = concluded(
        state.led, outcome, CONTRACTS[PROMPTS[asked]], lambda payload: violations(state, payload)
    )
    if isinstance(verdict, Usable):
        return verdict.accepted, *_said(state, verdict.payload)
    if any(isinstance(one, FellBack) for one in verdict):
        return *verdict, by_rules(state)
    return verdict


def by_rules(state: State) -> Decision:
    """What the rules answer; of a learning what the model said before it failed."""
    if isinstance(state.about, LearningAsked):
        words = rules.gained(state.about, state.names or ())
        return WordsLearned(words=words, source="model" if words else "rules")
    if isinstance(state.about, ComparisonAsked):
        return EvolutionDetected(findings=rules.standing(state.about.older), source="rules")
    return QueriesRewritten(queries=rules.rewritten(state.question), source="rules")


def _said(state: State, payload: Any) -> tuple[Decision, ...]:
    """What an accepted response says, and the next step."""
    about = state.about
    if isinstance(about, ComparisonAsked):
        said = {one["uid"]: one["type"] for one in payload["evolutions"]}
        found = rules.standing(about.older, said)
        return (EvolutionDetected(findings=found, source="model"),)
    if isinstance(about, LearningAsked):
        if state.names is not None:
            words = rules.gained(about, (*state.names, *map(one_line, payload)))
            return (WordsLearned(words=words, source="model"),)
        names = tuple(dict.fromkeys(one_line(one["name"]) for one in payload["entities"]))
        return EntitiesExtracted(names=names), request(replace(state, names=names))
    queries = tuple(shortened(one_line(one), QUERY_MAX) for one in payload)
    return (QueriesRewritten(queries=queries[:QUERIES_MAX], source="model"),)


def violations(state: State, payload: Any) -> tuple[Violation, ...]:
    """What the schema cannot say: a query has words, and an evolution is of a known decision."""
    if isinstance(state.about, LearningAsked):
        return ()
    if isinstance(state.about, ComparisonAsked):
        known = {one.related.uid for one in state.about.older}
        return tuple(
            Violation(f"/evolutions/{n}/uid", "expected the uid of an older decision")
            for n, one in enumerate(payload["evolutions"])
            if one["uid"] not in known
        )
    return tuple(
        Violation(f"/{n}", "expected words to look for")
        for n, query in enumerate(payload[:QUERIES_MAX])
        if not words(query)
    )
