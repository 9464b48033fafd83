"""What a decision and others say of each other, after one more event."""

from __future__ import annotations

from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    DecisionKeptBeside,
    DecisionMarkedKept,
    DecisionMarkedSuperseded,
    DecisionRenumbered,
    DecisionSuperseded,
    ReferenceRenumbered,
)
from preflights_es.features.clarification.domain.state import State
from preflights_es.kernel.decisions import KeptDecision, Related, Resolution


def after_choices(state: State, resolved: tuple[Resolution, ...]) -> State:
    """With what a person chose about decisions that differ."""
    found = ((one.choice, one.finding.related, one.reason) for one in resolved)
    chosen = {related.uid: (choice, related, reason) for choice, related, reason in found}
    replaced = tuple(related for choice, related, _ in chosen.values() if choice == "supersedes")
    if state.supersedes is None and replaced:
        state, replaced = replace(state, supersedes=replaced[0]), replaced[1:]
    kept = (
        KeptDecision(related, why) for choice, related, why in chosen.values() if choice == "keeps"
    )
    return replace(state, also_supersedes=replaced, kept=tuple(kept))


def after_supersession(state: State, _: DecisionMarkedSuperseded) -> State:
    """Another decision took its place."""
    by = state.input.by if isinstance(state.input, DecisionSuperseded) else None
    return replace(state, superseded_by=by or state.superseded_by)


def after_keeping(state: State, _: DecisionMarkedKept) -> State:
    """Another decision was accepted beside it; a second reason replaces the first."""
    new = state.input
    if not isinstance(new, DecisionKeptBeside):
        return state
    others = (one for one in state.kept if one.related.uid != new.by.uid)
    return replace(state, kept=(*others, KeptDecision(new.by, new.reason)))


def after_renumbering(state: State) -> State:
    """Its record, or one that it names, has another number."""
    match state.input:
        case DecisionRenumbered(number=number):
            return replace(state, number=number)
        case ReferenceRenumbered() as new:
            return replace(
                state,
                supersedes=_moved(state.supersedes, new),
                superseded_by=_moved(state.superseded_by, new),
                also_supersedes=tuple(_renamed(one, new) for one in state.also_supersedes),
                kept=tuple(replace(o, related=_renamed(o.related, new)) for o in state.kept),
            )
        case _:
            return state


def _moved(related: Related | None, new: ReferenceRenumbered) -> Related | None:
    return None if related is None else _renamed(related, new)


def _renamed(related: Related, new: ReferenceRenumbered) -> Related:
    return related if related.uid != new.uid else replace(related, number=new.number)
