"""Which sessions an event names without a `Source`."""

from __future__ import annotations

from msgspec import UNSET

from preflights_es.features.clarification.domain.events import (
    DecisionAcknowledged,
    DecisionKept,
    DecisionKeptBeside,
    DecisionSuperseded,
    IntentionDeclared,
    Known,
)
from preflights_es.features.clarification.domain.state import State, accepted
from preflights_es.features.clarification.domain.titles import title_of
from preflights_es.kernel.events import Event
from preflights_es.kernel.source import Quoted
from preflights_es.kernel.text import one_line


def quotes(event: Event) -> tuple[Quoted, ...]:
    """The decision that is, or was, replaced; and what a model was told of, without a `Source`."""
    match event:
        case IntentionDeclared(known=known, supersedes=former):
            replaced: tuple[Quoted, ...] = ()
            if former is not None and former.uid:  # a record without a session has none
                replaced = (Quoted("supersedes", former.session_id),)
            told = (Quoted("known", words=one) for one in known if one.source is None)
            return (*told, *replaced)
        case DecisionAcknowledged(resolved=resolved) if resolved is not UNSET:
            found = ((one.choice == "keeps", one.finding.related) for one in resolved)
            return tuple(
                Quoted("kept" if keeps else "supersedes", old.session_id) for keeps, old in found
            )
        case DecisionKept(kept=kept) if kept.session_id:
            return (Quoted("kept", kept.session_id),)
        case DecisionSuperseded(by=by):
            return (Quoted("superseded_by", by.session_id),)
        case DecisionKeptBeside(by=by):
            return (Quoted("kept", by.session_id),)
        case _:
            return ()


def words(state: State) -> Known | None:
    """What a model is told of a decision that a person accepted; None of any other session."""
    if not accepted(state) or state.patch is None:
        return None
    because = state.rationale.because
    return Known(
        one_line(title_of(state)),
        state.patch,
        scope=state.scope or UNSET,
        because=one_line(because.text) if because else UNSET,
    )
