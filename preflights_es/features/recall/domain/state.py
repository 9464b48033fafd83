"""What the log of a recall folds to."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from preflights_es.features.recall.domain.events import (
    DecisionsFound,
    DecisionsRecalled,
    FoundDecision,
    FoundRecord,
    QueriesRewritten,
    RecallAsked,
    Rewriter,
)
from preflights_es.kernel import lead as leading
from preflights_es.kernel.events import Event, Input
from preflights_es.kernel.lead import LeadState
from preflights_es.words.questions import Language


class RecallState(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    question: str = ""
    """Empty until it is asked."""
    language: Language = "en"
    everything: bool = False
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: LeadState = LeadState()
    queries: tuple[str, ...] | None = None
    """None until the question is rewritten."""
    source: Rewriter = "rules"
    results: tuple[FoundDecision, ...] | None = None
    """The best first; None until it is looked for."""
    records: tuple[FoundRecord, ...] = ()
    """Of other tools, the best first."""
    redacted: tuple[str, ...] = ()


def is_terminal(state: RecallState) -> bool:
    """Whether the answer is there."""
    return state.results is not None


def evolve(state: RecallState, event: Event) -> RecallState:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _after_recall_input(state, event)
    match event:
        case QueriesRewritten(queries=queries, source=source):
            return replace(state, queries=queries, source=source)
        case DecisionsRecalled(uids=uids):
            new = state.input
            if not isinstance(new, DecisionsFound):
                return replace(state, results=())  # only a forged file says so
            of = {one.uid: one for one in new.found}
            results = tuple(of[uid] for uid in uids if uid in of)
            return replace(state, results=results, records=new.records)
        case _:
            led = leading.evolve_lead_state(state.led, state.input, event)
            return state if led is state.led else replace(state, led=led)


def _after_recall_input(state: RecallState, new: Input) -> RecallState:
    if isinstance(new, RecallAsked) and not state.question:
        return replace(
            state,
            question=new.question,
            language=new.language,
            everything=new.everything,
            input=new,
            led=leading.open_lead_state(new.setup),
            redacted=new.redacted,
        )
    return replace(state, input=new)
