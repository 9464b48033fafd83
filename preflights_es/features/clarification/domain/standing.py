"""How a decision stands: who acknowledged it, and what is said of it and other decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from preflights_es.features.clarification.domain.events import (
    DecisionAcknowledged,
    DecisionKept,
    DecisionKeptBeside,
    DecisionRecorded,
    ReferenceRenumbered,
)
from preflights_es.kernel.events import SessionAbandoned, SourceSession
from preflights_es.words.decisions import KeptDecision, Related, Resolution


class DecisionStanding(msgspec.Struct, frozen=True, gc=False):
    """What became of the proposal, and how it stands to other decisions."""

    acknowledgement: DecisionAcknowledged | None = None
    """By which it was accepted or proposed."""
    recorded: DecisionRecorded | None = None
    """As what that counts."""
    rejected: SessionAbandoned | None = None
    """By which a proposal with a document was declined or abandoned."""
    keeps: DecisionKept | None = None
    """The decision in force that it ended with, where nothing else was decided."""
    superseded_by: Related | None = None
    supersedes: Related | None = None
    supersedes_source: SourceSession | None = None
    """Its session as the person read it, where this one was begun to replace it."""
    also_supersedes: tuple[Related, ...] = ()
    """Others that it replaces."""
    kept: tuple[KeptDecision, ...] = ()
    """Decisions that stay in force beside it, although their values differ."""
    kept_by_choice: tuple[str, ...] = ()
    """The uids, or paths, of those that its own acceptance kept."""


def standing_relations(standing: DecisionStanding) -> dict[str, Any]:
    """How it stands to other decisions, by the names that documents, views and lists have."""
    names = ("supersedes", "superseded_by", "also_supersedes", "kept")
    return {name: getattr(standing, name) for name in names}


def with_choices(standing: DecisionStanding, resolved: tuple[Resolution, ...]) -> DecisionStanding:
    """With what a person chose about decisions that differ."""
    found = ((one.choice, one.finding.related, one.reason) for one in resolved)
    chosen = {_related_key(related): (choice, related, reason) for choice, related, reason in found}
    replaced = [related for choice, related, _ in chosen.values() if choice == "supersedes"]
    kept = [
        KeptDecision(related, why) for choice, related, why in chosen.values() if choice == "keeps"
    ]
    own = tuple([_related_key(one.related) for one in kept])
    return replace(with_replaced(standing, replaced), kept=tuple(kept), kept_by_choice=own)


def with_replaced(standing: DecisionStanding, more: Sequence[Related]) -> DecisionStanding:
    """With more decisions that it replaces, each once."""
    before = (standing.supersedes, *standing.also_supersedes)
    named = {_related_key(one): one for one in (*before, *more) if one is not None}
    first, *others = named.values() or (None,)
    return replace(standing, supersedes=first, also_supersedes=tuple(filter(None, others)))


def _related_key(one: Related) -> str:
    """What no other decision or record has."""
    return one.uid or one.path or ""


def with_kept(standing: DecisionStanding, new: DecisionKeptBeside) -> DecisionStanding:
    """With another decision that stays in force beside it, for the reason that was given last."""
    others = (one for one in standing.kept if one.related.uid != new.by.uid)
    return replace(standing, kept=(*others, KeptDecision(new.by, new.reason)))


def renumbered(standing: DecisionStanding, new: ReferenceRenumbered) -> DecisionStanding:
    """With the new number of a decision that it names."""
    return replace(
        standing,
        supersedes=_renumber_related(standing.supersedes, new),
        superseded_by=_renumber_related(standing.superseded_by, new),
        also_supersedes=tuple(_renumber_related(one, new) for one in standing.also_supersedes),
        kept=tuple(
            replace(one, related=_renumber_related(one.related, new)) for one in standing.kept
        ),
    )


R = TypeVar("R", bound=Related | None)


def _renumber_related(related: R, new: ReferenceRenumbered) -> R:
    if related is None or related.uid != new.uid:
        return related
    return replace(related, number=new.number, path=new.path)
