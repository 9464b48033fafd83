"""Which sessions an event holds words of, in logs from before `Source` too."""

from __future__ import annotations

from preflights_es.core.events import Event
from preflights_es.core.source import Quoted
from preflights_es.core.text import one_line
from preflights_es.workflows.clarification.events import (
    DecisionSuperseded,
    IntentionDeclared,
    Known,
)
from preflights_es.workflows.clarification.state import State, accepted
from preflights_es.workflows.clarification.titles import title_of


def quotes(event: Event) -> tuple[Quoted, ...]:
    """The decisions that a model is told of, then the one that is, or was, replaced."""
    match event:
        case IntentionDeclared(known=known, supersedes=former, supersedes_source=source):
            replaced: tuple[Quoted, ...] = ()
            if former is not None and former.uid:  # a record without a session has none
                replaced = (Quoted("supersedes", source, former.session_id),)
            return (*(Quoted("known", one.source, words=one) for one in known), *replaced)
        case DecisionSuperseded(by=by):
            return (Quoted("superseded_by", None, by.session_id),)
        case _:
            return ()


def words(state: State) -> Known | None:
    """What a model is told of a decision that a person accepted; None of any other session."""
    if not accepted(state) or state.patch is None:
        return None
    return Known(one_line(title_of(state)), state.patch)
