"""What the log of a recall folds to."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from preflights_es.core import completion_step
from preflights_es.core.completion_step import Led
from preflights_es.core.events import Event, Input
from preflights_es.core.views import Language
from preflights_es.workflows.recall.events import (
    DecisionsFound,
    DecisionsRecalled,
    QueriesRewritten,
    RecallAsked,
)
from preflights_es.workflows.recall.values import Found, Rewriter


class State(msgspec.Struct, frozen=True):
    """Everything `decide` and the views look at; two logs with equal states go on alike."""

    question: str = ""
    language: Language = "en"
    everything: bool = False
    input: Input | None = None
    """The last Input; its Decisions say what of it counts."""
    led: Led = Led()
    queries: tuple[str, ...] | None = None
    """None until the question is rewritten."""
    source: Rewriter = "rules"
    results: tuple[Found, ...] | None = None
    """The best first; None until it is looked for."""
    redacted: tuple[str, ...] = ()


def is_terminal(state: State) -> bool:
    """Whether the answer is there."""
    return state.results is not None


def evolve(state: State, event: Event) -> State:
    """The state after one more event; any event in any state."""
    if isinstance(event, Input):
        return _after_input(state, event)
    match event:
        case QueriesRewritten(queries=queries, source=source):
            return replace(state, queries=queries, source=source)
        case DecisionsRecalled(uids=uids):
            found = state.input.found if isinstance(state.input, DecisionsFound) else ()
            of = {one.uid: one for one in found}
            return replace(state, results=tuple(of[uid] for uid in uids if uid in of))
        case _:
            led = completion_step.after(state.led, state.input, event)
            return state if led is state.led else replace(state, led=led)


def _after_input(state: State, new: Input) -> State:
    if isinstance(new, RecallAsked) and not state.question:
        return replace(
            state,
            question=new.question,
            language=new.language,
            everything=new.everything,
            input=new,
            led=completion_step.opened(new.setup),
            redacted=new.redacted,
        )
    return replace(state, input=new)
