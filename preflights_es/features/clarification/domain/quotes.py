"""What a session says of others: whom its events name, and what a model is told."""

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
from preflights_es.kernel.decisions import Related
from preflights_es.kernel.events import Event, Quoted, Source
from preflights_es.kernel.text import one_line


def quotes(event: Event) -> tuple[Quoted, ...]:
    """The decisions that an event names beside a value, and not as its `Source`."""
    match event:
        case IntentionDeclared(supersedes=Related(uid=uid, session_id=old)) if uid:
            return (Quoted("supersedes", old),)  # a record without a session has no uid
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


def told(state: State, source: Source) -> Known | None:
    """What a model is told of a decision that a person accepted; None of any other session."""
    if not accepted(state) or state.patch is None:
        return None
    because = state.rationale.because
    return Known(
        one_line(title_of(state)),
        state.patch,
        source,
        scope=state.scope or UNSET,
        because=one_line(because.text) if because else UNSET,
    )
